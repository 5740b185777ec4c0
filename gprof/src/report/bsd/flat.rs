//! The flat profile.

use std::io::{self, Write};

use super::{granularity, write_name};
use crate::analysis::FlatRow;
use crate::analysis::bsd::Report;
use crate::cli::bsd::Dialect;
use crate::report::number::Fixed;

/// In what units the times of calls are shown.
struct Units {
    name: &'static str,
    /// What seconds are multiplied by.
    factor: f64,
    /// Decimals of the times for each call.
    decimals: usize,
    /// Decimals of the sums.
    sum_decimals: usize,
}

/// The faster the clock, the smaller the unit.
fn units(report: &Report<'_>) -> Units {
    let small = report.dialect == Dialect::FreeBsd;
    if small && report.rate >= 1e7 {
        Units { name: "ns/call", factor: 1e9, decimals: 0, sum_decimals: 3 }
    } else if small && report.rate >= 1e4 {
        Units { name: "us/call", factor: 1e6, decimals: 0, sum_decimals: 3 }
    } else {
        Units { name: "ms/call", factor: 1e3, decimals: 2, sum_decimals: 2 }
    }
}

pub(super) fn render(report: &Report<'_>, rows: &[FlatRow<'_>], out: &mut dyn Write) -> io::Result<()> {
    granularity(report, report.total, "accumulated", out)?;
    let units = units(report);
    writeln!(out, "  %   cumulative   self              self     total           ")?;
    writeln!(out, " time   seconds   seconds    calls  {0}  {0}  name    ", units.name)?;
    let total = if report.total > 0.0 { report.total } else { 1.0 };
    let mut so_far = 0.0;
    for row in rows {
        so_far += row.time;
        let decimals = units.sum_decimals;
        let (percent, so_far) = (Fixed(100.0 * row.time / total), Fixed(so_far / report.rate));
        write!(out, "{percent:5.1} {so_far:10.decimals$} {:8.decimals$}", Fixed(row.time / report.rate))?;
        calls(report, row, &units, out)?;
        write_name(report, row.function, out)?;
    }
    Ok(())
}

/// The calls of a function and their times.
fn calls(report: &Report<'_>, row: &FlatRow<'_>, units: &Units, out: &mut dyn Write) -> io::Result<()> {
    let all = row.time + row.children;
    if row.calls != 0 {
        let decimals = units.decimals;
        let each = |time: f64| Fixed(units.factor * time / report.rate / row.calls as f64);
        write!(out, " {:8} {:8.decimals$} {:8.decimals$}  ", row.calls, each(row.time), each(all))
    } else if report.dialect == Dialect::FreeBsd && all != 0.0 {
        // How much of it is its own, since there are no calls to divide by.
        write!(out, " {:8} {:7.2}% {:8}  ", 0, Fixed(100.0 * row.time / all), "")
    } else {
        write!(out, " {:8} {:8} {:8}  ", "", "", "")
    }
}
