//! What a screen shows, a grid of cells with a character and a style each, and the commands of a terminal that change
//! what the screen shows, take the screen, and give it back.

use std::fmt::Write;

use anstyle::{Effects, Style};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A place for a character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// The character with its marks. A blank is empty, so that blanks need no memory.
    text: String,
    /// The number of cells that the character covers; 0 if the character of an earlier cell covers this cell.
    pub(super) width: usize,
    pub(super) style: Style,
}

impl Cell {
    fn blank(style: Style) -> Cell {
        Cell { text: String::new(), width: 1, style }
    }

    pub(super) fn text(&self) -> &str {
        if self.text.is_empty() { " " } else { &self.text }
    }
}

/// The cells of a screen.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    rows: Vec<Vec<Cell>>,
    columns: usize,
    /// The row and the column of the cursor, if the screen shows a cursor.
    pub(super) cursor: Option<(usize, usize)>,
}

impl Grid {
    /// Returns a screen with nothing on it.
    pub(super) fn new(columns: usize, rows: usize) -> Grid {
        Grid { rows: vec![vec![Cell::blank(Style::new()); columns]; rows], columns, cursor: None }
    }

    /// The number of columns and of rows.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.columns, self.rows.len())
    }

    pub(super) fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// Writes a row, as much as fits, without control characters. A text in reverse video reverses the whole row.
    /// Returns the column behind the text. A row below the screen is dropped.
    pub(super) fn write(&mut self, row: usize, text: &str, style: Style) -> usize {
        let Some(cells) = self.rows.get_mut(row) else { return 0 };
        cells.clear();
        for character in text.graphemes(true).filter(|character| !character.contains(char::is_control)) {
            let width = character.width();
            if cells.len() + width > self.columns {
                break;
            }
            if width > 0 {
                let text = if character == " " { String::new() } else { character.to_owned() };
                cells.push(Cell { text, width, style });
                cells.extend(vec![Cell { width: 0, ..Cell::blank(Style::new()) }; width - 1]);
            }
        }
        let is_reversed = style.get_effects().contains(Effects::INVERT);
        let end = cells.len();
        cells.resize(self.columns, Cell::blank(if is_reversed { style } else { Style::new() }));
        end
    }
}

/// Shows a screen of its own and keeps the screen of the shell.
pub(super) const ENTER: &str = "\x1b[?1049h";

/// Shows the screen of the shell with its cursor.
pub(super) const LEAVE: &str = "\x1b[?1049l\x1b[?25h";

pub(super) const ERASE: &str = "\x1b[2J";

const SHOW_CURSOR: &str = "\x1b[?25h";
const HIDE_CURSOR: &str = "\x1b[?25l";

/// Returns the commands that make a terminal that shows `before` show `after`, which has the same size. Only cells that
/// differ are written.
pub(super) fn changes(before: &Grid, after: &Grid) -> String {
    let mut out = String::new();
    let mut style = Style::new();
    // Where the terminal writes next, if this is known.
    let mut next = None;
    for (y, (old, new)) in before.rows().iter().zip(after.rows()).enumerate() {
        let changed = old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new && new.width > 0);
        for (x, (_, cell)) in changed {
            if next != Some((y, x)) {
                out.push_str(&go_to(y, x));
            }
            if cell.style != style {
                push(&mut out, format_args!("{style:#}{}", cell.style));
                style = cell.style;
            }
            if cell.width > 1 {
                // Some terminals leave in the second cell what was there.
                push(&mut out, format_args!("{:1$}{2}", "", cell.width, go_to(y, x)));
            }
            out.push_str(cell.text());
            // Terminals do not agree on the widths of all characters.
            next = cell.text().is_ascii().then_some((y, x + 1));
        }
    }
    push(&mut out, format_args!("{style:#}"));
    match after.cursor {
        Some((y, x)) => push(&mut out, format_args!("{}{SHOW_CURSOR}", go_to(y, x))),
        None => out.push_str(HIDE_CURSOR),
    }
    out
}

