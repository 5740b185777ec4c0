//! An invented export: each arc of the call graph, with the number of its calls.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::model::Analysis;

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    for arc in analysis.arc_times() {
        let name = |id: Option<_>| id.map_or(Cow::Borrowed(&b"<outside>"[..]), |id| analysis.name(id));
        out.write_all(&name(arc.caller))?;
        out.write_all(b"\t")?;
        out.write_all(&name(arc.callee))?;
        writeln!(out, "\t{}", arc.calls)?;
    }
    Ok(())
}
