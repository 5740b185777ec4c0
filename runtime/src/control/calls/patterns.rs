//! Lists of patterns that select functions by their names: `parse_*,!parse_debug`.
//!
//! The last pattern of a list that matches a name decides. A pattern with `!` before it excludes functions. If the
//! first pattern excludes, all other functions are selected. `*` stands for any characters, and `?` for one.
//!
//! A pattern is compared with the name in the symbol table and, for C++ and Rust, with the name without parameters:
//! `Parser::parse`, `alloc::string::push`. The names of templates have no arguments.
//!
//! A pattern may begin with a pattern for the source file of the function: `file.c:parse_*`, `src/file.cc:Parser::*`.
//! A single colon is between both; two colons are part of a name.

use crate::text::Text;

/// The longest name in readable form that is compared.
const LONGEST_NAME: usize = 256;

/// Whether a list of patterns selects a function with this name in the symbol table, in a source file with this path.
/// An empty list selects all functions. A function without a name is selected if the list begins by excluding others,
/// or has the pattern `*`. A function without a known file matches no pattern for a file.
pub(super) fn selects(list: &[u8], symbol: Option<&[u8]>, file: Option<&[u8]>) -> bool {
    if list.is_empty() {
        return true;
    }
    let readable = symbol.and_then(readable);
    let mut is_selected = list.starts_with(b"!");
    for pattern in list.split(|byte| *byte == b',') {
        let (pattern, excludes) = pattern.strip_prefix(b"!").map_or((pattern, false), |pattern| (pattern, true));
        let (of_file, pattern) = file_and_function(pattern);
        let is_match = match symbol {
            None => pattern == b"*",
            Some(symbol) => {
                matches(pattern, symbol) || readable.as_ref().is_some_and(|name| matches(pattern, name.as_bytes()))
            }
        };
        if is_match && of_file.is_none_or(|of_file| file.is_some_and(|file| is_end(of_file, file))) {
            is_selected = !excludes;
        }
    }
    is_selected
}

/// Whether a list has a pattern for a source file.
pub(super) fn names_files(list: &[u8]) -> bool {
    list.split(|byte| *byte == b',').any(|pattern| file_and_function(pattern).0.is_some())
}

/// The pattern for the source file, which is before the last single colon, and the pattern for the function.
fn file_and_function(pattern: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let is_colon = |at: Option<usize>| at.and_then(|at| pattern.get(at)) == Some(&b':');
    let is_single = |at: &usize| is_colon(Some(*at)) && !is_colon(at.checked_sub(1)) && !is_colon(at.checked_add(1));
    match (0..pattern.len()).rev().find(is_single) {
        Some(at) => (pattern.get(..at), pattern.get(at + 1..).unwrap_or(&[])),
        None => (None, pattern),
    }
}

/// Whether a pattern matches the end of a path: as many of its last names as the pattern has.
fn is_end(pattern: &[u8], path: &[u8]) -> bool {
    let slashes = pattern.iter().filter(|byte| **byte == b'/').count();
    let mut before = path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let end = match before.nth(slashes) {
        Some(at) => path.get(at + 1..),
        None => Some(path),
    };
    end.is_some_and(|end| matches(pattern, end))
}

/// Whether a pattern with `*` and `?` matches all of a name.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut position) = (0, 0);
    // The place behind the latest `*`, and the position in the name up to which the `*` reaches.
    let mut retry = None;
    loop {
        match (pattern.get(at), name.get(position)) {
            (Some(b'*'), _) => {
                at += 1;
                retry = Some((at, position));
            }
            (Some(b'?'), Some(_)) => (at, position) = (at + 1, position + 1),
            (Some(wanted), Some(found)) if wanted == found => (at, position) = (at + 1, position + 1),
            (None, None) => return true,
            _ => match retry {
                Some((behind, reached)) if reached < name.len() => {
                    retry = Some((behind, reached + 1));
                    (at, position) = (behind, reached + 1);
                }
                _ => return false,
            },
        }
    }
}

