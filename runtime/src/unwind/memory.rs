//! Reading the memory of a stack.

/// Memory that a walk reads: stacks, signal contexts, and a few bytes of code.
pub trait Memory {
    /// The word at an address of any alignment, or `None` if the memory cannot be read.
    fn read(&self, address: usize) -> Option<usize>;
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
