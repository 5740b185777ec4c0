//! Reads the mappings of this process, and memory that may be unmapped.

use core::ffi::CStr;
use core::mem;

use super::file::DELETED;
use super::machine::numbers;
use super::{CURRENT, Errno, Fd, call, process_id};
use crate::os::mapping::Mapping;

/// The longest line: the numbers, and a path of `PATH_MAX` in which each byte may be escaped by four.
const LINE_SIZE: usize = 20_000;

/// Returns the path of the mapped file, without the mark of a deleted file. In the path, a newline is `\012`.
pub(crate) fn path_of_file<'a>(mapping: &Mapping<'a>) -> &'a [u8] {
    mapping.path.strip_suffix(DELETED).unwrap_or(mapping.path)
}

/// The kernel's name for the vDSO.
pub(crate) const VDSO_PATH: &[u8] = b"[vdso]";

/// Buffers for reading, too large for a small stack.
pub(crate) struct MapsRoom {
    read: [u8; 4096],
    line: [u8; LINE_SIZE],
}

/// Passes the mappings to `each`, in the order of addresses (`/proc/self/maps`, proc(5)).
///
/// # Errors
///
/// The errors of opening and reading: there may be no `/proc`.
pub(crate) fn for_each_mapping(room: &mut MapsRoom, mut each: impl FnMut(&Mapping<'_>)) -> Result<(), Errno> {
    // The process's list is empty after its first thread has ended; emulators support only the process's list.
    let mut result = Ok(0);
    for path in [c"/proc/self/maps", c"/proc/thread-self/maps"] {
        result = CURRENT.open_for_reading(path).and_then(|file| {
            let lines = for_each_line(file, room, |line| {
                if let Some(mapping) = parse_mapping(line) {
                    each(&mapping);
                }
            });
            let _ = file.close();
            lines
        });
        if result.is_ok_and(|lines| lines > 0) {
            break;
        }
    }
    result.map(|_| ())
}

/// Passes the lines of a file to `each`. The result is their number.
fn for_each_line(file: Fd, room: &mut MapsRoom, mut each: impl FnMut(&[u8])) -> Result<usize, Errno> {
    let (mut lines, mut length) = (0, 0);
    loop {
        let read = match file.read(&mut room.read) {
            Ok(0) => return Ok(lines),
            Ok(read) => read,
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(error),
        };
        for byte in room.read.get(..read).unwrap_or(&[]) {
            if *byte == b'\n' {
                each(room.line.get(..mem::take(&mut length)).unwrap_or(&[]));
                lines += 1;
            } else if let Some(place) = room.line.get_mut(length) {
                *place = *byte;
                length += 1;
            }
        }
    }
}

/// Parses a line: `start-end rwxp offset major:minor inode   path`.
fn parse_mapping(line: &[u8]) -> Option<Mapping<'_>> {
    let (start, rest) = hexadecimal(line)?;
    let (end, rest) = hexadecimal(rest.strip_prefix(b"-")?)?;
    let (rights, rest) = rest.strip_prefix(b" ")?.split_at_checked(4)?;
    let (offset, rest) = hexadecimal(rest.strip_prefix(b" ")?)?;
    let (major, rest) = hexadecimal(rest.strip_prefix(b" ")?)?;
    let (minor, rest) = hexadecimal(rest.strip_prefix(b":")?)?;
    let rest = rest.strip_prefix(b" ")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (inode, path) = rest.split_at_checked(digits)?;
    let spaces = path.iter().take_while(|byte| **byte == b' ').count();
    Some(Mapping {
        start,
        end,
        is_executable: rights.get(2) == Some(&b'x'),
        offset,
        device: (major as u64) << 32 | minor as u64,
        inode: inode
            .iter()
            .fold(0, |number: u64, digit| number.wrapping_mul(10).wrapping_add(u64::from(digit.wrapping_sub(b'0')))),
        path: path.get(spaces..).unwrap_or(&[]),
    })
}

/// Parses a hexadecimal number. The result is the number and the rest of the text.
#[inline(never)]
fn hexadecimal(text: &[u8]) -> Option<(usize, &[u8])> {
    let mut number = 0_usize;
    let mut digits = 0;
    for byte in text {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => break,
        };
        number = number.checked_mul(16)?.checked_add(usize::from(digit))?;
        digits += 1;
    }
    (digits > 0).then_some((number, text.get(digits..)?))
}

/// Reads this process's memory: reading an unmapped address fails and does not kill.
///
/// The memory is a file of `/proc`. If the file cannot be opened, because the process gave up rights or has no
/// `/proc`, process_vm_readv copies the memory. The file is tried first, because inherited filters may kill for that
/// call.
pub(crate) struct OwnMemory {
    process: i32,
    file: Option<Fd>,
}

