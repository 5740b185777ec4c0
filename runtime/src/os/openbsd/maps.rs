//! What is mapped where in this process, and reading memory that may be gone.

use super::{Errno, Fd, call, numbers};
use crate::text::Text;

/// A stretch of addresses that one file, or none, is mapped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping<'a> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) is_executable: bool,
    /// Where in the file it begins.
    pub(crate) offset: usize,
    /// The file, by the numbers of its device and of itself; 0 and 0 for none.
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// The file's path.
    pub(crate) path: &'a [u8],
}

impl<'a> Mapping<'a> {
    /// The path of the file that is mapped.
    pub(crate) fn path_of_file(&self) -> &'a [u8] {
        self.path
    }
}

/// What the kernel calls the object that it lends to every process: it has no name here.
pub(crate) const VDSO_PATH: &[u8] = b"[vdso]";

/// Room for the list of mappings: none, the list has no contents here.
pub(crate) struct MapsRoom;

/// Hands over what is mapped: nothing, because the kernel tells the list only to the superuser. A profiled program is static, so all
/// its code is in its own file.
///
/// # Errors
///
/// EOPNOTSUPP always.
pub(crate) fn for_each_mapping(_room: &mut MapsRoom, _each: impl FnMut(&Mapping<'_>)) -> Result<(), Errno> {
    Err(Errno::EOPNOTSUPP)
}

/// Appends the path of the program's executable file: nothing, because the kernel does not know the path.
pub(crate) fn push_program_path<const N: usize>(_path: &mut Text<N>) {}

/// This process's memory: where nothing is mapped, reading fails instead of killing.
///
/// There is no `/proc`: the kernel reads the memory when it is written to a pipe, and says EFAULT where there is none.
pub(crate) struct OwnMemory {
    /// To read from, and to write to.
    pipe: [i32; 2],
}

/// What a pipe takes at once without waiting.
const PIPE_SIZE: usize = 4096;

impl OwnMemory {
    pub(crate) fn open() -> Result<OwnMemory, Errno> {
        const O_CLOEXEC: usize = 0x1_0000;
        let mut memory = OwnMemory { pipe: [-1; 2] };
        // SAFETY: the kernel writes two descriptors.
        unsafe { call(numbers::PIPE2, [memory.pipe.as_mut_ptr().addr(), O_CLOEXEC]) }?;
        Ok(memory)
    }

    /// The bytes at an address, all that were asked for; `None` where they cannot be read.
    pub(crate) fn read<const N: usize>(&self, address: usize) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(address, &mut bytes).then_some(bytes)
    }

    /// Fills `bytes` with those at an address; says whether they could all be read.
    #[inline(never)]
    pub(crate) fn fill(&self, address: usize, bytes: &mut [u8]) -> bool {
        let mut at = address;
        bytes.chunks_mut(PIPE_SIZE).all(|piece| {
            let from = at;
            at = at.wrapping_add(piece.len());
            self.copy(from, piece.as_mut_ptr().addr(), piece.len()).is_ok()
        })
    }

    /// Copies up to [`PIPE_SIZE`] bytes through the pipe, which is empty again afterwards.
    pub(super) fn copy(&self, from: usize, to: usize, length: usize) -> Result<(), Errno> {
        let [reader, writer] = self.pipe;
        // SAFETY: the kernel only reads, what is there.
        let written = unsafe { call(numbers::WRITE, [writer as usize, from, length]) }?;
        // SAFETY: the caller vouches that what is there may be written.
        let read = unsafe { call(numbers::READ, [reader as usize, to, written]) };
        if read.is_err() {
            let mut rest = [0_u8; 64];
            let mut left = written;
            // Nothing may stay in the pipe.
            while left > 0 {
                // SAFETY: as much as there is room for.
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
