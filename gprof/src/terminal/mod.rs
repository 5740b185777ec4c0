//! What a run knows of the terminals that it writes to.

pub(crate) mod browser;
pub(crate) mod interrupts;
pub mod pager;
pub mod progress;

use std::borrow::Cow;
use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write, stderr, stdout};

use terminal_size::{Width, terminal_size_of};

/// The width in characters of a terminal that does not tell its width.
const USUAL_WIDTH: usize = 80;

/// The terminals that a run writes to. By default there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// The width in characters of the terminal that shows the reports, if a terminal shows the reports.
    pub reports: Option<usize>,
    /// The width in characters of the terminal that shows the warnings, if there is one that can erase a line.
    pub warnings: Option<usize>,
    /// The width in characters of reports that go to no terminal.
    pub columns: Option<usize>,
    /// Whether the terminal that shows the reports can draw at any place of its screen.
    pub has_screen: bool,
    /// Whether reports have colors: the terminal that shows the reports has colors and the user does not object, or
    /// the user wants colors everywhere.
    pub colors: bool,
}

impl Terminal {
    /// Returns the terminals of this process: its standard output and its standard error. The environment variables
    /// `TERM`, `COLUMNS`, `NO_COLOR`, `CLICOLOR`, and `CLICOLOR_FORCE` count.
    #[must_use]
    pub fn of_process() -> Terminal {
        let width = |size: Option<(Width, _)>| Some(size.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0)));
        let reports = stdout().is_terminal().then(|| terminal_size_of(stdout())).and_then(width);
        let warnings = stderr().is_terminal().then(|| terminal_size_of(stderr())).and_then(width);
        let is_able = env::var_os("TERM").is_some_and(|name| !name.is_empty() && name != "dumb");
        Terminal {
            reports,
            warnings: warnings.filter(|_| is_able),
            columns: env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0),
            has_screen: reports.is_some() && is_able,
            colors: has_colors(reports.is_some() && is_able, |name| env::var_os(name)),
        }
    }

    /// Returns the width of reports in characters: the width of the terminal, the value of `COLUMNS`, or 80.
    #[must_use]
    pub fn width(&self) -> usize {
        self.reports.or(self.columns).unwrap_or(USUAL_WIDTH)
    }
}

/// Whether reports have colors, by the variables of no-color.org and of bixense.com/clicolors: `NO_COLOR` turns colors
/// off unless the value is empty. Otherwise, `CLICOLOR_FORCE` turns colors on, also in files and pipes, unless the
/// value is empty or 0. Otherwise, only a terminal with colors has them, and `CLICOLOR=0` turns them off.
fn has_colors(is_able: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let value = |name| variable(name).filter(|value| !value.is_empty());
    let is_on = |name| value(name).is_some_and(|value| value != "0");
    value("NO_COLOR").is_none()
        && (is_on("CLICOLOR_FORCE") || is_able && value("CLICOLOR").is_none_or(|value| value != "0"))
}

/// Escapes all control characters of a text, such as newlines (`\n`). Names and paths of input files may have control
/// characters, which a terminal would obey.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_control(letter) { escaped.extend(letter.escape_default()) } else { escaped.push(letter) }
    }
    Cow::Owned(escaped)
}

/// Escapes all control characters of a name that need not be UTF-8. Bytes that are not UTF-8 stay as they are.
#[must_use]
pub fn visible_bytes(name: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    // The encodings of all control characters beyond ASCII begin with one of these bytes.
    if !name.iter().any(|byte| byte.is_ascii_control() || matches!(byte, 0xc2 | 0xe2)) {
        return name;
    }
    let mut escaped = Vec::with_capacity(name.len() + 16);
    for chunk in name.utf8_chunks() {
        escaped.extend_from_slice(visible(chunk.valid()).as_bytes());
        escaped.extend_from_slice(chunk.invalid());
    }
    Cow::Owned(escaped)
}

/// Returns whether a character changes how other characters are shown: control characters, line and paragraph
/// separators, and characters that change the direction of writing.
pub(crate) fn is_control(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the system's message for an error, without the number that Rust appends.
pub(crate) fn system(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// A writer to a terminal that escapes the control characters of input files, such as the lines of source files. Line
/// ends, tabs, form feeds and colors, which reports have themselves, stay as they are.
///
/// Names are escaped where they are formatted, because a newline in a name must not look like the end of a line.
pub(crate) struct EscapingWriter<'a> {
    out: &'a mut dyn Write,
    /// Bytes that may begin a sequence that stays as it is.
    held: Vec<u8>,
    text: Vec<u8>,
}

impl<'a> EscapingWriter<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> EscapingWriter<'a> {
        EscapingWriter { out, held: Vec::new(), text: Vec::new() }
    }

    fn byte(&mut self, byte: u8) {
        match (self.held.as_slice(), byte) {
            ([], b'\r' | b'\x1b' | 0xc2) => return self.held.push(byte),
            // The line end of DOS.
            ([b'\r'], b'\n') => self.keep(),
            ([b'\x1b'], b'[') => return self.held.push(byte),
            ([b'\x1b', b'[', rest @ ..], b'0'..=b'9' | b';') if rest.len() < 16 => return self.held.push(byte),
            ([b'\x1b', b'[', ..], b'm') => self.keep(),
            ([0xc2], 0x80..=0x9f) => {
                self.held.clear();
                return self.escape(char::from(byte));
            }
            ([], _) => {}
            _ => {
                self.give_up();
                return self.byte(byte);
            }
        }
        if byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t' | b'\x0c') {
            self.escape(char::from(byte));
        } else {
            self.text.push(byte);
        }
    }

    /// Keeps the held bytes: they are a sequence that stays as it is.
    fn keep(&mut self) {
        self.text.append(&mut self.held);
    }

    /// Escapes the held bytes: they are not such a sequence.
    fn give_up(&mut self) {
        for byte in std::mem::take(&mut self.held) {
            if byte.is_ascii_control() { self.escape(char::from(byte)) } else { self.text.push(byte) }
        }
    }

    fn escape(&mut self, letter: char) {
        self.text.extend(letter.escape_default().map(|letter| letter as u8));
    }
}

