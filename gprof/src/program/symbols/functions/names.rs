//! Limits the total length of names.
//!
//! A name takes four bytes in a symbol table and may be as long as the whole file, and each call prints two names. So
//! a file of a megabyte could require a report of terabytes, and years of sorting. The limits here are beyond the
//! names of real programs.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gmon_demangle::{MAX_LENGTH, Options, Style, demangle_with, looks_mangled};

use crate::program::image::Symbol;
use crate::terminal;

/// The length that every name may have.
const SHORT: usize = 1024;

/// The number of bytes by which all names together may exceed [`SHORT`].
const TOTAL: usize = 256 << 20;

/// The maximum number of bytes of source names that are kept in memory.
const ROOM: usize = 64 << 20;

/// The maximum ratio of a source name to its mangled name once the memory is used up.
const GAIN: usize = 16;

/// Shortens long names if the total is too large.
pub(super) fn bound(symbols: &mut [Symbol<'_>]) {
    let excess = |symbol: &Symbol<'_>| symbol.name.len().saturating_sub(SHORT);
    if symbols.iter().map(excess).fold(0, usize::saturating_add) > TOTAL {
        for symbol in symbols {
            symbol.name = symbol.name.get(..SHORT).unwrap_or(symbol.name);
        }
    }
}

/// The budgets that are left for names. No exact count depends on them, so threads that use them at the same time may
/// each take the same bytes: loads and stores need no ordering.
#[derive(Debug)]
pub(super) struct Room {
    /// The memory for source names, and the work to demangle them.
    readable: AtomicUsize,
    /// The demangler's options.
    pub(super) demangling: Options,
    /// The bytes for long names in reports.
    written: AtomicUsize,
    /// Whether reports escape control characters in names.
    pub(super) spells: AtomicBool,
}

/// The source form of a Rust name, without hashes, whatever form the reports show. The length is bounded for each name,
/// so that the result depends on no other name.
pub(super) fn without_hashes(name: &[u8]) -> Cow<'_, [u8]> {
    let max_length = name.len().saturating_mul(GAIN).clamp(SHORT, MAX_LENGTH);
    demangle_with(name, &Options { style: Style::Rust, max_length, ..Options::default() })
}

impl Default for Room {
    fn default() -> Room {
        Room {
            readable: AtomicUsize::new(ROOM),
            demangling: Options::default(),
            written: AtomicUsize::new(TOTAL),
            spells: AtomicBool::new(false),
        }
    }
}

impl Room {
    /// The source form of a name, and whether there is memory to keep it.
    pub(super) fn readable<'a>(&self, name: &'a [u8]) -> (Cow<'a, [u8]>, bool) {
        let left = self.readable.load(Ordering::Relaxed);
        let most = if left > 0 { MAX_LENGTH } else { name.len().saturating_mul(GAIN).max(SHORT) };
        let text = demangle_with(name, &Options { max_length: most.min(MAX_LENGTH), ..self.demangling });
        let work = match &text {
            Cow::Owned(text) => text.len(),
            // The failed attempt took this much work.
            Cow::Borrowed(_) if looks_mangled(name) => most,
            Cow::Borrowed(_) => 0,
        };
        self.readable.store(left.saturating_sub(work), Ordering::Relaxed);
        let fits = work <= left;
        (text, fits)
    }

    /// The text of a name for a report: whole, unless it is long and too many long names were written before.
    pub(super) fn written<'a>(&self, name: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
        let name = if self.spells.load(Ordering::Relaxed) { terminal::visible_bytes(name) } else { name };
        if name.len() <= SHORT {
            return name;
        }
        let left = self.written.load(Ordering::Relaxed);
        if let Some(left) = left.checked_sub(name.len()) {
            self.written.store(left, Ordering::Relaxed);
            return name;
        }
        let is_whole = |at: &usize| name.get(*at).is_some_and(|byte| byte & 0xc0 != 0x80);
        let end = (1..=SHORT).rev().find(is_whole).unwrap_or(SHORT);
        Cow::Owned([name.get(..end).unwrap_or_default(), b"..."].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(name: &[u8], count: usize) -> Vec<Symbol<'_>> {
        vec![Symbol { address: 0, name, is_static: false, is_func: true }; count]
    }

    #[test]
    fn names_are_cut_when_they_are_too_long_together() {
        let whole = SHORT + (1 << 16);
        let name = vec![b'x'; whole];
        for (count, length) in [(1, whole), (4096, whole), (4097, SHORT)] {
            let mut symbols = symbols(&name, count);
            bound(&mut symbols);
            assert!(symbols.iter().all(|symbol| symbol.name.len() == length), "{count}");
        }
    }

    #[test]
    fn readable_names_take_no_more_than_there_is_room_for() {
        let room = Room::default();
        assert_eq!(room.readable(b"_RMC0FGZZZ_Eu"), (Cow::Borrowed(b"_RMC0FGZZZ_Eu".as_slice()), true));
        assert!(room.readable.load(Ordering::Relaxed) == ROOM - MAX_LENGTH);
        assert!(matches!(room.readable(b"_Z1fv"), (Cow::Owned(_), true)));
        assert!(matches!(room.readable(b"main"), (Cow::Borrowed(b"main"), _)));
        room.readable.store(2, Ordering::Relaxed);
        assert!(matches!(room.readable(b"_Z1fv"), (Cow::Owned(_), false)));
        assert!(matches!(room.readable(b"_Z1fv"), (Cow::Owned(_), false)));
    }

    #[test]
    fn long_names_are_written_whole_so_often() {
        let room = Room::default();
        room.written.store(5000, Ordering::Relaxed);
        let name = [vec![b'x'; 1023], "é".repeat(1000).into_bytes()].concat();
        assert_eq!(room.written(Cow::Borrowed(&name)).len(), name.len());
        let cut = room.written(Cow::Borrowed(&name)).into_owned();
        assert_eq!(String::from_utf8(cut).unwrap(), format!("{}...", "x".repeat(1023)));
        assert_eq!(room.written(Cow::Borrowed(b"main")).as_ref(), b"main");
        assert_eq!(room.written(Cow::Borrowed(b"a\nb")).as_ref(), b"a\nb");
        let room = Room { spells: AtomicBool::new(true), ..room };
        assert_eq!(room.written(Cow::Borrowed(b"a\nb")).as_ref(), b"a\\nb");
    }

    #[test]
    fn a_short_name_has_a_bounded_text_once_the_memory_is_used_up() {
        // A function type for 3845 lifetimes.
        let name = b"_RMC0FGZZ_Eu";
        let room = Room::default();
        let (text, fits) = room.readable(name);
        assert!(fits && text.len() > 10 * SHORT);
        room.readable.store(0, Ordering::Relaxed);
        assert_eq!(room.readable(name).0.as_ref(), name);
        // Names that do not depend on what was read before have the bound from the beginning.
        assert_eq!(without_hashes(name).as_ref(), name);
    }

    #[test]
    fn a_name_that_is_not_mangled_takes_no_room() {
        let room = Room::default();
        assert!(room.readable(b"main").1);
        assert_eq!(room.readable.load(Ordering::Relaxed), ROOM);
    }

    #[test]
    fn only_rust_names_lose_hashes() {
        assert_eq!(without_hashes(b"_ZN1a1f17h0123456789abcdefE").as_ref(), b"a::f");
        assert_eq!(without_hashes(b"_Z1fv").as_ref(), b"_Z1fv");
    }
}
