//! Files: paths, flags of open and mmap, and `struct stat`.
//!
//! Source: sys/kern/vfs_syscalls.c, sys/sys/fcntl.h, sys/sys/stat.h, sys/sys/mman.h. Seen on FreeBSD 15.1 (amd64): the
//! runtime writes its files.

use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::stat::FileStat;

use crate::calls::descriptor_calls::{control as fcntl, file, int, open_of, status};
use crate::calls::mapping::{self, Mapping};
use crate::calls::paths;
use crate::calls::place::{AT_FDCWD, place};
use crate::error::Error;
use crate::kernel::{Kernel, Outcome, Reply, ThreadId};
use crate::record::Kind;

const O_CLOEXEC: u64 = 0x10_0000;
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

/// rename(from, to).
pub(super) fn rename(kernel: &mut Kernel, id: ThreadId, [from, to, ..]: [u64; 6]) -> Outcome {
    rename_at(kernel, id, [HERE, from, HERE, to, 0, 0])
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
    const AT_REMOVEDIR: u64 = 0x800;
    paths::unlink(&place(kernel, id, directory, path)?, flags & AT_REMOVEDIR != 0)
}

/// mkdir(path, mode).
pub(super) fn make_directory(kernel: &mut Kernel, id: ThreadId, [path, mode, ..]: [u64; 6]) -> Outcome {
    make_directory_at(kernel, id, [HERE, path, mode, 0, 0, 0])
}

/// mkdirat(directory, path, mode).
pub(super) fn make_directory_at(kernel: &mut Kernel, id: ThreadId, [directory, path, mode, ..]: [u64; 6]) -> Outcome {
    let mask = kernel.process_of(id).mask;
    paths::make_directory(&place(kernel, id, directory, path)?, mode, mask)
}

/// fcntl(fd, command, argument).
pub(super) fn control(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    const F_DUPFD_CLOEXEC: i32 = 17;
    const F_KINFO: u64 = 22;
    if arguments[1] == F_KINFO {
        return information(kernel, id, arguments);
    }
    fcntl(kernel, id, arguments, F_DUPFD_CLOEXEC)
}

/// fcntl(fd, F_KINFO, information): fills in the number and the path of `struct kinfo_file`.
fn information(kernel: &mut Kernel, id: ThreadId, [fd, _, place, ..]: [u64; 6]) -> Outcome {
    const SIZE: usize = 1392;
    const NUMBER: usize = 8;
    const PATH: usize = 368;
    let task = kernel.task(id);
    // The program passes the size of its version of the structure.
    if task.read(place, 4)? != (SIZE as u32).to_le_bytes() {
        return Err(Errno::EINVAL.into());
    }
    let open = open_of(kernel, id, fd)?;
    let path = nix::fcntl::readlink(&*format!("/proc/self/fd/{}", file(&open)?.as_raw_fd()))?;
    let path = &path.as_encoded_bytes()[..path.len().min(SIZE - PATH - 1)];
    let mut bytes = [0; SIZE];
    bytes[..4].copy_from_slice(&(SIZE as u32).to_le_bytes());
    bytes[NUMBER..NUMBER + 4].copy_from_slice(&int(fd).to_le_bytes());
    bytes[PATH..PATH + path.len()].copy_from_slice(path);
    task.write(place, &bytes)?;
    Ok(Reply::Value(0))
}

