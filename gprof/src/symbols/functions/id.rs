//! Handles of functions.

/// A function in [`super::Functions`]: its index in ascending order of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub(super) u32);

impl FunctionId {
    /// The index of the function, for tables with one entry for each function.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
