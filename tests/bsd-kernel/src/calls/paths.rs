//! Calls that take a path. In capability mode, paths must stay below the directory of a descriptor.

use std::ffi::CString;
use std::os::fd::AsFd;
use std::rc::Rc;

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, OpenHow, ResolveFlag, openat2, renameat};
use nix::sys::stat::{FileStat, Mode, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::calls::descriptor_calls::{file, int, open_of};
use crate::descriptors::Open;
use crate::error::Error;
use crate::kernel::{Kernel, Outcome, Reply, ThreadId};
use crate::record::Kind;

/// AT_FDCWD: the current directory as a descriptor.
pub const AT_FDCWD: i32 = -100;

/// A directory and a path in it.
#[derive(Debug)]
pub struct Place {
    directory: Rc<Open>,
    /// The path as the program passed it.
    pub path: CString,
    is_confined: bool,
}

/// Returns the place that a directory's descriptor and a path name.
///
/// # Errors
///
/// EFAULT, EBADF, and ECAPMODE for the current directory in capability mode.
pub fn place(kernel: &mut Kernel, id: ThreadId, directory: u64, path: u64) -> Result<Place, Error> {
    let path = CString::new(kernel.task(id).read_string(path)?).map_err(|_| Errno::EINVAL)?;
    let is_confined = kernel.process_of(id).is_in_capability_mode;
    if int(directory) != AT_FDCWD {
        return Ok(Place { directory: open_of(kernel, id, directory)?, path, is_confined });
    }
    if is_confined {
        kernel.note(id, Kind::Refused, &format!("{path:?} at the current directory in capability mode"));
        return Err(Error::CapabilityMode);
    }
    let directory = kernel.process_of(id).directory.try_clone().map_err(|_| Errno::EMFILE)?;
    Ok(Place { directory: Rc::new(Open::File(directory)), path, is_confined })
}

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
    let mode = Mode::from_bits_truncate(mode);
    let mut how = OpenHow::new().flags(linux).mode(mode);
    if place.is_confined {
        how = how.resolve(ResolveFlag::RESOLVE_BENEATH);
    }
    let opened = openat2(file(&place.directory)?, place.path.as_c_str(), how).map_err(|error| match error {
        Errno::EXDEV if place.is_confined => Error::NotCapable,
        // The BSDs' error for a symbolic link with O_NOFOLLOW.
        Errno::ELOOP if flags & 0x100 != 0 => Errno::EMLINK.into(),
        error => error.into(),
    });
    if matches!(opened, Err(Error::NotCapable)) {
        kernel.note(id, Kind::Refused, &format!("{:?} leaves the directory in capability mode", place.path));
    }
    let opened = Rc::new(Open::File(opened?));
    let number = kernel.process_of(id).descriptors.borrow_mut().add(opened, flags & close_on_exec != 0, 0);
    Ok(Reply::Value(number as u64))
}

/// Returns the status of a file, as fstatat(2).
///
/// # Errors
///
/// As fstatat(2).
pub fn status_at(place: &Place, follows_link: bool) -> Result<FileStat, Error> {
    let flags = if follows_link { AtFlags::empty() } else { AtFlags::AT_SYMLINK_NOFOLLOW };
    Ok(fstatat(file(&place.directory)?, place.path.as_c_str(), flags)?)
}

/// renameat(2).
///
/// # Errors
///
/// As renameat(2).
pub fn rename(from: &Place, to: &Place) -> Outcome {
    renameat(file(&from.directory)?, from.path.as_c_str(), file(&to.directory)?, to.path.as_c_str())?;
    Ok(Reply::Value(0))
}

/// unlinkat(2).
///
/// # Errors
///
/// As unlinkat(2).
pub fn unlink(place: &Place, is_directory: bool) -> Outcome {
    let flags = if is_directory { UnlinkatFlags::RemoveDir } else { UnlinkatFlags::NoRemoveDir };
    unlinkat(file(&place.directory)?, place.path.as_c_str(), flags)?;
    Ok(Reply::Value(0))
}

/// mkdirat(2).
///
/// # Errors
///
/// As mkdirat(2).
pub fn make_directory(place: &Place, mode: u64, mask: u32) -> Outcome {
    let mode = Mode::from_bits_truncate(mode as u32 & 0o7777 & !mask);
    nix::sys::stat::mkdirat(file(&place.directory)?, place.path.as_c_str(), mode)?;
    Ok(Reply::Value(0))
}

/// Makes an open directory the current directory.
fn set_directory(kernel: &mut Kernel, id: ThreadId, open: &Open) -> Outcome {
    let how = OpenHow::new().flags(OFlag::O_DIRECTORY | OFlag::O_RDONLY | OFlag::O_CLOEXEC);
    let directory = openat2(file(open)?, c".", how)?;
    kernel.process_of(id).directory = Rc::new(directory);
    Ok(Reply::Value(0))
}

/// chdir(path).
///
/// # Errors
///
/// As chdir(2).
pub fn change_directory(kernel: &mut Kernel, id: ThreadId, [path, ..]: [u64; 6]) -> Outcome {
    let place = place(kernel, id, AT_FDCWD as u64, path)?;
    let how = OpenHow::new().flags(OFlag::O_DIRECTORY | OFlag::O_RDONLY | OFlag::O_CLOEXEC);
    let directory = openat2(file(&place.directory)?, place.path.as_c_str(), how)?;
    set_directory(kernel, id, &Open::File(directory))
}

/// fchdir(fd).
///
/// # Errors
///
/// As fchdir(2).
pub fn change_directory_to(kernel: &mut Kernel, id: ThreadId, [fd, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    file(&open)?.as_fd();
    set_directory(kernel, id, &open)
}