/// The name of a C++ or Rust function without its parameters; `None` for other names and for forms that this function
/// does not know.
fn readable(symbol: &[u8]) -> Option<Text<LONGEST_NAME>> {
    let rest = symbol.strip_prefix(b"_Z")?;
    let mut name = Text::new();
    let mut reader = Reader { rest };
    reader.skip_if(b'L');
    if reader.skip_if(b'N') {
        while reader.first().is_some_and(|byte| b"rVKRO".contains(&byte)) {
            reader.skip(1);
        }
        let mut last: &[u8] = b"";
        while reader.first() != Some(b'E') {
            last = reader.component(&mut name, last)?;
        }
    } else {
        reader.component(&mut name, b"")?;
    }
    name.is_whole().then_some(name)
}

/// Reads a mangled name.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn first(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn skip(&mut self, number: usize) {
        self.rest = self.rest.get(number..).unwrap_or(&[]);
    }

    fn skip_if(&mut self, byte: u8) -> bool {
        let is_there = self.first() == Some(byte);
        if is_there {
            self.skip(1);
        }
        is_there
    }

    /// Reads a component of a nested name and appends it to `name`. `last` is the component before; the result is this
    /// component.
    fn component(&mut self, name: &mut Text<LONGEST_NAME>, last: &'a [u8]) -> Option<&'a [u8]> {
        let separator: &[u8] = if name.as_bytes().is_empty() { b"" } else { b"::" };
        match self.first()? {
            b'I' => {
                self.skip_arguments()?;
                Some(last)
            }
            b'S' if self.rest.starts_with(b"St") => {
                self.skip(2);
                name.push(b"std");
                // Behind this prefix, an unqualified name follows if the name is not nested.
                self.component(name, b"std")
            }
            b'C' | b'D' if !last.is_empty() => {
                let is_destructor = self.first() == Some(b'D');
                self.skip(2);
                name.push(separator);
                if is_destructor {
                    name.push(b"~");
                }
                name.push(last);
                Some(last)
            }
            b'L' => {
                self.skip(1);
                self.component(name, last)
            }
            b'0'..=b'9' => {
                let found = self.identifier()?;
                // The last component of a Rust name is a hash.
                let is_hash = found.len() == 17 && found.starts_with(b"h") && self.first() == Some(b'E');
                if !is_hash {
                    name.push(separator);
                    name.push(found);
                }
                Some(found)
            }
            _ => None,
        }
    }

    /// Reads a length and a name of this length.
    fn identifier(&mut self) -> Option<&'a [u8]> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let length = self.rest.get(..digits)?.iter().fold(0_usize, |number, digit| {
            number.saturating_mul(10).saturating_add(usize::from(digit.wrapping_sub(b'0')))
        });
        let found = self.rest.get(digits..)?.get(..length)?;
        self.skip(digits + length);
        Some(found)
    }

    /// Skips the arguments of a template.
    fn skip_arguments(&mut self) -> Option<()> {
        let mut depth = 0_u32;
        loop {
            match self.first()? {
                b'0'..=b'9' => _ = self.identifier()?,
                b'L' if self.rest.get(1).is_some_and(u8::is_ascii_lowercase) => {
                    // A literal of a built-in type: its value ends at the next E.
                    let length = self.rest.iter().position(|byte| *byte == b'E')?;
                    self.skip(length + 1);
                }
                b'S' | b'T' => {
                    let length = match self.rest.get(1)? {
                        b'0'..=b'9' | b'A'..=b'Z' | b'_' => self.rest.iter().position(|byte| *byte == b'_')? + 1,
                        _ => 2,
                    };
                    self.skip(length);
                }
                b'I' | b'N' | b'J' | b'X' | b'F' | b'L' => {
                    depth += 1;
                    self.skip(1);
                }
                b'E' => {
                    depth = depth.checked_sub(1)?;
                    self.skip(1);
                    if depth == 0 {
                        return Some(());
                    }
                }
                _ => self.skip(1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_selected(list: &str, symbol: &str) -> bool {
        selects(list.as_bytes(), Some(symbol.as_bytes()), None)
    }

    #[test]
    fn stars_and_question_marks_match_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("parse", "parse", true),
            ("parse", "parser", false),
            ("parse*", "parser", true),
            ("*parse", "parser", false),
            ("*ar*e*", "xarye", true),
            ("p?rse", "parse", true),
            ("p?rse", "prse", false),
            ("*", "", true),
            ("a*b*c", "abbbc", true),
            ("a*b*c", "abbbd", false),
        ] {
            assert_eq!(is_selected(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn the_last_pattern_that_matches_decides() {
        assert!(is_selected("", "f") && !is_selected("on", "f"));
        assert!(is_selected("f,g", "g") && !is_selected("f,g", "h"));
        assert!(!is_selected("parse_*,!parse_debug", "parse_debug"));
        assert!(is_selected("!parse_debug,parse_*", "parse_debug"));
        assert!(is_selected("!f", "g") && !is_selected("!f", "f"));
        let selects_unnamed = |list: &str| selects(list.as_bytes(), None, Some(b"a.c"));
        let found = ["*", "!f", "", "a.c:*", "f", "b.c:*", "a.c:f"].map(selects_unnamed);
        assert_eq!(found, [true, true, true, true, false, false, false]);
    }

    #[test]
    fn a_pattern_may_name_a_file() {
        for (list, symbol, file, expected) in [
            ("a.c:*", "f", "/src/a.c", true),
            ("a.c:*", "f", "a.c", true),
            ("a.c:*", "f", "/src/aa.c", false),
            ("a.c:*", "f", "/a.c/b.c", false),
            ("a.c:f", "g", "/src/a.c", false),
            ("src/a.c:f", "f", "/usr/src/a.c", true),
            ("src/a.c:f", "f", "src/a.c", true),
            ("src/a.c:f", "f", "/usr/my-src/a.c", false),
            ("src/a.c:f", "f", "a.c", false),
            ("*/a.c:f", "f", "/usr/src/a.c", true),
            ("/src/a.c:f", "f", "/src/a.c", true),
            ("src/*:f", "f", "/src/more/a.c", false),
            ("s?c/*:f", "f", "/src/a.c", true),
            ("a.c:*,!a.c:log_*", "log_it", "a.c", false),
            ("a.c:*,!a.c:log_*", "parse", "a.c", true),
            ("!a.c:*", "parse", "a.c", false),
            ("!a.c:*", "parse", "b.c", true),
            ("*,!a.c:*,f", "f", "a.c", true),
            ("Parser::*", "_ZN6Parser5parseEi", "a.cc", true),
            ("a.cc:Parser::*", "_ZN6Parser5parseEi", "a.cc", true),
            ("a.cc:Parser::*", "_ZN6Parser5parseEi", "b.cc", false),
            ("a:b.c:f", "f", "a:b.c", true),
            (":f", "f", "a.c", false),
            ("a.c:", "f", "a.c", false),
        ] {
            let found = selects(list.as_bytes(), Some(symbol.as_bytes()), Some(file.as_bytes()));
            assert_eq!(found, expected, "{list} {symbol} {file}");
        }
        assert!(!selects(b"a.c:*", Some(b"f"), None) && selects(b"!a.c:*", Some(b"f"), None));
        let found = ["f", "A::*", "A:::*", "f,!a.c:g", "a.c:f", ""].map(|list| names_files(list.as_bytes()));
        assert_eq!(found, [false, false, false, true, true, false]);
    }

    #[test]
    fn names_of_cpp_and_rust_have_a_readable_form() {
        for (symbol, name) in [
            ("_ZN6Parser5parseEi", "Parser::parse"),
            ("_ZNK6Parser5parseEi", "Parser::parse"),
            ("_Z4freei", "free"),
            ("_ZL4freei", "free"),
            ("_ZN6ParserC2Ev", "Parser::Parser"),
            ("_ZN6ParserD1Ev", "Parser::~Parser"),
            ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back"),
            ("_ZN3BoxILi3ELb1EE3getEv", "Box::get"),
            ("_ZN3BoxIN1a1bEE3getEv", "Box::get"),
            ("_ZN5alloc6string6String4push17h0123456789abcdefE", "alloc::string::String::push"),
        ] {
            let found = readable(symbol.as_bytes()).map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned());
            assert_eq!(found.as_deref(), Some(name), "{symbol}");
            assert!(is_selected(name, symbol));
        }
        for symbol in ["main", "_ZN", "_Z", "_ZN9", "_ZN99999999999999999999a", "_ZNI", "_ZN3fooI", "_ZN3fooIL", "_ZS"]
        {
            assert!(readable(symbol.as_bytes()).is_none(), "{symbol}");
        }
    }
}
