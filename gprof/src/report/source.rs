//! Annotated source files.

use std::io::{self, Write};

use crate::annotate::AnnotatedFile;
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
    for (line, count) in &file.lines {
        match count {
            None => write!(out, "{:WIDTH$}", "")?,
            Some(count) if *count < options.annotation.min_count => write!(out, "{:>WIDTH$}", "##### -> ")?,
            Some(count) => write!(out, "{:>WIDTH$.WIDTH$}", format!("{count} -> "))?,
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
    writeln!(out, "\nExecution Summary:\n")?;
    writeln!(out, "{:9}   Executable lines in this file", file.executable)?;
    // Every line with a count belongs to a function and is taken for executed, whatever the count.
    writeln!(out, "{:9}   Lines executed", file.executable)?;
    writeln!(out, "{:9.2}   Percent of the file executed", 100.0)?;
    writeln!(out, "\n{:9}   Total number of line executions", file.calls)?;
    writeln!(out, "{:9.2}   Average executions per line", Fixed(average))
}
