//! Draws tables.
//!
//! The rows are made twice: once to measure the columns, and once to be written. A table may be far larger than its
//! data, and is never in memory as a whole. A row is one line, however long its name is.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use super::cells::{Cells, push_shortened};
use crate::question::options::Options;
use crate::terminal::Terminal;

/// The smallest width of a column of names, however narrow the terminal is, and the largest width of any column.
const MIN_NAME_WIDTH: usize = 12;
const MAX_WIDTH: usize = 10_000;

/// If names have less room than this, optional columns are left out.
const COMFORTABLE_NAME_WIDTH: usize = 32;

/// A line across the table: its left end, the line itself, its crossing with the lines between columns, its right end.
type HorizontalLine = [&'static str; 4];
const TOP: HorizontalLine = ["┌", "─", "┬", "┐"];
const BELOW_TITLES: HorizontalLine = ["╞", "═", "╪", "╡"];
const BETWEEN: HorizontalLine = ["├", "─", "┼", "┤"];
const BOTTOM: HorizontalLine = ["└", "─", "┴", "┘"];
const BORDER: &str = "│";
const DIVIDER: &str = "┆";

/// The space and the style of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The width of a table in characters. A table may be wider if its columns need more room.
    pub(crate) width: usize,
    colors: bool,
}

impl Frame {
    /// Returns the frame that the options and the terminal give.
    pub(crate) fn new(terminal: &Terminal, options: &Options) -> Frame {
        Frame { width: options.width.unwrap_or(terminal.width()).min(MAX_WIDTH), colors: terminal.colors }
    }
}

/// A column.
pub(crate) struct Column {
    /// The title, of one or several lines.
    title: String,
    /// Whether the column has names. Names are aligned to the left, and lose their middles if they are too long.
    /// Everything else is aligned to the right.
    is_name: bool,
    /// Whether the column may be left out to make room for names. The column with the lowest number is left out first.
    optional: Option<u8>,
}

pub(crate) fn column(title: impl Into<String>) -> Column {
    Column { title: title.into(), is_name: false, optional: None }
}

pub(crate) fn optional_column(order: u8, title: impl Into<String>) -> Column {
    Column { optional: Some(order), ..column(title) }
}

pub(crate) fn name_column(title: &str) -> Column {
    Column { is_name: true, ..column(title) }
}

/// The style of a row.
#[derive(Clone, Copy, Default)]
pub(crate) struct RowStyle {
    /// Whether a line separates the row from the row above.
    pub(crate) is_apart: bool,
    /// The number of blanks in front of the row's names.
    pub(crate) indent: usize,
    pub(crate) style: Style,
}

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const HOT: Style = AnsiColor::Red.on_default();
pub(crate) const WARM: Style = AnsiColor::Green.on_default();

/// The purpose of a pass over the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Measure the columns. A cell needs a width only.
    Measure,
    /// Write the rows.
    Write,
}

/// A function that takes one row after the other.
pub(crate) type RowSink<'a> = &'a mut dyn FnMut(RowStyle, &Cells) -> io::Result<()>;

