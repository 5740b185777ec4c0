//! Draws tables with comfy-table.
//!
//! The rows of a long table are made twice: once to measure the columns, and once to be drawn. So the widths are fixed
//! before comfy-table gets a row, and comfy-table arranges nothing. The rows go through comfy-table in blocks, because
//! a table may be far larger than its data. A row is one line, however long its name is.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::Width::Fixed;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentLineStyle, LineStyle, Row, Table, TableStyle};

use super::cells::{Cells, push_shortened};
use super::widths::{Column, MAX_WIDTH, Wanted, text_width};
use crate::question::options::Options;
use crate::terminal::Terminal;

/// The number of rows that are in memory at a time.
pub(crate) const BLOCK: usize = 128;

const BORDER: char = '│';
const LINES: ContentLineStyle = ContentLineStyle::new(BORDER, '┆', BORDER);

/// Rows without the lines around them.
const BARE: TableStyle = TableStyle::new().content_lines(LINES);

/// A table without lines between its rows.
const FRAMED: TableStyle = BARE
    .top_border(LineStyle::new('┌', '─', '┬', '┐'))
    .header_lines(LINES)
    .header_separator(LineStyle::new('╞', '═', '╪', '╡'))
    .bottom_border(LineStyle::new('└', '─', '┴', '┘'));

/// A table with all its lines.
const RULED: TableStyle = FRAMED.row_separator(LineStyle::new('├', '─', '┼', '┤'));

/// The blanks beside the text of a cell.
const PADDING: usize = 2;

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
        Frame::of_width(terminal, options.width)
    }

    /// Returns the frame of a width that the user set, or of the terminal.
    pub(crate) fn of_width(terminal: &Terminal, width: Option<usize>) -> Frame {
        Frame { width: width.unwrap_or(terminal.width()).min(MAX_WIDTH), colors: terminal.colors }
    }
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
    let mut wanted = Wanted::new(columns);
    rows(Pass::Measure, &mut |row_style, cells| {
        wanted.add(cells.iter().map(|(_, width)| width), row_style.indent);
        Ok(())
    })?;
    let layout = Layout::new(columns, wanted.fit(frame.width));
    let [between, bottom] = layout.head(frame, out)?;
    let mut blocks = Blocks { layout, frame, between, is_first: true, block: Table::new(), styles: Vec::new() };
    rows(Pass::Write, &mut |row_style, cells| blocks.add(row_style, cells, out))?;
    blocks.flush(out)?;
    writeln!(out, "{bottom}")
}

/// Draws a small table whose words take as many lines as they need.
pub(crate) fn draw_words(
    columns: &[Column],
    rows: &[Vec<String>],
    frame: Frame,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut wanted = Wanted::new(columns);
    rows.iter().for_each(|row| wanted.add(row.iter().map(|cell| text_width(cell)), 0));
    let layout = Layout::new(columns, wanted.fit(frame.width));
    let mut table = layout.titles(FRAMED);
    table.add_rows(rows.iter().map(|row| layout.shown(row.iter()).map(|(cell, ..)| Cell::new(cell))));
    layout.fix(&mut table);
    let mut style = STRONG;
    for line in table.lines() {
        if line.starts_with('╞') {
            style = PLAIN;
        }
        write_line(&line, style, frame, out)?;
    }
    Ok(())
}

/// The columns of a table with their widths.
struct Layout<'a> {
    columns: &'a [Column],
    /// The width of each column; `None` for a column that is left out.
    widths: Vec<Option<usize>>,
}