fn go_to(y: usize, x: usize) -> String {
    format!("\x1b[{};{}H", y + 1, x + 1)
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // A string takes every text.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstyle::AnsiColor;

    /// The texts of the first row of a screen with this many columns, and the column behind the text.
    fn written(columns: usize, text: &str) -> (String, usize) {
        let mut grid = Grid::new(columns, 1);
        let end = grid.write(0, text, Style::new());
        assert_eq!(grid.rows()[0].len(), columns);
        (grid.rows()[0].iter().map(|cell| if cell.width == 0 { "<" } else { cell.text() }).collect(), end)
    }

    #[test]
    fn wide_characters_cover_cells() {
        assert_eq!(written(6, "a日b"), ("a日<b  ".to_owned(), 4));
        assert_eq!(written(5, "日本語"), ("日<本< ".to_owned(), 4), "half a character must not be shown");
        assert_eq!(written(3, "abcdef"), ("abc".to_owned(), 3));
        // A letter with a mark, a family, and narrow katakana whose mark has a cell of its own.
        assert_eq!(written(4, "e\u{301}x"), ("e\u{301}x  ".to_owned(), 2));
        assert_eq!(written(4, "👨\u{200d}👩\u{200d}👧x"), ("👨\u{200d}👩\u{200d}👧<x ".to_owned(), 3));
        assert_eq!(written(4, "ｶﾞx"), ("ｶﾞ<x ".to_owned(), 3));
    }

    #[test]
    fn control_characters_are_left_out() {
        assert_eq!(written(5, "a\x1b\t\u{9b}\r\nb\u{200b}c"), ("abc  ".to_owned(), 3));
    }

    #[test]
    fn a_row_is_replaced() {
        let red = Style::new().fg_color(Some(AnsiColor::Red.into()));
        let mut grid = Grid::new(3, 1);
        grid.write(0, "ab", red.invert());
        assert!(grid.rows()[0].iter().all(|cell| cell.style == red.invert()));
        grid.write(0, "c", red);
        let styles: Vec<Style> = grid.rows()[0].iter().map(|cell| cell.style).collect();
        assert_eq!(styles, [red, Style::new(), Style::new()]);
        assert_eq!(grid.write(1, "below", red), 0);
        assert_eq!(grid.size(), (3, 1));
    }

    const RED: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));

    fn grid(lines: &[(&str, Style)]) -> Grid {
        let mut grid = Grid::new(8, lines.len());
        for (row, (text, style)) in lines.iter().enumerate() {
            grid.write(row, text, *style);
        }
        grid
    }

    fn plain(text: &str) -> Grid {
        grid(&[(text, Style::new())])
    }

    #[test]
    fn only_cells_that_differ_are_written() {
        assert_eq!(changes(&plain("12 ab"), &plain("12 ab")), "\x1b[?25l");
        assert_eq!(changes(&plain("12 ab"), &plain("13 cd")), "\x1b[1;2H3\x1b[1;4Hcd\x1b[?25l");
        assert_eq!(changes(&plain("12 ab"), &plain("12")), "\x1b[1;4H  \x1b[?25l");
        let [before, after] = ["x", "y"].map(|text| grid(&[("full row", Style::new()), (text, Style::new())]));
        assert_eq!(changes(&before, &after), "\x1b[2;1Hy\x1b[?25l");
        let blank = Grid::new(8, 2);
        assert_eq!(changes(&blank, &before), "\x1b[1;1Hfull\x1b[1;6Hrow\x1b[2;1Hx\x1b[?25l");
    }

    #[test]
    fn styles_are_set_where_they_change() {
        let before = Grid::new(8, 3);
        let after = grid(&[("ab", RED), ("c", RED), ("d", Style::new().bold())]);
        let expected = "\x1b[1;1H\x1b[31mab\x1b[2;1Hc\x1b[3;1H\x1b[0m\x1b[1md\x1b[0m\x1b[?25l";
        assert_eq!(changes(&before, &after), expected);
        assert_eq!(changes(&after, &before), "\x1b[1;1H  \x1b[2;1H \x1b[3;1H \x1b[?25l");
        assert_eq!(changes(&plain("a"), &grid(&[("a", RED)])), "\x1b[1;1H\x1b[31ma\x1b[0m\x1b[?25l");
        let reversed = changes(&plain("a"), &grid(&[("a", Style::new().invert())]));
        assert_eq!(reversed, "\x1b[1;1H\x1b[7ma       \x1b[0m\x1b[?25l");
    }

    #[test]
    fn wide_characters_replace_two_cells() {
        assert_eq!(changes(&plain("abc"), &plain("日c")), "\x1b[1;1H  \x1b[1;1H日\x1b[?25l");
        assert_eq!(changes(&plain("日c"), &plain("abc")), "\x1b[1;1Hab\x1b[?25l");
        assert_eq!(changes(&plain("日b"), &plain("a日")), "\x1b[1;1Ha  \x1b[1;2H日\x1b[?25l");
        // The place behind a character that is not ASCII is not sure.
        assert_eq!(changes(&plain(""), &plain("éb")), "\x1b[1;1Hé\x1b[1;2Hb\x1b[?25l");
    }

    #[test]
    fn the_cursor_is_where_the_user_types() {
        let mut after = plain("a_");
        after.cursor = Some((0, 1));
        assert_eq!(changes(&plain("a"), &after), "\x1b[1;2H_\x1b[1;2H\x1b[?25h");
    }
}
