//! Columns of numbers. A large call graph has millions of numbers, and `write!` would be slow.

use std::io::Write;

use crate::reports::number::Fixed;

/// A text that grows.
#[derive(Default)]
pub(crate) struct Columns {
    pub(crate) text: Vec<u8>,
}

impl Columns {
    /// Appends a text.
    pub(crate) fn text(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    /// Appends this number of blanks.
    pub(crate) fn blanks(&mut self, count: usize) {
        self.text.resize(self.text.len() + count, b' ');
    }

    /// Appends a time or a percentage, right-aligned.
    pub(crate) fn fixed(&mut self, number: f64, width: usize, precision: usize) {
        let number = Fixed(number);
        if !number.append(&mut self.text, width, precision) {
            // Writing to memory does not fail.
            let _ = write!(self.text, "{number:width$.precision$}");
        }
    }

    /// Appends a count, right-aligned.
    pub(crate) fn right(&mut self, number: u64, width: usize) {
        let (digits, start) = digits(number);
        self.blanks(width.saturating_sub(DIGITS - start));
        self.text.extend_from_slice(&digits[start..]);
    }

    /// Appends a count, left-aligned.
    pub(crate) fn left(&mut self, number: u64, width: usize) {
        let (digits, start) = digits(number);
        self.text.extend_from_slice(&digits[start..]);
        self.blanks(width.saturating_sub(DIGITS - start));
    }

    /// Writes the text to `out`, and starts a new one.
    pub(crate) fn take(&mut self, out: &mut dyn Write) -> std::io::Result<()> {
        let done = out.write_all(&self.text);
        self.text.clear();
        done
    }
}

/// The largest number of digits.
const DIGITS: usize = 20;

/// Returns the digits of a number, and the index of the first digit.
fn digits(number: u64) -> ([u8; DIGITS], usize) {
    let (mut digits, mut start, mut left) = ([b'0'; DIGITS], DIGITS - 1, number);
    loop {
        digits[start] += (left % 10) as u8;
        left /= 10;
        if left == 0 {
            return (digits, start);
        }
        start -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_what_formats_make() {
        for number in [0, 1, 9, 10, 99, 100, 1_234_567, 12_345_678, u64::MAX] {
            for time in [number as f64 / 100.0, number as f64 / 7.0, f64::NAN] {
                let mut columns = Columns::default();
                columns.right(number, 7);
                columns.left(number, 7);
                columns.blanks(2);
                columns.fixed(time, 7, 2);
                columns.fixed(time, 5, 1);
                columns.text(b"|");
                let mut text = Vec::new();
                columns.take(&mut text).unwrap();
                let expected = format!("{number:7}{number:<7}  {:7.2}{:5.1}|", Fixed(time), Fixed(time));
                assert_eq!(String::from_utf8(text).unwrap(), expected);
            }
        }
    }
}
