//! Text of bounded length, without an allocator: file names, and lines for standard error.

use core::ffi::CStr;

/// Up to `N` bytes of text. Bytes beyond `N` are dropped, and [`Text::is_whole`] then returns false.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
    cut: bool,
}

/// Room for the digits of a number, decimal or hexadecimal, and a character or two.
pub(crate) type Digits = Text<20>;

impl<const N: usize> Text<N> {
    pub(crate) const fn new() -> Text<N> {
        Text { bytes: [0; N], length: 0, cut: false }
    }

    /// Appends bytes.
    #[inline(never)]
    pub fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match self.bytes.get_mut(self.length) {
                Some(place) => {
                    *place = *byte;
                    self.length += 1;
                }
                None => self.cut = true,
            }
        }
    }

    /// Empties the text.
    pub fn clear(&mut self) {
        self.length = 0;
        self.cut = false;
    }

    /// Keeps only the first bytes.
    pub(crate) fn shorten(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Passes the unused room to `write`, which returns the number of bytes that it wrote.
    pub(crate) fn fill(&mut self, write: impl FnOnce(&mut [u8]) -> usize) {
        if let Some(room) = self.bytes.get_mut(self.length..) {
            let used = write(room);
            self.length = self.length.saturating_add(used).min(N);
        }
    }

    /// Appends a number in decimal.
    #[inline(never)]
    pub(crate) fn push_decimal(&mut self, number: u64) {
        let mut digits = [0; 20];
        self.push(decimal_digits(number, &mut digits));
    }

    /// Appends a number in hexadecimal, padded with zeros to at least `digits` digits.
    #[inline(never)]
    pub(crate) fn push_hexadecimal(&mut self, number: u64, digits: u32) {
        let mut room = [0; 16];
        self.push(hexadecimal_digits(number, digits, &mut room));
    }

    /// Ends the text with a newline. If the text is full, the newline replaces the last byte.
    pub(crate) fn end(&mut self) {
        self.length = self.length.min(N.saturating_sub(1));
        self.push(b"\n");
    }

    /// The text.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or(&[])
    }

    /// The text as a C string; `None` if a part of the text was dropped or the text contains a NUL.
    pub(crate) fn as_c_str(&mut self) -> Option<&CStr> {
        self.push(b"\0");
        CStr::from_bytes_with_nul(self.as_bytes()).ok().filter(|_| self.is_whole())
    }

    /// Whether all bytes that were pushed fitted.
    pub(crate) fn is_whole(&self) -> bool {
        !self.cut
    }
}

// One copy of these functions serves texts of all sizes, because they are linked into every program.

/// The digits of a number in decimal.
#[inline(never)]
fn decimal_digits(number: u64, digits: &mut [u8; 20]) -> &[u8] {
    // The digits are found from the last to the first. Ten to the nineteenth has twenty digits.
    let mut left = number;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
    }
    let leading = digits.iter().take(19).take_while(|digit| **digit == b'0').count();
    digits.get(leading..).unwrap_or(&[])
}

/// The digits of a number in hexadecimal, padded with zeros.
#[inline(never)]
fn hexadecimal_digits(number: u64, digits: u32, room: &mut [u8; 16]) -> &[u8] {
    let needed = (u64::BITS - number.leading_zeros()).div_ceil(4).max(digits).clamp(1, 16);
    for (place, digit) in (0..needed).rev().zip(room.iter_mut()) {
        let value = (number >> (4 * place)) as u8 & 15;
        *digit = if value < 10 { b'0' + value } else { b'a' + value - 10 };
    }
    room.get(..needed as usize).unwrap_or(&[])
}

/// Parses a text that consists of decimal digits only. The result is [`u32::MAX`] for a larger number.
pub(crate) fn decimal(text: &[u8]) -> Option<u32> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let add = |number: u32, digit: &u8| number.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
    is_number.then(|| text.iter().fold(0, add))
}

/// A percentage with up to four decimals, in millionths.
#[allow(dead_code, reason = "only the runtime reads settings")]
pub(crate) fn millionths(text: &[u8]) -> Option<u64> {
    let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let (whole, decimals) = (text.get(..point)?, text.get(point + 1..).unwrap_or_default());
    let mut value = u64::from(decimal(whole)?) * 10_000;
    if point < text.len() {
        let scale = 10_u64.checked_pow(4_u32.checked_sub(u32::try_from(decimals.len()).ok()?)?)?;
        value += u64::from(decimal(decimals)?) * scale;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_and_nothing_else() {
        assert_eq!([decimal(b"0"), decimal(b"007"), decimal(b"4294967295")], [Some(0), Some(7), Some(u32::MAX)]);
        assert_eq!(decimal(b"99999999999999999999"), Some(u32::MAX));
        for wrong in [&b""[..], b"-1", b"+1", b"1 ", b"1k", b"0x10"] {
            assert_eq!(decimal(wrong), None);
        }
    }

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 7, 10, 99, 100, 12345, u64::from(u32::MAX), u64::MAX] {
            let mut text = Text::<20>::new();
            text.push_decimal(number);
            assert_eq!(text.as_bytes(), number.to_string().as_bytes());
            assert!(text.is_whole());
        }
    }

    #[test]
    fn numbers_are_written_in_hexadecimal() {
        for (number, digits, expected) in
            [(0, 0, "0"), (10, 2, "0a"), (0x1234, 2, "1234"), (u64::MAX, 16, "ffffffffffffffff")]
        {
            let mut text = Text::<16>::new();
            text.push_hexadecimal(number, digits);
            assert_eq!(text.as_bytes(), expected.as_bytes());
        }
    }

    #[test]
    fn what_does_not_fit_is_left_off_and_said() {
        let mut text = Text::<4>::new();
        text.push(b"gmon");
        assert!(text.is_whole());
        text.push(b".out");
        assert_eq!(text.as_bytes(), b"gmon");
        assert!(!text.is_whole());
    }

    #[test]
    fn texts_are_cleared_filled_and_ended() {
        let mut text = Text::<4>::new();
        text.push(b"gmon.out");
        text.clear();
        assert!(text.as_bytes().is_empty() && text.is_whole());
        text.push(b"a");
        text.fill(|room| {
            room[0] = b'b';
            assert_eq!(room.len(), 3);
            1
        });
        assert_eq!(text.as_bytes(), b"ab");
        text.end();
        assert_eq!(text.as_bytes(), b"ab\n");
        text.push(b"cd");
        text.end();
        assert_eq!(text.as_bytes(), b"ab\n\n");
        text.shorten(9);
        assert_eq!(text.as_bytes(), b"ab\n\n");
        text.shorten(1);
        assert_eq!(text.as_bytes(), b"a");
    }

    #[test]
    fn a_percentage_is_read_in_millionths() {
        let read = |text: &str| millionths(text.as_bytes());
        assert_eq!(["1", "0.1", "12.5", "50", "0.0001"].map(read), [10_000, 1_000, 125_000, 500_000, 1].map(Some));
        assert_eq!(["", ".5", "1.00001", "-1", "1,5", "3."].map(read), [None; 6]);
    }
}
