//! The bounds of inclusive times: one row for each function.

mod table;
mod text;

use std::io::{self, Write};

use super::report::{Need, Report, Trait};
use crate::model::{Analysis, BoundsDoubt, BoundsRow, BoundsTable};
use crate::question::reports::BOUNDS;
use crate::sink::json::{Record, write_list, write_record};

pub const REPORT: Report = Report {
    name: BOUNDS,
    help: "Print the bounds of each function's inclusive time beside gprof's estimate: the time lies between them, whatever \
           single calls cost",
    needs: &[Need::SamplesAndCalls],
    traits: &[Trait::Ours, Trait::CallsOneByOne],
    write: |analysis, writer| {
        let (Some(bounds), options) = (analysis.bounds(), analysis.options) else { return Ok(()) };
        writer.report(|out, frame| match frame {
            None => text::render(analysis, bounds, options, out),
            Some(frame) => table::render(analysis, bounds, options, frame, out),
        })
    },
    json: Some(json),
    mentions: |analysis, mention| {
        let Some(bounds) = analysis.bounds() else { return };
        bounds.rows.iter().for_each(|row| mention(row.function));
        for doubt in &bounds.doubts {
            if let BoundsDoubt::CallsAreMissing { example, .. } = doubt {
                mention(*example);
            }
        }
    },
    ..Report::OF_FUNCTIONS
};

fn json(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(bounds) = analysis.bounds() else { return Ok(()) };
    write_list("bounds", bounds.rows.iter().map(bounds_row), out)?;
    out.write_all(b",\n\"bounds_summary\":")?;
    write_record(&bounds_summary(bounds), out)
}

fn bounds_summary<'a>(bounds: &BoundsTable) -> Record<'a> {
    let doubt = |doubt: &BoundsDoubt| {
        let (reason, example, count) = match doubt {
            BoundsDoubt::CallsAreMissing { example, count } => ("missing calls", Some(example.index()), Some(*count)),
            BoundsDoubt::StartIsNotCounted => ("no call from outside", None, None),
            BoundsDoubt::NegativeSamples => ("negative samples", None, None),
            BoundsDoubt::CallsOnDemand => ("calls on demand", None, None),
            BoundsDoubt::JumpsAreUnknown { count } => ("unknown jumps", None, Some(*count)),
        };
        vec![("reason", reason.as_bytes().into()), ("function", example.into()), ("functions", count.into())]
    };
    vec![
        ("unseen", bounds.unseen.into()),
        ("upper_is_exact", bounds.is_upper_exact.into()),
        ("tail_calls", bounds.tail_calls.into()),
        ("rows_left_out", bounds.left_out.into()),
        ("doubts", bounds.doubts.iter().map(doubt).collect::<Vec<_>>().into()),
    ]
}

fn bounds_row<'a>(row: &BoundsRow) -> Record<'a> {
    vec![
        ("function", row.function.index().into()),
        ("self", row.self_time.into()),
        ("lower", row.lower.into()),
        ("estimate", row.estimate.into()),
        ("upper", row.upper.into()),
        ("calls", row.calls.into()),
    ]
}