impl<'a> Layout<'a> {
    fn new(columns: &'a [Column], widths: Vec<Option<usize>>) -> Layout<'a> {
        Layout { columns, widths }
    }

    /// Returns the cells of the columns that are shown, each with its column and its width.
    fn shown<T>(&self, cells: impl Iterator<Item = T>) -> impl Iterator<Item = (T, &Column, usize)> {
        cells.zip(self.columns).zip(&self.widths).filter_map(|((cell, column), width)| Some((cell, column, (*width)?)))
    }

    /// Returns a table that has the titles only.
    fn titles(&self, style: TableStyle) -> Table {
        let mut table = Table::new();
        let titles = self.columns.iter().map(|column| &column.title);
        table.load_style(style).set_header(self.shown(titles).map(|(title, ..)| Cell::new(title)));
        table
    }

    /// Fixes the widths of a table, whose columns exist once the table has a row.
    fn fix(&self, table: &mut Table) {
        let columns = table.column_iter_mut().zip(self.shown(std::iter::repeat(())));
        for (column, ((), definition, width)) in columns {
            // The width of a column is at most `MAX_WIDTH`.
            let width = u16::try_from(width + PADDING).unwrap_or(u16::MAX);
            column.set_constraint(ColumnConstraint::Absolute(Fixed(width)));
            column.set_cell_alignment(if definition.is_name { CellAlignment::Left } else { CellAlignment::Right });
        }
    }

    /// Draws the lines above the rows. Returns the line between two rows and the line below the last row.
    fn head(&self, frame: Frame, out: &mut dyn Write) -> io::Result<[String; 2]> {
        let mut table = self.titles(RULED);
        let blank = vec![""; table.column_count()];
        table.add_rows([blank.clone(), blank]);
        self.fix(&mut table);
        let mut lines: Vec<String> = table.lines().collect();
        let mut last = || lines.pop().unwrap_or_default();
        let (bottom, _, between, _) = (last(), last(), last(), last());
        lines.iter().try_for_each(|line| write_line(line, STRONG, frame, out))?;
        Ok([between, bottom])
    }
}

/// The rows of a table on their way through comfy-table.
struct Blocks<'a> {
    layout: Layout<'a>,
    frame: Frame,
    /// The line between rows that are apart.
    between: String,
    /// Whether the next row to be written is the first row of the table.
    is_first: bool,
    /// The rows that are not written yet, and their styles.
    block: Table,
    styles: Vec<RowStyle>,
}

impl Blocks<'_> {
    fn add(&mut self, row_style: RowStyle, cells: &Cells, out: &mut dyn Write) -> io::Result<()> {
        let mut row = Row::new();
        for (cell, column, width) in self.layout.shown(cells.iter()) {
            let indent = if column.is_name { row_style.indent.min(width) } else { 0 };
            let mut text = " ".repeat(indent);
            push_shortened(cell, width - indent, &mut text);
            row.add_cell(Cell::new_owned(text));
        }
        // Some sequences of characters are wider than their characters: comfy-table would divide such a text.
        row.max_height(1);
        self.block.add_row(row);
        self.styles.push(row_style);
        if self.styles.len() < BLOCK { Ok(()) } else { self.flush(out) }
    }

    /// Writes the rows of the block.
    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let (mut block, styles) = (std::mem::take(&mut self.block), std::mem::take(&mut self.styles));
        block.load_style(BARE);
        self.layout.fix(&mut block);
        for (line, row_style) in block.lines().zip(styles) {
            if !std::mem::take(&mut self.is_first) && row_style.is_apart {
                writeln!(out, "{}", self.between)?;
            }
            write_line(&line, row_style.style, self.frame, out)?;
        }
        Ok(())
    }
}

