//! Reports as tables: what they have in common, which is drawing.
//!
//! A table is drawn in groups of rows, each by a [`comfy_table::Table`] of its own whose columns are as wide as those of all
//! others: one for everything would have to be in memory as a whole, several times over, before its first line is
//! written. The widths are found in a first pass over the rows.

mod flat;
mod graph;
mod index;

pub(super) use flat::render as flat;
pub(super) use graph::render as graph;
pub(super) use index::render as index;

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentLineStyle, LineStyle, Row, Table, TableStyle, Width};
use unicode_width::UnicodeWidthStr;

use crate::options::Options;
use crate::terminal::Terminal;

/// How many rows a group has at most.
const ROWS: usize = 1000;

/// What a column of names has at least, however narrow the terminal, and what anything has at most.
const NARROW: usize = 12;
const WIDE: usize = 10_000;

/// Longer names are cut off: nobody reads them in a column, and what breaks words to the width of one takes time that
/// grows with their square. The plain reports have them whole.
const LONGEST: usize = 4000;

const TOP: LineStyle = LineStyle::new('┌', '─', '┬', '┐');
const BETWEEN: LineStyle = LineStyle::new('├', '─', '┼', '┤');
const BOTTOM: LineStyle = LineStyle::new('└', '─', '┴', '┘');
const BORDER: char = '│';

/// The look of all groups, which differ in what stands above and below.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::new(BORDER, '┆', BORDER))
    .header_separator(LineStyle::new('╞', '═', '╪', '╡'))
    .content_lines(ContentLineStyle::new(BORDER, '┆', BORDER));

/// What tables are drawn into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The width of a table, in characters, as far as that is enough.
    width: usize,
    colours: bool,
}

impl Frame {
    /// As wide as the user says, or else as there is room.
    pub(super) fn new(terminal: &Terminal, options: &Options) -> Frame {
        Frame { width: options.width.unwrap_or(terminal.width()).min(WIDE), colours: terminal.colours }
    }
}

/// A column.
struct Column {
    /// One line of it or several.
    title: String,
    /// Names stand to the left and are cut into lines when they are too long. Everything else stands to the right.
    is_name: bool,
}

fn column(title: impl Into<String>) -> Column {
    Column { title: title.into(), is_name: false }
}

fn name_column(title: &str) -> Column {
    Column { title: title.to_owned(), is_name: true }
}

/// Some rows, which look the same.
#[derive(Default)]
struct Group {
    rows: Vec<Vec<String>>,
    /// Whether a line sets them apart from those above.
    is_apart: bool,
    /// By how many characters names are moved to the right.
    indent: u16,
    style: Style,
}

const PLAIN: Style = Style::new();
const STRONG: Style = Style::new().bold();
const HOT: Style = AnsiColor::Red.on_default();
const WARM: Style = AnsiColor::Green.on_default();

/// Draws a table. The groups are made twice, and both times are the same.
fn draw<I: Iterator<Item = Group>>(
    columns: &[Column],
    groups: impl Fn() -> I,
    frame: Frame,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut widths: Vec<usize> = columns.iter().map(|column| text_width(&column.title)).collect();
    for group in groups() {
        for row in &group.rows {
            for ((width, cell), column) in widths.iter_mut().zip(row).zip(columns) {
                let indent = if column.is_name { usize::from(group.indent) } else { 0 };
                *width = (*width).max(text_width(cell) + indent);
            }
        }
    }
    fit(&mut widths, columns, frame.width);
    let drawing = Drawing { columns, widths, frame };
    let mut groups = groups().peekable();
    let titles = Some(columns.iter().map(|column| column.title.clone()).collect());
    drawing.group(titles, Group { style: STRONG, ..Group::default() }, groups.peek().is_none(), out)?;
    let mut is_first = true;
    while let Some(group) = groups.next() {
        let is_apart = !std::mem::take(&mut is_first) && group.is_apart;
        drawing.group(None, Group { is_apart, ..group }, groups.peek().is_none(), out)?;
    }
    Ok(())
}

/// The width of a text of several lines.
fn text_width(text: &str) -> usize {
    text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
}

/// Makes columns of names so narrow that the table has room, but not narrower than they can be.
fn fit(widths: &mut [usize], columns: &[Column], room: usize) {
    let of_names = columns.iter().filter(|column| column.is_name).count();
    let numbers: usize = widths.iter().zip(columns).filter(|(_, column)| !column.is_name).map(|(width, _)| width).sum();
    let lines_and_blanks = 3 * columns.len() + 1;
    let share = room.saturating_sub(numbers + lines_and_blanks) / of_names.max(1);
    for (width, column) in widths.iter_mut().zip(columns) {
        *width = (*width).min(if column.is_name { share.max(NARROW) } else { WIDE });
    }
}

struct Drawing<'a> {
    columns: &'a [Column],
    widths: Vec<usize>,
    frame: Frame,
}

