//! The flat profile as a table.

use std::io::{self, Write};

use anstyle::Style;

use super::super::flat::{Numbers, introduction, rows, unit};
use super::super::{blurbs, names};
use super::{Frame, Group, HOT, PLAIN, ROWS, WARM, column, draw, name_column, printable};
use crate::analysis::{Analysis, FlatRow};
use crate::options::Options;

pub(crate) fn render(analysis: &Analysis<'_>, options: &Options, frame: Frame, out: &mut dyn Write) -> io::Result<()> {
    introduction(analysis, options, out)?;
    let dimension = String::from_utf8_lossy(analysis.clock.dimension.as_bytes());
    let dimension = printable(dimension.as_bytes());
    let unit = printable(unit(analysis).as_bytes());
    let mut columns = vec![
        column("%\ntime"),
        column(format!("cumulative\n{dimension}")),
        column(format!("self\n{dimension}")),
        column("calls"),
        column(format!("self\n{unit}")),
        column(format!("total\n{unit}")),
        name_column("name"),
    ];
    if options.errors {
        columns.insert(3, column("error"));
    }
    let groups = || {
        let mut rows = rows(analysis).map(|(row, numbers)| (style(&numbers), row, numbers)).peekable();
        std::iter::from_fn(move || {
            let style = rows.peek()?.0;
            let mut group = Group { style, ..Group::default() };
            while let Some((_, row, numbers)) = rows.next_if(|row| row.0 == style && group.rows.len() < ROWS) {
                group.rows.push(cells(analysis, options, row, numbers));
            }
            Some(group)
        })
    };
    draw(&columns, groups, frame, out)?;
    blurbs::explain(blurbs::FLAT, options, out)
}

/// What takes much time is red, what takes some is green.
fn style(numbers: &Numbers) -> Style {
    match numbers.percent.0 {
        percent if percent >= 5.0 => HOT,
        percent if percent >= 0.5 => WARM,
        _ => PLAIN,
    }
}

fn cells(analysis: &Analysis<'_>, options: &Options, row: &FlatRow, numbers: Numbers) -> Vec<String> {
    let Numbers { percent, so_far, own, error, of_calls } = numbers;
    let (calls, own_of_call, total_of_call) = match of_calls {
        None => Default::default(),
        Some((own, total)) => (row.calls.to_string(), format!("{own:.2}"), format!("{total:.2}")),
    };
    let mut cells = vec![format!("{percent:.2}"), format!("{so_far:.2}"), format!("{own:.2}")];
    if options.errors {
        cells.push(error);
    }
    cells.extend([calls, own_of_call, total_of_call, printable(&names::of_row(analysis, options, row))]);
    cells
}
