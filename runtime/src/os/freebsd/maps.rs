//! Lists the process's mappings, and reads memory that may be unmapped.

use core::ffi::CStr;

use super::profil::sysctl;
use super::{Errno, Fd, call, numbers};
use crate::text::Text;

const CTL_KERN: i32 = 1;
const KERN_PROC: i32 = 14;
const KERN_PROC_PATHNAME: i32 = 12;
const KERN_PROC_VMMAP: i32 = 32;
/// The calling process.
const SELF: i32 = -1;
const KVME_PROT_EXEC: u32 = 4;

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
    /// The file's path.
    pub(crate) path: &'a [u8],
}

impl<'a> Mapping<'a> {
    /// Returns the path of the mapped file.
    pub(crate) fn path_of_file(&self) -> &'a [u8] {
        self.path
    }
}

/// The path that stands for the kernel's vDSO. FreeBSD's kernel reports no path for the vDSO.
pub(crate) const VDSO_PATH: &[u8] = b"[vdso]";

/// The buffer for the list of mappings; too large for a small stack.
pub(crate) struct MapsRoom {
    list: [u8; 1 << 20],
}

/// Calls `each` with each mapping in the order of addresses (`kern.proc.vmmap`, `struct kinfo_vmentry` of `sys/user.h`).
///
/// # Errors
///
/// The kernel's error; ENOMEM if the list is longer than `room`.
pub(crate) fn for_each_mapping(room: &mut MapsRoom, mut each: impl FnMut(&Mapping<'_>)) -> Result<(), Errno> {
    let name = [CTL_KERN, KERN_PROC, KERN_PROC_VMMAP, super::process_id()];
    let length = sysctl(&name, room.list.as_mut_ptr().addr(), room.list.len())?;
    let mut left = room.list.get(..length).unwrap_or(&[]);
    while let Some(size) = number(left, 0, 4).filter(|size| *size > PATH as u64) {
        let Some((entry, rest)) = left.split_at_checked(size as usize) else { break };
        left = rest;
        let Some(mapping) = parse(entry) else { break };
        each(&mapping);
    }
    Ok(())
}

/// The offset of the path in an entry.
const PATH: usize = 136;

fn parse(entry: &[u8]) -> Option<Mapping<'_>> {
    let path = entry.get(PATH..)?;
    Some(Mapping {
        start: number(entry, 8, 8)? as usize,
        end: number(entry, 16, 8)? as usize,
        is_executable: number(entry, 56, 4)? as u32 & KVME_PROT_EXEC != 0,
        offset: number(entry, 24, 8)? as usize,
        device: number(entry, 88, 8)?,
        inode: number(entry, 32, 8)?,
        path: CStr::from_bytes_until_nul(path).map_or(path, CStr::to_bytes),
    })
}

/// Reads the little-endian number of `size` bytes at an offset.
fn number(entry: &[u8], offset: usize, size: usize) -> Option<u64> {
    let bytes = entry.get(offset..offset.checked_add(size)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Appends the path of the program's executable file. Appends nothing if the kernel does not know the path.
pub(crate) fn push_program_path<const N: usize>(path: &mut Text<N>) {
    path.fill(|room| {
        let name = [CTL_KERN, KERN_PROC, KERN_PROC_PATHNAME, SELF];
        // The last byte is a NUL.
        sysctl(&name, room.as_mut_ptr().addr(), room.len()).map_or(0, |length| length.saturating_sub(1))
    });
}

/// Reads this process's memory, and fails where a direct read would fault.
///
/// FreeBSD does not mount `/proc` by default. Reads therefore go through a pipe: write(2) fails with EFAULT if the memory is unmapped.
pub(crate) struct OwnMemory {
    /// The read end and the write end of the pipe.
    pipe: [i32; 2],
}

/// The number of bytes that an empty pipe accepts without blocking.
const PIPE_SIZE: usize = 4096;

impl OwnMemory {
    pub(crate) fn open() -> Result<OwnMemory, Errno> {
        const O_CLOEXEC: usize = 0x10_0000;
        let mut memory = OwnMemory { pipe: [-1; 2] };
        // SAFETY: the kernel writes two descriptors into the array of two.
        unsafe { call(numbers::PIPE2, [memory.pipe.as_mut_ptr().addr(), O_CLOEXEC]) }?;
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
            self.copy(from, piece.as_mut_ptr().addr(), piece.len()).is_ok()
        })
    }

    /// Copies up to [`PIPE_SIZE`] bytes through the pipe, and leaves the pipe empty.
    pub(super) fn copy(&self, from: usize, to: usize, length: usize) -> Result<(), Errno> {
        let [reader, writer] = self.pipe;
        // SAFETY: the kernel only reads, and checks the addresses.
        let written = unsafe { call(numbers::WRITE, [writer as usize, from, length]) }?;
        // SAFETY: the caller guarantees that the destination may be written.
        let read = unsafe { call(numbers::READ, [reader as usize, to, written]) };
        if read.is_err() {
            let mut rest = [0_u8; 64];
            let mut left = written;
            // The next copy would read bytes that stay in the pipe.
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
