//! The cells of one row. A table has millions of rows, so all rows are formatted in the same memory.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::super::columns::Columns;

/// The largest number of bytes of a name that a table shows; the plain reports have names in full.
const LONGEST: usize = 4000;

/// The text that replaces the middle of a name that is too long.
const ELLIPSIS: &str = "…";

/// The cells of a row, from left to right.
#[derive(Default)]
pub(crate) struct Cells {
    columns: Columns,
    /// The end of each cell in the text, and the width of the cell in characters.
    ends: Vec<(usize, usize)>,
}

impl Cells {
    /// Removes all cells.
    pub(crate) fn clear(&mut self) {
        self.columns.text.clear();
        self.ends.clear();
    }

    /// Returns the number of cells.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds an empty cell.
    pub(crate) fn blank(&mut self) {
        self.width(0);
    }

    /// Adds a time or a percentage.
    pub(crate) fn fixed(&mut self, number: f64, precision: usize) {
        self.cell(|columns| columns.fixed(number, 0, precision));
    }

    /// Adds a count.
    pub(crate) fn count(&mut self, number: u64) {
        self.cell(|columns| columns.right(number, 0));
    }

    /// Adds a text without control characters.
    pub(crate) fn text(&mut self, text: &str) {
        self.columns.text(text.as_bytes());
        self.ends.push((self.columns.text.len(), text.width()));
    }

    /// Adds an ASCII text without control characters.
    pub(crate) fn cell(&mut self, write: impl FnOnce(&mut Columns)) {
        let start = self.columns.text.len();
        write(&mut self.columns);
        self.ends.push((self.columns.text.len(), self.columns.text.len() - start));
    }

    /// Adds a cell that has a width but no text.
    pub(crate) fn width(&mut self, width: usize) {
        self.ends.push((self.columns.text.len(), width));
    }

    /// Adds a name, which may have control characters. Returns its width.
    pub(crate) fn name(&mut self, write: impl FnOnce(&mut Columns)) -> usize {
        let start = self.columns.text.len();
        write(&mut self.columns);
        let name = &self.columns.text[start..];
        let is_plain = name.len() <= LONGEST && name.iter().all(|byte| matches!(byte, b' '..=b'~'));
        let mut width = name.len();
        if !is_plain {
            let text = printable(name);
            width = text.width();
            self.columns.text.truncate(start);
            self.columns.text(text.as_bytes());
        }
        self.width(width);
        width
    }

    /// Returns the texts of all cells with their widths.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], usize)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        starts.zip(&self.ends).map(|(start, (end, width))| (&self.columns.text[start..*end], *width))
    }
}

/// Appends a cell's text. If the text is wider than `width`, its middle is cut out, because the beginning and the end
/// of a name tell more than the parameters in between. Returns the width of what was appended, which is at most
/// `width`.
pub(crate) fn push_shortened((cell, wide): (&[u8], usize), width: usize, text: &mut Vec<u8>) -> usize {
    if wide <= width {
        text.extend_from_slice(cell);
        return wide;
    }
    let Some(room) = width.checked_sub(1) else {
        return 0;
    };
    let (head, tail) = (room.div_ceil(2), room / 2);
    if wide == cell.len() {
        // ASCII characters are one column wide.
        text.extend([&cell[..head], ELLIPSIS.as_bytes(), &cell[cell.len() - tail..]].concat());
        return width;
    }
    let cell = String::from_utf8_lossy(cell);
    let beginning = take(cell.chars(), head);
    let end: String = take(cell.chars().rev(), tail).chars().rev().collect();
    text.extend([&beginning, ELLIPSIS, &end].concat().into_bytes());
    beginning.width() + 1 + end.width()
}

/// Returns the first characters that fit into a width.
fn take(letters: impl Iterator<Item = char>, room: usize) -> String {
    let mut left = room;
    letters
        .map_while(|letter| {
            left = left.checked_sub(letter.width().unwrap_or(0))?;
            Some(letter)
        })
        .collect()
}

/// Returns a name for a cell. Control characters would break the table or worse, so they are escaped.
pub(crate) fn printable(name: &[u8]) -> String {
    // No character has more than four bytes.
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

    #[test]
    fn names_cannot_break_a_table() {
        assert_eq!(printable(b"a\x1b[31m\nb\xff"), "a\\u{1b}[31m\\nb\u{fffd}");
        assert_eq!(printable(&[b'x'; 4000]), "x".repeat(4000));
        assert_eq!(printable(&[b'x'; 250_000]), "x".repeat(4000) + "…");
        assert_eq!(printable("ä".repeat(4500).as_bytes()), "ä".repeat(4000) + "…");
        let mut cells = Cells::default();
        for name in [b"a\x1bb".as_slice(), b"plain", "日".as_bytes()] {
            cells.name(|columns| columns.text(name));
        }
        let found: Vec<(&[u8], usize)> = cells.iter().collect();
        assert_eq!(found, [(b"a\\u{1b}b".as_slice(), 8), (b"plain", 5), ("日".as_bytes(), 2)]);
    }

    #[test]
    fn the_middle_is_cut_out() {
        let short = |name: &str, width| {
            let mut text = Vec::new();
            let shown = push_shortened((name.as_bytes(), name.width()), width, &mut text);
            let text = String::from_utf8(text).unwrap();
            assert_eq!(text.width(), shown);
            text
        };
        assert_eq!(short("ns::f(int) [1]", 14), "ns::f(int) [1]");
        assert_eq!(short("ns::f(int) [1]", 10), "ns::f… [1]");
        assert_eq!(short("ns::f(int) [1]", 9), "ns::… [1]");
        assert_eq!([short("main", 1), short("main", 0)], ["…", ""]);
        assert_eq!(short("日本語日本語", 8), "日本…本語".replace("本語", "語"), "no half of a character");
        assert_eq!(short("ä€ö日日", 6), "ä€ö…日");
    }
}
