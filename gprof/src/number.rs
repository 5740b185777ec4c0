//! Numbers: an order for floats, and C's ways to print them.

use std::cmp::Ordering;
use std::fmt;

/// A float with an order that sorts may rely on: both zeros are equal, and what is no number comes last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ordered(pub f64);

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> Ordering {
        // Adding zero turns the negative zero into the positive one.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Ordered) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

/// Prints a float as C's `%f` does: with the precision and width that the format asks for, and what is no number in
/// C's spelling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed(pub f64);

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_nan() {
            let text = if self.0.is_sign_negative() { "-nan" } else { "nan" };
            return write!(f, "{text:>width$}", width = f.width().unwrap_or(0));
        }
        fmt::Display::fmt(&self.0, f)
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

/// A number without zeros at the end of its fraction.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
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
    fn zeros_are_equal() {
        assert_eq!(Ordered(0.0), Ordered(-0.0));
        assert!(Ordered(1.0) < Ordered(2.0));
    }
}