/// Draws a table. `rows` must hand over all rows in each pass.
pub(crate) fn draw(
    columns: &[Column],
    rows: impl Fn(Pass, RowSink<'_>) -> io::Result<()>,
    frame: Frame,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut widths: Vec<usize> = columns.iter().map(|column| text_width(&column.title)).collect();
    rows(Pass::Measure, &mut |row_style, cells| {
        for ((width, (_, cell)), column) in widths.iter_mut().zip(cells.iter()).zip(columns) {
            let indent = if column.is_name { row_style.indent } else { 0 };
            *width = (*width).max(cell + indent);
        }
        Ok(())
    })?;
    let mut drawing = Drawing { columns, widths: fit(&widths, columns, frame.width), frame, text: Vec::new() };
    drawing.across(TOP, out)?;
    drawing.titles(out)?;
    drawing.across(BELOW_TITLES, out)?;
    let mut is_first = true;
    rows(Pass::Write, &mut |row_style, cells| {
        if !std::mem::take(&mut is_first) && row_style.is_apart {
            drawing.across(BETWEEN, out)?;
        }
        drawing.row(row_style, cells, out)
    })?;
    drawing.across(BOTTOM, out)
}

/// Returns the width of a text of several lines.
fn text_width(text: &str) -> usize {
    text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
}

/// Returns the widths of the columns of a table in this room; `None` for a column that is left out. If there is too
/// little room for names, optional columns are left out first. Then names get the remaining room, but not less than
/// their smallest width.
fn fit(wanted: &[usize], columns: &[Column], room: usize) -> Vec<Option<usize>> {
    let mut widths: Vec<Option<usize>> = wanted.iter().copied().map(Some).collect();
    let of_names = columns.iter().filter(|column| column.is_name).count().max(1);
    let is_wanted =
        |at: usize, share: usize| columns[at].is_name && wanted[at] > share && share < COMFORTABLE_NAME_WIDTH;
    loop {
        let shown = || widths.iter().zip(columns).filter_map(|(width, column)| Some(((*width)?, column)));
        let numbers: usize = shown().filter(|(_, column)| !column.is_name).map(|(width, _)| width).sum();
        let lines_and_blanks = 3 * shown().count() + 1;
        let share = room.saturating_sub(numbers + lines_and_blanks) / of_names;
        let optional = (0..columns.len()).filter(|at| widths[*at].is_some() && columns[*at].optional.is_some());
        match optional
            .min_by_key(|at| columns[*at].optional)
            .filter(|_| (0..columns.len()).any(|at| is_wanted(at, share)))
        {
            Some(at) => widths[at] = None,
            None => {
                for (width, column) in widths.iter_mut().zip(columns) {
                    *width = width
                        .map(|width| width.min(if column.is_name { share.max(MIN_NAME_WIDTH) } else { MAX_WIDTH }));
                }
                return widths;
            }
        }
    }
}

struct Drawing<'a> {
    columns: &'a [Column],
    widths: Vec<Option<usize>>,
    frame: Frame,
    /// The line that is being formatted.
    text: Vec<u8>,
}

impl Drawing<'_> {
    /// Draws a line across the table.
    fn across(&mut self, [left, line, meeting, right]: HorizontalLine, out: &mut dyn Write) -> io::Result<()> {
        let pieces: Vec<String> = self.widths.iter().flatten().map(|width| line.repeat(width + 2)).collect();
        writeln!(out, "{left}{}{right}", pieces.join(meeting))
    }

    /// Draws the titles. Each line of the titles is a row.
    fn titles(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let lines = self.columns.iter().map(|column| column.title.lines().count()).max().unwrap_or(0);
        let mut cells = Cells::default();
        for line in 0..lines {
            cells.clear();
            for column in self.columns {
                cells.text(column.title.lines().nth(line).unwrap_or_default());
            }
            self.row(RowStyle { style: STRONG, ..RowStyle::default() }, &cells, out)?;
        }
        Ok(())
    }

    /// Draws a row, in color within its borders.
    fn row(&mut self, row_style: RowStyle, cells: &Cells, out: &mut dyn Write) -> io::Result<()> {
        let style = Some(row_style.style).filter(|style| self.frame.colors && *style != PLAIN);
        let text = &mut self.text;
        text.clear();
        text.extend_from_slice(BORDER.as_bytes());
        if let Some(style) = style {
            write!(text, "{style}")?;
        }
        let mut is_first = true;
        for ((cell, width), column) in cells.iter().zip(&self.widths).zip(self.columns) {
            let Some(width) = *width else { continue };
            if !std::mem::take(&mut is_first) {
                text.extend_from_slice(DIVIDER.as_bytes());
            }
            let indent = if column.is_name { row_style.indent.min(width) } else { 0 };
            // A blank stands on each side of the cell.
            if column.is_name {
                blanks(text, 1 + indent);
                let shown = push_shortened(cell, width - indent, text);
                blanks(text, width - indent - shown + 1);
            } else {
                blanks(text, 1 + width.saturating_sub(cell.1));
                push_shortened(cell, width, text);
                blanks(text, 1);
            }
        }
        if let Some(style) = style {
            write!(text, "{style:#}")?;
        }
        text.extend_from_slice(BORDER.as_bytes());
        text.push(b'\n');
        out.write_all(text)
    }
}

