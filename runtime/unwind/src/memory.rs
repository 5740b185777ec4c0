//! Reading memory: stacks, signal contexts, code, and the headers of objects.

/// Memory that a walk reads: stacks, signal contexts, and a few bytes of code.
///
/// A walk believes what it reads only as far as other words confirm it, so an implementation may return any word.
pub trait Memory {
    /// The word at an address of any alignment, or `None` if the memory cannot be read.
    fn read(&self, address: usize) -> Option<usize>;
}

/// Copies the bytes at an address; `None` if a byte cannot be read.
pub fn copy(memory: &impl Memory, address: usize, bytes: &mut [u8]) -> Option<()> {
    for (offset, place) in bytes.iter_mut().enumerate() {
        let at = address.checked_add(offset)?;
        // A word that lies in one page with the byte.
        let word = at & !(size_of::<usize>() - 1);
        *place = memory.read(word)?.to_ne_bytes().get(at - word).copied()?;
    }
    Some(())
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
