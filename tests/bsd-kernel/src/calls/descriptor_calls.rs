//! Calls that take a descriptor: read, write, lseek, fcntl and the like.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::rc::Rc;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::stat::{FileStat, fstat};
use nix::unistd::{ftruncate, pipe2 as pipe2_of_host, write};

use crate::descriptors::{Descriptor, Open};
use crate::error::Error;
use crate::kernel::{Kernel, Outcome, Reply, ThreadId, Wait};
use crate::record::Kind;
use crate::waits::read_now;

/// Converts a register to a C int.
#[must_use]
pub fn int(register: u64) -> i32 {
    register as i32
}

/// Returns the object that a descriptor refers to.
///
/// # Errors
///
/// EBADF when the descriptor is not open.
pub fn open_of(kernel: &mut Kernel, id: ThreadId, number: u64) -> Result<Rc<Open>, Error> {
    let descriptors = kernel.process_of(id).descriptors.borrow();
    Ok(Rc::clone(&descriptors.get(int(number))?.open))
}

/// Returns the file that a descriptor refers to.
///
/// # Errors
///
/// EOPNOTSUPP if the descriptor refers to a process.
pub fn file(open: &Open) -> Result<BorrowedFd<'_>, Error> {
    match open {
        Open::File(file) => Ok(file.as_fd()),
        Open::Process(_) => Err(Errno::EOPNOTSUPP.into()),
    }
}

