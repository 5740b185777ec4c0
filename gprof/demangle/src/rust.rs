//! Demangles names of rustc, in both schemes.

use alloc::vec::Vec;
use core::fmt::Write;

use crate::bounded::Bounded;

/// The source form of a name, without rustc's hash; `None` if the name is not a Rust name, or the text is longer than
/// `max_length`.
pub(super) fn demangle(name: &[u8], max_length: usize) -> Option<Vec<u8>> {
    let is_legacy = !name.starts_with(b"_R");
    // Copies of functions have suffixes after the last letter of the name. The legacy scheme ends with `E` and has
    // dots inside; the v0 scheme has neither.
    let name = name.get(..if is_legacy { end_of_legacy(name) } else { end_of_v0(name) })?;
    if is_legacy && !has_hash(name) {
        return None;
    }
    let demangled = rustc_demangle::try_demangle(str::from_utf8(name).ok()?).ok()?;
    // Names rarely become longer.
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

/// Whether a name ends with the hash of Rust's legacy scheme, which is otherwise the scheme of C++: sixteen digits,
/// at least five of them different, as chance makes nearly certain.
fn has_hash(name: &[u8]) -> bool {
    let Some((rest, hash)) = name.strip_suffix(b"E").and_then(<[u8]>::split_last_chunk::<16>) else {
        return false;
    };
    let is_digit = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    let kinds = (b'0'..=b'f').filter(|digit| hash.contains(digit)).count();
    rest.ends_with(b"17h") && hash.iter().all(is_digit) && kinds >= 5
}
