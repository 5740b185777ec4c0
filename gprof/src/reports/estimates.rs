//! Estimated calls as people and programs read them.

use crate::model::CallEstimate;
use crate::sink::json::Value;

/// Numbers up to this one are written with all digits.
const WHOLE: u64 = 99_999;

/// Returns an estimate with its interval, such as `~1234 ±3 %`; otherwise in how many windows calls were seen. Empty
/// without an estimate.
pub(crate) fn cell(estimate: Option<CallEstimate>) -> String {
    let Some(estimate) = estimate else { return String::new() };
    match estimate.percent() {
        Some(percent) => format!("{} ±{} %", number(&estimate), rounded_up(percent)),
        None => without_interval(&estimate),
    }
}

/// Returns an estimate alone, such as `~1234` or `~1.23e9`; without an interval, in how many windows calls were seen.
pub(crate) fn number(estimate: &CallEstimate) -> String {
    match estimate.percent() {
        Some(percent) => format!("~{}", digits(estimate.calls, percent)),
        None => without_interval(estimate),
    }
}

/// Returns an estimate alone in few letters: without an interval, a question mark is the number.
pub(crate) fn short(estimate: &CallEstimate) -> String {
    if estimate.seen > 0 && estimate.interval.is_none() { "~?".to_owned() } else { number(estimate) }
}

fn without_interval(estimate: &CallEstimate) -> String {
    let CallEstimate { seen, windows, .. } = estimate;
    if *seen == 0 { "not seen".to_owned() } else { format!("seen in {seen}/{windows}") }
}

/// Returns an estimate with this standard error, such as `~1.23e9`.
pub(crate) fn rounded(calls: f64, error: f64) -> String {
    let percent = 200.0 * error / calls.max(1.0);
    format!("~{}", digits(calls.round() as u64, percent))
}

/// Returns an estimate as a number of times or calls, such as `~1.23e9 calls`.
pub(crate) fn with_unit(estimate: &CallEstimate, unit: &str) -> String {
    match estimate.interval {
        Some(_) => format!("{}{unit}", number(estimate)),
        None if estimate.seen == 0 => "calls not seen".to_owned(),
        None => format!("calls {}", without_interval(estimate)),
    }
}

/// Returns the width of the widest estimate.
pub(crate) fn width(estimates: impl Iterator<Item = CallEstimate>) -> usize {
    estimates.map(|estimate| cell(Some(estimate)).chars().count()).max().unwrap_or(0)
}

/// Returns a number with so many digits that rounding changes it by a sixth of its interval at most, and two at least.
fn digits(number: u64, percent: f64) -> String {
    if number <= WHOLE {
        return number.to_string();
    }
    let is_enough = |digits: &usize| 50.0 / 10_f64.powi(i32::try_from(*digits).unwrap_or(0) - 1) <= percent / 6.0;
    let digits = (2..6).find(is_enough).unwrap_or(6);
    format!("{:.*e}", digits - 1, number as f64)
}

/// Returns a percentage with two digits if it begins with a 1, and with one digit below 10. Rounding never makes it
/// smaller.
fn rounded_up(percent: f64) -> String {
    if percent <= 0.0 {
        return "0".to_owned();
    }
    let magnitude = percent.log10().floor();
    let first = percent / 10_f64.powf(magnitude);
    let decimals = if first < 2.0 { 1.0 - magnitude } else { -magnitude }.clamp(0.0, 4.0);
    let scale = 10_f64.powf(decimals);
    // What is a hair above a number, because of the division, is that number.
    let rounded = (percent * scale - 1e-9).ceil() / scale;
    let text = format!("{rounded:.*}", decimals as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Returns the fields of an estimate.
pub(crate) fn fields<'a>(estimate: Option<CallEstimate>) -> [(&'static str, Value<'a>); 4] {
    let interval = estimate.and_then(|estimate| estimate.interval);
    let calls = estimate.filter(|estimate| estimate.seen > 0).map(|estimate| estimate.calls);
    [
        ("calls_estimate", calls.into()),
        ("calls_low", interval.map(|(least, _)| least).into()),
        ("calls_high", interval.map(|(_, most)| most).into()),
        ("calls_seen_in_windows", estimate.map(|estimate| estimate.seen).into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if a percentage becomes smaller, or has useless digits.
    #[test]
    fn percentages_are_rounded_up() {
        for (percent, expected) in [
            (3.0, "3"),
            (2.01, "3"),
            (0.3, "0.3"),
            (0.31, "0.4"),
            (0.13, "0.13"),
            (1.04, "1.1"),
            (1.96, "2"),
            (9.2, "10"),
            (41.2, "42"),
            (10.0, "10"),
            (123.4, "124"),
            (0.0, "0"),
            (0.0123, "0.013"),
        ] {
            assert_eq!(rounded_up(percent), expected);
        }
    }

    /// Fails if rounding moves a number by more than a sixth of its interval.
    #[test]
    fn numbers_have_the_digits_that_their_intervals_deserve() {
        for (number, percent, expected) in [
            (1234, 50.0, "1234"),
            (99_999, 50.0, "99999"),
            (1_234_567_890, 42.0, "1.2e9"),
            (1_234_567_890, 3.0, "1.23e9"),
            (1_234_567_890, 0.31, "1.235e9"),
            (1_234_567_890, 0.0, "1.23457e9"),
            (123_456, 10.0, "1.23e5"),
        ] {
            assert_eq!(digits(number, percent), expected);
        }
    }
}
