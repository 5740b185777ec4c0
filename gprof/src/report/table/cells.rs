//! The cells of one row. A table has millions of rows, so that all rows are put together in the same memory.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::super::columns::Columns;

/// Longer names lose their ends: nobody reads them in a column. The plain reports have them whole.
const LONGEST: usize = 4000;

/// What stands for the part of a name that was cut out.
const ELLIPSIS: &str = "…";

/// The cells of a row, from the left to the right.
#[derive(Default)]
pub(super) struct Cells {
    columns: Columns,
    /// Where each cell ends in the text, and its width in characters.
    ends: Vec<(usize, usize)>,
}

impl Cells {
    /// Forgets the row before.
    pub(super) fn clear(&mut self) {
        self.columns.text.clear();
        self.ends.clear();
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a cell with nothing in it.
    pub(super) fn blank(&mut self) {
        self.width(0);
    }

    /// Adds a time or a percentage.
    pub(super) fn fixed(&mut self, number: f64, precision: usize) {
        self.cell(|columns| columns.fixed(number, 0, precision));
    }

    /// Adds a count.
    pub(super) fn count(&mut self, number: u64) {
        self.cell(|columns| columns.right(number, 0));
    }

    /// Adds a text that has nothing in it that a terminal might obey.
    pub(super) fn text(&mut self, text: &str) {
        self.columns.text(text.as_bytes());
        self.ends.push((self.columns.text.len(), text.width()));
    }

    /// Adds ASCII text that has nothing in it that a terminal might obey.
    pub(super) fn cell(&mut self, write: impl FnOnce(&mut Columns)) {
        let start = self.columns.text.len();
        write(&mut self.columns);
        self.ends.push((self.columns.text.len(), self.columns.text.len() - start));
    }

    /// Adds a cell of which nothing is needed but its width.
    pub(super) fn width(&mut self, width: usize) {
        self.ends.push((self.columns.text.len(), width));
    }

    /// Adds a name, whatever is in it. Gives its width.
    pub(super) fn name(&mut self, write: impl FnOnce(&mut Columns)) -> usize {
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

    /// The texts of all cells with their widths.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], usize)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        starts.zip(&self.ends).map(|(start, (end, width))| (&self.columns.text[start..*end], *width))
    }
}

/// Adds a text of a cell, from which the middle is cut out where it is too wide: the beginning of a name and its end tell
/// more than the parameters in between. Gives the width of what was added, which is not more than `width`.
pub(super) fn push_shortened((cell, wide): (&[u8], usize), width: usize, text: &mut Vec<u8>) -> usize {
    if wide <= width {
        text.extend_from_slice(cell);
        return wide;
    }
    let Some(room) = width.checked_sub(1) else {
        return 0;
    };
    let (head, tail) = (room.div_ceil(2), room / 2);
    if wide == cell.len() {
        // All characters are as wide as they are long.
        text.extend([&cell[..head], ELLIPSIS.as_bytes(), &cell[cell.len() - tail..]].concat());
        return width;
    }
    let cell = String::from_utf8_lossy(cell);
    let beginning = take(cell.chars(), head);
    let end: String = take(cell.chars().rev(), tail).chars().rev().collect();
    text.extend([&beginning, ELLIPSIS, &end].concat().into_bytes());
    beginning.width() + 1 + end.width()
}

/// The first characters that have room.
fn take(letters: impl Iterator<Item = char>, room: usize) -> String {
    let mut left = room;
    letters
        .map_while(|letter| {
            left = left.checked_sub(letter.width().unwrap_or(0))?;
            Some(letter)
        })
        .collect()
}

/// A name for a cell. Control characters, which would break the table or worse, are spelt.
pub(super) fn printable(name: &[u8]) -> String {
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