/// Writes a line of a table. A row is colored within its borders; other lines have no color.
fn write_line(line: &str, style: Style, frame: Frame, out: &mut dyn Write) -> io::Result<()> {
    let row = line.strip_prefix(BORDER).and_then(|row| row.strip_suffix(BORDER));
    match row.filter(|_| frame.colors && style != PLAIN) {
        Some(row) => writeln!(out, "{BORDER}{style}{row}{style:#}{BORDER}"),
        None => writeln!(out, "{line}"),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell as Shared, RefCell};

    use super::super::widths::{column, name_column, optional_column};
    use super::*;

    fn columns() -> [Column; 3] {
        [column("%\ntime"), optional_column(1, "self"), name_column("name")]
    }

    fn drawn(rows: &[&[&str]], width: usize, colors: bool) -> String {
        let columns = columns();
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

    /// A table of this many rows, with a line above each third row. For each row, the number of lines that were written
    /// before the row was made.
    fn long(rows: usize) -> (String, Vec<usize>) {
        let (written, seen) = (Shared::new(0), RefCell::new(Vec::new()));
        let hand_over = |pass, take: RowSink<'_>| {
            for at in 0..rows {
                let mut cells = Cells::default();
                [at.to_string(), "1.00".to_owned(), format!("f{at}")].iter().for_each(|cell| cells.text(cell));
                if pass == Pass::Write {
                    seen.borrow_mut().push(written.get());
                }
                take(RowStyle { is_apart: at % 3 == 0, ..RowStyle::default() }, &cells)?;
            }
            Ok(())
        };
        struct Counting<'a>(Vec<u8>, &'a Shared<usize>);
        impl Write for Counting<'_> {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.extend_from_slice(bytes);
                self.1.set(self.1.get() + bytes.iter().filter(|byte| **byte == b'\n').count());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut out = Counting(Vec::new(), &written);
        draw(&columns(), hand_over, Frame { width: 80, colors: false }, &mut out).unwrap();
        let text = String::from_utf8(out.0).unwrap();
        (text, seen.into_inner())
    }

    #[test]
    fn a_table_in_blocks_is_one_table() {
        for rows in [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 3 * BLOCK + 2] {
            let (text, _) = long(rows);
            let mut expected = Vec::new();
            for at in 0..rows {
                if at % 3 == 0 && at > 0 {
                    expected.push("between".to_owned());
                }
                expected.push(format!("{at} 1.00 f{at}"));
            }
            let lines: Vec<&str> = text.lines().collect();
            assert!(lines[0].starts_with('┌') && lines[3].starts_with('╞') && lines.last().unwrap().starts_with('└'));
            assert!(lines.iter().all(|line| line.chars().count() == lines[0].chars().count()), "{text}");
            let words = |line: &&str| match line.starts_with('├') {
                true => "between".to_owned(),
                false => line.replace(['│', '┆'], " ").split_whitespace().collect::<Vec<_>>().join(" "),
            };
            let found: Vec<String> = lines[4..lines.len() - 1].iter().map(words).collect();
            assert_eq!(found, expected, "{rows} rows");
        }
    }

    #[test]
    fn a_long_table_is_never_in_memory() {
        let (_, seen) = long(10 * BLOCK);
        assert_eq!(seen.len(), 10 * BLOCK, "each row must be made once for writing");
        for (at, written) in seen.into_iter().enumerate() {
            assert!(written >= at / BLOCK * BLOCK, "{at} rows were made, and {written} lines are written");
        }
    }

    #[test]
    fn a_row_is_one_line_whatever_its_characters() {
        // The sequence is two columns wide, and its characters are one and none.
        let name = "↔\u{fe0f}".repeat(60);
        let text = drawn(&[&["1.00", "", &name], &["2.00", "", "x"]], 60, false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 8, "{text}");
        assert!(lines[6].contains("2.00") && lines[5].starts_with('├') && lines[4].contains("1.00"), "{text}");
        assert_eq!(unicode_width::UnicodeWidthStr::width(lines[4]), lines[0].chars().count(), "{text}");
    }

    #[test]
    fn words_take_as_many_lines_as_they_need() {
        let rows = [["1", "one two three four five six"], ["20", "seven"]].map(|row| row.map(str::to_owned).to_vec());
        let columns = [column("number"), name_column("what")];
        let mut out = Vec::new();
        draw_words(&columns, &rows, Frame { width: 30, colors: true }, &mut out).unwrap();
        let expected = "\
┌────────┬───────────────────┐
│\x1b[1m number ┆ what              \x1b[0m│
╞════════╪═══════════════════╡
│      1 ┆ one two three     │
│        ┆ four five six     │
│     20 ┆ seven             │
└────────┴───────────────────┘
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn wide_characters_count_for_what_they_take() {
        let text = drawn(&[&["1.00", "", "日本"], &["2.00", "", "x"]], 80, false);
        assert!(text.contains("│ 1.00 ┆      ┆ 日本 │") && text.contains("│ 2.00 ┆      ┆   x  │"), "{text}");
    }
}
