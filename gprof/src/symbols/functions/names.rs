//! How long names may be, all together.
//!
//! A name takes four bytes in a table of symbols and may be as long as the whole file, and each call writes two of
//! them. So a file of a megabyte could ask for a report of terabytes, and for years to sort it. Programs do not: what
//! is cut here is beyond what any would have.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use gmon_demangle::{MAX_LENGTH, Options, demangle_with, looks_mangled};

use crate::image::Symbol;
use crate::terminal;

/// What every name may have, however many there are.
const SHORT: usize = 1024;

/// By how many bytes names may be longer than [`SHORT`], all together.
const TOTAL: usize = 256 << 20;

/// How many bytes of readable names are kept at most.
const ROOM: usize = 64 << 20;

/// How many times its own length a readable name may have when there is no room left.
const GAIN: usize = 16;

/// Cuts long names if they are too long together.
pub(super) fn bound(symbols: &mut [Symbol<'_>]) {
    let excess = |symbol: &Symbol<'_>| symbol.name.len().saturating_sub(SHORT);
    if symbols.iter().map(excess).fold(0, usize::saturating_add) > TOTAL {
        for symbol in symbols {
            symbol.name = symbol.name.get(..SHORT).unwrap_or(symbol.name);
        }
    }
}

/// What names may still take. Both numbers are budgets and not counts that anything relies on, so that threads that use
/// them at once may each take the same bytes: loads and stores need no order.
#[derive(Debug)]
pub(super) struct Room {
    /// Memory for those that are readable, and work to make them.
    readable: AtomicUsize,
    /// How names are demangled.
    pub(super) demangling: Options,
    /// Bytes of long names in reports.
    written: AtomicUsize,
    /// Whether reports show control characters in names spelt.
    pub(super) spells: bool,
}

impl Default for Room {
    fn default() -> Room {
        Room {
            readable: AtomicUsize::new(ROOM),
            demangling: Options::default(),
            written: AtomicUsize::new(TOTAL),
            spells: false,
        }
    }
}

impl Room {
    /// The readable form of a name, and whether there is room to keep it.
    pub(super) fn readable<'a>(&self, name: &'a [u8]) -> (Cow<'a, [u8]>, bool) {
        let left = self.readable.load(Ordering::Relaxed);
        let most = if left > 0 { MAX_LENGTH } else { name.len().saturating_mul(GAIN).max(SHORT) };
        let text = demangle_with(name, &Options { max_length: most.min(MAX_LENGTH), ..self.demangling });
        let work = match &text {
            Cow::Owned(text) => text.len(),
            // It took so much in vain.
            Cow::Borrowed(_) if looks_mangled(name) => most,
            Cow::Borrowed(_) => 0,
        };
        self.readable.store(left.saturating_sub(work), Ordering::Relaxed);
        let fits = work <= left;
        (text, fits)
    }

    /// A name as it is written: whole, unless it is long and too many long ones were written before.
    pub(super) fn written<'a>(&self, name: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
        let name = if self.spells { terminal::visible_bytes(name) } else { name };
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
        let name = vec![b'x'; 1 << 16];
        for (count, length) in [(1, 1 << 16), (4000, 1 << 16), (5000, SHORT)] {
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
        let room = Room { spells: true, ..room };
        assert_eq!(room.written(Cow::Borrowed(b"a\nb")).as_ref(), b"a\\nb");
    }
}
