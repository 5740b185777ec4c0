//! profil(2) of OpenBSD: six arguments, and a file that the kernel writes when the process ends.
//!
//! The source of all rules is `kern/subr_prof.c` 1.43 (2025-08-15), unless a rule names another. Not seen on a real
//! kernel.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, openat2};
use nix::sys::stat::{Mode, SFlag, fstat};

use crate::calls::descriptor_calls::{file, int, open_of};
use crate::calls::process_calls::file_size_limit;
use crate::kernel::{Kernel, KernelFile, Outcome, ProcessId, Reply, ThreadId};
use crate::record::Kind;
use crate::task::Task;

/// The size of `struct gmonhdr` (`sys/gmon.h` 1.12, 2025-07-16).
const HEADER: u64 = 40;
/// The offset of the size of the arcs in the header.
const TOTARC: u64 = 28;
/// The type of the note without which a program is not profiled (`kern/exec_elf.c`, August 2025; not seen on a real
/// kernel).
const NOTE: u32 = 2;

/// profil(buffer, length, samples_size, offset, scale, directory).
///
/// `kern/subr_prof.c` 1.43, not seen on a real kernel: the order of the checks; a scale of 0 keeps the buffer and the
/// directory; only the first call sets the buffer, the directory and the user, and later calls may change the other
/// arguments; a wrong descriptor sets the user alone. No dynamic program is profiled: read in November 2026.
pub(super) fn call(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    let [buffer, length, samples, offset, scale, directory] = arguments;
    let scale = scale as u32;
    let process = kernel.process_of(id);
    let has_note = process.image.notes.iter().any(|(kind, _)| *kind == NOTE);
    if !has_note || process.image.interpreter.is_some() {
        return Err(Errno::EPERM.into());
    }
    if scale > 65_536 {
        return Err(Errno::EINVAL.into());
    }
    if scale == 0 {
        process.profil.is_on = false;
        kernel.note(id, Kind::Profil, "off");
        return Ok(Reply::Value(0));
    }
    let file = match process.kernel_file.clone() {
        Some(known) if (known.buffer, known.length) != (buffer, length) => return Err(Errno::EALREADY.into()),
        // Only the first call sets the buffer, the directory and the user.
        Some(known) => KernelFile { samples, ..known },
        None => {
            // The user is known from the first call on, even if that call's descriptor is no directory.
            let user = process.credentials;
            let credentials = *process.profils_user.get_or_insert(user);
            KernelFile { buffer, length, samples, directory: captured(kernel, id, directory)?, credentials }
        }
    };
    let process = kernel.process_of(id);
    process.kernel_file = Some(file);
    process.profil.set(buffer + HEADER, samples, offset, scale)?;
    kernel.note(id, Kind::Profil, &format!("{buffer:#x} {length:#x} {samples:#x} {offset:#x} {scale:#x}"));
    Ok(Reply::Value(0))
}

/// Returns the directory of a descriptor, or the current directory for -1.
fn captured(kernel: &mut Kernel, id: ThreadId, descriptor: u64) -> Result<Rc<OwnedFd>, crate::error::Error> {
    if int(descriptor) == -1 {
        return Ok(Rc::clone(&kernel.process_of(id).directory));
    }
    let open = open_of(kernel, id, descriptor)?;
    if fstat(file(&open)?)?.st_mode & SFlag::S_IFMT.bits() != SFlag::S_IFDIR.bits() {
        return Err(Errno::ENOTDIR.into());
    }
    Ok(Rc::new(file(&open)?.try_clone_to_owned().map_err(|_| Errno::EMFILE)?))
}

/// Writes the file of a process that ends, however the process ends, if the header has arcs (`kern/kern_exit.c` calls
/// `kern/subr_prof.c` 1.43; not seen on a real kernel).
pub(super) fn end(kernel: &mut Kernel, id: ProcessId) {
    let Some(task) = kernel.threads.values().find(|thread| thread.process == id).map(|thread| thread.task) else {
        return;
    };
    let process = &kernel.processes[&id];
    let Some(captured) = process.kernel_file.clone() else {
        return;
    };
    let name = format!("gmon.{}.{id}.out", String::from_utf8_lossy(&process.name));
    let said = match write_file(task, &captured, &name, file_size_limit(process)) {
        Ok(Some(size)) => format!("wrote {size} bytes to {name}"),
        Ok(None) => "no file: no arcs, or more than the buffer".to_owned(),
        Err(error) => format!("no file: {name}: {error}"),
    };
    kernel.record.note(Kind::Profil, id, &said);
}

/// Writes a file of at most `limit` bytes. This lookup obeys neither chroot(2) nor unveil(2).
///
/// `kern/subr_prof.c` 1.43, not seen on a real kernel: the name, the user and the directory of the first call, the mode
/// 0600 whatever the umask is, and the files that are left alone without a message: those that are not regular, that
/// have two links, another owner, or one of the bits 066. That the limit of file sizes applies here is an inference.
fn write_file(task: Task, captured: &KernelFile, name: &str, limit: u64) -> Result<Option<usize>, Errno> {
    let totarc = task.read(captured.buffer + TOTARC, 4)?.try_into().map_or(0, i32::from_le_bytes);
    let size = HEADER + captured.samples + u64::try_from(totarc).unwrap_or(0);
    if totarc <= 0 || size > captured.length {
        return Ok(None);
    }
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
    let how = OpenHow::new().flags(flags).mode(Mode::S_IRUSR | Mode::S_IWUSR);
    let opened = captured.credentials.with(|| openat2(&captured.directory, name, how))?;
    let status = fstat(&opened)?;
    let is_file = status.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFREG.bits();
    // Bits by which others can execute the file do not matter.
    let is_private = status.st_mode & 0o066 == 0 && status.st_nlink == 1;
    if !is_file || !is_private || status.st_uid != captured.credentials.owner() {
        return Err(Errno::EACCES);
    }
    nix::unistd::ftruncate(&opened, 0)?;
    let bytes = task.read(captured.buffer, size.min(limit) as usize)?;
    File::from(opened).write_all(&bytes).map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)))?;
    Ok(Some(bytes.len()))
}
