//! The flat profile: a row for each function.

use std::io::{self, Write};

use super::{blurbs, names};
use crate::analysis::Analysis;
use crate::number::{Fixed, General};
use crate::options::Options;

pub(super) fn render(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let (clock, table) = (&analysis.clock, &analysis.flat);
    if options.traditional && !options.brief {
        out.write_all(b"\n\n\nflat profile:\n")?;
        out.write_all(blurbs::FLAT.as_bytes())?;
    }
    header(analysis, options, out)?;
    let total = if table.total > 0.0 { table.total } else { 1.0 };
    let mut so_far = 0.0;
    for row in &table.rows {
        so_far += row.time;
        let percent = Fixed(100.0 * row.time / total);
        let (so_far, own) = (Fixed(so_far / clock.rate), Fixed(row.time / clock.rate));
        if options.traditional {
            write!(out, "{percent:5.1} {so_far:10.2} {own:8.2}")?;
        } else {
            write!(out, "{percent:6.2} {so_far:9.2} {own:8.2}")?;
        }
        if row.calls == 0 {
            write!(out, " {:8} {:8} {:8}  ", "", "", "")?;
        } else {
            let (factor, calls) = (table.unit.factor, row.calls as f64);
            let own = Fixed(factor * row.time / clock.rate / calls);
            let all = Fixed(factor * (row.time + row.children) / clock.rate / calls);
            write!(out, " {:8} {own:8.2} {all:8.2}  ", row.calls)?;
        }
        if options.traditional && analysis.calls.is_known {
            names::write_numbered(analysis, options, row.function, out)?;
        } else {
            out.write_all(&names::of_row(analysis, options, row))?;
            out.write_all(b"\n")?;
        }
    }
    if options.brief || options.traditional { Ok(()) } else { out.write_all(blurbs::FLAT.as_bytes()) }
}

fn header(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
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
    let unit = format!("{}{}/call", analysis.flat.unit.prefix, char::from(clock.abbrev));
    writeln!(out, "  %   cumulative   self              self     total           ")?;
    writeln!(
        out,
        "{:>5} {dimension:>9.9}  {dimension:>8.8} {:>8} {unit:>8.8} {unit:>8.8}  {:8}",
        "time", "calls", "name"
    )
}
