//! Handles of functions.

/// One function of a [`super::Functions`]: its place in the order of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub(super) u32);

impl FunctionId {
    /// The function's place, for tables that have one entry for each function.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
