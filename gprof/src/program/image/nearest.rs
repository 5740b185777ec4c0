//! Finds the function of an address from the symbol table alone, as the library under GNU gprof (BFD) does.
//!
//! GNU's reports use this where the debug information names no function: in code between functions, and in assembly
//! code.

/// A symbol that may be a function, and its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizedSymbol<'data> {
    pub(super) address: u64,
    /// The size in the symbol table, at least 1.
    pub(super) size: u64,
    pub(super) name: &'data [u8],
    /// Whether the symbol has the type for functions; ifuncs have another type.
    pub(super) is_func: bool,
    /// Whether the symbol has any type.
    pub(super) is_typed: bool,
}

/// The number of symbols at one address that are examined: a hostile file may have a million.
const MOST: usize = 64;

/// All symbols that may be functions.
#[derive(Debug)]
pub struct Nearest<'data> {
    /// Sorted by address; symbols of one address are in the order of the symbol table.
    sized_symbols: Vec<SizedSymbol<'data>>,
}

impl<'data> Nearest<'data> {
    /// `sized_symbols` are in the order of the symbol table.
    pub(super) fn new(mut sized_symbols: Vec<SizedSymbol<'data>>) -> Nearest<'data> {
        sized_symbols.sort_by_key(|place| place.address);
        let mut known = 0;
        sized_symbols.dedup_by(|next, kept| {
            known = if next.address == kept.address { known + 1 } else { 0 };
            known >= MOST
        });
        Nearest { sized_symbols }
    }

    /// The name of the function that contains an address.
    #[must_use]
    pub fn name(&self, address: u64) -> Option<&'data [u8]> {
        let after = self.sized_symbols.partition_point(|place| place.address <= address);
        let start = self.sized_symbols.get(after.checked_sub(1)?)?.address;
        let first = self.sized_symbols.partition_point(|place| place.address < start);
        let offset = address - start;
        let better = |kept: SizedSymbol<'data>, next: &SizedSymbol<'data>| {
            if is_better(next, &kept, offset) { *next } else { kept }
        };
        let (first, others) = self.sized_symbols.get(first..after)?.split_first()?;
        Some(others.iter().fold(*first, better).name)
    }
}

/// Whether a symbol is a better answer than another symbol at the same address, for an address at this distance.
fn is_better(next: &SizedSymbol<'_>, kept: &SizedSymbol<'_>, offset: u64) -> bool {
    if kept.size <= offset {
        // Both may end before the address: the longer symbol comes closer.
        return next.size > kept.size;
    }
    if next.size <= offset {
        return false;
    }
    if next.is_func != kept.is_func {
        return next.is_func;
    }
    if next.is_typed != kept.is_typed {
        return next.is_typed;
    }
    next.size < kept.size
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(address: u64, size: u64, name: &'static str, is_func: bool) -> SizedSymbol<'static> {
        SizedSymbol { address, size, name: name.as_bytes(), is_func, is_typed: is_func }
    }

    #[test]
    fn symbols_of_one_address() {
        let nearest = Nearest::new(vec![
            place(20, 8, "chosen", false),
            place(20, 8, "resolve", true),
            place(10, 4, "static", true),
            place(10, 4, "global", true),
            place(30, 1, "label", false),
            place(30, 6, "long", true),
            place(30, 4, "short", true),
        ]);
        let name = |address| nearest.name(address).map(|name| str::from_utf8(name).unwrap());
        assert_eq!([9, 10, 13, 15].map(name), [None, Some("static"), Some("static"), Some("static")]);
        assert_eq!([20, 27].map(name), [Some("resolve"); 2]);
        // After all symbols, the first of the longest symbols counts.
        assert_eq!([28, 29].map(name), [Some("chosen"); 2]);
        assert_eq!([30, 33, 34, 40].map(name), [Some("short"), Some("short"), Some("long"), Some("long")]);
    }
}