impl Drawing<'_> {
    /// Draws titles or rows, with the lines above and below.
    fn group(&self, titles: Option<Vec<String>>, group: Group, is_last: bool, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new();
        let top = match (&titles, group.is_apart) {
            (Some(_), _) => TOP,
            (None, true) => BETWEEN,
            (None, false) => LineStyle::none(),
        };
        table.load_style(STYLE.top_border(top).bottom_border(if is_last { BOTTOM } else { LineStyle::none() }));
        if let Some(titles) = titles {
            table.set_header(self.row(titles));
        }
        table.add_rows(group.rows.into_iter().map(|row| self.row(row)));
        for ((column, width), drawn) in self.columns.iter().zip(&self.widths).zip(table.column_iter_mut()) {
            let indent = if column.is_name { group.indent } else { 0 };
            drawn.set_padding((1 + indent, 1));
            // Blanks at both sides are part of the width.
            let width = u16::try_from(*width + 2).unwrap_or(u16::MAX);
            drawn.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
        }
        for line in table.lines() {
            self.line(&line, group.style, out)?;
        }
        Ok(())
    }

    fn row(&self, cells: Vec<String>) -> Row {
        let alignment = |column: &Column| if column.is_name { CellAlignment::Left } else { CellAlignment::Right };
        let cells = cells.into_iter().zip(self.columns);
        cells.map(|(cell, column)| Cell::new(cell).set_alignment(alignment(column))).collect::<Vec<_>>().into()
    }

    /// Writes a line, coloured within its borders.
    fn line(&self, line: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let inner = line.strip_prefix(BORDER).and_then(|line| line.strip_suffix(BORDER));
        match inner.filter(|_| self.frame.colours && style != PLAIN) {
            Some(inner) => writeln!(out, "{BORDER}{style}{inner}{style:#}{BORDER}"),
            None => writeln!(out, "{line}"),
        }
    }
}

/// A name for a cell. Control characters, which would break the table or worse, are spelt.
fn printable(name: &[u8]) -> String {
    // No character takes more than four bytes.
    let beginning = String::from_utf8_lossy(name.get(..4 * LONGEST + 4).unwrap_or(name));
    let mut text = String::with_capacity(beginning.len());
    for (at, letter) in beginning.chars().enumerate() {
        if at == LONGEST {
            text.push('…');
            break;
        }
        if letter.is_control() { text.extend(letter.escape_default()) } else { text.push(letter) }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(rows: &[&[&str]], width: usize, colours: bool) -> String {
        let columns = [column("%\ntime"), name_column("name")];
        let groups = || {
            let cells = |row: &&[&str]| row.iter().map(|cell| (*cell).to_owned()).collect();
            let group = |rows: &[&[&str]]| Group { rows: rows.iter().map(cells).collect(), ..Group::default() };
            let (first, rest) = rows.split_first().unwrap();
            let first = Group { style: HOT, ..group(&[first]) };
            [first, Group { is_apart: true, indent: 2, ..group(rest) }].into_iter()
        };
        let mut out = Vec::new();
        draw(&columns, groups, Frame { width, colours }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const ROWS: [&[&str]; 2] = [&["60.00", "first"], &["", "second of them, with a long name"]];

    #[test]
    fn numbers_stand_to_the_right_and_names_are_cut_into_lines() {
        let expected = "\
┌───────┬──────────────────────┐
│     % ┆ name                 │
│  time ┆                      │
╞═══════╪══════════════════════╡
│ 60.00 ┆ first                │
├───────┼──────────────────────┤
│       ┆   second of them,    │
│       ┆   with a long name   │
└───────┴──────────────────────┘
";
        assert_eq!(drawn(&ROWS, 32, false), expected);
        assert_eq!(drawn(&ROWS, 1, false).lines().next().unwrap().chars().count(), 24, "no narrower than this");
        assert_eq!(drawn(&ROWS, 46, false).lines().next().unwrap().chars().count(), 46);
        assert_eq!(drawn(&ROWS, 1000, false), drawn(&ROWS, 46, false), "no wider than it must be");
    }

    #[test]
    fn colours_stay_within_the_borders() {
        let text = drawn(&ROWS, 46, true);
        assert!(text.contains("│\x1b[31m 60.00 ┆ first "), "{text}");
        assert_eq!(text.matches("\x1b[0m│\n").count(), 3, "two lines of titles and a hot one: {text}");
        let bare = text.replace("\x1b[31m", "").replace("\x1b[1m", "").replace("\x1b[0m", "");
        assert_eq!(bare, drawn(&ROWS, 46, false));
    }

    #[test]
    fn wide_characters_count_for_what_they_take() {
        let text = drawn(&[&["1.00", "日本"], &["2.00", "x"]], 80, false);
        assert!(text.contains("│ 1.00 ┆ 日本 │") && text.contains("│ 2.00 ┆   x  │"), "{text}");
    }

    #[test]
    fn names_cannot_break_a_table() {
        assert_eq!(printable(b"a\x1b[31m\nb\xff"), "a\\u{1b}[31m\\nb\u{fffd}");
        assert_eq!(printable(&[b'x'; 4000]), "x".repeat(4000));
        assert_eq!(printable(&[b'x'; 250_000]), "x".repeat(4000) + "…");
        assert_eq!(printable("ä".repeat(4500).as_bytes()), "ä".repeat(4000) + "…");
    }
}
