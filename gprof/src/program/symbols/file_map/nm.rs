//! Reads what `nm` writes: maps of files, and symbols.
//!
//! A line of a map is `file:address type name`, and for a member of an archive `archive:member:address type name`. A
//! line of symbols is `address type name`.

use std::fmt;

use crate::program::image::Symbol;

/// A line of a map: a symbol that an object file defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<'data> {
    /// The object file.
    pub(super) file: &'data [u8],
    /// The type of the symbol, as a letter of `nm`.
    pub(super) kind: u8,
    /// The name as in the symbol table.
    pub(super) name: &'data [u8],
}

/// The error for a text that is not a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapError {
    /// The line, counted from one.
    pub line: usize,
    /// The error.
    pub fault: MapFault,
}

/// The error in a line of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapFault {
    /// The line is not an entry. Contains the start of the line.
    NoEntry(String),
    /// The line names a symbol without its file. Contains the start of the line.
    NoFile(String),
    /// The text ends here, and no line names a file.
    Empty,
}

impl MapFault {
    /// The number of bytes of a line that messages show.
    const SHOWN: usize = 60;

    pub(super) fn begins(line: &[u8]) -> String {
        line[..line.len().min(MapFault::SHOWN)].escape_ascii().to_string()
    }
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.fault {
            MapFault::NoEntry(text) => write!(f, "not 'file:address type name' ('{text}')")?,
            MapFault::NoFile(text) => write!(f, "no file name before the address ('{text}')")?,
            MapFault::Empty => f.write_str("the map names no object file")?,
        }
        f.write_str("; make the map with nm --defined-only -v --print-file-name")
    }
}

impl std::error::Error for MapError {}

/// The role of a symbol in a report by object file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role<'data> {
    /// The symbol stays as it is.
    Itself,
    /// The symbol belongs to a file that starts before.
    Within,
    /// A file of this name starts or continues here.
    File(&'data [u8]),
}

/// Reads the entries. Skips the other lines that `nm` and linkers write: empty lines, headings of archives, and notes
/// about files without symbols.
pub(super) fn read_map(text: &[u8]) -> Result<Vec<Entry<'_>>, MapError> {
    let mut entries = Vec::new();
    let mut last = 0;
    for (line, bytes) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        last = line;
        let bytes = bytes.trim_ascii_end();
        if bytes.is_empty() || bytes.ends_with(b":") || bytes.starts_with(b"No symbols in ") {
            continue;
        }
        let fault = |kind: fn(String) -> MapFault| MapError { line, fault: kind(MapFault::begins(bytes)) };
        match entry(bytes) {
            Some(entry) => entries.push(entry),
            None if map_symbol(bytes).is_some() => return Err(fault(MapFault::NoFile)),
            None => return Err(fault(MapFault::NoEntry)),
        }
    }
    if entries.is_empty() { Err(MapError { line: last, fault: MapFault::Empty }) } else { Ok(entries) }
}

/// Parses the entry of a line. File names may contain colons: the first colon that a symbol follows counts.
fn entry(line: &[u8]) -> Option<Entry<'_>> {
    let colons = line.iter().enumerate().filter(|(at, byte)| **byte == b':' && *at > 0).map(|(at, _)| at);
    colons.into_iter().find_map(|at| {
        let (kind, name) = map_symbol(&line[at + 1..])?;
        Some(Entry { file: &line[..at], kind, name })
    })
}

/// Parses the type and the name after an address, which is blank for a symbol that another file defines.
///
/// Reads at most up to the next colon unless there is an address, so that the work for many colons is proportional to
/// their number.
fn map_symbol(text: &[u8]) -> Option<(u8, &[u8])> {
    let blanks = text.iter().take_while(|byte| **byte == b' ').count();
    let digits = text[blanks..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    // A single digit may be a type; a type never has more than one letter.
    let rest = match text[blanks + digits..].strip_prefix(b" ") {
        Some(rest) if is_symbol(rest) => rest,
        _ if blanks > 0 => &text[blanks..],
        _ => return None,
    };
    if !is_symbol(rest) {
        return None;
    }
    let (kind, name) = rest.split_first()?;
    Some((*kind, name[1..].trim_ascii()))
}

/// Whether the text is a type of one letter and a name.
fn is_symbol(text: &[u8]) -> bool {
    match text {
        [kind, b' ', name @ ..] => (kind.is_ascii_alphabetic() || b"?-".contains(kind)) && !name.is_empty(),
        _ => false,
    }
}

/// The functions in the text: symbols of type `t`, which are static, and `T`. Other lines are ignored.
#[must_use]
pub(crate) fn read_symbols(text: &[u8]) -> Vec<Symbol<'_>> {
    text.split(|byte| *byte == b'\n').filter_map(symbol).collect()
}

