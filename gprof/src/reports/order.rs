//! Orders of functions and of object files, for linkers.

use std::io::{self, Write};

use super::report::{Report, Trait, Value};
use crate::model::Analysis;
use crate::question::reports::{FILE_ORDER, FUNCTION_ORDER};

/// The order of functions.
pub const FUNCTIONS: Report = Report {
    name: FUNCTION_ORDER,
    short: Some('r'),
    help: "Print an order of functions for a linker, which places callers near their callees",
    traits: &[Trait::TextOnly, Trait::OrderOfFunctions],
    write: |analysis, writer| writer.list(|out| render_functions(analysis, out)),
    ..Report::FOR_LINKERS
};

/// The order of object files.
pub const FILES: Report = Report {
    name: FILE_ORDER,
    short: Some('R'),
    help: "Print an order of object files for a linker, which places callers near their callees. MAP lists the symbols of the \
           object files, as written by `nm --defined-only -v --print-file-name`. Other reports then show object files instead of \
           functions",
    value: Value::File("MAP"),
    traits: &[Trait::TextOnly, Trait::CallsTogether, Trait::NoFunctions, Trait::OrderOfFiles],
    write: |analysis, writer| writer.list(|out| render_files(analysis, out)),
    ..Report::FOR_LINKERS
};

fn render_functions(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    for id in analysis.order() {
        out.write_all(&analysis.functions.written(analysis.functions[*id].name.into()))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn render_files(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    for file in analysis.file_order() {
        out.write_all(&analysis.functions.written((*file).into()))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