impl Write for EscapingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.iter().for_each(|byte| self.byte(*byte));
        let done = self.out.write_all(&self.text);
        self.text.clear();
        done.map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.give_up();
        let done = self.out.write_all(&self.text);
        self.text.clear();
        done.and_then(|()| self.out.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(visible("a\x1b[31m\x07\u{9b}b\nc\u{202e}\t\\é"), "a\\u{1b}[31m\\u{7}\\u{9b}b\\nc\\u{202e}\\t\\é");
        assert!(matches!(visible("plain é"), Cow::Borrowed(_)));
        let name = [b"a\xff\x1b".as_slice(), "\u{9b}é".as_bytes(), b"\xe2"].concat();
        let expected = [b"a\xff\\u{1b}\\u{9b}".as_slice(), "é".as_bytes(), b"\xe2"].concat();
        assert_eq!(visible_bytes(Cow::Borrowed(&name)), Cow::Borrowed(expected.as_slice()));
        assert!(matches!(visible_bytes(Cow::Borrowed(b"main\xff")), Cow::Borrowed(_)));
    }

    /// Writes a text in pieces of every size, and returns what the terminal gets.
    fn shown(text: &[u8]) -> String {
        let mut first = None;
        for size in 1..=text.len() {
            let mut out = Vec::new();
            let mut visible = EscapingWriter::new(&mut out);
            text.chunks(size).for_each(|piece| visible.write_all(piece).unwrap());
            visible.flush().unwrap();
            assert_eq!(first.get_or_insert_with(|| out.clone()), &out, "{size}");
        }
        String::from_utf8(first.unwrap()).unwrap()
    }

    #[test]
    fn reports_have_no_control_characters_but_their_own() {
        let own = "\x0c\n\tline\r\n\x1b[1mred\x1b[0m \u{e9}\u{a0}";
        assert_eq!(shown(own.as_bytes()), own);
        assert_eq!(
            shown(b"a\x1b]0;t\x07b\rc\x1b[2Jd\xc2\x9b1m\x1b"),
            "a\\u{1b}]0;t\\u{7}b\\rc\\u{1b}[2Jd\\u{9b}1m\\u{1b}"
        );
        assert_eq!(shown(b"\x1b\x1b[1;1;1;1;1;1;1;1;1;1m\x7f"), "\\u{1b}\\u{1b}[1;1;1;1;1;1;1;1;1;1m\\u{7f}");
        assert_eq!(shown(b"a\x08b\x0bc\x0e"), "a\\u{8}b\\u{b}c\\u{e}");
        // Colors have up to 16 digits and separators.
        assert_eq!(shown(b"\x1b[38;2;100;200;255m"), "\x1b[38;2;100;200;255m");
        assert_eq!(shown(b"\x1b[38;2;100;200;2550m"), "\\u{1b}[38;2;100;200;2550m");
    }

    #[test]
    fn a_stray_byte_hides_no_control_character() {
        let mut out = Vec::new();
        EscapingWriter::new(&mut out).write_all(b"\xc2\xc2\x9b1m\xc2a").unwrap();
        assert_eq!(out, b"\xc2\\u{9b}1m\xc2a");
    }

    /// Catches a variable without effect, a wrong order of the variables, and empty values and zeros that count.
    #[test]
    fn variables_choose_colors() {
        let colors = |is_able, set: &[(&str, &str)]| {
            has_colors(is_able, |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
        };
        for (set, on_terminal, in_file) in [
            (&[][..], true, false),
            (&[("NO_COLOR", "1")], false, false),
            (&[("NO_COLOR", "0")], false, false),
            (&[("NO_COLOR", "")], true, false),
            (&[("CLICOLOR", "0")], false, false),
            (&[("CLICOLOR", "1")], true, false),
            (&[("CLICOLOR", "")], true, false),
            (&[("CLICOLOR_FORCE", "1")], true, true),
            (&[("CLICOLOR_FORCE", "0")], true, false),
            (&[("CLICOLOR_FORCE", "")], true, false),
            (&[("CLICOLOR", "0"), ("CLICOLOR_FORCE", "1")], true, true),
            (&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false, false),
        ] {
            assert_eq!((colors(true, set), colors(false, set)), (on_terminal, in_file), "{set:?}");
        }
    }

    #[test]
    fn the_terminal_knows_better_than_the_variable() {
        let none = Terminal::default();
        assert_eq!(none.width(), 80);
        assert_eq!(Terminal { columns: Some(132), ..none }.width(), 132);
        assert_eq!(Terminal { columns: Some(132), reports: Some(60), ..none }.width(), 60);
    }
}
