//! Prints numbers as C's `printf` does.

use std::fmt;

/// Prints a float as C's `%f` does: with precision and width, and with C's spelling of NaN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed(pub f64);

impl Fixed {
    /// Appends the number as a format of the same width and precision would. Returns false, and appends nothing, if the
    /// fast way does not work for this number.
    pub(crate) fn append(self, text: &mut Vec<u8>, width: usize, precision: usize) -> bool {
        let mut decimal = Decimal::default();
        let fits = (1..=2).contains(&precision) && decimal.round(self.0, precision);
        if fits {
            text.resize(text.len() + width.saturating_sub(decimal.len()), b' ');
            text.extend_from_slice(decimal.as_str().as_bytes());
        }
        fits
    }
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_nan() {
            let text = if self.0.is_sign_negative() { "-nan" } else { "nan" };
            return write!(f, "{text:>width$}", width = f.width().unwrap_or(0));
        }
        let mut text = Decimal::default();
        match (f.precision(), f.width()) {
            (Some(precision @ 1..=2), Some(width)) if text.round(self.0, precision) => {
                for _ in text.text.len()..width {
                    f.write_str(" ")?;
                }
                f.write_str(text.padded(width))
            }
            _ => fmt::Display::fmt(&self.0, f),
        }
    }
}

/// The digits of a number, filled from right to left.
#[derive(Default)]
struct Decimal {
    text: [u8; 16],
    start: usize,
}

impl Decimal {
    /// The largest number times the scale. The products below are exact to less than [`Decimal::CLOSE`].
    const GREATEST: f64 = 1e9;

    /// How close to the middle between two decimals a number may be. The fast way cannot round closer numbers exactly.
    const CLOSE: f64 = 1e-6;

    /// Rounds a number to one or two decimals, in a tenth of the time of Rust's formatting. Returns false if the result
    /// might not be exact.
    fn round(&mut self, number: f64, precision: usize) -> bool {
        let scaled = number * if precision == 1 { 10.0 } else { 100.0 };
        // Negative zeros have a sign, too.
        if scaled.is_nan() || scaled >= Decimal::GREATEST || number.is_sign_negative() {
            return false;
        }
        let whole = scaled as u64;
        let rest = scaled - whole as f64;
        if (rest - 0.5).abs() < Decimal::CLOSE {
            return false;
        }
        let mut left = whole + u64::from(rest > 0.5);
        self.start = self.text.len();
        for place in 0.. {
            if place == precision {
                self.push(b'.');
            }
            if left == 0 && place > precision {
                break;
            }
            self.push(b'0' + (left % 10) as u8);
            left /= 10;
        }
        true
    }

    fn push(&mut self, digit: u8) {
        self.start -= 1;
        self.text[self.start] = digit;
    }

    fn len(&self) -> usize {
        self.text.len() - self.start
    }

    /// Returns the number, right-aligned to the width as far as there is room for blanks.
    fn padded(&mut self, width: usize) -> &str {
        let start = self.start.min(self.text.len().saturating_sub(width));
        self.text[start..self.start].fill(b' ');
        str::from_utf8(&self.text[start..]).unwrap_or_default()
    }

    fn as_str(&self) -> &str {
        str::from_utf8(&self.text[self.start..]).unwrap_or_default()
    }
}

/// Prints a float as C's `%g` does: six significant digits, without trailing zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct General(pub f64);

impl fmt::Display for General {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_finite() {
            return fmt::Display::fmt(&Fixed(self.0), f);
        }
        let scientific = format!("{:.5e}", self.0);
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        if (-4..6).contains(&exponent) {
            let decimals = usize::try_from(5 - exponent).unwrap_or(0);
            f.write_str(without_zeros(&format!("{:.decimals$}", self.0)))
        } else {
            let sign = if exponent < 0 { '-' } else { '+' };
            write!(f, "{}e{sign}{:02}", without_zeros(mantissa), exponent.unsigned_abs())
        }
    }
}

/// Removes the zeros at the end of a number's fraction.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Returns a count with the name of what is counted, in the right number: `1 stack`, `2 stacks`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general() {
        let cases = [
            (0.01, "0.01"),
            (1.0, "1"),
            (0.0, "0"),
            (1.0 / 3.0, "0.333333"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (1.0 / 1024.0, "0.000976562"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.23457e+06"),
            (999_999.9, "1e+06"),
            (2.328_306_437e-10, "2.32831e-10"),
            (f64::INFINITY, "inf"),
        ];
        for (number, text) in cases {
            assert_eq!(General(number).to_string(), text);
        }
    }

    #[test]
    fn fixed_rounds_ties_to_even_and_spells_as_c() {
        assert_eq!(format!("{:7.2}", Fixed(0.125)), "   0.12");
        assert_eq!(format!("{:7.2}", Fixed(0.375)), "   0.38");
        assert_eq!(format!("{:5.1}", Fixed(12.25)), " 12.2");
        assert_eq!(format!("{:7.2}", Fixed(-f64::NAN)), "   -nan");
        assert_eq!(format!("{:7.2}", Fixed(f64::NEG_INFINITY)), "   -inf");
    }

    #[test]
    fn fixed_rounds_as_exact_calculation_does() {
        let mut state = 1_u64;
        for step in 0..200_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Numbers of all sizes, also numbers on and next to the borders between decimals.
            let number = match step % 4 {
                0 => f64::from_bits(state),
                1 => (state >> 40) as f64 / 1000.0,
                2 => (state >> 44) as f64 / 200.0,
                _ => f64::from_bits(((state >> 44) as f64 / 200.0).to_bits().wrapping_add(step % 5).wrapping_sub(2)),
            };
            if number.is_nan() || number.abs() > 1e300 {
                continue;
            }
            assert_eq!(format!("{:7.2}", Fixed(number)), format!("{number:7.2}"));
            assert_eq!(format!("{:5.1}", Fixed(number)), format!("{number:5.1}"));
        }
    }
}
