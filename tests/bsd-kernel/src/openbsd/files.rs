//! Files and memory: paths (`kern/vfs_syscalls.c`), flags of open (`sys/fcntl.h` 1.23, 2025-08-04) and mmap
//! (`sys/mman.h` 1.35, 2022-10-07), `struct stat` (`sys/stat.h` 1.29, 2022-01-11). Not seen on a real kernel.

use nix::errno::Errno;
use nix::sys::stat::FileStat;

use crate::calls::descriptor_calls::{control as fcntl, int, status, write_bytes};
use crate::calls::mapping::{self, Mapping};
use crate::calls::paths;
use crate::calls::place::{AT_FDCWD, place};
use crate::error::Error;
use crate::kernel::{Kernel, Outcome, Reply, ThreadId};
use crate::record::Kind;

const O_CLOEXEC: u64 = 0x1_0000;
const HERE: u64 = AT_FDCWD as u64;

/// open(path, flags, mode).
pub(super) fn open(kernel: &mut Kernel, id: ThreadId, [path, flags, mode, ..]: [u64; 6]) -> Outcome {
    open_at(kernel, id, [HERE, path, flags, mode, 0, 0])
}

/// openat(directory, path, flags, mode).
pub(super) fn open_at(kernel: &mut Kernel, id: ThreadId, [directory, path, flags, mode, ..]: [u64; 6]) -> Outcome {
    let place = place(kernel, id, directory, path)?;
    paths::open_at(kernel, id, &place, flags & 0xffff_ffff, mode, O_CLOEXEC)
}

/// renameat(directory, from, directory, to).
pub(super) fn rename_at(kernel: &mut Kernel, id: ThreadId, [old, from, new, to, ..]: [u64; 6]) -> Outcome {
    let from = place(kernel, id, old, from)?;
    let to = place(kernel, id, new, to)?;
    paths::rename(&from, &to)
}

/// unlink(path).
pub(super) fn unlink(kernel: &mut Kernel, id: ThreadId, [path, ..]: [u64; 6]) -> Outcome {
    paths::unlink(&place(kernel, id, HERE, path)?, false)
}

/// unlinkat(directory, path, flags).
pub(super) fn unlink_at(kernel: &mut Kernel, id: ThreadId, [directory, path, flags, ..]: [u64; 6]) -> Outcome {
    const AT_REMOVEDIR: u64 = 8;
    paths::unlink(&place(kernel, id, directory, path)?, flags & AT_REMOVEDIR != 0)
}

/// write(fd, bytes, length): a pipe without a reader also raises SIGPIPE (`kern/sys_generic.c`; not seen on a real
/// kernel).
pub(super) fn write(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    const SIGPIPE: u32 = 13;
    let written = write_bytes(kernel, id, arguments);
    if matches!(written, Err(Error::System(Errno::EPIPE))) {
        let process = kernel.thread(id).process;
        kernel.send_from(process, process, Some(id), SIGPIPE);
    }
    written
}

/// fcntl(fd, command, argument).
pub(super) fn control(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    const F_DUPFD_CLOEXEC: i32 = 10;
    fcntl(kernel, id, arguments, F_DUPFD_CLOEXEC)
}

/// fstat(fd, status).
pub(super) fn fstat(kernel: &mut Kernel, id: ThreadId, [fd, address, ..]: [u64; 6]) -> Outcome {
    let status = status(kernel, id, fd)?;
    kernel.task(id).write(address, &stat(&status))?;
    Ok(Reply::Value(0))
}

/// fstatat(directory, path, status, flags).
pub(super) fn fstatat(kernel: &mut Kernel, id: ThreadId, [directory, path, address, flags, ..]: [u64; 6]) -> Outcome {
    const AT_SYMLINK_NOFOLLOW: u64 = 2;
    let place = place(kernel, id, directory, path)?;
    let status = paths::status_at(&place, flags & AT_SYMLINK_NOFOLLOW == 0)?;
    kernel.task(id).write(address, &stat(&status))?;
    Ok(Reply::Value(0))
}

/// OpenBSD's `struct stat`.
fn stat(status: &FileStat) -> [u8; 128] {
    let mut bytes = [0; 128];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &status.st_mode.to_le_bytes());
    put(4, &(status.st_dev as u32).to_le_bytes());
    put(8, &status.st_ino.to_le_bytes());
    put(16, &(status.st_nlink as u32).to_le_bytes());
    put(20, &status.st_uid.to_le_bytes());
    put(24, &status.st_gid.to_le_bytes());
    let times = [(32, status.st_atime, status.st_atime_nsec), (48, status.st_mtime, status.st_mtime_nsec)];
    for (at, seconds, nanoseconds) in times.into_iter().chain([(64, status.st_ctime, status.st_ctime_nsec)]) {
        put(at, &seconds.to_le_bytes());
        put(at + 8, &nanoseconds.to_le_bytes());
    }
    put(80, &status.st_size.to_le_bytes());
    put(88, &status.st_blocks.to_le_bytes());
    put(96, &(status.st_blksize as u32).to_le_bytes());
    bytes
}

