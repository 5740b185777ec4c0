//! Names and paths as lines of UTF-8.

use std::fmt::Display;

use crate::terminal::visible;

/// Returns a name or a path as UTF-8 without control characters: a line end in a name must not look like the end of a
/// record. Bytes that are not UTF-8 become U+FFFD.
pub(crate) fn text(bytes: &[u8]) -> String {
    visible(&String::from_utf8_lossy(bytes)).into_owned()
}

/// Returns a path in ASCII: all other bytes are escaped.
pub(crate) fn ascii(path: &[u8]) -> impl Display {
    path.escape_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(text(b"ns::f(int)"), "ns::f(int)");
        assert_eq!(text(b"a\nb\x1b\xff"), "a\\nb\\u{1b}\u{fffd}");
        assert_eq!(ascii("a\n\"é\"".as_bytes()).to_string(), "a\\n\\\"\\xc3\\xa9\\\"");
        assert_eq!(text("é\u{2028}".as_bytes()), "é\\u{2028}");
    }
}
