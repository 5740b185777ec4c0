//! The difference as a table.

use std::io::{self, Write};

use super::super::difference::cells;
use super::super::difference::runs;
use super::super::difference::text::{introduction, notes};
use crate::model::{Difference, DifferenceRow};
use crate::reports::table::cells::{Cells, printable};
use crate::reports::table::drawing::{Frame, RowSink, RowStyle, draw};
use crate::reports::table::more;
use crate::reports::table::widths::{column, name_column, optional_column};
use crate::terminal::Terminal;

pub(crate) fn render(difference: &Difference<'_, '_>, terminal: &Terminal, out: &mut dyn Write) -> io::Result<()> {
    introduction(difference, out)?;
    let options = difference.new_analysis().options;
    if runs::are_several(difference) {
        return render_runs(difference, terminal, out);
    }
    let unit = printable(difference.new_analysis().clock.dimension.as_bytes());
    let of = |what: &str, number: &str| format!("{what}\n{number}\n{unit}");
    let mut columns = vec![
        optional_column(5, of("self", "base")),
        column(of("self", "now")),
        column(of("self", "change")),
        optional_column(6, "self\n%"),
        optional_column(1, of("inclusive", "base")),
        optional_column(2, of("inclusive", "now")),
        optional_column(7, of("inclusive", "change")),
        optional_column(2, "inclusive\n%"),
        optional_column(1, "calls\nbase"),
        optional_column(3, "calls\nnow"),
        optional_column(4, "calls\nchange"),
        optional_column(0, "calls\n%"),
        column("mark"),
        name_column("name"),
    ];
    if options.errors {
        columns.insert(3, column("self\nerror"));
    }
    let hand_over = |_, take: RowSink<'_>| {
        let mut cells = Cells::default();
        for row in &difference.rows {
            cells.clear();
            fill(&mut cells, difference, row, options.errors);
            take(RowStyle::default(), &cells)?;
        }
        Ok(())
    };
    draw(&columns, hand_over, Frame::new(terminal, options), out)?;
    more::render(difference.left_out, "row", options, out)?;
    notes(difference, 0, out)
}

/// Draws the rows of several runs.
fn render_runs(difference: &Difference<'_, '_>, terminal: &Terminal, out: &mut dyn Write) -> io::Result<()> {
    let options = difference.new_analysis().options;
    let titled = |of: &runs::Column| {
        let title = of.title.join("\n");
        match of.rank {
            Some(rank) => optional_column(rank, title),
            None => column(title),
        }
    };
    let mut columns: Vec<_> = runs::COLUMNS.iter().map(titled).collect();
    columns.push(name_column("name"));
    let hand_over = |_, take: RowSink<'_>| {
        let mut cells = Cells::default();
        for row in &difference.rows {
            cells.clear();
            runs::cells(row).iter().for_each(|text| cells.text(text));
            cells.name(|columns| columns.text(&difference.row_name(row)));
            take(RowStyle::default(), &cells)?;
        }
        Ok(())
    };
    draw(&columns, hand_over, Frame::new(terminal, options), out)?;
    more::render(difference.left_out, "row", options, out)?;
    notes(difference, 0, out)
}

fn fill(cells: &mut Cells, difference: &Difference<'_, '_>, row: &DifferenceRow, has_errors: bool) {
    let DifferenceRow { own, inclusive, calls, .. } = row;
    cells.fixed(own.old, 2);
    cells.fixed(own.new, 2);
    cells.text(&cells::signed(own.absolute()));
    if has_errors {
        cells.text(&cells::error(own));
    }
    cells.text(&cells::percent(own));
    cells.fixed(inclusive.old, 2);
    cells.fixed(inclusive.new, 2);
    cells.text(&format!("{}{}", cells::signed(inclusive.absolute()), cells::noise_sign(inclusive)));
    cells.text(&cells::percent(inclusive));
    cells::calls(calls).iter().for_each(|text| cells.text(text));
    cells.text(cells::mark(row));
    cells.name(|columns| columns.text(&difference.row_name(row)));
}
