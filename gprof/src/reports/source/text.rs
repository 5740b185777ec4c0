//! Annotated source files.

use std::cmp::Reverse;
use std::io::{self, Write};

use crate::model::ordered::Ordered;
use crate::question::options::Options;
use crate::reports::estimates;
use crate::reports::number::{Fixed, counted};
use crate::reports::source::annotate::{AnnotatedFile, Label, Times};

/// The width of the counts.
const WIDTH: usize = 16;

/// Writes one source file.
///
/// # Errors
///
/// The errors of `out`.
pub(crate) fn render(file: &AnnotatedFile, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let is_rare = |counts: &[u64]| {
        counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count)) < options.annotation.min_count
    };
    if let Some(times) = &file.times {
        // The arrow behind the counts is 4 characters wide.
        writeln!(out, "{:>9} {:>width$}\n", times.unit, "calls", width = WIDTH - 4)?;
    }
    for (at, (line, label)) in (1..).zip(file.lines()) {
        match file.times.as_ref().map(|times| times.of_lines.get(&at)) {
            None => {}
            Some(None) => write!(out, "{:10}", "")?,
            Some(Some(time)) => write!(out, "{:9.2} ", Fixed(*time))?,
        }
        match label {
            Label::NoCode | Label::Uncounted => write!(out, "{:WIDTH$}", "")?,
            Label::Estimated(estimate) => write!(out, "{:>WIDTH$}", format!("{} -> ", estimates::short(estimate)))?,
            Label::Counts(counts) if is_rare(counts) => write!(out, "{:>WIDTH$}", "##### -> ")?,
            Label::Counts(counts) => {
                let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
                write!(out, "{:>WIDTH$.WIDTH$}", format!("{} -> ", counts.join(",")))?;
            }
        }
        out.write_all(line)?;
    }
    if options.annotation.table_length > 0 {
        write!(out, "\n\nTop {} Lines:\n\n     Line      Count\n\n", options.annotation.table_length)?;
        for (line, calls) in &file.top {
            writeln!(out, "{line:9} {calls:10}")?;
        }
        if let Some(times) = &file.times {
            slowest(times, options.annotation.table_length, out)?;
        }
    }
    summary(file, out)
}

/// Writes the lines that took most time.
fn slowest(times: &Times, most: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut lines: Vec<(u32, f64)> = times.of_lines.iter().map(|(line, time)| (*line, *time)).collect();
    lines.sort_by_key(|(line, time)| (Reverse(Ordered(*time)), *line));
    write!(out, "\n\nTop {most} Lines by Self Time:\n\n     Line {:>10}\n\n", times.unit)?;
    for (line, time) in lines.into_iter().take(most) {
        writeln!(out, "{line:9} {:10.2}", Fixed(time))?;
    }
    Ok(())
}

fn summary(file: &AnnotatedFile, out: &mut dyn Write) -> io::Result<()> {
    let average = if file.executable == 0 { 0.0 } else { file.calls as f64 / file.executable as f64 };
    // A line with a count is executed, even if the count is 0.
    let percent = if file.executable == 0 { 100.0 } else { 100.0 * file.counted as f64 / file.executable as f64 };
    writeln!(out, "\nExecution Summary:\n")?;
    writeln!(out, "{:9}   Executable lines in this file", file.executable)?;
    writeln!(out, "{:9}   Lines executed", file.counted)?;
    writeln!(out, "{percent:9.2}   Percent of the file executed")?;
    writeln!(out, "\n{:9}   Total number of line executions", file.calls)?;
    writeln!(out, "{:9.2}   Average executions per line", Fixed(average))?;
    let estimated = file.lines().filter(|(_, label)| matches!(label, Label::Estimated(_))).count();
    if estimated > 0 {
        let lines = counted(estimated as u64, "line");
        writeln!(out, "\nThe calls of {lines} are estimates (~), which these numbers do not contain.")?;
    }
    match &file.times {
        None => Ok(()),
        Some(times) => {
            let whole: f64 = times.of_lines.values().sum();
            writeln!(out, "{:9.2}   Self {} of all lines", Fixed(whole + 0.0), times.unit)
        }
    }
}
