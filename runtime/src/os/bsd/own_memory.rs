//! Reads memory of the process that may be unmapped.

use super::constants::O_CLOEXEC;
use super::descriptor::with_more_descriptors;
use super::file_calls::O_NONBLOCK;
use super::{Errno, Fd, call, numbers};

/// Reads this process's memory, and fails where a direct read would fault.
///
/// The BSDs have no `/proc`, or do not mount `/proc` by default. Reads therefore go through a pipe: write(2) fails with
/// EFAULT if the memory is unmapped.
pub(crate) struct OwnMemory {
    /// The read end and the write end of the pipe.
    pipe: [i32; 2],
}

/// The number of bytes that an empty pipe accepts without blocking.
const PIPE_SIZE: usize = 4096;

impl OwnMemory {
    pub(crate) fn open() -> Result<OwnMemory, Errno> {
        let mut memory = OwnMemory { pipe: [-1; 2] };
        // SAFETY: the kernel writes two descriptors into the array of two.
        let mut open = || unsafe { call(numbers::PIPE2, [memory.pipe.as_mut_ptr().addr(), O_CLOEXEC | O_NONBLOCK]) };
        match open() {
            Err(Errno::EMFILE) => with_more_descriptors(open)?,
            other => other?,
        };
        Ok(memory)
    }

    /// Returns the `N` bytes at an address; `None` if any of the bytes cannot be read.
    pub(crate) fn read<const N: usize>(&self, address: usize) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(address, &mut bytes).then_some(bytes)
    }

    /// Fills `bytes` with the memory at an address. Returns whether all bytes could be read.
    #[inline(never)]
    pub(crate) fn fill(&self, address: usize, bytes: &mut [u8]) -> bool {
        let mut at = address;
        bytes.chunks_mut(PIPE_SIZE).all(|piece| {
            let from = at;
            at = at.wrapping_add(piece.len());
            // SAFETY: the destination is the piece.
            unsafe { self.copy(from, piece.as_mut_ptr().addr(), piece.len()) }.is_ok()
        })
    }

    /// Copies up to [`PIPE_SIZE`] bytes through the pipe, and leaves the pipe empty.
    ///
    /// # Safety
    ///
    /// If the memory at `to` exists, its contents may change.
    pub(super) unsafe fn copy(&self, from: usize, to: usize, length: usize) -> Result<(), Errno> {
        let [reader, writer] = self.pipe;
        // SAFETY: the kernel only reads, and checks the addresses.
        let written = unsafe { call(numbers::WRITE, [writer as usize, from, length]) }?;
        // SAFETY: the caller guarantees that the destination may be written.
        let read = unsafe { call(numbers::READ, [reader as usize, to, written]) };
        if read.is_err() {
            let mut rest = [0_u8; 64];
            let mut left = written;
            // The next copy would read bytes that stay in the pipe. The reads do not block if the kernel has discarded
            // the bytes.
            while left > 0 {
                // SAFETY: the kernel writes at most the size of `rest`.
                let taken = unsafe { call(numbers::READ, [reader as usize, rest.as_mut_ptr().addr(), left.min(64)]) };
                match taken {
                    Ok(taken @ 1..) => left = left.saturating_sub(taken),
                    _ => break,
                }
            }
        }
        if read? == length { Ok(()) } else { Err(Errno::EFAULT) }
    }

    pub(crate) fn close(self) {
        for descriptor in self.pipe {
            let _ = Fd(descriptor).close();
        }
    }
}
