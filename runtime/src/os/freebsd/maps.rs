//! Lists the process's mappings.

use core::ffi::CStr;

use super::Errno;
use super::sysctl::sysctl;
use crate::os::mapping::Mapping;
use crate::text::Text;

const CTL_KERN: i32 = 1;
const KERN_HOSTNAME: i32 = 10;
const KERN_PROC: i32 = 14;
const KERN_PROC_ARGS: i32 = 7;
const KERN_PROC_PATHNAME: i32 = 12;
const KERN_PROC_VMMAP: i32 = 32;
/// The calling process.
const SELF: i32 = -1;
const KVME_PROT_EXEC: u32 = 4;

/// The path that stands for the kernel's vDSO. FreeBSD's kernel reports no path for the vDSO.
pub(crate) const VDSO_PATH: &[u8] = b"[vdso]";

/// The buffer for the list of mappings; too large for a small stack.
pub(crate) struct MapsRoom {
    list: [u8; 1 << 20],
}

/// Returns the path of the mapped file.
pub(crate) fn path_of_file<'a>(mapping: &Mapping<'a>) -> &'a [u8] {
    mapping.path
}

/// Calls `each` with each mapping in the order of addresses (`kern.proc.vmmap`, `struct kinfo_vmentry` of
/// `sys/user.h`).
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
        let Some(mapping) = parse_mapping(entry) else { break };
        each(&mapping);
    }
    Ok(())
}

/// The offset of the path in an entry.
const PATH: usize = 136;

fn parse_mapping(entry: &[u8]) -> Option<Mapping<'_>> {
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

/// Appends the words of the command line, each with a NUL after it. Appends nothing if they exceed the room.
pub(crate) fn push_command_line<const N: usize>(words: &mut Text<N>) {
    words.fill(|room| {
        let name = [CTL_KERN, KERN_PROC, KERN_PROC_ARGS, super::process_id()];
        sysctl(&name, room.as_mut_ptr().addr(), room.len()).unwrap_or(0)
    });
}

/// Appends the name of the machine.
pub(crate) fn push_host_name<const N: usize>(host: &mut Text<N>) {
    host.fill(|room| {
        // The last byte is a NUL.
        let length = sysctl(&[CTL_KERN, KERN_HOSTNAME], room.as_mut_ptr().addr(), room.len());
        length.map_or(0, |length| length.saturating_sub(1))
    });
}
