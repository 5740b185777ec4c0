//! The index: the numbers of entries in the order of names, in three columns that are read downwards.

use std::io::{self, Write};

use super::names::number;
use crate::model::graph::Node;
use crate::personalities::bsd::report::Report;

const COLUMNS: usize = 3;

/// The number of characters of a name that are shown.
const WIDTH: usize = 19;

pub(super) fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"Index by function name\n\n")?;
    let rows = report.index.len().div_ceil(COLUMNS);
    for row in 0..rows {
        for node in report.index.iter().skip(row).step_by(rows) {
            write!(out, "{:>6.6} ", number(report, *node))?;
            match *node {
                Node::Function(id) => cell(&report.functions.written(report.functions[id].name.into()), out)?,
                Node::Cycle(at) => cell(format!("<cycle {}>", at + 1).as_bytes(), out)?,
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes as much of a name as fits, and blanks up to the next column.
fn cell(name: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let shown = name.get(..WIDTH).unwrap_or(name);
    out.write_all(shown)?;
    write!(out, "{:blanks$}", "", blanks = WIDTH - shown.len())
}
