//! The functions of generated code, which has no file with symbols.
//!
//! Addresses of generated code mean nothing in another run. So the code of all functions of one name is one function,
//! and the address of a function follows from its index in the file.

use core::ops::Range;

use crate::layout::side_file::FUNCTION_SIZE;

/// The number of functions that a file may have. Their addresses fit 32 bits.
pub(super) const MOST: usize = 1 << 27;

/// The number of bytes of code for each bin of generated code.
pub(super) const BIN: u64 = 4;

/// The addresses of the function with this index.
#[must_use]
pub fn function_addresses(index: usize) -> Range<u64> {
    let start = (index as u64).saturating_mul(FUNCTION_SIZE);
    start..start.saturating_add(FUNCTION_SIZE)
}

/// The address for all that was counted in the function with this index. The address before is in the function too, as
/// before a return address.
pub(super) fn address_of(index: usize) -> u64 {
    function_addresses(index).start.saturating_add(FUNCTION_SIZE >> 1)
}

/// The index of the function that contains an address.
pub(super) fn index_of(address: u64) -> Option<usize> {
    usize::try_from(address.checked_div(FUNCTION_SIZE)?).ok()
}
