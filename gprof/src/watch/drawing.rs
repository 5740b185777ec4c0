//! Draws a reading.

use std::time::Duration;

use anstyle::{AnsiColor, Style};

use super::grid::Grid;
use super::readings::Reading;
use super::table::Table;
use super::view::{HELP, View};

/// The lines above the rows: the program, the counts, a message or the filter, and the heading.
const ABOVE: usize = 4;

/// The self times, in percent, from which on a row is red or green, as in the tables of reports.
const HOT: f64 = 5.0;
const WARM: f64 = 0.5;

const PLAIN: Style = Style::new();

/// What to draw besides the choices of the user.
pub(super) struct Page<'a> {
    pub(super) reading: &'a Reading<'a>,
    /// The time between two readings.
    pub(super) period: Duration,
    /// The number of rows at most.
    pub(super) top: Option<usize>,
    pub(super) has_colors: bool,
}

/// Draws one line of text.
pub(super) fn message(grid: &mut Grid, text: &str) {
    grid.write(0, text, PLAIN);
}

/// Draws everything.
pub(super) fn draw(grid: &mut Grid, view: &mut View, page: &Page<'_>) {
    let (_, rows) = grid.size();
    let Page { reading, period, .. } = page;
    grid.write(0, &reading.status.program_line(), Style::new().bold());
    let counts = reading.status.counts_line();
    grid.write(1, &format!("{counts}  every {} s  {}", period.as_secs_f64(), view.text()), PLAIN);
    let filter = view.filter_line();
    let end = grid.write(2, filter.as_ref().or(reading.status.message.as_ref()).map_or("", String::as_str), PLAIN);
    if view.is_typing {
        // The last character of the filter marks the place of the cursor.
        grid.cursor = Some((2, end.saturating_sub(1)));
    }
    let last = rows.saturating_sub(1);
    if view.shows_help {
        help(grid, last);
    } else {
        table(grid, view, page, last);
    }
    if last > ABOVE {
        grid.write(last, "q quit  ? help  s i c n sort  / filter  d per second  space pause", Style::new().invert());
    }
}

/// Draws the heading and the rows, above the line `last`.
fn table(grid: &mut Grid, view: &mut View, page: &Page<'_>, last: usize) {
    let Page { reading, top, has_colors, .. } = page;
    // Before the second reading there are no counts of a period.
    let none = Default::default();
    let (moment, seconds) = match (view.is_per_second, reading.period) {
        (true, Some((moment, seconds))) => (moment, Some(seconds)),
        (true, None) => (&none, Some(1.0)),
        (false, _) => (reading.counts, None),
    };
    let table = Table::new(moment, seconds, view.choice(*top), reading.names);
    view.settle(table.rows.len(), last.saturating_sub(ABOVE));
    grid.write(ABOVE - 1, &table.heading(view.choice(*top)), Style::new().invert());
    for (y, counts) in (ABOVE..last).zip(table.rows.iter().skip(view.first)) {
        let style = match table.percent(counts) {
            percent if percent >= HOT && *has_colors => color(AnsiColor::Red),
            percent if percent >= WARM && *has_colors => color(AnsiColor::Green),
            _ => PLAIN,
        };
        grid.write(y, &table.line(counts, reading.names), style);
    }
}

/// Draws the keys and what they do.
fn help(grid: &mut Grid, last: usize) {
    for (y, (keys, meaning)) in (ABOVE..last).zip(HELP) {
        grid.write(y, &format!("{keys:>12}  {meaning}"), PLAIN);
    }
}

fn color(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(color.into()))
}

#[cfg(test)]
#[path = "drawing/tests.rs"]
mod tests;
