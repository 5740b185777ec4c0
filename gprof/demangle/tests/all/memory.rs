//! Checks that hostile names take no more memory than a small multiple of the name and of the maximum length of the
//! text.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crate::common::{NEWEST, PARTS, SEEDS};
use gmon_demangle::{MAX_LENGTH, Options, Style, demangle_with};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The maximum number of allocated bytes for each byte of the name: a byte becomes one or two nodes of the tree, a
/// growing vector temporarily has twice the size, and a node may be in the list for abbreviations.
const PER_BYTE: usize = 640;
/// The maximum number of allocated bytes for each byte of the maximum length: a growing text, and the printer's
/// scopes.
const PER_LENGTH: usize = 32;

thread_local! {
    static USED: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a counter for each thread.
struct Counting;

// SAFETY: every call is passed on to `System` as it is; the counters are plain cells that need no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        USED.with(|used| {
            used.set(used.get().wrapping_add(layout.size()));
            PEAK.with(|peak| peak.set(peak.get().max(used.get())));
        });
        // SAFETY: the caller keeps `alloc`'s contract, which is `System`'s too.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.with(|used| used.set(used.get().saturating_sub(layout.size())));
        // SAFETY: as above; the pointer came from `System.alloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The peak of allocated bytes while a name is demangled.
fn peak(name: &[u8], options: &Options) -> usize {
    USED.set(0);
    PEAK.set(0);
    drop(demangle_with(name, options));
    PEAK.get()
}

fn check(name: &[u8]) {
    for style in [Style::Auto, Style::Java, Style::Gnat] {
        for max_length in [0, 100, MAX_LENGTH] {
            let bound = PER_BYTE * name.len() + PER_LENGTH * max_length + 1024;
            let used = peak(name, &Options { style, max_length, ..Options::default() });
            assert!(used <= bound, "{used} bytes for a name of {}, text of {max_length}", name.len());
        }
    }
}

/// A few parts, each repeated.
fn repeated() -> impl Strategy<Value = Vec<u8>> {
    let part = (prop::collection::vec(select(PARTS), 1..4), 1..2000_usize);
    let start = select(&["_Z", "_R", "_ZN", "_Z1fI", ""][..]);
    (start, prop::collection::vec(part, 1..4)).prop_map(|(start, parts)| {
        let parts = parts.iter().map(|(parts, times)| parts.concat().repeat(*times));
        [start.to_owned()].into_iter().chain(parts).collect::<String>().into_bytes()
    })
}

/// The start of one name, and the end of another.
fn crossed() -> impl Strategy<Value = Vec<u8>> {
    let seed = || select([SEEDS, NEWEST].concat());
    (seed(), any::<Index>(), seed(), any::<Index>()).prop_map(|(one, cut, other, at)| {
        let (one, other) = (one.as_bytes(), other.as_bytes());
        [&one[..cut.index(one.len())], &other[at.index(other.len())..]].concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn repeated_parts_take_bounded_memory(name in repeated()) {
        check(&name);
    }

    #[test]
    fn crossed_names_take_bounded_memory(name in crossed()) {
        check(&name);
    }

    #[test]
    fn random_bytes_take_bounded_memory(name in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&name);
        check(&[b"_Z", &name[..]].concat());
    }
}
