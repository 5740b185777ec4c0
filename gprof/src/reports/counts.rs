//! The list of execution counts, with source locations.

use std::io::{self, Write};

use crate::model::Analysis;

pub(crate) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    for count in &analysis.counts {
        match analysis.sources.place(count.function) {
            Some(place) => {
                out.write_all(&analysis.functions.written(analysis.sources.name(place.file, true).into()))?;
                write!(out, ":{}: (", place.line)?;
            }
            None => out.write_all(b"<unknown>:0: (")?,
        }
        let functions = &analysis.functions;
        let name = functions[count.function].name;
        out.write_all(&functions.labelled(count.function, functions.written(name.into())))?;
        writeln!(out, ":0x{:x}) {} executions", functions.linked(count.function, count.address), count.count)?;
    }
    Ok(())
}
