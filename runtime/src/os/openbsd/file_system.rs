//! Operations on open files for which OpenBSD has no system call.

use super::{Errno, Fd};
use crate::text::Text;

impl Fd {
    /// Appends the current path of the open file to `path`: nothing, because the kernel does not know the path.
    pub(crate) fn push_path<const N: usize>(self, _path: &mut Text<N>) {}

    /// Extends the file to `offset + length` bytes. New bytes are zero; the kernel cannot allocate disk space in advance.
    pub(crate) fn extend(self, offset: usize, length: usize) -> Result<(), Errno> {
        self.set_length(offset + length)
    }

    /// Returns the offset of the next data that is not a hole, from an offset on: `offset`, because the kernel does not report holes.
    pub(crate) fn next_data(self, offset: usize) -> Option<usize> {
        Some(offset)
    }
}
