//! Decodes the bytes that a terminal sends into keys.

/// The byte of the Escape key, with which the sequences of other keys begin too.
const ESCAPE: u8 = 0x1b;

/// A key that was pressed. A key together with Alt counts as the key alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// A key that types a character.
    Char(char),
    /// Such a key together with Control.
    Control(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// A key that means nothing to `--watch`, such as F1.
    Other,
}

/// The bytes of a terminal that are not decoded yet.
#[derive(Debug, Default)]
pub(super) struct Keys {
    held: Vec<u8>,
}

impl Keys {
    /// Takes bytes of the terminal.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }

    /// Whether bytes are left, which may be the beginning of a key.
    pub(super) fn has_beginning(&self) -> bool {
        !self.held.is_empty()
    }

    /// Returns the next key. If `is_all`, the terminal sends no further bytes for the same key: an Escape byte at the
    /// end is the Escape key, and not the beginning of a sequence.
    pub(super) fn next(&mut self, is_all: bool) -> Option<Key> {
        loop {
            let (used, key) = decode(&self.held, is_all)?;
            self.held.drain(..used);
            if key.is_some() {
                return key;
            }
        }
    }
}

/// The number of decoded bytes, at least 1, and the key, if these bytes are a key.
type Decoded = (usize, Option<Key>);

/// Decodes the first key. Returns `None` if its bytes are incomplete.
fn decode(bytes: &[u8], is_all: bool) -> Option<Decoded> {
    let key = match *bytes {
        [] => return None,
        [ESCAPE] | [ESCAPE, b'[' | b'O'] if !is_all => return None,
        [ESCAPE] | [ESCAPE, ESCAPE, ..] => Key::Escape,
        [ESCAPE, b'O', last, ..] => return Some((3, special_key("", last))),
        [ESCAPE, b'[', _, ..] => return sequence(&bytes[2..], is_all).map(|(used, key)| (2 + used, key)),
        // Alt.
        [ESCAPE, ..] => return decode(&bytes[1..], is_all).map(|(used, key)| (1 + used, key)),
        [b'\r', ..] => Key::Enter,
        [b'\t', ..] => Key::Other,
        [0x08 | 0x7f, ..] => Key::Backspace,
        [0, ..] => Key::Control(' '),
        [byte @ 0x01..=0x1a, ..] => Key::Control(char::from(byte - 1 + b'a')),
        [byte @ 0x1c..=0x1f, ..] => Key::Control(char::from(byte - 0x1c + b'4')),
        [first, ..] => return character(first, bytes, is_all),
    };
    Some((1, Some(key)))
}

/// Decodes a character of UTF-8. Other bytes are skipped.
fn character(first: u8, bytes: &[u8], is_all: bool) -> Option<Decoded> {
    let length = match first {
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
        _ => 1,
    };
    if bytes.len() < length && !is_all {
        return None;
    }
    let text = bytes.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
    Some(match text.and_then(|text| text.chars().next()) {
        Some(letter) => (length, Some(Key::Char(letter))),
        None => (1, None),
    })
}

/// Decodes what follows Escape and `[`: parameters, and the byte that ends the sequence.
fn sequence(bytes: &[u8], is_all: bool) -> Option<Decoded> {
    let Some(end) = bytes.iter().position(|byte| !(0x20..0x40).contains(byte)) else {
        return is_all.then_some((bytes.len(), None));
    };
    let parameters = std::str::from_utf8(&bytes[..end]).unwrap_or("");
    match bytes[end..] {
        // The console of Linux sends F1 to F5 with a second `[`.
        [b'[', _, ..] => Some((end + 2, Some(Key::Other))),
        [b'['] if !is_all => None,
        [last @ 0x40..=0x7e, ..] => Some((end + 1, special_key(parameters, last))),
        // Another key interrupts the sequence.
        _ => Some((end, None)),
    }
}