const MAP_SHARED: u64 = 1;
const MAP_PRIVATE: u64 = 2;
const MAP_FIXED: u64 = 0x10;
const MAP_NOREPLACE: u64 = 0x800;
const MAP_ANON: u64 = 0x1000;
const MAP_STACK: u64 = 0x4000;
const MAP_CONCEAL: u64 = 0x8000;
const READ_AND_WRITE: u64 = 3;
const WRITE_AND_EXECUTE: u64 = 6;

/// mmap(address, length, protection, flags, fd, offset): stacks are plain memory, and no memory is writable and
/// executable (`uvm/uvm_mmap.c`; not seen on a real kernel).
pub(super) fn map(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    let [address, length, protection, flags, fd, offset] = arguments;
    let flags = flags & 0xffff_ffff;
    let known = MAP_SHARED | MAP_PRIVATE | MAP_FIXED | MAP_NOREPLACE | MAP_ANON | MAP_STACK | MAP_CONCEAL;
    if flags & !known != 0 {
        kernel.note(id, Kind::Unsupported, &format!("mmap with flags {flags:#x}"));
        return Err(Errno::EINVAL.into());
    }
    if protection & WRITE_AND_EXECUTE == WRITE_AND_EXECUTE {
        return Err(Errno::EOPNOTSUPP.into());
    }
    let is_one_way = [MAP_SHARED, MAP_PRIVATE].contains(&(flags & (MAP_SHARED | MAP_PRIVATE)));
    let (is_anonymous, is_shared) = (flags & MAP_ANON != 0, flags & MAP_SHARED != 0);
    if !is_one_way || length == 0 || (is_anonymous && int(fd) != -1) {
        return Err(Errno::EINVAL.into());
    }
    if flags & MAP_STACK != 0 {
        // A stack is anonymous, private, readable and writable, without further flags.
        let is_plain = flags & !(MAP_FIXED | MAP_PRIVATE | MAP_ANON) == MAP_STACK;
        if !is_plain || is_shared || !is_anonymous || protection & READ_AND_WRITE != READ_AND_WRITE || offset != 0 {
            return Err(Errno::EINVAL.into());
        }
    }
    if flags & MAP_FIXED != 0 {
        check_mutable(kernel, id, address, length)?;
    }
    let mut linux = if is_shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
    let pairs = [(MAP_ANON, libc::MAP_ANONYMOUS), (MAP_FIXED, libc::MAP_FIXED)];
    for (_, flag) in pairs.iter().filter(|(bit, _)| flags & bit != 0) {
        linux |= flag;
    }
    if flags & MAP_NOREPLACE != 0 {
        linux |= libc::MAP_FIXED_NOREPLACE;
    }
    let reply =
        mapping::map(kernel, id, &Mapping { address, length, protection, flags: linux, descriptor: fd, offset })?;
    if let Reply::Value(mapped) = reply
        && flags & MAP_STACK != 0
    {
        kernel.process_of(id).stacks.push(mapped..mapped + length);
    }
    Ok(reply)
}

/// Loaded segments are immutable (`kern/exec_elf.c`, August 2025), and so is the memory of mimmutable(2)
/// (`uvm/uvm_mmap.c`). Not seen on a real kernel.
fn check_mutable(kernel: &mut Kernel, id: ThreadId, address: u64, length: u64) -> Result<(), Errno> {
    let ranges = &kernel.process_of(id).immutable;
    let is_hit = ranges.iter().any(|range| range.start < address.saturating_add(length) && address < range.end);
    if is_hit { Err(Errno::EPERM) } else { Ok(()) }
}

/// munmap(address, length).
pub(super) fn unmap(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    check_mutable(kernel, id, arguments[0], arguments[1])?;
    mapping::unmap(kernel, id, arguments)
}

/// mprotect(address, length, protection).
pub(super) fn protect(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    check_mutable(kernel, id, arguments[0], arguments[1])?;
    if arguments[2] & WRITE_AND_EXECUTE == WRITE_AND_EXECUTE {
        return Err(Errno::EOPNOTSUPP.into());
    }
    mapping::protect(kernel, id, arguments)
}

/// mimmutable(address, length).
pub(super) fn make_immutable(kernel: &mut Kernel, id: ThreadId, [address, length, ..]: [u64; 6]) -> Outcome {
    kernel.process_of(id).immutable.push(address..address.saturating_add(length));
    Ok(Reply::Value(0))
}
