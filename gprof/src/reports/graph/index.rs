//! The index: the numbers of the entries in the order of names, in three columns.

use std::io::{self, Read, Write};

use crate::model::graph::Node;
use crate::model::{Analysis, IndexEntry};
use crate::question::options::Options;
use crate::reports::names;

/// The number of columns.
pub(crate) const COLUMNS: usize = 3;

/// The width in characters, unless the user sets one.
const WIDTH: usize = 80;

pub(crate) fn render(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"Index by function name\n\n")?;
    let entries = analysis.index();
    let rows = entries.len().div_ceil(COLUMNS);
    for row in 0..rows {
        let mut line = Line { out, column: 0, start: 0 };
        for entry in entries.iter().skip(row).step_by(rows) {
            if options.traditional {
                line.traditional_cell(analysis, entry)?;
                continue;
            }
            line.cell(analysis, entry)?;
            line.start += options.width.unwrap_or(WIDTH).saturating_sub(1) / COLUMNS;
        }
        line.out.write_all(b"\n")?;
    }
    Ok(())
}

struct Line<'a> {
    out: &'a mut dyn Write,
    /// The number of characters written so far, without the blanks around numbers. GNU does not count these blanks, so
    /// columns drift to the right.
    column: usize,
    /// The column where the current cell should begin.
    start: usize,
}

impl Line<'_> {
    fn cell(&mut self, analysis: &Analysis<'_>, entry: &IndexEntry<'_>) -> io::Result<()> {
        let number = names::number(analysis, entry.node);
        self.column += number.len();
        let blanks = (self.start + 5).saturating_sub(self.column);
        self.column += blanks;
        // `write!` supports widths up to 65535.
        io::copy(&mut io::repeat(b' ').take(blanks as u64), &mut self.out)?;
        write!(self.out, " {number} ")?;
        match entry.node {
            Node::Function(id) => self.write(&analysis.name_with_location(id))?,
            Node::Cycle(at) => self.write(format!("<cycle {}>", at + 1).as_bytes())?,
        }
        if let Some(file) = &entry.file {
            self.write(b" (")?;
            self.write(&analysis.functions.written(file.as_ref().into()))?;
            self.write(b")")?;
        }
        Ok(())
    }

    /// Writes a cell of fixed width, and cuts long names.
    fn traditional_cell(&mut self, analysis: &Analysis<'_>, entry: &IndexEntry<'_>) -> io::Result<()> {
        write!(self.out, "{:>6.6} ", names::number(analysis, entry.node))?;
        let cycle;
        let name = match entry.node {
            Node::Function(id) => &*analysis.functions.written(analysis.functions[id].name.into()),
            Node::Cycle(at) => {
                cycle = format!("<cycle {}>", at + 1);
                cycle.as_bytes()
            }
        };
        let shown = &name[..name.len().min(19)];
        self.out.write_all(shown)?;
        write!(self.out, "{:blanks$}", "", blanks = 19 - shown.len())
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.column += text.len();
        self.out.write_all(text)
    }
}
