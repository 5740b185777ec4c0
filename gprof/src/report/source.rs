//! Annotated source files.

use std::io::{self, Write};

use crate::annotate::{AnnotatedFile, Label};
use crate::number::Fixed;
use crate::options::Options;

/// How wide the counts are.
const WIDTH: usize = 16;

/// Writes one file.
///
/// # Errors
///
/// Those of `out`.
pub fn render(file: &AnnotatedFile, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let is_rare = |counts: &[u64]| {
        counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count)) < options.annotation.min_count
    };
    for (line, label) in file.lines() {
        match label {
            Label::NoCode | Label::Uncounted => write!(out, "{:WIDTH$}", "")?,
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
    }
    summary(file, out)
}

fn summary(file: &AnnotatedFile, out: &mut dyn Write) -> io::Result<()> {
    let average = if file.executable == 0 { 0.0 } else { file.calls as f64 / file.executable as f64 };
    // A line that was counted is taken for executed, whatever the count.
    let percent = if file.executable == 0 { 100.0 } else { 100.0 * file.counted as f64 / file.executable as f64 };
    writeln!(out, "\nExecution Summary:\n")?;
    writeln!(out, "{:9}   Executable lines in this file", file.executable)?;
    writeln!(out, "{:9}   Lines executed", file.counted)?;
    writeln!(out, "{percent:9.2}   Percent of the file executed")?;
    writeln!(out, "\n{:9}   Total number of line executions", file.calls)?;
    writeln!(out, "{:9.2}   Average executions per line", Fixed(average))
}
