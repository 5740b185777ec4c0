//! A mapped address range.

/// A mapped address range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping<'a> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) is_executable: bool,
    /// The offset of the mapping in the file.
    pub(crate) offset: usize,
    /// The file's device number and inode number; 0 and 0 for anonymous memory.
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// The file's path, or a name that the kernel gives the memory, as the kernel reports it: see
    /// [`super::path_of_file`].
    pub(crate) path: &'a [u8],
}
