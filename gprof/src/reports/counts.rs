//! The list of execution counts, with source locations.

use std::io::{self, Write};

use super::estimates;
use super::report::{Report, Trait, Value};
use crate::model::Analysis;
use crate::question::options::Subject;
use crate::question::reports::{COUNTS, Shows};

pub const REPORT: Report = Report {
    name: COUNTS,
    short: Some('C'),
    help: "Print how often each function was called, with its file and line",
    value: Value::OptionalSpec,
    opposite: Some((
        'Z',
        "no-exec-counts",
        "Do not print these counts; with a SPEC, print them without these functions",
    )),
    subject: Some(Subject::Counts),
    shows: Shows { all_functions: true, times: false, lines: true, ..Report::OF_FUNCTIONS.shows },
    is_default: |data| !data.samples && !data.calls,
    traits: &[Trait::TextOnly],
    write: |analysis, writer| writer.report(|out, _| render(analysis, out)),
    ..Report::OF_FUNCTIONS
};

fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    for count in analysis.counts() {
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
        let number = match count.estimate {
            None => format!("{} executions", count.count),
            Some(estimate) if estimate.interval.is_some() => format!("{} executions", estimates::cell(Some(estimate))),
            // Nobody knows how many.
            estimate => estimates::cell(estimate),
        };
        writeln!(out, ":0x{:x}) {number}", functions.linked(count.function, count.address))?;
    }
    Ok(())
}
