//! Text in XML and HTML.
//!
//! XML 1.0 says which characters are markup and which a document must not have at all; HTML has the same five entities.

use std::io::{self, Write};

use super::text::text as plain;

/// Returns a name or another text as the content of an element or attribute. Control characters become visible, because
/// XML has no form for them.
pub(crate) fn escaped(text: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in plain(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML does not allow these two.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Returns as much of a text as fits into a number of characters, with an ellipsis if there is more; nothing if not
/// even three characters fit.
pub(crate) fn fitting(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    if most < 3 {
        return String::new();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// Writes JSON into an element `script`, whose text knows no escapes of HTML and ends at the first `</script`. Each `<`
/// becomes an escape of JSON, so that no text ends the element.
pub(crate) struct DataOfScript<'a>(pub(crate) &'a mut dyn Write);

impl Write for DataOfScript<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (at, part) in bytes.split(|byte| *byte == b'<').enumerate() {
            if at > 0 {
                self.0.write_all(b"\\u003c")?;
            }
            self.0.write_all(part)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_data() {
        assert_eq!(escaped(b"</script><b a='\"'>&\x1b"), "&lt;/script&gt;&lt;b a=&#39;&quot;&#39;&gt;&amp;\\u{1b}");
        assert_eq!(escaped("é\u{ffff}\u{fffe}\u{202e}".as_bytes()), "é\u{fffd}\u{fffd}\\u{202e}");
        assert_eq!(escaped(b"a\xff"), "a\u{fffd}");
    }

    #[test]
    fn long_texts_end_with_an_ellipsis() {
        assert_eq!(fitting("main", 4), "main");
        assert_eq!(fitting("main", 3), "ma…");
        assert_eq!(fitting("main", 2), "");
        assert_eq!(fitting("é", 1), "é");
    }

    #[test]
    fn no_text_ends_the_element() {
        let mut out = Vec::new();
        DataOfScript(&mut out).write_all(b"\"</script><!--\"").unwrap();
        assert_eq!(out, b"\"\\u003c/script>\\u003c!--\"");
    }
}
