//! Reading the memory of a stack.

use super::searches::Searches;

/// Memory that a walk reads: stacks, signal contexts, and a few bytes of code.
pub trait Memory {
    /// The word at an address of any alignment, or `None` if the memory cannot be read.
    fn read(&self, address: usize) -> Option<usize>;

    /// Calls `search`, while the kernel copies each word that is read from this memory, and counts these words in `searches`.
    fn search<R>(&self, _searches: &Searches, search: impl FnOnce(&Self) -> R) -> R {
        search(self)
    }
}

/// Words by address: the memory that tests make up.
#[cfg(test)]
pub(super) type Words = std::collections::HashMap<usize, usize>;

#[cfg(test)]
impl Memory for Words {
    fn read(&self, address: usize) -> Option<usize> {
        self.get(&address).copied()
    }
}
