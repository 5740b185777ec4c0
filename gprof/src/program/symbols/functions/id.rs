//! Identifiers of functions.

/// Identifies a function of an analysis. Functions are numbered in the order of their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub(super) u32);

impl FunctionId {
    /// Returns the function's number, counted from 0, as an index of lists with one element for each function.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
