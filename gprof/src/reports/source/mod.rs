//! Annotated source files: the number of calls at each function, or of executions at each line.

pub mod annotate;
mod text;

use super::report::{Report, Trait, Value};
use super::writer::Writer;
use crate::error::Error;
use crate::model::Analysis;
use crate::question::options::Subject;
use crate::question::reports::{SOURCE, Shows};

pub const REPORT: Report = Report {
    name: SOURCE,
    short: Some('A'),
    help: "Print source files with the number of calls at each function",
    value: Value::OptionalSpec,
    opposite: Some((
        'J',
        "no-annotated-source",
        "Do not print source files; with a SPEC, print them without these functions",
    )),
    subject: Some(Subject::Source),
    shows: Shows { all_functions: true, times: false, lines: true, ..Report::OF_FUNCTIONS.shows },
    traits: &[Trait::TextOnly],
    write,
    ..Report::OF_FUNCTIONS
};

/// Writes the annotated source files, with `-y` each to a file of its own.
fn write(analysis: &Analysis<'_>, writer: &mut Writer<'_>) -> Result<(), Error> {
    let options = analysis.options;
    let mut is_first = true;
    for file in annotate::annotate(analysis, options) {
        let file = match file {
            Ok(file) => file,
            Err(missing) => {
                let _ = writeln!(writer.warnings(), "gprof: warning: {}: {}", missing.path.display(), missing.why);
                continue;
            }
        };
        if options.annotation.separate {
            annotate::store(&file, |out| text::render(&file, options, out))?;
            continue;
        }
        if !std::mem::take(&mut is_first) {
            writer.list(|out| out.write_all(b"\n"))?;
        }
        writer.report(|out, _| {
            out.write_all(b"*** File ")?;
            out.write_all(&file.path)?;
            out.write_all(b":\n")?;
            text::render(&file, options, out)
        })?;
    }
    Ok(())
}