fn blanks(text: &mut Vec<u8>, count: usize) {
    text.resize(text.len() + count, b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(rows: &[&[&str]], width: usize, colors: bool) -> String {
        let columns = [column("%\ntime"), optional_column(1, "self"), name_column("name")];
        let hand_over = |_, take: RowSink<'_>| {
            for (at, row) in rows.iter().enumerate() {
                let mut cells = Cells::default();
                for cell in *row {
                    cells.text(cell);
                }
                let row_style = match at {
                    0 => RowStyle { style: HOT, ..RowStyle::default() },
                    _ => RowStyle { is_apart: at == 1, indent: 2, ..RowStyle::default() },
                };
                take(row_style, &cells)?;
            }
            Ok(())
        };
        let mut out = Vec::new();
        draw(&columns, hand_over, Frame { width, colors }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const ROWS: [&[&str]; 2] = [&["60.00", "1.23", "first"], &["", "", "second of them, with a long name"]];

    #[test]
    fn numbers_stand_to_the_right_and_names_on_one_line() {
        let whole = "\
┌───────┬──────┬────────────────────────────────────┐
│     % ┆ self ┆ name                               │
│  time ┆      ┆                                    │
╞═══════╪══════╪════════════════════════════════════╡
│ 60.00 ┆ 1.23 ┆ first                              │
├───────┼──────┼────────────────────────────────────┤
│       ┆      ┆   second of them, with a long name │
└───────┴──────┴────────────────────────────────────┘
";
        assert_eq!(drawn(&ROWS, 53, false), whole);
        assert_eq!(drawn(&ROWS, 1000, false), whole, "no wider than it must be");
        let narrow = "\
┌───────┬──────────────────────┐
│     % ┆ name                 │
│  time ┆                      │
╞═══════╪══════════════════════╡
│ 60.00 ┆ first                │
├───────┼──────────────────────┤
│       ┆   second of… long name │
└───────┴──────────────────────┘
";
        assert_eq!(drawn(&ROWS, 32, false), narrow.replace("second of… long name", "second of…ong name"));
    }

    #[test]
    fn columns_that_can_be_spared_make_room_for_names() {
        let width = |room| drawn(&ROWS, room, false).lines().next().unwrap().chars().count();
        let has_self = |room| drawn(&ROWS, room, false).contains("self");
        assert!(has_self(53) && !has_self(50) && has_self(51), "32 characters of a name are enough");
        assert_eq!([width(52), width(51), width(46), width(45)], [52, 51, 46, 45]);
        assert_eq!(width(1), 24, "no narrower than this");
    }

    #[test]
    fn colors_stay_within_the_borders() {
        let text = drawn(&ROWS, 53, true);
        assert!(text.contains("│\x1b[31m 60.00 ┆ 1.23 ┆ first "), "{text}");
        assert_eq!(text.matches("\x1b[0m│\n").count(), 3, "two lines of titles and a hot one: {text}");
        let bare = text.replace("\x1b[31m", "").replace("\x1b[1m", "").replace("\x1b[0m", "");
        assert_eq!(bare, drawn(&ROWS, 53, false));
    }

    #[test]
    fn wide_characters_count_for_what_they_take() {
        let text = drawn(&[&["1.00", "", "日本"], &["2.00", "", "x"]], 80, false);
        assert!(text.contains("│ 1.00 ┆      ┆ 日本 │") && text.contains("│ 2.00 ┆      ┆   x  │"), "{text}");
    }
}
