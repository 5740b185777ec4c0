//! The limits that a comparison must keep (`--fail-if`).

use super::pattern::fits;
use crate::error::Error;

/// What a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// The self time of each function.
    Functions,
    /// The calls of each function.
    Calls,
    /// The time of everything.
    Total,
}

/// The names of what a limit is about.
pub(crate) const LIMITED: [(&str, Limited); 3] =
    [("slower", Limited::Functions), ("calls", Limited::Calls), ("total", Limited::Total)];

/// A limit: the growth that is allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// What is limited.
    pub limited: Limited,
    /// The largest growth that is allowed, as a percentage of the base; not negative and not NaN.
    pub percent: f64,
    /// Which functions count, with `*` and `?`; `None` for all.
    pub pattern: Option<Vec<u8>>,
}

// The percentage is never NaN, so equality is reflexive.
impl Eq for Gate {}

impl Gate {
    /// Parses a value of `--fail-if`: `slower:PERCENT%[:PATTERN]`, and likewise `calls` and `total`.
    ///
    /// # Errors
    ///
    /// When the value is something else.
    pub(crate) fn new(text: &str) -> Result<Gate, Error> {
        let wrong =
            |why: &str| Error::Usage(format!("'--fail-if={text}': {why}: write slower:3% or slower:3%:PATTERN"));
        let mut words = text.splitn(3, ':');
        let name = words.next().unwrap_or_default();
        let known = LIMITED.iter().find(|(known, _)| *known == name);
        let Some((_, limited)) = known else {
            return Err(wrong("a limit begins with slower, calls, or total"));
        };
        let number = words.next().map(|number| number.strip_suffix('%').unwrap_or(number));
        let percent =
            number.and_then(|number| number.parse().ok()).filter(|percent: &f64| (0.0..1e6).contains(percent));
        let Some(percent) = percent else {
            return Err(wrong("a percentage follows"));
        };
        let pattern = words.next().map(|pattern| pattern.as_bytes().to_vec());
        if pattern.as_ref().is_some_and(Vec::is_empty) {
            return Err(wrong("the pattern is empty"));
        }
        if pattern.is_some() && *limited == Limited::Total {
            return Err(wrong("the total has no functions to choose from"));
        }
        Ok(Gate { limited: *limited, percent, pattern })
    }

    /// Returns whether the limit counts for a function with one of these names.
    pub(crate) fn counts_for<'n>(&self, mut names: impl Iterator<Item = &'n [u8]>) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| names.any(|name| fits(pattern, name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_a_percentage_and_may_have_a_pattern() {
        let gate = |limited, percent, pattern: Option<&str>| Gate {
            limited,
            percent,
            pattern: pattern.map(|pattern| pattern.as_bytes().to_vec()),
        };
        let of = |text: &str| Gate::new(text).map_err(|error| error.to_string());
        assert_eq!(of("slower:3%"), Ok(gate(Limited::Functions, 3.0, None)));
        assert_eq!(of("calls:0:std::*"), Ok(gate(Limited::Calls, 0.0, Some("std::*"))));
        assert_eq!(of("total:2.5%"), Ok(gate(Limited::Total, 2.5, None)));
        for wrong in
            ["", "slower", "slower:", "slower:x%", "slower:-1%", "slower:nan", "faster:3%", "calls:3%:", "total:3%:f"]
        {
            assert!(of(wrong).unwrap_err().contains(&format!("'--fail-if={wrong}'")), "{wrong}");
        }
        let some = gate(Limited::Functions, 3.0, Some("ha*"));
        let counts = |gate: &Gate, names: &[&str]| gate.counts_for(names.iter().map(|name| name.as_bytes()));
        assert!(
            counts(&some, &["x", "hash"]) && !counts(&some, &["x"]) && counts(&gate(Limited::Calls, 1.0, None), &[])
        );
    }
}
