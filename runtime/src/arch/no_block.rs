//! The items of the thread-local block for a library without the block, which does not tell threads apart.

/// No thread has an entry.
pub(crate) fn entry_index() -> Option<usize> {
    None
}

/// Does nothing.
pub(crate) fn set_entry_index(_index: Option<usize>) {}
