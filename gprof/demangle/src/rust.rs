//! Names as rustc mangles them, in both of its ways.

use alloc::vec::Vec;
use core::fmt::Write;

use crate::bounded::Bounded;

/// A name as the programmer wrote it, without the hash that the compiler adds; nothing when the name is not Rust's or
/// its text is longer than `max_length`.
pub(super) fn demangle(name: &[u8], max_length: usize) -> Option<Vec<u8>> {
    let is_legacy = !name.starts_with(b"_R");
    // Copies of functions have suffixes behind the last letter of the name proper. The legacy mangling ends in `E` and
    // has dots of its own; the v0 mangling has neither.
    let name = name.get(..if is_legacy { end_of_legacy(name) } else { end_of_v0(name) })?;
    if is_legacy && !has_hash(name) {
        return None;
    }
    let demangled = rustc_demangle::try_demangle(str::from_utf8(name).ok()?).ok()?;
    // Hardly any name becomes longer.
    let mut text = Bounded::new(name.len(), max_length);
    write!(text, "{demangled:#}").ok()?;
    Some(text.into_bytes())
}

fn end_of_legacy(name: &[u8]) -> usize {
    let last = name.windows(2).rposition(|pair| pair == b"E.");
    last.map_or(name.len(), |at| at.saturating_add(1))
}

fn end_of_v0(name: &[u8]) -> usize {
    name.iter().position(|byte| *byte == b'.').unwrap_or(name.len())
}

/// Whether a name ends as Rust's legacy mangling does, which is C++'s mangling otherwise: with a hash of sixteen
/// digits, of which chance makes at least five different ones.
fn has_hash(name: &[u8]) -> bool {
    let Some((rest, hash)) = name.strip_suffix(b"E").and_then(<[u8]>::split_last_chunk::<16>) else {
        return false;
    };
    let is_digit = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    let kinds = (b'0'..=b'f').filter(|digit| hash.contains(digit)).count();
    rest.ends_with(b"17h") && hash.iter().all(is_digit) && kinds >= 5
}
