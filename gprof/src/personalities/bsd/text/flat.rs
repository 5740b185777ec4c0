//! The flat profile.

use std::io::{self, Write};

use super::granularity::granularity;
use super::names::write_name;
use crate::model::{FlatRow, RowSamples};
use crate::personalities::bsd::report::Report;
use crate::question::rules::Dialect;
use crate::reports::number::Fixed;

/// The numbers of decimals of times.
#[derive(Clone, Copy)]
struct Decimals {
    of_calls: usize,
    of_sums: usize,
}

impl Decimals {
    /// In units below milliseconds, times for each call are whole numbers, and sums have one more decimal.
    fn of(report: &Report<'_>) -> Decimals {
        let [of_calls, of_sums] = if report.flat.unit.prefix == 'm' { [2, 2] } else { [0, 3] };
        Decimals { of_calls, of_sums }
    }
}

pub(super) fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    granularity(report, report.flat.total, "accumulated", out)?;
    let decimals = Decimals::of(report);
    writeln!(out, "  %   cumulative   self              self     total           ")?;
    writeln!(out, " time   seconds   seconds    calls  {0}s/call  {0}s/call  name    ", report.flat.unit.prefix)?;
    for (row, numbers) in report.flat_rows() {
        let [percent, cumulative, own] = [numbers.percent, numbers.cumulative, numbers.self_time].map(Fixed);
        let of_sums = decimals.of_sums;
        write!(out, "{percent:5.1} {cumulative:10.of_sums$} {own:8.of_sums$}")?;
        calls(report, row, &numbers, decimals, out)?;
        write_name(report, row.function, out)?;
    }
    Ok(())
}

/// Writes the calls of a function, and the times for each call.
fn calls(
    report: &Report<'_>,
    row: &RowSamples<'_>,
    numbers: &FlatRow<'_>,
    Decimals { of_calls, .. }: Decimals,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some((own, all)) = numbers.per_call {
        write!(out, " {:8} {:8.of_calls$} {:8.of_calls$}  ", row.calls, Fixed(own), Fixed(all))
    } else if let Some(part) = row.own_percent().filter(|_| report.dialect == Dialect::FreeBsd) {
        // Without calls, the column shows the self time as a percentage of the total time.
        write!(out, " {:8} {:7.2}% {:8}  ", 0, Fixed(part), "")
    } else {
        write!(out, " {:8} {:8} {:8}  ", "", "", "")
    }
}