impl OwnMemory {
    pub(crate) fn open() -> Result<OwnMemory, Errno> {
        const PATH: &CStr = c"/proc/thread-self/mem";
        let opened = CURRENT.open_for_reading(PATH);
        let memory = OwnMemory { process: process_id(), file: opened.ok() };
        if memory.read::<4>(PATH.as_ptr().addr()).is_some() {
            return Ok(memory);
        }
        memory.close();
        Err(opened.err().unwrap_or(Errno::EPERM))
    }

    /// Reads all bytes at an address; `None` if some cannot be read.
    pub(crate) fn read<const N: usize>(&self, address: usize) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(address, &mut bytes).then_some(bytes)
    }

    /// Fills `bytes` with the bytes at an address. The result says whether all could be read.
    #[inline(never)]
    pub(crate) fn fill(&self, address: usize, bytes: &mut [u8]) -> bool {
        match self.file {
            Some(file) => file.read_at(bytes, address) == Ok(bytes.len()),
            None => {
                let ours = bytes.as_mut_ptr().addr();
                transfer(numbers::PROCESS_VM_READV, self.process, ours, address, bytes.len()).is_ok()
            }
        }
    }

    pub(crate) fn close(self) {
        if let Some(file) = self.file {
            let _ = file.close();
        }
    }
}

/// Fills `bytes` with this process's memory at an address. The result says whether all could be read: memory may be
/// unmapped at any moment. Async-signal-safe.
#[must_use]
pub fn copy_own_memory(address: usize, bytes: &mut [u8]) -> bool {
    let ours = bytes.as_mut_ptr().addr();
    transfer(numbers::PROCESS_VM_READV, process_id(), ours, address, bytes.len()).is_ok()
}

/// Copies between the runtime's memory at `ours` and the program's at `theirs`; `process` is this process.
pub(super) fn transfer(number: usize, process: i32, ours: usize, theirs: usize, length: usize) -> Result<(), Errno> {
    // Two struct iovec. Volatile, so that the compiler does not call memset or memcpy.
    let (local, remote) = ([ours, length], [theirs, length]);
    let arguments = [process as usize, (&raw const local).addr(), 1, (&raw const remote).addr(), 1, 0];
    // SAFETY: the runtime's side is a slice of the caller; the kernel checks the other side.
    let copied = unsafe { call(number, arguments) }?;
    if copied == length { Ok(()) } else { Err(Errno::EFAULT) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::map;

    #[test]
    fn a_line_is_taken_apart() {
        let line = b"7f1200001000-7f1200002000 r-xp 00003000 fd:1a 1234567   /usr/lib/a b.so (deleted)";
        let expected = Mapping {
            start: 0x7f12_0000_1000,
            end: 0x7f12_0000_2000,
            is_executable: true,
            offset: 0x3000,
            device: 0xfd << 32 | 0x1a,
            inode: 1_234_567,
            path: b"/usr/lib/a b.so (deleted)",
        };
        assert_eq!(parse_mapping(line), Some(expected));
        let nothing = parse_mapping(b"7ff0-8000 rw-p 00000000 00:00 0 ").unwrap();
        assert_eq!((nothing.is_executable, nothing.inode, nothing.path), (false, 0, &b""[..]));
        for wrong in [&b""[..], b"-", b"1-2", b"1-2 r-xp", b"1-2 r-xp 0 0", b"12345678901234567-2 r-xp 0 0:0 0"] {
            assert_eq!(parse_mapping(wrong), None);
        }
    }

    #[test]
    fn this_function_is_in_a_file_that_is_mapped() {
        let here = this_function_is_in_a_file_that_is_mapped as fn() as usize;
        let room: &mut MapsRoom = Box::leak(Box::new(MapsRoom { read: [0; 4096], line: [0; LINE_SIZE] }));
        let mut found = 0;
        for_each_mapping(room, |mapping| {
            if mapping.start <= here && here < mapping.end {
                assert!(mapping.is_executable && mapping.inode != 0, "{mapping:?}");
                found += 1;
            }
        })
        .unwrap();
        assert_eq!(found, 1);
    }

    #[test]
    fn reading_what_is_not_mapped_fails() {
        let memory = OwnMemory::open().unwrap();
        assert_eq!(memory.read::<4>(b"gmon".as_ptr().addr()), Some(*b"gmon"));
        assert_eq!(memory.read::<4>(16), None);
        assert!(memory.read::<16>(map(4096).addr()).is_some());
        memory.close();
        let file = CURRENT.open_for_reading(c"/proc/thread-self/mem").unwrap();
        let file = OwnMemory { process: 0, file: Some(file) };
        assert_eq!((file.read::<4>(b"gmon".as_ptr().addr()), file.read::<4>(16)), (Some(*b"gmon"), None));
        file.close();
    }
}
