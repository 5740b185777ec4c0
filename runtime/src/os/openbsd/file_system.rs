//! Operations on open files for which OpenBSD has no system call.

use super::{Errno, Fd};
use crate::text::Text;

impl Fd {
    /// Appends nothing to `path`, because OpenBSD's kernel does not report the path of an open file.
    pub(crate) fn push_path<const N: usize>(self, _path: &mut Text<N>) {}

    /// Extends the file to `offset + length` bytes. New bytes are zero; the kernel cannot allocate disk space in
    /// advance.
    pub(crate) fn extend(self, offset: usize, length: usize) -> Result<(), Errno> {
        self.set_length(offset + length)
    }

    /// Returns the offset of the next data at or after `offset`: always `offset`, because the kernel does not report
    /// holes.
    pub(crate) fn next_data(self, offset: usize) -> Option<usize> {
        Some(offset)
    }
}
