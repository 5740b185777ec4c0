//! The bounds of inclusive times as a table.

use std::io::{self, Write};

use crate::model::{Analysis, BoundsRow, BoundsTable};
use crate::question::options::Options;
use crate::reports::bounds::text::{introduction, notes};
use crate::reports::table::cells::{Cells, printable};
use crate::reports::table::drawing::{Frame, RowSink, RowStyle, column, draw, name_column, optional_column};

pub(crate) fn render(
    analysis: &Analysis<'_>,
    bounds: &BoundsTable,
    options: &Options,
    frame: Frame,
    out: &mut dyn Write,
) -> io::Result<()> {
    introduction(analysis, bounds, out)?;
    let dimension = printable(analysis.clock.dimension.as_bytes());
    let columns = [
        optional_column(2, format!("self\n{dimension}")),
        column(format!("lower\n{dimension}")),
        column(format!("estimate\n{dimension}")),
        column(format!("upper\n{dimension}")),
        optional_column(1, "calls"),
        name_column("name"),
    ];
    let hand_over = |_, take: RowSink<'_>| {
        let mut cells = Cells::default();
        for row in &bounds.rows {
            cells.clear();
            fill(&mut cells, analysis, row);
            take(RowStyle::default(), &cells)?;
        }
        Ok(())
    };
    draw(&columns, hand_over, frame, out)?;
    notes(analysis, bounds, options, out)
}

fn fill(cells: &mut Cells, analysis: &Analysis<'_>, row: &BoundsRow) {
    for time in [Some(row.self_time), Some(row.lower), row.estimate, Some(row.upper)] {
        match time {
            Some(time) => cells.fixed(time, 2),
            None => cells.blank(),
        }
    }
    match row.calls {
        Some(calls) => cells.count(calls),
        None => cells.blank(),
    }
    cells.name(|columns| columns.text(&analysis.name_with_location(row.function)));
}