/// posix_fallocate(fd, offset, length): returns the error number, not -1.
pub(super) fn allocate(kernel: &mut Kernel, id: ThreadId, [fd, offset, length, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    let mode = nix::fcntl::FallocateFlags::empty();
    let result = nix::fcntl::fallocate(file(&open)?, mode, offset as i64, length as i64);
    Ok(Reply::Value(result.map_or_else(|error| Error::from(error).number(), |()| 0)))
}

/// fstat(fd, status).
pub(super) fn fstat(kernel: &mut Kernel, id: ThreadId, [fd, address, ..]: [u64; 6]) -> Outcome {
    let status = status(kernel, id, fd)?;
    kernel.task(id).write(address, &stat(&status))?;
    Ok(Reply::Value(0))
}

/// fstatat(directory, path, status, flags).
pub(super) fn fstatat(kernel: &mut Kernel, id: ThreadId, [directory, path, address, flags, ..]: [u64; 6]) -> Outcome {
    const AT_SYMLINK_NOFOLLOW: u64 = 0x200;
    let place = place(kernel, id, directory, path)?;
    let status = paths::status_at(&place, flags & AT_SYMLINK_NOFOLLOW == 0)?;
    kernel.task(id).write(address, &stat(&status))?;
    Ok(Reply::Value(0))
}

/// FreeBSD's `struct stat`.
fn stat(status: &FileStat) -> [u8; 224] {
    let mut bytes = [0; 224];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &status.st_dev.to_le_bytes());
    put(8, &status.st_ino.to_le_bytes());
    put(16, &status.st_nlink.to_le_bytes());
    put(24, &(status.st_mode as u16).to_le_bytes());
    put(28, &status.st_uid.to_le_bytes());
    put(32, &status.st_gid.to_le_bytes());
    put(40, &status.st_rdev.to_le_bytes());
    let times = [
        (48, status.st_atime, status.st_atime_nsec),
        (64, status.st_mtime, status.st_mtime_nsec),
        (80, status.st_ctime, status.st_ctime_nsec),
    ];
    for (at, seconds, nanoseconds) in times {
        put(at, &seconds.to_le_bytes());
        put(at + 8, &nanoseconds.to_le_bytes());
    }
    put(112, &status.st_size.to_le_bytes());
    put(120, &status.st_blocks.to_le_bytes());
    put(128, &(status.st_blksize as u32).to_le_bytes());
    bytes
}

const MAP_SHARED: u64 = 1;
const MAP_PRIVATE: u64 = 2;
const MAP_FIXED: u64 = 0x10;
const MAP_STACK: u64 = 0x400;
const MAP_NOSYNC: u64 = 0x800;
const MAP_ANON: u64 = 0x1000;
const MAP_GUARD: u64 = 0x2000;
const MAP_EXCL: u64 = 0x4000;
const MAP_NOCORE: u64 = 0x2_0000;
const MAP_PREFAULT_READ: u64 = 0x4_0000;

/// mmap(address, length, protection, flags, fd, offset).
pub(super) fn map(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    let [address, length, protection, flags, fd, offset] = arguments;
    let flags = flags & 0xffff_ffff;
    let known = MAP_SHARED | MAP_PRIVATE | MAP_FIXED | MAP_STACK | MAP_NOSYNC | MAP_ANON;
    if flags & !(known | MAP_GUARD | MAP_EXCL | MAP_NOCORE | MAP_PREFAULT_READ) != 0 {
        kernel.note(id, Kind::Unsupported, &format!("mmap with flags {flags:#x}"));
        return Err(Errno::EINVAL.into());
    }
    let is_anonymous = flags & (MAP_ANON | MAP_STACK | MAP_GUARD) != 0;
    let is_both = flags & (MAP_SHARED | MAP_PRIVATE) == MAP_SHARED | MAP_PRIVATE;
    let is_none = flags & (MAP_SHARED | MAP_PRIVATE) == 0 && !is_anonymous;
    let has_file = is_anonymous && (int(fd) != -1 || offset != 0);
    let is_odd_guard = flags & MAP_GUARD != 0 && protection != 0;
    let is_exclusive_hint = flags & (MAP_EXCL | MAP_FIXED) == MAP_EXCL;
    if is_both || is_none || has_file || is_odd_guard || is_exclusive_hint || length == 0 {
        return Err(Errno::EINVAL.into());
    }
    let mut linux = if flags & MAP_SHARED != 0 { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
    for (bit, flag) in [(MAP_ANON | MAP_STACK | MAP_GUARD, libc::MAP_ANONYMOUS), (MAP_FIXED, libc::MAP_FIXED)] {
        if flags & bit != 0 {
            linux |= flag;
        }
    }
    if flags & MAP_EXCL != 0 {
        linux |= libc::MAP_FIXED_NOREPLACE;
    }
    let mapping = Mapping { address, length, protection, flags: linux, descriptor: fd, offset };
    match mapping::map(kernel, id, &mapping) {
        // FreeBSD's error for a range that is already mapped.
        Err(error) if error == Errno::EEXIST.into() => Err(Errno::EINVAL.into()),
        outcome => outcome,
    }
}
