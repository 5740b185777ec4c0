//! The index as a table: as many columns of names as fit, which are read downwards.

use std::io::{self, Write};

use super::super::names;
use crate::model::graph::Node;
use crate::model::{Analysis, IndexEntry};
use crate::reports::graph::index;
use crate::reports::table::cells::Cells;
use crate::reports::table::drawing::{Frame, RowSink, RowStyle, draw};
use crate::reports::table::more;
use crate::reports::table::widths::{column, name_column};

pub(crate) fn render(analysis: &Analysis<'_>, frame: Frame, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"Index by function name\n\n")?;
    let entries = analysis.index();
    let add = |cells: &mut Cells, entry: &IndexEntry<'_>| {
        cells.text(&names::number(analysis, entry.node));
        cells.name(|columns| columns.text(&name(analysis, entry)));
    };
    let mut widest = [INDEX.len(), NAME.len()];
    let mut cells = Cells::default();
    for entry in entries {
        cells.clear();
        add(&mut cells, entry);
        widest.iter_mut().zip(cells.iter()).for_each(|(widest, (_, width))| *widest = width.max(*widest));
    }
    let lines_and_blanks = 6;
    let room = frame.width.saturating_sub(1) / (widest[0] + widest[1] + lines_and_blanks);
    let rows = entries.len().div_ceil(room.clamp(1, index::COLUMNS));
    let pairs = if rows == 0 { 1 } else { entries.len().div_ceil(rows) };
    let columns: Vec<_> = (0..pairs).flat_map(|_| [column(INDEX), name_column(NAME)]).collect();
    let hand_over = |_, take: RowSink<'_>| {
        let mut cells = Cells::default();
        for row in 0..rows {
            cells.clear();
            entries.iter().skip(row).step_by(rows).for_each(|entry| add(&mut cells, entry));
            // The last column of names may be shorter.
            (cells.len()..columns.len()).for_each(|_| cells.blank());
            take(RowStyle::default(), &cells)?;
        }
        Ok(())
    };
    draw(&columns, hand_over, frame, out)?;
    more::render(analysis.graph_entries().left_out.count, "function", analysis.options, out)
}

const INDEX: &str = "index";
const NAME: &str = "name";

fn name(analysis: &Analysis<'_>, entry: &IndexEntry<'_>) -> Vec<u8> {
    let mut name = match entry.node {
        Node::Function(id) => analysis.name_with_location(id).into_owned(),
        Node::Cycle(at) => format!("<cycle {}>", at + 1).into_bytes(),
    };
    if let Some(file) = &entry.file {
        name.extend([b" (".as_slice(), file, b")"].concat());
    }
    name
}
