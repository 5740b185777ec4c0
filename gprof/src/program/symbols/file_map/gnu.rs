//! Reads maps as GNU gprof does.
//!
//! GNU gprof reads pieces of lines rather than lines: a file name up to the first colon, then what follows. Each
//! piece ends after a fixed number of bytes, and the next one starts there.

use super::nm::{Entry, MapError, MapFault, Role};
use crate::program::image::Symbol;

/// The maximum length of a piece.
const LONGEST: usize = 1023;

/// The message of a system's linker about a file without symbols.
const NO_SYMBOLS: &[u8] = b"No symbols in ";

/// Reads the entries. Returns an error where GNU gprof crashes.
pub(super) fn read(text: &[u8]) -> Result<Vec<Entry<'_>>, MapError> {
    let mut rest = text;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let start = rest;
        let fail = || {
            let line = 1 + text[..text.len() - start.len()].iter().filter(|byte| **byte == b'\n').count();
            let shown = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
            MapError { line, fault: MapFault::NoEntry(MapFault::begins(shown)) }
        };
        let file = piece(&mut rest, b":\n").ok_or_else(fail)?;
        if file.starts_with(NO_SYMBOLS) {
            rest = skip_blanks(rest);
            continue;
        }
        // At the end of the text, GNU gprof searches what it has already read for the name.
        let symbol = if rest.is_empty() { file } else { piece(&mut rest, b"\n").ok_or_else(fail)? };
        rest = skip_blanks(rest);
        let blank = symbol.iter().rposition(|byte| *byte == b' ').ok_or_else(fail)?;
        entries.push(Entry { file, kind: b'?', name: &symbol[blank + 1..] });
    }
    if text.is_empty() { Err(MapError { line: 1, fault: MapFault::Empty }) } else { Ok(entries) }
}

/// Returns the bytes before the first of some delimiters, at least one byte; what follows a zero byte does not count.
fn piece<'data>(rest: &mut &'data [u8], ends: &[u8]) -> Option<&'data [u8]> {
    let end = rest.iter().take(LONGEST).position(|byte| ends.contains(byte));
    let (piece, behind) = rest.split_at(end.unwrap_or(rest.len().min(LONGEST)));
    *rest = behind;
    let text = piece.split(|byte| *byte == 0).next();
    text.filter(|_| !piece.is_empty())
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    &text[text.iter().position(|byte| !is_blank(byte)).unwrap_or(text.len())..]
}

/// A symbol in the map stands for its file if the map's run of lines for that file starts with the symbol. Other
/// symbols in the map are left out.
pub(super) fn roles<'data>(entries: &[Entry<'data>], symbols: &[Symbol<'data>]) -> Vec<Role<'data>> {
    let mut before = None;
    let begins = |entry: &Entry<'data>| before.replace(entry.file) != Some(entry.file);
    let begins: Vec<bool> = entries.iter().map(begins).collect();
    let mut by_name: Vec<(&Entry<'data>, bool)> = entries.iter().zip(begins).collect();
    by_name.sort_by_key(|(entry, _)| entry.name);
    let role = |symbol: &Symbol<'data>| match search(&by_name, symbol.name) {
        None => Role::Itself,
        Some((entry, true)) => Role::File(entry.file),
        Some((_, false)) => Role::Within,
    };
    symbols.iter().map(role).collect()
}

/// Finds a name as the C library's `bsearch` does: of several equal names, the one that the search meets first.
fn search<'a, 'data>(sorted: &'a [(&'a Entry<'data>, bool)], name: &[u8]) -> Option<&'a (&'a Entry<'data>, bool)> {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = (low + high) / 2;
        match name.cmp(sorted[middle].0.name) {
            std::cmp::Ordering::Less => high = middle,
            std::cmp::Ordering::Greater => low = middle + 1,
            std::cmp::Ordering::Equal => return sorted.get(middle),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<(String, String)>, MapError> {
        let text_of = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let pair = |entry: &Entry<'_>| (text_of(entry.file), text_of(entry.name));
        read(text.as_bytes()).map(|entries| entries.iter().map(pair).collect())
    }

    fn pairs(list: &[(&str, &str)]) -> Result<Vec<(String, String)>, MapError> {
        Ok(list.iter().map(|(file, name)| ((*file).to_owned(), (*name).to_owned())).collect())
    }

    #[test]
    fn pieces_are_not_lines() {
        assert_eq!(names("a.o:0 T f\n\n  b.o:0 T g"), pairs(&[("a.o", "f"), ("b.o", "g")]));
        assert_eq!(names("lib.a:b.o:0 T g\nx y"), pairs(&[("lib.a", "g"), ("x y", "y")]));
        assert_eq!(names("No symbols in x.o\na.o:0 T f \n"), pairs(&[("a.o", "")]));
        assert_eq!(names("No symbols in x.o"), pairs(&[]));
        assert_eq!(names("a\0b:0 T f\0g\n"), pairs(&[("a", "f")]));
    }

    #[test]
    fn long_names_are_cut() {
        let long = "x".repeat(2000);
        assert_eq!(names(&format!("{long}:0 T f\n")), pairs(&[(&long[..1023], "f")]));
        assert_eq!(names(&format!("a.o:0 T {long}\n")).unwrap_err().line, 1);
    }

    #[test]
    fn faults_name_the_line() {
        for (text, line) in [("", 1), ("\n", 1), ("a.o:0 T f\nb.o\n", 2), ("a.o:0 T f\n\nlib.a:\n", 3), ("a.o:f\n", 1)]
        {
            assert_eq!(names(text).unwrap_err().line, line, "{text:?}");
        }
        let fault = MapFault::NoEntry("lib.a:".to_owned());
        assert_eq!(names("a.o:0 T f\n\nlib.a:\nx\n").unwrap_err(), MapError { line: 3, fault });
    }

    #[test]
    fn the_one_of_equal_names_that_halving_meets() {
        let entries = read(b"a.o:0 T f\nb.o:0 T f\nc.o:0 T g\nc.o:0 T h\n").unwrap();
        let symbol = |name: &'static str| Symbol { address: 1, name: name.as_bytes(), is_static: false, is_func: true };
        let roles = roles(&entries, &["f", "g", "h", "i"].map(symbol));
        assert_eq!(roles, [Role::File(b"b.o"), Role::File(b"c.o"), Role::Within, Role::Itself]);
    }
}
