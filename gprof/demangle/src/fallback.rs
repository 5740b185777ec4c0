//! Demangles C++ names that this crate's parser cannot read, with the crate cpp_demangle.
//!
//! cpp_demangle limits its recursion but not its work, which grows exponentially with the depth. So the limit on
//! depth is low here, and long names are not tried.

use alloc::vec::Vec;

use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};

use crate::bounded::Bounded;

/// The maximum depth of a name. 16 percent of libstdc++'s names and 10 percent of LLVM's names are deeper. With a
/// limit of 40, a name of 371 bytes took 25 seconds.
const MAX_DEPTH: u32 = 24;

/// The maximum length of a name.
const MAX_NAME: usize = 1024;

/// The source form of a mangled C++ name; `None` if the name is not a C++ name, or the text is longer than
/// `max_length`.
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
