//! Numbers and marks as people read them.

use crate::model::{Analysis, Change, DifferenceRow, Presence};
use crate::reports::estimates;
use crate::sink::text::text;

/// Returns the program and the profiles of a side.
pub(crate) fn described(analysis: &Analysis<'_>) -> String {
    let named = analysis.options.images.iter().map(|profiled| {
        let profile = profiled.profiles.first().map(ToString::to_string).unwrap_or_default();
        let more = profiled.profiles.len().saturating_sub(1);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{} with {profile}{more}", profiled.image.display())
    });
    text(named.collect::<Vec<_>>().join("; ").as_bytes())
}

/// Returns a time with its sign. What is rounded to zero has none.
pub(crate) fn signed(number: f64) -> String {
    with_sign(number, 2)
}

/// Returns the change in percent, with its sign.
pub(crate) fn percent(change: &Change) -> String {
    change.percent().filter(|percent| !percent.is_nan()).map(signed_percent).unwrap_or_default()
}

/// Returns a percentage with its sign.
pub(crate) fn signed_percent(percent: f64) -> String {
    with_sign(percent, 1)
}

/// Returns the calls in the base, the calls now, their change, and the change in percent. Estimates have a ~, and a
/// change of estimates that is noise has no number. All are blank where calls are not compared.
pub(crate) fn calls(change: &Change) -> [String; 4] {
    match change.error {
        _ if change.old.is_nan() || change.new.is_nan() => Default::default(),
        None => {
            let [old, new] = [change.old, change.new].map(|calls| format!("{calls:.0}"));
            [old, new, signed_count(change.absolute()), percent(change)]
        }
        Some(error) => {
            let [old, new] = [change.old, change.new].map(|calls| estimates::rounded(calls, error));
            let sign = if change.absolute() < 0.0 { "-" } else { "+" };
            let number = || format!("{sign}{}", estimates::rounded(change.absolute().abs(), error));
            match change.is_noise() {
                Some(true) => [old, new, "noise".to_owned(), String::new()],
                _ => [old, new, number(), percent(change)],
            }
        }
    }
}

/// Returns a change of calls, with its sign.
pub(crate) fn signed_count(number: f64) -> String {
    with_sign(number, 0)
}

fn with_sign(number: f64, decimals: usize) -> String {
    let text = format!("{number:+.decimals$}");
    let is_zero = text.bytes().all(|letter| matches!(letter, b'+' | b'-' | b'0' | b'.'));
    if is_zero { text.trim_start_matches(['+', '-']).to_owned() } else { text }
}

/// Returns the standard error of a change, if it has one.
pub(crate) fn error(change: &Change) -> String {
    change.error.map(|error| format!("±{error:.2}")).unwrap_or_default()
}

/// Returns the sign that follows a change that is noise.
pub(crate) fn noise_sign(change: &Change) -> &'static str {
    if change.is_noise() == Some(true) { "~" } else { "" }
}

/// Returns what is to be known of a row: whether the change of its self time is noise, and whether the function was
/// added or removed.
pub(crate) fn mark(row: &DifferenceRow) -> &'static str {
    match (row.presence, row.own.is_noise() == Some(true)) {
        (Presence::Both, false) => "",
        (Presence::Both, true) => "noise",
        (Presence::Added, false) => "added",
        (Presence::Added, true) => "added, noise",
        (Presence::Removed, false) => "removed",
        (Presence::Removed, true) => "removed, noise",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_have_no_sign() {
        assert_eq!(
            [0.0, -0.0, 0.004, -0.004, 0.01, -1.25].map(signed),
            ["0.00", "0.00", "0.00", "0.00", "+0.01", "-1.25"]
        );
        assert_eq!([0.0, -0.4, 7.0, -7.0].map(signed_count), ["0", "0", "+7", "-7"]);
    }
}
