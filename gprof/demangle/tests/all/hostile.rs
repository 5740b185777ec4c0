//! Random names: every input has a result.

use std::borrow::Cow;

use crate::common::{NEWEST, PARTS, SEEDS};
use gmon_demangle::{MAX_LENGTH, Options, Style, demangle_with};

/// Numbers from a seed (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn part(&mut self) -> &'static [u8] {
        PARTS[self.below(PARTS.len())].as_bytes()
    }

    /// Changes, removes, adds, doubles or cuts off bytes and parts of a name.
    fn mutated(&mut self, name: &[u8], other: &[u8]) -> Vec<u8> {
        let mut name = name.to_vec();
        for _ in 0..=self.below(2) {
            let (at, end) = (self.below(name.len() + 1), self.below(name.len() + 1));
            let (start, end) = (at.min(end), at.max(end));
            match self.below(8) {
                0 => name.truncate(at.max(2)),
                1 => drop(name.drain(start..end.min(start + 3))),
                2 => drop(name.splice(at..at, self.part().iter().copied())),
                3 => name.extend_from_within(start..end),
                4 => drop(name.splice(at.., other[self.below(other.len())..].iter().copied())),
                5 => drop(name.splice(at..at, [self.below(256) as u8])),
                6 => drop(name.splice(at..at, "é".bytes())),
                _ => {
                    if let Some(byte) = name.get_mut(at) {
                        *byte ^= 1 << self.below(8);
                    }
                }
            }
        }
        name
    }

    /// Makes a name of random parts and bytes.
    fn made_up(&mut self) -> Vec<u8> {
        let mut name = [b"_Z".as_slice(), b"_R", b"_ZN", b"_ZT", b""][self.below(5)].to_vec();
        for _ in 0..self.below(12) {
            match self.below(6) {
                0 => name.push(self.below(256) as u8),
                _ => name.extend_from_slice(self.part()),
            }
        }
        name
    }
}

/// The text stays within the maximum length, and an invalid name stays as it is.
fn check(name: &[u8], max_length: usize) -> bool {
    let demangle = |style| demangle_with(name, &Options { style, max_length, ..Options::default() });
    for style in [Style::Java, Style::Gnat] {
        let _ = demangle(style);
    }
    let text = demangle(Style::Auto);
    let is_readable = matches!(text, Cow::Owned(_));
    assert!(is_readable || text.as_ref() == name, "{}", name.escape_ascii());
    // Characters that a system adds to a name do not count.
    assert!(!is_readable || text.len() <= max_length + name.len(), "{}", name.escape_ascii());
    is_readable
}

#[test]
fn any_bytes_are_a_name() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let all = [SEEDS, NEWEST].concat();
    let mut readable = 0_usize;
    for round in 0..60_000 {
        let (one, other) = (all[round % all.len()], all[numbers.below(all.len())]);
        let most = [MAX_LENGTH, MAX_LENGTH, 1000, 40][numbers.below(4)];
        let name = numbers.mutated(one.as_bytes(), other.as_bytes());
        readable += usize::from(check(&name, most));
        readable += usize::from(check(&numbers.made_up(), most));
    }
    // Enough of the inputs are valid to reach all of the parser and the printer.
    assert!(readable > 3_000, "{readable}");
}

#[test]
fn every_cut_and_every_byte() {
    for name in SEEDS.iter().map(|name| name.as_bytes()) {
        for at in 0..name.len() {
            check(&name[..at], MAX_LENGTH);
            for other in ["é", "\u{1f980}", "\u{7f}"] {
                check(&[&name[..at], other.as_bytes(), &name[at..]].concat(), MAX_LENGTH);
                check(&[&name[..at], other.as_bytes()].concat(), MAX_LENGTH);
            }
            for byte in 0..=u8::MAX {
                let mut name = name.to_vec();
                name[at] = byte;
                check(&name, MAX_LENGTH);
            }
        }
    }
}

#[test]
fn every_cut_of_newer_names() {
    for name in NEWEST.iter().map(|name| name.as_bytes()) {
        for at in 0..name.len() {
            check(&name[..at], MAX_LENGTH);
            check(&[&name[..at], &name[at + 1..]].concat(), MAX_LENGTH);
        }
    }
}

#[test]
fn names_of_exponential_work() {
    // The crate cpp_demangle tries two ways at each step: without a low limit on depth, these names take hours.
    for part in ["na", "na9", "nw", "cl", "cv", "qu", "DTszLb1E", "nw9C1DUTC"] {
        for start in ["_Z1fIiEvDT", "_Z1fIXT_E", "_ZN", "_ZZ"] {
            for count in [20, 100, 300] {
                check(&[start, &part.repeat(count)].concat().into_bytes(), MAX_LENGTH);
            }
        }
    }
}

/// Whether a name is demangled within a maximum length.
fn is_readable(name: &str, max_length: usize) -> bool {
    let options = Options { max_length, ..Options::default() };
    matches!(demangle_with(name.as_bytes(), &options), Cow::Owned(_))
}

#[test]
fn depth_has_a_limit() {
    // The parser enters a function, the type of the function's parameter, and the target of each pointer.
    let pointers = |count: usize| format!("_Z1f{}i", "P".repeat(count));
    assert!(is_readable(&pointers(198), MAX_LENGTH));
    assert!(!is_readable(&pointers(199), MAX_LENGTH));
    // Abbreviations keep the name flat, but the printer follows the abbreviations: each type is a pointer to the type
    // before.
    let base36 = |number: usize| {
        let digit = |digit: usize| char::from(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[digit]);
        [number / 36, number % 36].map(digit).iter().collect::<String>()
    };
    let chain = |count: usize| (0..count).fold("_Z1fP1a".to_owned(), |name, at| name + "PS" + &base36(at) + "_");
    assert!(is_readable(&chain(795), 1 << 24));
    assert!(!is_readable(&chain(796), 1 << 24));
}

#[test]
fn a_name_beyond_a_limit_is_not_tried_again() {
    // The text has 18 bytes, but this crate needs more than 30 steps. The crate cpp_demangle would print the text.
    let name = "_Z1fPPPPPPPPPPPPi";
    assert!(!is_readable(name, 30));
    assert!(is_readable(name, 40));
}

#[test]
fn the_last_bytes_of_a_text_count() {
    // The qualifiers behind a function type are the end of the text, `int () throw(int ()) const`.
    let name = "_ZNKDwFivEES_E";
    assert!(!is_readable(name, 25));
    assert!(is_readable(name, 26));
}

#[test]
fn long_names_are_not_left_to_cpp_demangle() {
    // Only the crate cpp_demangle reads the type of the parameter.
    let name = |length: usize| format!("_Z{}{}DSDAs", length - 11, "f".repeat(length - 11));
    assert_eq!(name(1024).len(), 1024);
    assert!(is_readable(&name(1024), MAX_LENGTH));
    assert!(!is_readable(&name(1025), MAX_LENGTH));
}
