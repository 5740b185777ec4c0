//! Calls that take a path.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use nix::errno::Errno;
use nix::fcntl::{OFlag, renameat};
use nix::sys::stat::{FileStat, Mode, fstat, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::calls::descriptor_calls::{file, open_of};
use crate::calls::place::{AT_FDCWD, Place, place};
use crate::descriptors::Open;
use crate::error::Error;
use crate::kernel::{Kernel, Outcome, Reply, ThreadId};
use crate::record::Kind;
use crate::visibility::Access;

/// Opens a place. `close_on_exec` is the system's bit for O_CLOEXEC; all other bits are the same on both systems.
///
/// # Errors
///
/// As openat(2).
pub fn open_at(kernel: &mut Kernel, id: ThreadId, place: &Place, flags: u64, mode: u64, close_on_exec: u64) -> Outcome {
    const FLAGS: [(u64, OFlag); 9] = [
        (4, OFlag::O_NONBLOCK),
        (8, OFlag::O_APPEND),
        (0x80, OFlag::O_SYNC),
        (0x100, OFlag::O_NOFOLLOW),
        (0x200, OFlag::O_CREAT),
        (0x400, OFlag::O_TRUNC),
        (0x800, OFlag::O_EXCL),
        (0x2_0000, OFlag::O_DIRECTORY),
        // FreeBSD's O_SEARCH, which OpenBSD lacks, opens a directory only for lookups of files.
        (0x4_0000, OFlag::O_PATH),
    ];
    let known = FLAGS.iter().fold(3 | close_on_exec, |known, (bit, _)| known | bit);
    if flags & !known != 0 {
        kernel.note(id, Kind::Unsupported, &format!("open with flags {flags:#x}"));
        return Err(Errno::EINVAL.into());
    }
    let mut linux = OFlag::from_bits_truncate(flags as i32 & 3) | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
    for (_, flag) in FLAGS.iter().filter(|(bit, _)| flags & bit != 0) {
        linux |= *flag;
    }
    if linux.contains(OFlag::O_PATH) {
        linux &= OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    }
    let mask = kernel.process_of(id).mask;
    let mode = if linux.contains(OFlag::O_CREAT) { mode as u32 & 0o7777 & !mask } else { 0 };
    let opened = place.open(linux, Mode::from_bits_truncate(mode), access(linux)).map_err(|error| match error {
        // The BSDs' error for a symbolic link with O_NOFOLLOW.
        Error::System(Errno::ELOOP) if flags & 0x100 != 0 => Errno::EMLINK.into(),
        error => error,
    });
    if matches!(opened, Err(Error::NotCapable)) {
        kernel.note(id, Kind::Refused, &format!("{:?} leaves the directory in capability mode", place.path));
    }
    let opened = Rc::new(Open::File(opened?));
    let number = kernel.process_of(id).descriptors.borrow_mut().add(opened, flags & close_on_exec != 0, 0);
    Ok(Reply::Value(number as u64))
}

/// The accesses that an open needs.
fn access(flags: OFlag) -> Access {
    let mode = match flags & OFlag::O_ACCMODE {
        OFlag::O_WRONLY => Access::WRITE,
        OFlag::O_RDWR => Access::READ.and(Access::WRITE),
        _ => Access::READ,
    };
    if flags.contains(OFlag::O_CREAT) { mode.and(Access::CREATE) } else { mode }
}

/// Returns the status of a file, as fstatat(2).
///
/// # Errors
///
/// As fstatat(2).
pub fn status_at(place: &Place, follows_link: bool) -> Result<FileStat, Error> {
    let link = if follows_link { OFlag::empty() } else { OFlag::O_NOFOLLOW };
    Ok(fstat(place.open(OFlag::O_PATH | link, Mode::empty(), Access::READ)?)?)
}

/// renameat(2).
///
/// # Errors
///
/// As renameat(2).
pub fn rename(from: &Place, to: &Place) -> Outcome {
    let (old, from_name) = from.parent(Access::READ.and(Access::CREATE))?;
    let (new, to_name) = to.parent(Access::CREATE)?;
    from.as_user(|| renameat(old, from_name.as_c_str(), new, to_name.as_c_str()))?;
    Ok(Reply::Value(0))
}

/// unlinkat(2).
///
/// # Errors
///
/// As unlinkat(2).
pub fn unlink(place: &Place, is_directory: bool) -> Outcome {
    let flags = if is_directory { UnlinkatFlags::RemoveDir } else { UnlinkatFlags::NoRemoveDir };
    let (parent, name) = place.parent(Access::CREATE)?;
    place.as_user(|| unlinkat(parent, name.as_c_str(), flags))?;
    Ok(Reply::Value(0))
}

/// mkdirat(2).
///
/// # Errors
///
/// As mkdirat(2).
pub fn make_directory(place: &Place, mode: u64, mask: u32) -> Outcome {
    let mode = Mode::from_bits_truncate(mode as u32 & 0o7777 & !mask);
    let (parent, name) = place.parent(Access::CREATE)?;
    place.as_user(|| mkdirat(parent, name.as_c_str(), mode))?;
    Ok(Reply::Value(0))
}

/// Opens a directory that a path names.
fn directory(kernel: &mut Kernel, id: ThreadId, path: u64) -> Result<Rc<OwnedFd>, Error> {
    let place = place(kernel, id, AT_FDCWD as u64, path)?;
    Ok(Rc::new(place.open(OFlag::O_DIRECTORY | OFlag::O_RDONLY, Mode::empty(), Access::READ)?))
}

/// chdir(path).
///
/// # Errors
///
/// As chdir(2).
pub fn change_directory(kernel: &mut Kernel, id: ThreadId, [path, ..]: [u64; 6]) -> Outcome {
    let directory = directory(kernel, id, path)?;
    kernel.process_of(id).directory = directory;
    Ok(Reply::Value(0))
}

/// chroot(path). The current directory stays.
///
/// # Errors
///
/// EPERM unless the user is the superuser; otherwise as chdir(2).
pub fn change_root(kernel: &mut Kernel, id: ThreadId, [path, ..]: [u64; 6]) -> Outcome {
    if !kernel.process_of(id).credentials.is_root() {
        return Err(Errno::EPERM.into());
    }
    let root = directory(kernel, id, path)?;
    kernel.process_of(id).root = Some(root);
    Ok(Reply::Value(0))
}

/// fchdir(fd).
///
/// # Errors
///
/// As fchdir(2).
pub fn change_directory_to(kernel: &mut Kernel, id: ThreadId, [fd, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    let how = nix::fcntl::OpenHow::new().flags(OFlag::O_DIRECTORY | OFlag::O_RDONLY | OFlag::O_CLOEXEC);
    let directory = nix::fcntl::openat2(file(&open)?, c".", how)?;
    kernel.process_of(id).directory = Rc::new(directory);
    Ok(Reply::Value(0))
}
