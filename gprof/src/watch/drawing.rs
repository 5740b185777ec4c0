//! Draws a reading.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};

use super::readings::Reading;
use super::table::Table;
use super::view::{HELP, View};

/// The lines above the rows: the program, the counts, a message or the filter, and the heading.
const ABOVE: u16 = 4;

/// The self times, in percent, from which on a row is red or green, as in the tables of reports.
const HOT: f64 = 5.0;
const WARM: f64 = 0.5;

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
pub(super) fn message(frame: &mut Frame<'_>, text: &str) {
    line(frame, 0, text, Style::new());
}

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, view: &mut View, page: &Page<'_>) {
    let Rect { height, .. } = frame.area();
    let Page { reading, period, .. } = page;
    let strong = Style::new().add_modifier(Modifier::BOLD);
    line(frame, 0, &reading.status.program_line(), strong);
    let counts = reading.status.counts_line();
    line(frame, 1, &format!("{counts}  every {} s  {}", period.as_secs_f64(), view.text()), Style::new());
    let filter = view.filter_line();
    line(frame, 2, filter.as_ref().or(reading.status.message.as_ref()).map_or("", String::as_str), Style::new());
    let last = height.saturating_sub(1);
    if view.shows_help {
        help(frame, last);
    } else {
        table(frame, view, page, last);
    }
    let reversed = Style::new().add_modifier(Modifier::REVERSED);
    if last > ABOVE {
        line(frame, last, "q quit  ? help  s i c n sort  / filter  d per second  space pause", reversed);
    }
    if view.is_typing
        && let Some(filter) = filter
    {
        let column =
            u16::try_from(filter.chars().count()).unwrap_or(u16::MAX).min(frame.area().width).saturating_sub(1);
        frame.set_cursor_position(Position::new(column, 2));
    }
}

/// Draws the heading and the rows, above the line `last`.
fn table(frame: &mut Frame<'_>, view: &mut View, page: &Page<'_>, last: u16) {
    let Page { reading, top, has_colors, .. } = page;
    // Before the second reading there are no counts of a period.
    let none = Default::default();
    let (moment, seconds) = match (view.is_per_second, reading.period) {
        (true, Some((moment, seconds))) => (moment, Some(seconds)),
        (true, None) => (&none, Some(1.0)),
        (false, _) => (reading.counts, None),
    };
    let table = Table::new(moment, seconds, view.choice(*top), reading.names);
    view.settle(table.rows.len(), usize::from(last.saturating_sub(ABOVE)));
    line(frame, ABOVE - 1, &table.heading(view.choice(*top)), Style::new().add_modifier(Modifier::REVERSED));
    for (y, counts) in (ABOVE..last).zip(table.rows.iter().skip(view.first)) {
        let style = match table.percent(counts) {
            percent if percent >= HOT && *has_colors => Style::new().fg(Color::Red),
            percent if percent >= WARM && *has_colors => Style::new().fg(Color::Green),
            _ => Style::new(),
        };
        line(frame, y, &table.line(counts, reading.names), style);
    }
}

/// Draws the keys and what they do.
fn help(frame: &mut Frame<'_>, last: u16) {
    for (y, (keys, meaning)) in (ABOVE..last).zip(HELP) {
        line(frame, y, &format!("{keys:>12}  {meaning}"), Style::new());
    }
}

/// Draws one line, as much as fits.
fn line(frame: &mut Frame<'_>, y: u16, text: &str, style: Style) {
    let area = frame.area();
    if y < area.height {
        let reversed = style.add_modifier.contains(Modifier::REVERSED);
        frame.buffer_mut().set_stringn(0, y, text, usize::from(area.width), style);
        if reversed {
            frame.buffer_mut().set_style(Rect { y, height: 1, ..area }, style);
        }
    }
}

#[cfg(test)]
#[path = "drawing/tests.rs"]
mod tests;