fn symbol(line: &[u8]) -> Option<Symbol<'_>> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
    let digits = std::str::from_utf8(address).ok()?;
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let address = u64::from_str_radix(digits, 16).ok()?;
    let is_static = match kind {
        b"t" => true,
        b"T" => false,
        _ => return None,
    };
    Some(Symbol { address, name, is_static, is_func: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<(String, char, String)> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let entry = entry(line.as_bytes())?;
        Some((text(entry.file), char::from(entry.kind), text(entry.name)))
    }

    #[test]
    fn entries() {
        let found = |file: &str, kind, name: &str| Some((file.to_owned(), kind, name.to_owned()));
        assert_eq!(of("a.o:0000000000000010 T f"), found("a.o", 'T', "f"));
        assert_eq!(of("lib.a:b.o:00 t g"), found("lib.a:b.o", 't', "g"));
        assert_eq!(of("x: 10 W ns::f(int, long)"), found("x", 'W', "ns::f(int, long)"));
        assert_eq!(of("a.o:                 U printf"), found("a.o", 'U', "printf"));
        assert_eq!(of("a.o:                 A f"), found("a.o", 'A', "f"));
        assert_eq!(of("a.o:                 A a b"), found("a.o", 'a', "b"), "an address of one digit");
        assert_eq!(of("a b.o:1 D d"), found("a b.o", 'D', "d"));
        for line in
            ["a.o 10 T f", ":10 T f", "a.o:10 T", "a.o:10", "a.o:T", "a.o:T f", "a.o:10 TT f", "a.o:xy T f", "10 T f"]
        {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn lines_between_entries() {
        let text = b"\na.o:0 T f\r\n\nlib.a:\nlib.a:b.o:0 T g\nNo symbols in x.o\n";
        let names: Vec<_> = read_map(text).unwrap().iter().map(|entry| entry.name).collect();
        assert_eq!(names, [b"f", b"g"]);
    }

    #[test]
    fn faults_name_the_line() {
        let fault = |text: &str| read_map(text.as_bytes()).unwrap_err();
        assert_eq!(
            fault("a.o:0 T f\na.o 1 T g\n"),
            MapError { line: 2, fault: MapFault::NoEntry("a.o 1 T g".to_owned()) }
        );
        assert_eq!(fault("\na.o:\n10 T f\n"), MapError { line: 3, fault: MapFault::NoFile("10 T f".to_owned()) });
        assert_eq!(fault("lib.a:\n"), MapError { line: 2, fault: MapFault::Empty });
        assert_eq!(fault(""), MapError { line: 1, fault: MapFault::Empty });
        assert_eq!(fault("                 U f\n").fault, MapFault::NoFile("                 U f".to_owned()));
        let long = fault(&"x\u{1}".repeat(1000)).to_string();
        assert!(long.len() < 300 && !long.contains('\u{1}'), "{long}");
    }

    #[test]
    fn many_colons_are_read_once() {
        let hostile = format!("{}{}", ":0".repeat(1_000_000), " ".repeat(10));
        assert_eq!(of(&hostile), None);
    }

    #[test]
    fn lines() {
        let symbols =
            read_symbols(b"0000000000001130 t local\n0x40 T main\n        U printf\n50 D data\nx T y\n60 T\n");
        let found: Vec<_> = symbols.iter().map(|symbol| (symbol.address, symbol.name, symbol.is_static)).collect();
        assert_eq!(found, [(0x1130, b"local".as_slice(), true), (0x40, b"main", false)]);
    }
}
