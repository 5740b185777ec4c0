//! The flat profile: a row for each function.

use std::io::{self, Write};

use super::{blurbs, errors, names};
use crate::analysis::{Analysis, FlatRow};
use crate::cli::options::Options;
use crate::report::number::{Fixed, General};

pub(super) fn render(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if options.traditional && !options.brief {
        out.write_all(b"\n\n\nflat profile:\n")?;
        out.write_all(blurbs::FLAT.as_bytes())?;
    }
    introduction(analysis, options, out)?;
    let widths = widths(analysis, options);
    columns(analysis, options, widths, out)?;
    let [own_width, all_width] = widths;
    for (row, numbers) in rows(analysis) {
        let Numbers { percent, so_far, own, .. } = numbers;
        if options.traditional {
            write!(out, "{percent:5.1} {so_far:10.2} {own:8.2}")?;
        } else {
            write!(out, "{percent:6.2} {so_far:9.2} {own:8.2}")?;
        }
        if options.errors {
            write!(out, " {:>width$}", numbers.error, width = errors::WIDTH)?;
        }
        match numbers.of_calls {
            None => write!(out, " {:8} {:own_width$} {:all_width$}  ", "", "", "")?,
            Some((own, all)) => write!(out, " {:8} {own:own_width$.2} {all:all_width$.2}  ", row.calls)?,
        }
        if options.traditional && analysis.calls.is_known {
            names::write_numbered(analysis, options, row.function, out)?;
        } else {
            out.write_all(&names::of_row(analysis, options, row))?;
        }
        out.write_all(b"\n")?;
    }
    if options.traditional { Ok(()) } else { blurbs::explain(blurbs::FLAT, options, out) }
}

/// The numbers of a row, in the units in which they are shown.
pub(super) struct Numbers {
    /// The part of all time, in percent.
    pub(super) percent: Fixed,
    /// The time of this row and all above it.
    pub(super) so_far: Fixed,
    /// The function's own time.
    pub(super) own: Fixed,
    /// The standard error of that.
    pub(super) error: String,
    /// Own time and whole time of one call, if there were any calls.
    pub(super) of_calls: Option<(Fixed, Fixed)>,
}

/// The rows with their numbers.
pub(super) fn rows<'a>(analysis: &'a Analysis<'_>) -> impl Iterator<Item = (&'a FlatRow<'a>, Numbers)> {
    let (clock, table) = (&analysis.clock, &analysis.flat);
    let total = if table.total > 0.0 { table.total } else { 1.0 };
    let mut so_far = 0.0;
    table.rows.iter().map(move |row| {
        so_far += row.time;
        let (factor, calls) = (table.unit.factor, row.calls as f64);
        let of_calls = || {
            let own = Fixed(factor * row.time / clock.rate / calls);
            (own, Fixed(factor * (row.time + row.children) / clock.rate / calls))
        };
        let numbers = Numbers {
            percent: Fixed(100.0 * row.time / total),
            so_far: Fixed(so_far / clock.rate),
            own: Fixed(row.time / clock.rate),
            error: errors::text(row.error, clock),
            of_calls: (row.calls != 0).then(of_calls),
        };
        (row, numbers)
    })
}

/// What stands above the columns.
pub(super) fn introduction(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let clock = &analysis.clock;
    let dimension = String::from_utf8_lossy(clock.dimension.as_bytes());
    if options.traditional {
        let total = analysis.flat.total;
        write!(out, "\ngranularity: each sample hit covers {} byte(s)", General(clock.granularity))?;
        if total > 0.0 {
            write!(out, " for {:.2}% of {:.2} {dimension}\n\n", 100.0 / total, total / clock.rate)?;
        }
    } else {
        write!(out, "Flat profile:\n\nEach sample counts as {} {dimension}.\n", General(1.0 / clock.rate))?;
    }
    // Written the other way round, what is no number would be taken for time.
    if analysis.flat.total <= 0.0 {
        out.write_all(b" no time accumulated\n\n")?;
    }
    Ok(())
}

/// The unit of times for each call.
pub(super) fn unit(analysis: &Analysis<'_>) -> String {
    format!("{}{}/call", analysis.flat.unit.prefix, char::from(analysis.clock.abbrev))
}

/// How wide the originals make each of the columns of times for each call.
const OF_CALL: usize = 8;

/// How wide the columns of times for each call are: wide enough for the one call of `main` in nanoseconds. In the layouts
/// of the originals a number that is too wide moves the rest of its row.
fn widths(analysis: &Analysis<'_>, options: &Options) -> [usize; 2] {
    let mut most = [0.0_f64; 2];
    if !options.is_gnu() && !options.traditional {
        for (own, all) in rows(analysis).filter_map(|(_, numbers)| numbers.of_calls) {
            most = [most[0].max(own.0), most[1].max(all.0)];
        }
    }
    most.map(|most| format!("{:.2}", Fixed(most)).len().max(OF_CALL))
}

fn columns(analysis: &Analysis<'_>, options: &Options, [own, all]: [usize; 2], out: &mut dyn Write) -> io::Result<()> {
    let dimension = String::from_utf8_lossy(analysis.clock.dimension.as_bytes());
    let unit = unit(analysis);
    let (blank, error) =
        if options.errors { (format!(" {:1$}", "", errors::WIDTH), "   error") } else { (String::new(), "") };
    let (more, still_more) = (own - OF_CALL, all - OF_CALL);
    writeln!(
        out,
        "  %   cumulative   self  {blank}        {:more$}    self {:still_more$}    total           ",
        "", ""
    )?;
    writeln!(
        out,
        "{:>5} {dimension:>9.9}  {dimension:>8.8}{error} {:>8} {unit:>own$.8} {unit:>all$.8}  {:8}",
        "time", "calls", "name"
    )
}