/// read(fd, buffer, length).
///
/// # Errors
///
/// As read(2).
pub fn read(kernel: &mut Kernel, id: ThreadId, [fd, buffer, length, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    match read_now(&open, length as usize) {
        Ok(bytes) => {
            kernel.task(id).write(buffer, &bytes)?;
            Ok(Reply::Value(bytes.len() as u64))
        }
        Err(Errno::EAGAIN) if !is_nonblocking(&open)? => {
            Ok(Reply::Wait(Wait::Readable { open, buffer, length: length as usize }))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a read fails instead of waiting.
fn is_nonblocking(open: &Open) -> Result<bool, Error> {
    Ok(nix::fcntl::fcntl(file(open)?, nix::fcntl::FcntlArg::F_GETFL)? & libc::O_NONBLOCK != 0)
}

/// write(fd, bytes, length).
///
/// # Errors
///
/// As write(2).
pub fn write_bytes(kernel: &mut Kernel, id: ThreadId, [fd, bytes, length, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    let bytes = kernel.task(id).read(bytes, length as usize)?;
    Ok(Reply::Value(write(file(&open)?, &bytes)? as u64))
}

/// writev(fd, vector, count).
///
/// # Errors
///
/// As writev(2).
pub fn writev(kernel: &mut Kernel, id: ThreadId, [fd, vector, count, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    if count > 1024 {
        return Err(Errno::EINVAL.into());
    }
    let task = kernel.task(id);
    let mut bytes = Vec::new();
    for entry in (0..count).map(|index| vector + 16 * index) {
        bytes.extend(task.read(task.read_u64(entry)?, task.read_u64(entry + 8)? as usize)?);
    }
    Ok(Reply::Value(write(file(&open)?, &bytes)? as u64))
}

/// pread(fd, buffer, length, offset).
///
/// # Errors
///
/// As pread(2).
pub fn pread(kernel: &mut Kernel, id: ThreadId, [fd, buffer, length, offset, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    let mut bytes = vec![0; (length as usize).min(1 << 20)];
    let read = nix::sys::uio::pread(file(&open)?, &mut bytes, offset as i64)?;
    kernel.task(id).write(buffer, &bytes[..read])?;
    Ok(Reply::Value(read as u64))
}

/// pwrite(fd, bytes, length, offset).
///
/// # Errors
///
/// As pwrite(2).
pub fn pwrite(kernel: &mut Kernel, id: ThreadId, [fd, bytes, length, offset, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    let bytes = kernel.task(id).read(bytes, length as usize)?;
    Ok(Reply::Value(nix::sys::uio::pwrite(file(&open)?, &bytes, offset as i64)? as u64))
}

/// lseek(fd, offset, whence).
///
/// # Errors
///
/// As lseek(2).
pub fn lseek(kernel: &mut Kernel, id: ThreadId, [fd, offset, whence, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    let to = match whence {
        0 => SeekFrom::Start(offset),
        1 => SeekFrom::Current(offset as i64),
        2 => SeekFrom::End(offset as i64),
        _ => return Err(Errno::EINVAL.into()),
    };
    let copy = file(&open)?.try_clone_to_owned().map_err(|_| Errno::EMFILE)?;
    let place =
        File::from(copy).seek(to).map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)))?;
    Ok(Reply::Value(place))
}

/// ftruncate(fd, length).
///
/// # Errors
///
/// As ftruncate(2).
pub fn truncate(kernel: &mut Kernel, id: ThreadId, [fd, length, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    ftruncate(file(&open)?, length as i64)?;
    Ok(Reply::Value(0))
}

/// close(fd).
///
/// # Errors
///
/// As close(2).
pub fn close(kernel: &mut Kernel, id: ThreadId, [fd, ..]: [u64; 6]) -> Outcome {
    kernel.process_of(id).descriptors.borrow_mut().close(int(fd))?;
    Ok(Reply::Value(0))
}

/// close_range(first, last, flags) without flags.
///
/// # Errors
///
/// EINVAL when the range or a flag is not valid.
pub fn close_range(kernel: &mut Kernel, id: ThreadId, [first, last, flags, ..]: [u64; 6]) -> Outcome {
    if first as u32 > last as u32 || flags != 0 {
        return Err(Errno::EINVAL.into());
    }
    let last = i32::try_from(last as u32).unwrap_or(i32::MAX);
    kernel.process_of(id).descriptors.borrow_mut().close_range(int(first), last);
    Ok(Reply::Value(0))
}

/// dup(fd).
///
/// # Errors
///
/// EBADF.
pub fn dup(kernel: &mut Kernel, id: ThreadId, [fd, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    let number = kernel.process_of(id).descriptors.borrow_mut().add(open, false, 0);
    Ok(Reply::Value(number as u64))
}

/// dup2(fd, number).
///
/// # Errors
///
/// EBADF.
pub fn dup2(kernel: &mut Kernel, id: ThreadId, [fd, number, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    if !(0..65_536).contains(&int(number)) {
        return Err(Errno::EBADF.into());
    }
    if fd != number {
        let descriptor = Descriptor { open, closes_at_exec: false };
        kernel.process_of(id).descriptors.borrow_mut().put(int(number), descriptor);
    }
    Ok(Reply::Value(number))
}

/// pipe2(ends, flags). FreeBSD and OpenBSD differ only in O_CLOEXEC; both values are accepted, and O_NONBLOCK.
///
/// # Errors
///
/// EFAULT.
pub fn pipe2(kernel: &mut Kernel, id: ThreadId, [ends, flags, ..]: [u64; 6]) -> Outcome {
    const O_NONBLOCK: u64 = 4;
    let (reader, writer) = pipe2_of_host(if flags & O_NONBLOCK == 0 { OFlag::empty() } else { OFlag::O_NONBLOCK })?;
    let closes_at_exec = flags & 0x11_0000 != 0;
    let numbers = {
        let mut descriptors = kernel.process_of(id).descriptors.borrow_mut();
        [reader, writer].map(|end| descriptors.add(Rc::new(Open::File(end)), closes_at_exec, 0))
    };
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    kernel.task(id).write(ends, &bytes)?;
    Ok(Reply::Value(0))
}

const F_DUPFD: i32 = 0;
const F_GETFD: i32 = 1;
const F_SETFD: i32 = 2;
const F_GETFL: i32 = 3;

/// fcntl(fd, command, argument). `close_on_exec_copy` is the system's value of F_DUPFD_CLOEXEC.
///
/// # Errors
///
/// As fcntl(2); EINVAL for commands that are not supported.
pub fn control(
    kernel: &mut Kernel,
    id: ThreadId,
    [fd, command, argument, ..]: [u64; 6],
    close_on_exec_copy: i32,
) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    let command = int(command);
    if command == F_GETFL {
        // Access mode and O_APPEND; the two numberings of O_NONBLOCK and O_APPEND differ.
        let flags = nix::fcntl::fcntl(file(&open)?, nix::fcntl::FcntlArg::F_GETFL)?;
        let append = if flags & libc::O_APPEND != 0 { 8 } else { 0 };
        return Ok(Reply::Value((flags & libc::O_ACCMODE) as u64 | append));
    }
    let mut descriptors = kernel.process_of(id).descriptors.borrow_mut();
    let value = match command {
        _ if command == F_DUPFD || command == close_on_exec_copy => {
            if int(argument) < 0 {
                return Err(Errno::EINVAL.into());
            }
            descriptors.add(open, command != F_DUPFD, int(argument))
        }
        F_GETFD => i32::from(descriptors.get(int(fd))?.closes_at_exec),
        F_SETFD => {
            descriptors.get_mut(int(fd))?.closes_at_exec = argument & 1 != 0;
            0
        }
        _ => {
            drop(descriptors);
            kernel.note(id, Kind::Unsupported, &format!("fcntl command {command}"));
            return Err(Errno::EINVAL.into());
        }
    };
    Ok(Reply::Value(value as u64))
}

/// Returns the status of an open file, as fstat(2).
///
/// # Errors
///
/// EBADF.
pub fn status(kernel: &mut Kernel, id: ThreadId, fd: u64) -> Result<FileStat, Error> {
    let open = open_of(kernel, id, fd)?;
    Ok(fstat(file(&open)?)?)
}

/// flock(fd, operation). Both systems use Linux's numbers.
///
/// # Errors
///
/// As flock(2). The call does not wait for a lock of another process, but fails with EAGAIN.
pub fn lock(kernel: &mut Kernel, id: ThreadId, [fd, operation, ..]: [u64; 6]) -> Outcome {
    let open = open_of(kernel, id, fd)?;
    let descriptor = file(&open)?.as_raw_fd();
    // SAFETY: the descriptor is open as long as `open` is.
    let result = unsafe { libc::flock(descriptor, operation as i32 | libc::LOCK_NB) };
    Errno::result(result)?;
    Ok(Reply::Value(0))
}

/// poll(entries, count, milliseconds): returns the entries that are ready now, or none after the timeout.
///
/// # Errors
///
/// As poll(2).
pub fn poll(kernel: &mut Kernel, id: ThreadId, [entries, count, milliseconds, ..]: [u64; 6]) -> Outcome {
    if count > 1024 {
        return Err(Errno::EINVAL.into());
    }
    let task = kernel.task(id);
    let mut bytes = task.read(entries, 8 * count as usize)?;
    let mut ready = 0;
    for entry in bytes.as_chunks_mut::<8>().0 {
        let fd = u64::from(u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]));
        let wanted = PollFlags::from_bits_truncate(i16::from_le_bytes([entry[4], entry[5]]));
        let found = match open_of(kernel, id, fd) {
            Ok(open) => {
                let mut polled = [PollFd::new(file(&open)?, wanted)];
                nix::poll::poll(&mut polled, PollTimeout::ZERO)?;
                polled[0].revents().unwrap_or(PollFlags::empty())
            }
            Err(_) if int(fd) < 0 => PollFlags::empty(),
            Err(_) => PollFlags::POLLNVAL,
        };
        entry[6..].copy_from_slice(&found.bits().to_le_bytes());
        ready += u64::from(!found.is_empty());
    }
    task.write(entries, &bytes)?;
    if ready > 0 || milliseconds as i32 == 0 {
        return Ok(Reply::Value(ready));
    }
    if (milliseconds as i32) < 0 {
        kernel.note(id, Kind::Unsupported, "poll without an end");
        return Err(Errno::EINVAL.into());
    }
    Ok(Reply::Wait(Wait::Time(kernel.clock.now() + milliseconds * 1_000_000)))
}
