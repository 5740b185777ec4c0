//! C++ names that the parser of this crate cannot read, as the crate cpp_demangle reads them.
//!
//! That crate bounds how deep it recurses and not how much it works: the work grows exponentially with the depth. So
//! the bound on depth is low, and long names are not tried.

use alloc::vec::Vec;

use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};

use crate::bounded::Bounded;

/// How deep parts of a name may be nested. Of the names of libstdc++ and LLVM, 16 and 10 percent are nested deeper.
/// With a bound of 40, a name of 371 bytes took 25 seconds.
const MAX_DEPTH: u32 = 24;

/// The longest name that is tried.
const MAX_NAME: usize = 1024;

/// The readable form of a mangled C++ name; nothing when the name is not one, or its text is longer than `max_length`.
pub(super) fn demangle(name: &[u8], max_length: usize) -> Option<Vec<u8>> {
    if !name.starts_with(b"_Z") || name.len() > MAX_NAME {
        return None;
    }
    let parsing = ParseOptions::default().recursion_limit(MAX_DEPTH);
    let printing = DemangleOptions::new().recursion_limit(MAX_DEPTH);
    let symbol = BorrowedSymbol::new_with_options(name, &parsing).ok()?;
    let mut text = Bounded::new(name.len(), max_length);
    symbol.structured_demangle(&mut text, &printing).ok()?;
    Some(text.into_bytes())
}
