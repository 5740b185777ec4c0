//! Names and other texts in Markdown, as GitHub and GitLab show it (GitHub Flavored Markdown 0.29).
//!
//! A character reference (`&#124;`) is a plain character in any place. It neither begins a code span, an element, a
//! link, or a mention, nor ends the cell of a table.

use std::fmt::Write;

use super::text::text as plain;

/// The characters that may be more than themselves in a text or in a cell.
const SPECIAL: &[char] =
    &['|', '`', '<', '>', '&', '\\', '*', '_', '[', ']', '~', '#', '@', '!', '$', ':', '{', '}', '(', ')', '+', '='];

/// The characters that may be markup in a text. An underscore inside a word is none.
const MARKUP: &[char] = &['|', '`', '<', '>', '&', '\\', '*', '[', ']', '~', '#', '@'];

/// Returns a text for a paragraph, an item of a list, or a cell. Control characters, such as newlines, become visible.
pub(crate) fn escaped(text: &[u8]) -> String {
    let text = plain(text);
    let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let is_inside = |at: usize| {
        let (before, after) = (text.get(..at), text.get(at + 1..));
        is_word(before.and_then(|text| text.chars().next_back())) && is_word(after.and_then(|text| text.chars().next()))
    };
    references(&text, |at, letter| MARKUP.contains(&letter) || (letter == '_' && !is_inside(at)))
}

/// Returns a name as code. A plain name is a code span; others are an element, because a code span cannot have all of
/// the characters that end a cell or a code span.
pub(crate) fn code(name: &[u8]) -> String {
    let name = plain(name);
    let is_plain =
        !name.contains(['|', '`', '\\']) && !name.starts_with(' ') && !name.ends_with(' ') && !name.is_empty();
    if is_plain {
        format!("`{name}`")
    } else {
        format!("<code>{}</code>", references(&name, |_, letter| SPECIAL.contains(&letter)))
    }
}

/// Replaces characters by references to them. `is_special` gets the place of a character, and the character.
fn references(text: &str, is_special: impl Fn(usize, char) -> bool) -> String {
    let mut spelled = String::with_capacity(text.len() + 16);
    for (at, letter) in text.char_indices() {
        if is_special(at, letter) {
            // A string takes any text.
            let _ = write!(spelled, "&#{};", u32::from(letter));
        } else {
            spelled.push(letter);
        }
    }
    spelled
}

/// A table, of which the first columns are texts and the others numbers.
pub(crate) struct Table {
    lines: String,
}

impl Table {
    /// Begins a table with these titles. Those of `texts` are of columns with texts.
    pub(crate) fn new(texts: &[&str], numbers: &[&str]) -> Table {
        let mut table = Table { lines: String::new() };
        table.row(texts.iter().chain(numbers).map(|title| (*title).to_owned()));
        let kinds = texts.iter().map(|_| "---").chain(numbers.iter().map(|_| "---:"));
        table.row(kinds.map(str::to_owned));
        table
    }

    /// Adds a row. Its cells are escaped.
    pub(crate) fn row(&mut self, cells: impl Iterator<Item = String>) {
        self.lines.push('|');
        for cell in cells {
            self.lines.push(' ');
            self.lines.push_str(&cell);
            self.lines.push_str(" |");
        }
        self.lines.push('\n');
    }

    /// Returns the lines of the table.
    pub(crate) fn lines(&self) -> &str {
        &self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a name that ends its cell or its code span, begins an element, or has a line of its own.
    #[test]
    fn names_are_code() {
        assert_eq!(code(b"std::map<int, char>::at(int)"), "`std::map<int, char>::at(int)`");
        assert_eq!(code(b"operator|"), "<code>operator&#124;</code>");
        assert_eq!(code(b"a`b<i>"), "<code>a&#96;b&#60;i&#62;</code>");
        assert_eq!(code(b"a\nb|"), "<code>a&#92;nb&#124;</code>");
        assert_eq!([code(b" a"), code(b"")], ["<code> a</code>", "<code></code>"]);
        assert_eq!(code(b"a\xff"), "`a\u{fffd}`");
    }

    /// Catches a text that becomes markup.
    #[test]
    fn texts_are_no_markup() {
        assert_eq!(
            escaped(b"*a* [b](c) <d> |\n@e #1 f_g _h"),
            "&#42;a&#42; &#91;b&#93;(c) &#60;d&#62; &#124;&#92;n&#64;e &#35;1 f_g &#95;h"
        );
        assert_eq!(escaped("±3 % (p 2e-7)".as_bytes()), "±3 % (p 2e-7)");
    }

    /// Catches a row with another number of cells than the titles, and numbers on the left.
    #[test]
    fn a_table_has_a_line_for_each_row() {
        let mut table = Table::new(&["name"], &["self", "calls"]);
        table.row(["`f`", "1.00", "3"].into_iter().map(str::to_owned));
        assert_eq!(table.lines(), "| name | self | calls |\n| --- | ---: | ---: |\n| `f` | 1.00 | 3 |\n");
    }
}
