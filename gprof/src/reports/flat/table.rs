//! The flat profile as a table.

use std::io::{self, Write};

use anstyle::Style;

use super::super::{doubts, errors, estimates, explanations};
use crate::model::{Analysis, FlatRow};
use crate::question::options::Options;
use crate::reports::flat::text::{estimated_time, introduction, unit};
use crate::reports::table::cells::{Cells, printable};
use crate::reports::table::drawing::{Frame, HOT, PLAIN, RowSink, RowStyle, WARM, draw};
use crate::reports::table::more;
use crate::reports::table::widths::{column, name_column, optional_column};

pub(crate) fn render(analysis: &Analysis<'_>, options: &Options, frame: Frame, out: &mut dyn Write) -> io::Result<()> {
    introduction(analysis, options, out)?;
    let dimension = String::from_utf8_lossy(analysis.clock.dimension.as_bytes());
    let dimension = printable(dimension.as_bytes());
    let unit = printable(unit(analysis).as_bytes());
    let mut columns = vec![
        column("%\ntime"),
        optional_column(1, format!("cumulative\n{dimension}")),
        column(format!("self\n{dimension}")),
        column("calls"),
        // The column is the quotient of two other columns, so it is the most dispensable.
        optional_column(2, format!("self\n{unit}")),
        optional_column(3, format!("total\n{unit}")),
        name_column("name"),
    ];
    if options.errors {
        columns.insert(3, column("error"));
    }
    let hand_over = |_, take: RowSink<'_>| {
        let mut cells = Cells::default();
        for row in analysis.flat_rows() {
            let row_style = RowStyle { style: style(&row), ..RowStyle::default() };
            cells.clear();
            fill(&mut cells, analysis, options, &row);
            take(row_style, &cells)?;
        }
        Ok(())
    };
    draw(&columns, hand_over, frame, out)?;
    more::render(analysis.flat_profile().left_out.count, "row", options, out)?;
    explanations::explain(explanations::FLAT, options, out)?;
    explanations::explain_on_demand(analysis, options, out)?;
    explanations::explain_doubts(analysis.flat_rows().any(|row| row.range.is_some()), options, out)
}

/// Returns red for rows that take much time, and green for rows that take some.
fn style(row: &FlatRow<'_>) -> Style {
    match row.percent {
        percent if percent >= 5.0 => HOT,
        percent if percent >= 0.5 => WARM,
        _ => PLAIN,
    }
}

fn fill<'data>(cells: &mut Cells, analysis: &Analysis<'data>, options: &Options, row: &FlatRow<'data>) {
    let FlatRow { percent, cumulative, self_time, error, calls, self_per_call, total_per_call, .. } = *row;
    [percent, cumulative, self_time].iter().for_each(|number| cells.fixed(*number, 2));
    if options.errors {
        cells.text(&errors::text(error));
    }
    match calls {
        _ if row.estimate.is_some() => cells.text(&estimates::cell(row.estimate)),
        0 => cells.blank(),
        _ => cells.count(calls),
    }
    for time in [self_per_call, total_per_call] {
        match time {
            Some(time) if row.estimate.is_some() => cells.text(&estimated_time(time)),
            Some(time) => cells.fixed(time, 2),
            None => cells.blank(),
        }
    }
    cells.name(|columns| {
        columns.text(&analysis.row_name(row));
        if let Some(range) = row.range {
            columns.text(format!(" {}", doubts::text(range)).as_bytes());
        }
    });
}
