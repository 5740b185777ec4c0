//! The flat profile: one row for each function.

use std::io::{self, Write};

use crate::model::{Analysis, Clock};
use crate::question::options::Options;
use crate::reports::number::{Fixed, General};
use crate::reports::{doubts, errors, estimates, explanations, names, on_demand, stacks};

pub(crate) fn render(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if options.traditional && !options.brief {
        out.write_all(b"\n\n\nflat profile:\n")?;
        out.write_all(explanations::FLAT.as_bytes())?;
    }
    introduction(analysis, options, out)?;
    let widths = Widths::new(analysis, options);
    columns(analysis, options, widths, out)?;
    let Widths { calls, own: own_width, all: all_width } = widths;
    for row in analysis.flat_rows() {
        let [percent, cumulative, own] = [row.percent, row.cumulative, row.self_time].map(Fixed);
        if options.traditional {
            write!(out, "{percent:5.1} {cumulative:10.2} {own:8.2}")?;
        } else {
            write!(out, "{percent:6.2} {cumulative:9.2} {own:8.2}")?;
        }
        if options.errors {
            write!(out, " {:>width$}", errors::text(row.error), width = errors::WIDTH)?;
        }
        match (row.self_per_call.map(Fixed), row.total_per_call.map(Fixed)) {
            (own, all) if row.estimate.is_some() => {
                let time = |time: Option<Fixed>| time.map(|time| estimated_time(time.0)).unwrap_or_default();
                let (number, own, all) = (estimates::cell(row.estimate), time(own), time(all));
                write!(out, " {number:>calls$} {own:>own_width$} {all:>all_width$}  ")?;
            }
            (Some(own), Some(all)) => write!(out, " {:calls$} {own:own_width$.2} {all:all_width$.2}  ", row.calls)?,
            (Some(own), None) => write!(out, " {:calls$} {own:own_width$.2} {:all_width$}  ", row.calls, "")?,
            _ if row.calls > 0 => write!(out, " {:calls$} {:own_width$} {:all_width$}  ", row.calls, "", "")?,
            _ => write!(out, " {:calls$} {:own_width$} {:all_width$}  ", "", "", "")?,
        }
        if options.traditional && analysis.wanted.calls {
            names::write_numbered(analysis, row.function, out)?;
        } else {
            out.write_all(&analysis.row_name(&row))?;
        }
        if let Some(range) = row.range {
            write!(out, " {}", doubts::text(range))?;
        }
        out.write_all(b"\n")?;
    }
    if options.traditional {
        return Ok(());
    }
    explanations::explain(explanations::FLAT, options, out)?;
    explanations::explain_on_demand(analysis, options, out)?;
    explanations::explain_doubts(analysis.flat_rows().any(|row| row.range.is_some()), options, out)
}

/// Writes the text above the columns.
pub(crate) fn introduction(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let clock = &analysis.clock;
    let dimension = String::from_utf8_lossy(clock.dimension.as_bytes());
    if options.traditional {
        let total = analysis.flat_samples();
        write!(out, "\ngranularity: each sample hit covers {} byte(s)", General(clock.granularity))?;
        if total > 0.0 {
            write!(out, " for {:.2}% of {:.2} {dimension}\n\n", Clock::percent_of_one(total), clock.time(total))?;
        }
    } else {
        write!(out, "Flat profile:\n\nEach sample counts as {} {dimension}.\n", General(clock.time(1.0)))?;
    }
    // A total of NaN must not print this line, so the comparison must not be negated.
    if analysis.flat_samples() <= 0.0 {
        out.write_all(b" no time accumulated\n\n")?;
    }
    // The calls are those of all runs, so total times for each call are too short if some runs have no stacks.
    if let Some(sums) = analysis.stacks().filter(|sums| sums.lack_runs()) {
        writeln!(out, "total: {}", stacks::summary(sums))?;
    }
    if let Some(note) = on_demand::note(analysis) {
        writeln!(out, "{note}")?;
    }
    out.write_all(stacks::calls(analysis).unwrap_or_default().as_bytes())?;
    Ok(())
}

/// Returns the unit of the times for each call.
pub(crate) fn unit(analysis: &Analysis<'_>) -> String {
    format!("{}{}/call", analysis.call_unit().prefix, char::from(analysis.clock.abbrev))
}

/// Returns a time of one call that follows from an estimated number of calls.
pub(crate) fn estimated_time(time: f64) -> String {
    format!("~{:.2}", Fixed(time))
}

/// The width of the column of calls, and of each column of times for each call, in GNU's and the BSDs' layouts.
const OF_CALL: usize = 8;

/// The widths of the column of calls, and of the columns of times for each call: wide enough for the one call of `main`
/// in nanoseconds. In GNU's and the BSDs' layouts, a number that is too wide moves the rest of its row.
#[derive(Clone, Copy)]
struct Widths {
    calls: usize,
    own: usize,
    all: usize,
}

impl Widths {
    fn new(analysis: &Analysis<'_>, options: &Options) -> Widths {
        let mut most = [0.0_f64; 2];
        let has_estimates = analysis.has_estimates();
        if options.rules.widens_columns || has_estimates {
            for row in analysis.flat_rows() {
                let times = [row.self_per_call, row.total_per_call].map(Option::unwrap_or_default);
                most = [most[0].max(times[0]), most[1].max(times[1])];
            }
        }
        let mark = usize::from(has_estimates);
        let [own, all] = most.map(|most| (format!("{:.2}", Fixed(most)).len() + mark).max(OF_CALL));
        let estimates = analysis.flat_rows().filter_map(|row| row.estimate).filter(|_| has_estimates);
        Widths { calls: estimates::width(estimates).max(OF_CALL), own, all }
    }
}

fn columns(analysis: &Analysis<'_>, options: &Options, widths: Widths, out: &mut dyn Write) -> io::Result<()> {
    let dimension = String::from_utf8_lossy(analysis.clock.dimension.as_bytes());
    let unit = unit(analysis);
    let (blank, error) =
        if options.errors { (format!(" {:1$}", "", errors::WIDTH), "   error") } else { (String::new(), "") };
    let Widths { calls, own, all } = widths;
    let (more, still_more) = (calls - OF_CALL + own - OF_CALL, all - OF_CALL);
    writeln!(
        out,
        "  %   cumulative   self  {blank}        {:more$}    self {:still_more$}    total           ",
        "", ""
    )?;
    writeln!(
        out,
        "{:>5} {dimension:>9.9}  {dimension:>8.8}{error} {:>calls$} {unit:>own$.8} {unit:>all$.8}  {:8}",
        "time", "calls", "name"
    )
}