/// The key of a sequence. Such a key together with Control means nothing.
fn special_key(parameters: &str, last: u8) -> Option<Key> {
    let mut numbers = parameters.split(';').map(|number| number.parse::<u8>().unwrap_or(0));
    let (number, modifiers) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let key = match (last, number) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'H', _) | (b'~', 1 | 7) => Key::Home,
        (b'F', _) | (b'~', 4 | 8) => Key::End,
        (b'~', 5) => Key::PageUp,
        (b'~', 6) => Key::PageDown,
        (b'C' | b'D' | b'P'..=b'S' | b'Z', _) | (b'~', 2 | 3 | 11..=34) => Key::Other,
        _ => return None,
    };
    let is_control = modifiers.saturating_sub(1) & 4 != 0;
    (!is_control).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of these bytes, which end with a whole key.
    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut keys = Keys::default();
        keys.add(bytes);
        let found = std::iter::from_fn(|| keys.next(true)).collect();
        assert!(!keys.has_beginning());
        found
    }

    #[test]
    fn characters_and_control() {
        let expected = ['q', 'é', '日', '🦀'].map(Key::Char);
        assert_eq!(keys("qé日🦀".as_bytes()), expected);
        let expected = [Key::Control('c'), Key::Control('z'), Key::Control('l'), Key::Control(' '), Key::Control('4')];
        assert_eq!(keys(b"\x03\x1a\x0c\x00\x1c"), expected);
        assert_eq!(keys(b"\r\t\x7f\x08"), [Key::Enter, Key::Other, Key::Backspace, Key::Backspace]);
        assert_eq!(keys(b"a\xff\xc3(\x80b"), ['a', '(', 'b'].map(Key::Char), "bytes that are no characters");
    }

    #[test]
    fn special_keys() {
        for (sequences, key) in [
            (&["\x1b[A", "\x1bOA", "\x1b[1;2A", "\x1b[1;3A"][..], Key::Up),
            (&["\x1b[B", "\x1bOB"], Key::Down),
            (&["\x1b[5~", "\x1b[5;2~"], Key::PageUp),
            (&["\x1b[6~"], Key::PageDown),
            (&["\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"], Key::Home),
            (&["\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"], Key::End),
            (&["\x1b[C", "\x1bOD", "\x1bOP", "\x1b[15~", "\x1b[3~", "\x1b[Z", "\x1b[[A", "\x1b[1;2P"], Key::Other),
        ] {
            for sequence in sequences {
                assert_eq!(keys(format!("{sequence}q").as_bytes()), [key, Key::Char('q')], "{sequence:?}");
            }
        }
        for nothing in ["\x1b[1;5A", "\x1b[6;5~", "\x1b[I", "\x1b[200~", "\x1b[?1;2c", "\x1b[<0;1;1m", "\x1bOx"] {
            assert_eq!(keys(format!("{nothing}q").as_bytes()), [Key::Char('q')], "{nothing:?}");
        }
    }

    #[test]
    fn escape_is_a_key_and_begins_sequences() {
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
        assert_eq!(keys(b"/\x1b"), [Key::Char('/'), Key::Escape]);
        assert_eq!(keys(b"\x1b\x1b"), [Key::Escape; 2]);
        assert_eq!(keys(b"\x1b\x1b[A"), [Key::Escape, Key::Up]);
        assert_eq!(keys(b"\x1b[12\x1b[A"), [Key::Up], "an interrupted sequence");
        // Alt.
        assert_eq!(keys("\x1bq\x1b日\x1b\x03".as_bytes()), [Key::Char('q'), Key::Char('日'), Key::Control('c')]);
        assert_eq!(keys(b"\x1b["), [Key::Char('[')]);
        assert_eq!(keys(b"\x1bO"), [Key::Char('O')]);
    }

    #[test]
    fn the_bytes_of_a_key_may_come_one_by_one() {
        for (bytes, key) in [
            ("\x1b[A", Key::Up),
            ("\x1bOB", Key::Down),
            ("\x1b[6;2~", Key::PageDown),
            ("\x1b[[B", Key::Other),
            ("日", Key::Char('日')),
            ("\x1bé", Key::Char('é')),
        ] {
            let (last, first) = bytes.as_bytes().split_last().unwrap();
            let mut keys = Keys::default();
            for byte in first {
                keys.add(&[*byte]);
                assert_eq!(keys.next(false), None, "{bytes:?}");
            }
            keys.add(&[*last]);
            assert_eq!((keys.next(false), keys.has_beginning()), (Some(key), false), "{bytes:?}");
        }
    }

    #[test]
    fn any_bytes_end() {
        let bytes = [ESCAPE, b'[', b'O', b'1', b';', b'A', 0xe6, 0x97, 0x80, 0xff, 0];
        for at in 0..bytes.len().pow(4) {
            let chosen: Vec<u8> = (0..4).map(|place| bytes[at / bytes.len().pow(place) % bytes.len()]).collect();
            assert!(keys(&chosen).len() <= chosen.len(), "{chosen:?}");
        }
    }
}
