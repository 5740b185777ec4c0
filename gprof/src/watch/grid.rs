//! What a screen shows: a grid of cells, each with a character and a style.

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

    /// Writes a row, as much as fits, without control characters. A text in reverse video reverses the whole row. Returns the
    /// column behind the text. A row below the screen is dropped.
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

#[cfg(test)]
mod tests {
    use anstyle::AnsiColor;

    use super::*;

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
}
