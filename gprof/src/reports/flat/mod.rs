//! The flat profile: one row for each function.

mod table;
mod text;

use super::doubts::range;
use super::report::{Need, Report, Value};
use super::{estimates, on_demand};
use crate::model::{Analysis, FlatRow};
use crate::question::options::Subject;
use crate::question::reports::FLAT;
use crate::sink::json::{Record, write_list};

pub const REPORT: Report = Report {
    name: FLAT,
    short: Some('p'),
    help: "Print the flat profile; with a SPEC, only these functions",
    value: Value::OptionalSpec,
    opposite: Some((
        'P',
        "no-flat-profile",
        "Do not print the flat profile; with a SPEC, print it without these functions",
    )),
    subject: Some(Subject::Flat),
    needs: &[Need::Samples],
    is_default: |data| data.samples,
    write: |analysis, writer| {
        writer.report(|out, frame| match frame {
            None => text::render(analysis, analysis.options, out),
            Some(frame) => table::render(analysis, analysis.options, frame, out),
        })
    },
    json: Some(|analysis, out| {
        write_list("flat_profile", analysis.flat_rows().map(|row| flat_row(analysis, &row)), out)
    }),
    mentions: |analysis, mention| analysis.flat_rows().for_each(|row| mention(row.function)),
    ..Report::OF_FUNCTIONS
};

fn flat_row<'a>(analysis: &'a Analysis<'_>, row: &FlatRow<'a>) -> Record<'a> {
    let mut record: Record<'_> = vec![
        ("function", row.function.index().into()),
        ("inlined", row.inlined.map(|symbol| analysis.inlined_name(symbol)).into()),
        ("percent", row.percent.into()),
        ("cumulative", row.cumulative.into()),
        ("self", row.self_time.into()),
        ("error", Some(row.error).filter(|error| *error != 0.0).into()),
        ("calls", Some(row.calls).filter(|_| row.estimate.is_none()).into()),
        ("self_per_call", row.self_per_call.into()),
        ("total_per_call", row.total_per_call.into()),
    ];
    if analysis.lacks_calls() {
        record.push(("calls_counted", on_demand::word(analysis.calls_counted(row.function)).as_bytes().into()));
    }
    if analysis.has_estimates() {
        record.extend(estimates::fields(row.estimate));
    }
    record.extend(range(row.range));
    record
}
