//! Stores the buffer as a file when the process ends.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

use gmon::layout::{GMONVERSION, GmonHdr, RawArc};

use super::forms::{self, Finished, Form};
use super::{BUFFER, LENGTH, sampler};
use crate::message::{say, say_error};
use crate::system::{CURRENT, Errno, Fd, Status, process_id, without_file_size_signal};
use crate::text::Text;

/// The longest name of a file, its NUL included (`PATH_MAX`).
const NAME_SIZE: usize = 4096;
/// A descriptor that programs which close "all" their descriptors up to some small number do not reach, and that does
/// not take the number that the program expects for its own first file.
const HIGH_DESCRIPTOR: usize = 512;

/// How the file is named and laid out. Fixed at start-up: the program may change its environment and arguments.
pub(crate) struct Output {
    pub(crate) naming: Naming,
    /// What the name begins with, for [`Naming::Prefix`].
    pub(crate) prefix: Text<NAME_SIZE>,
    /// The program's own name.
    pub(crate) program: Text<256>,
    /// The form of the file; `None` for the buffer as it is, or the GNU form where that cannot hold a count.
    pub(crate) form: Option<Form>,
}

/// What the file is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// `gmon.out`; for the child of a fork `gmon.<program>.<pid>.out`.
    Plain,
    /// `<prefix>.<pid>`.
    Prefix,
    /// `gmon.<program>.<pid>.out` as OpenBSD's kernel has it: only the user may have anything to do with the file.
    Private,
}

/// Written once, at start-up, when there is one thread.
struct Once(UnsafeCell<Output>);

// SAFETY: `configure`'s contract keeps writing apart from reading.
unsafe impl Sync for Once {}

static OUTPUT: Once =
    Once(UnsafeCell::new(Output { naming: Naming::Plain, prefix: Text::new(), program: Text::new(), form: None }));

/// The directory of the file, and what it was when it was captured: the program may have closed the descriptor since
/// and opened another file as that number.
static DIRECTORY: AtomicI32 = AtomicI32::new(-1);
static CAPTURED: CapturedStatus = CapturedStatus(UnsafeCell::new(None));
/// The process that the buffer is of. Another one can only be a child that shares our memory, or one that was made
/// behind the C library's back: that must not overwrite our file.
static PROCESS: AtomicI32 = AtomicI32::new(0);
/// Whether it is the child of a fork.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Written with the directory, at start-up.
struct CapturedStatus(UnsafeCell<Option<Status>>);

// SAFETY: written once, by the first call of `profil`, before any thread can end the process through us.
unsafe impl Sync for CapturedStatus {}

/// Says how the file is to be named and laid out.
///
/// # Safety
///
/// Only at start-up, when no other thread runs.
pub(crate) unsafe fn configure(change: impl FnOnce(&mut Output)) {
    // SAFETY: nobody else reads or writes it, by the caller's promise.
    change(unsafe { &mut *OUTPUT.0.get() });
}

/// Remembers the directory that `descriptor` is open on, or the current one.
pub(crate) fn capture_directory(descriptor: Option<Fd>) -> Result<(), Errno> {
    let opened = match descriptor {
        Some(fd) => fd.duplicate(0)?,
        None => Fd::open_directory(c".")?,
    };
    let high = opened.duplicate(HIGH_DESCRIPTOR);
    let fd = high.unwrap_or(opened);
    if high.is_ok() {
        let _ = opened.close();
    }
    let status = fd.status()?;
    if !status.is_directory() {
        let _ = fd.close();
        return Err(Errno::ENOTDIR);
    }
    // SAFETY: the first call of `profil` is the only one to come here, and the end of the process is not near.
    unsafe { *CAPTURED.0.get() = Some(status) };
    DIRECTORY.store(fd.0, Relaxed);
    PROCESS.store(process_id(), Relaxed);
    Ok(())
}

/// Whether the buffer is this process's own.
pub(crate) fn is_ours() -> bool {
    process_id() == PROCESS.load(Relaxed)
}

/// Makes the buffer the child's own, with a file of its own.
pub(crate) fn after_fork_in_child() {
    PROCESS.store(process_id(), Relaxed);
    FORKED.store(true, Relaxed);
}

/// Does what OpenBSD's kernel does when a process ends: reads the header back from the buffer and stores the file. What
/// goes wrong is said in one line; the process ends as it would have.
pub(crate) fn terminate() {
    sampler::report();
    let buffer = BUFFER.load(Relaxed);
    if buffer.is_null() || !is_ours() {
        return;
    }
    // SAFETY: nothing writes the output any more.
    let output = unsafe { &*OUTPUT.0.get() };
    let mut name = name(output);
    let Some(path) = name.as_c_str() else {
        say_error(&[b"cannot make the name of the file"], Errno::ENAMETOOLONG);
        return;
    };
    if let Err((what, error)) = store(buffer, output, path) {
        say_error(&[path.to_bytes(), b": cannot ", what], error);
    }
}

