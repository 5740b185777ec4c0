//! Parses how the command line names functions, `[FILE:](FUNCTION|LINE)`, and arcs, `FROM/TO`.

use std::fmt;

/// A set of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The base name of their source file, if one is given.
    pub file: Option<Vec<u8>>,
    /// Which functions of that file, or of all files.
    pub what: What,
}

/// Which functions of a file, or of all files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// All functions.
    All,
    /// Functions that start on this line.
    Line(u64),
    /// Functions with this name.
    Function(Vec<u8>),
}

/// The value of an option that chooses functions or arcs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Functions.
    Functions(Spec),
    /// The arcs from some functions to others.
    Arcs(Spec, Spec),
}

/// The reason why a text is not a valid [`Pattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The text is empty where a function, a file or a line is needed.
    Empty,
    /// The option needs an arc, and the text has no `/`.
    NoArc,
    /// The text has a `/`, and the option needs functions.
    Arc,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Malformed::Empty => "name a function, FILE, FILE:FUNCTION or FILE:LINE",
            Malformed::NoArc => "name two functions, FROM/TO",
            Malformed::Arc => "name functions, not an arc FROM/TO",
        })
    }
}

impl Spec {
    /// Parses a spec as GNU gprof does: the file ends at the last `:`; a text without `:` and with a `.` is a file.
    #[must_use]
    pub fn gnu(text: &[u8]) -> Spec {
        match text.iter().rposition(|byte| *byte == b':') {
            Some(colon) => Spec {
                file: Some(text[..colon].to_vec()).filter(|file| !file.is_empty()),
                what: what(&text[colon + 1..]),
            },
            None if text.contains(&b'.') => Spec { file: Some(text.to_vec()), what: What::All },
            None => Spec { file: None, what: what(text) },
        }
    }

    /// Parses a spec in which functions may have their source names: the `::` of C++ and Rust does not end a file.
    #[must_use]
    pub fn new(text: &[u8]) -> Spec {
        let is_single = |at: &usize| {
            text[*at] == b':' && text.get(at + 1) != Some(&b':') && at.checked_sub(1).is_none_or(|at| text[at] != b':')
        };
        match (0..text.len()).find(is_single) {
            Some(colon) => Spec {
                file: Some(text[..colon].to_vec()).filter(|file| !file.is_empty()),
                what: what(&text[colon + 1..]),
            },
            None => Spec { file: None, what: what(text) },
        }
    }

    /// Whether the spec is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.file.is_none() && self.what == What::All
    }
}

fn what(text: &[u8]) -> What {
    match text {
        [] => What::All,
        [first, ..] if first.is_ascii_digit() => {
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
            What::Line(
                digits.fold(0, |line: u64, digit| line.saturating_mul(10).saturating_add(u64::from(*digit - b'0'))),
            )
        }
        name => What::Function(name.to_vec()),
    }
}

impl Pattern {
    /// Parses the value of an option as GNU gprof does, which accepts any text.
    #[must_use]
    pub fn gnu(text: &[u8]) -> Pattern {
        match text.iter().position(|byte| *byte == b'/') {
            Some(slash) => Pattern::Arcs(Spec::gnu(&text[..slash]), Spec::gnu(&text[slash + 1..])),
            None => Pattern::Functions(Spec::gnu(text)),
        }
    }

    /// Parses the value of an option.
    ///
    /// # Errors
    ///
    /// When the value is empty.
    pub fn new(text: &[u8]) -> Result<Pattern, Malformed> {
        let spec = |text| Some(Spec::new(text)).filter(|spec| !spec.is_empty()).ok_or(Malformed::Empty);
        match slash(text) {
            Some(slash) => Ok(Pattern::Arcs(spec(&text[..slash])?, spec(&text[slash + 1..])?)),
            None => Ok(Pattern::Functions(spec(text)?)),
        }
    }
}

/// The position of the `/` between two functions, skipping the `/` of a C++ operator.
fn slash(text: &[u8]) -> Option<usize> {
    (0..text.len()).find(|at| text[*at] == b'/' && !text[..*at].ends_with(b"operator"))
}

/// Returns whether a text fits a pattern. `*` stands for any text, and `?` for any character. The time is at most
/// proportional to the product of both lengths.
pub(crate) fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // The state to return to if the text after the last `*` does not fit: then the `*` stands for one more character.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(sign) if *sign == b'?' || *sign == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match &mut retry {
                Some((after, from)) => {
                    *from += 1;
                    (p, t) = (*after, *from);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|sign| *sign == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str) -> What {
        What::Function(name.into())
    }

    #[test]
    fn specs() {
        let spec = |file: Option<&str>, what| Spec { file: file.map(|file| file.as_bytes().to_vec()), what };
        assert_eq!(Spec::new(b"main"), spec(None, function("main")));
        assert_eq!(Spec::new(b"a.c:main"), spec(Some("a.c"), function("main")));
        assert_eq!(Spec::new(b"a.c:12"), spec(Some("a.c"), What::Line(12)));
        assert_eq!(Spec::new(b"a.c:"), spec(Some("a.c"), What::All));
        assert_eq!(Spec::new(b"12"), spec(None, What::Line(12)));
        assert_eq!(Spec::new(b"ns::f"), spec(None, function("ns::f")));
        assert_eq!(Spec::new(b"a.cc:ns::f"), spec(Some("a.cc"), function("ns::f")));
        assert_eq!(Spec::gnu(b"ns::f"), spec(Some("ns:"), function("f")));
        assert_eq!(Spec::gnu(b"a.c"), spec(Some("a.c"), What::All));
        assert!(Spec::gnu(b":").is_empty());
    }

    #[test]
    fn arcs() {
        assert!(matches!(Pattern::new(b"a/b"), Ok(Pattern::Arcs(..))));
        assert!(matches!(Pattern::new(b"V::operator/"), Ok(Pattern::Functions(_))));
        assert_eq!(Pattern::new(b"a/"), Err(Malformed::Empty));
        assert_eq!(Pattern::new(b""), Err(Malformed::Empty));
    }
}
