//! Reads maps line by line, as `nm` writes them: `file:address type name`, and for members of archives
//! `archive:member:address type name`.

use super::entry::{Entry, MapError, MapFault};

/// Reads the entries. Skips the other lines that `nm` and linkers write: empty lines, headings of archives, and notes
/// about files without symbols.
pub(super) fn read(text: &[u8]) -> Result<Vec<Entry<'_>>, MapError> {
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
            None if symbol(bytes).is_some() => return Err(fault(MapFault::NoFile)),
            None => return Err(fault(MapFault::NoEntry)),
        }
    }
    if entries.is_empty() { Err(MapError { line: last, fault: MapFault::Empty }) } else { Ok(entries) }
}

/// Parses the entry of a line. File names may contain colons: the first colon that a symbol follows counts.
fn entry(line: &[u8]) -> Option<Entry<'_>> {
    let colons = line.iter().enumerate().filter(|(at, byte)| **byte == b':' && *at > 0).map(|(at, _)| at);
    colons.into_iter().find_map(|at| {
        let (kind, name) = symbol(&line[at + 1..])?;
        Some(Entry { file: &line[..at], kind, name })
    })
}

/// Parses the type and the name after an address, which is blank for a symbol that another file defines.
///
/// Reads at most up to the next colon unless there is an address, so that the work for many colons is proportional to
/// their number.
fn symbol(text: &[u8]) -> Option<(u8, &[u8])> {
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
        let names: Vec<_> = read(text).unwrap().iter().map(|entry| entry.name).collect();
        assert_eq!(names, [b"f", b"g"]);
    }

    #[test]
    fn faults_name_the_line() {
        let fault = |text: &str| read(text.as_bytes()).unwrap_err();
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
}
