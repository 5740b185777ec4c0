//! An order of functions, for linkers.

use std::io::{self, Write};

use crate::analysis::Analysis;

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    for id in &analysis.order {
        out.write_all(analysis.functions[*id].name)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