/// The name of the file.
fn name(output: &Output) -> Text<NAME_SIZE> {
    let mut name = Text::new();
    match output.naming {
        Naming::Plain if !FORKED.load(Relaxed) => name.push(b"gmon.out"),
        Naming::Prefix => {
            name.push(output.prefix.as_bytes());
            name.push(b".");
            name.push_decimal(process_id() as u64);
        }
        Naming::Plain | Naming::Private => {
            name.push(b"gmon.");
            name.push(output.program.as_bytes());
            name.push(b".");
            name.push_decimal(process_id() as u64);
            name.push(b".out");
        }
    }
    name
}

/// Checks the buffer, opens the file, and writes it. An error comes with the verb that failed.
fn store(buffer: *mut c_void, output: &Output, path: &CStr) -> Result<(), (&'static [u8], Errno)> {
    let buffer = checked(buffer.cast(), LENGTH.load(Relaxed)).ok_or((&b"use its buffer"[..], Errno::EINVAL))?;
    let file = open(path, output.naming == Naming::Private)?;
    let form = output.form.unwrap_or(if sampler::carries().is_some() { Form::Gnu } else { Form::OpenBsd });
    let written = without_file_size_signal(|| forms::write(file, &buffer, form, sampler::carries()));
    if written.is_err() {
        // A part of a profile is none: better an empty file than one that seems whole.
        let _ = file.truncate();
    }
    let closed = file.close();
    match written.and_then(|clamped| closed.map(|()| clamped)) {
        Ok(0) => Ok(()),
        Ok(bins) => {
            let mut count = Text::<20>::new();
            count.push_decimal(bins as u64);
            say(&[path.to_bytes(), b": ", count.as_bytes(), b" bins overflowed, GMON_FORMAT=gnu keeps all samples"]);
            Ok(())
        }
        Err(error) => Err((b"write", error)),
    }
}

/// The parts of the buffer, if its header is a profile's and its lengths fit it.
fn checked<'a>(start: *const GmonHdr, length: usize) -> Option<Finished<'a>> {
    // SAFETY: `profil` was given a buffer that begins with an aligned header and lives as long as the process. Sampling
    // has stopped, and nobody else writes the header.
    let header = unsafe { &*start };
    let arcs_start = usize::try_from(header.ncnt).ok()?;
    let samples_size = arcs_start.checked_sub(size_of::<GmonHdr>())?;
    let arcs_size = usize::try_from(header.totarc).ok()?;
    let aligned = arcs_start.is_multiple_of(align_of::<RawArc>()) && arcs_size.is_multiple_of(size_of::<RawArc>());
    if header.version != GMONVERSION || !aligned || arcs_start.checked_add(arcs_size)? > length {
        return None;
    }
    // SAFETY: both ranges were just found inside the buffer, each at a multiple of its alignment. Bins are atomic: a
    // handler at work in another thread may still raise one.
    unsafe {
        let samples = core::slice::from_raw_parts(start.add(1).cast(), samples_size / 2);
        let arcs = core::slice::from_raw_parts(start.byte_add(arcs_start).cast(), arcs_size / size_of::<RawArc>());
        Some(Finished { header, samples, arcs })
    }
}

/// Opens the file in the captured directory, and empties it if it is one that we may overwrite.
fn open(path: &CStr, private: bool) -> Result<Fd, (&'static [u8], Errno)> {
    let directory = Fd(DIRECTORY.load(Relaxed));
    // SAFETY: written long ago, by the call of `profil` that set the buffer.
    let captured = unsafe { *CAPTURED.0.get() };
    let kept = captured.zip(directory.status().ok()).is_some_and(|(then, now)| now.is_same_file(&then));
    let directory = match (kept, path.to_bytes().first()) {
        (true, _) => directory,
        (false, Some(b'/')) => CURRENT,
        (false, _) => return Err((b"open, the program closed our directory", Errno::EBADF)),
    };
    let file = directory.open_for_writing(path, if private { 0o600 } else { 0o666 }).map_err(|e| (&b"open"[..], e))?;
    let refuse = |why: &'static [u8], error| {
        let _ = file.close();
        Err((why, error))
    };
    match file.status() {
        Err(error) => refuse(b"examine", error),
        Ok(status) if !status.is_regular() => refuse(b"overwrite what is not a regular file", Errno::EINVAL),
        Ok(status) if private && (status.links != 1 || status.is_shared()) => {
            refuse(b"overwrite a file that others may use", Errno::EINVAL)
        }
        Ok(_) => file.truncate().map(|()| file).map_err(|error| (&b"empty"[..], error)),
    }
}
