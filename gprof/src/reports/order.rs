//! Orders of functions and of object files, for linkers.

use std::io::{self, Write};

use crate::model::Analysis;

pub(crate) fn render_functions(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    for id in &analysis.order {
        out.write_all(&analysis.functions.written(analysis.functions[*id].name.into()))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

pub(crate) fn render_files(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    for file in &analysis.file_order {
        out.write_all(&analysis.functions.written((*file).into()))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
