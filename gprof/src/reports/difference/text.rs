//! The difference as text.

use std::io::{self, Write};

use super::{cells, runs, verdict};
use crate::model::{Change, Difference, DifferenceRow};
use crate::reports::columns::Columns;
use crate::reports::number::{Fixed, General};
use crate::reports::{explanations, on_demand, warnings};

/// The widths of a column of times, of calls, and of marks.
const TIME: usize = 9;
const CALLS: usize = 11;
const ERROR: usize = 8;
const MARK: usize = 14;

pub(crate) fn render(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let has_errors = difference.new_analysis().options.errors;
    introduction(difference, out)?;
    if runs::are_several(difference) {
        rows_of_runs(difference, out)?;
        return notes(difference, difference.left_out, out);
    }
    titles(has_errors, out)?;
    let mut columns = Columns::default();
    for row in &difference.rows {
        fill(&mut columns, difference, row, has_errors);
        columns.take(out)?;
    }
    notes(difference, difference.left_out, out)
}

/// Writes the text above the columns: the totals, and what the times mean.
pub(crate) fn introduction(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let [base, new] = [difference.base_analysis(), difference.new_analysis()].map(|side| &side.clock);
    let unit = String::from_utf8_lossy(new.dimension.as_bytes());
    warnings::write(&warnings::of_difference(difference), out)?;
    let [of_base, of_new] = [difference.base_analysis(), difference.new_analysis()].map(cells::described);
    writeln!(out, "Difference:\n\nBase: {of_base}\nNow:  {of_new}\n")?;
    on_demand::notes_of_difference(difference).try_for_each(|note| writeln!(out, "{note}"))?;
    let [of_base, of_new] = [base, new].map(|clock| General(clock.time(1.0)));
    match base.rate == new.rate {
        true => writeln!(out, "Each sample counts as {of_new} {unit}.")?,
        false => writeln!(out, "Each sample counts as {of_new} {unit}, in the base as {of_base} {unit}.")?,
    }
    if let Some(factor) = difference.factor {
        let factor = General(factor);
        writeln!(out, "Times and calls of the base are multiplied by {factor}, so that both totals are the same.")?;
    }
    let Change { old, new, .. } = difference.total;
    let change = cells::signed(difference.total.absolute());
    let percent = Some(cells::percent(&difference.total)).filter(|percent| !percent.is_empty());
    let percent = percent.map(|percent| format!(" ({percent}%)")).unwrap_or_default();
    let [old, new] = [old, new].map(Fixed);
    writeln!(out, "Total: {old:.2} {unit} in the base, {new:.2} {unit} now, change {change} {unit}{percent}.")?;
    verdict::method(difference).into_iter().try_for_each(|line| writeln!(out, "{line}"))?;
    verdict::shows(difference).into_iter().try_for_each(|visible| writeln!(out, "{visible}"))?;
    if !runs::are_several(difference) {
        writeln!(out, "Changes of less than {:.2} standard errors are noise.", difference.noise_errors)?;
    }
    writeln!(out)?;
    let lines = verdict::lines(difference);
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    if lines.is_empty() { Ok(()) } else { writeln!(out) }
}

/// Writes the rows of several runs.
fn rows_of_runs(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let right = |text: &str, width: usize| format!("{}{text}", " ".repeat(width.saturating_sub(text.chars().count())));
    // A title of several columns stands above the first.
    let mut last = "";
    for column in &runs::COLUMNS {
        let is_new = std::mem::replace(&mut last, column.title[0]) != column.title[0];
        write!(out, "{}", right(if is_new { column.title[0] } else { "" }, column.width))?;
    }
    writeln!(out)?;
    runs::COLUMNS.iter().try_for_each(|column| write!(out, "{}", right(column.title[1], column.width)))?;
    writeln!(out, "  name")?;
    let mut columns = Columns::default();
    for row in &difference.rows {
        for (text, column) in runs::cells(row).iter().zip(&runs::COLUMNS) {
            // A number that is too wide for its column must not touch the number before it.
            columns.text(right(&format!(" {text}"), column.width).as_bytes());
        }
        columns.text(b"  ");
        columns.text(&difference.row_name(row));
        columns.text(b"\n");
        columns.take(out)?;
    }
    Ok(())
}

fn titles(has_errors: bool, out: &mut dyn Write) -> io::Result<()> {
    let errors = if has_errors { ERROR } else { 0 };
    let times = 4 * TIME;
    writeln!(
        out,
        "{:>self_times$}{:>inclusive$}{:>calls$}",
        "self",
        "inclusive",
        "calls",
        self_times = times + errors,
        inclusive = times + 1,
        calls = 3 * CALLS + TIME,
    )?;
    let error = if has_errors { format!("{:>ERROR$}", "error") } else { String::new() };
    let [base, new, change, percent] = ["base", "now", "change", "%"];
    write!(out, "{base:>TIME$}{new:>TIME$}{change:>TIME$}{error}{percent:>TIME$}")?;
    write!(out, "{base:>TIME$}{new:>TIME$}{change:>TIME$} {percent:>TIME$}")?;
    write!(out, "{base:>CALLS$}{new:>CALLS$}{change:>CALLS$}{percent:>TIME$}")?;
    writeln!(out, "  {:MARK$}  name", "mark")
}

fn fill(columns: &mut Columns, difference: &Difference<'_, '_>, row: &DifferenceRow, has_errors: bool) {
    let mut right = |text: &str, width: usize| {
        columns.blanks(width.saturating_sub(text.chars().count()));
        columns.text(text.as_bytes());
    };
    let fixed = |number: f64| format!("{:.2}", Fixed(number));
    let DifferenceRow { own, inclusive, calls, .. } = row;
    // A number that is too wide for its column must not touch the number before it.
    right(&fixed(own.old), TIME);
    right(&format!(" {}", fixed(own.new)), TIME);
    right(&format!(" {}", cells::signed(own.absolute())), TIME);
    if has_errors {
        right(&format!(" {}", cells::error(own)), ERROR);
    }
    right(&format!(" {}", cells::percent(own)), TIME);
    right(&format!(" {}", fixed(inclusive.old)), TIME);
    right(&format!(" {}", fixed(inclusive.new)), TIME);
    right(&format!(" {}", cells::signed(inclusive.absolute())), TIME);
    right(if cells::noise_sign(inclusive).is_empty() { " " } else { "~" }, 1);
    right(&format!(" {}", cells::percent(inclusive)), TIME);
    for (text, width) in cells::calls(calls).iter().zip([CALLS, CALLS, CALLS, TIME]) {
        right(&format!(" {text}"), width);
    }
    columns.text(format!("  {:MARK$}  ", cells::mark(row)).as_bytes());
    columns.text(&difference.row_name(row));
    columns.text(b"\n");
}

/// Writes the text below the columns. `left_out` is the number of functions beyond the limit, if the text tells the
/// number.
pub(crate) fn notes(difference: &Difference<'_, '_>, left_out: usize, out: &mut dyn Write) -> io::Result<()> {
    if difference.new_analysis().options.brief {
        return Ok(());
    }
    if left_out > 0 {
        writeln!(out, "\nFunctions left out by --top or --min-percent: {left_out}.")?;
    }
    let explanation =
        if runs::are_several(difference) { explanations::DIFFERENCE_OF_RUNS } else { explanations::DIFFERENCE };
    out.write_all(explanation.as_bytes())?;
    let source = if difference.is_measured { explanations::MEASURED_CHANGES } else { explanations::ESTIMATED_CHANGES };
    out.write_all(source.as_bytes())
}
