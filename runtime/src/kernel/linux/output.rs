//! The file: its name, the directory that was captured for it, and whether it may be overwritten.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

use super::forms::Form;
use crate::system::{CURRENT, Errno, Fd, Status, effective_user, process_id};
use crate::text::Text;

/// The longest name of a file, its NUL included (`PATH_MAX`).
pub(super) const NAME_SIZE: usize = 4096;

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

/// What could not be done, as the end of "cannot ...", and why.
pub(super) type Refusal = (&'static [u8], Errno);

/// The directory that was captured, and what else was then.
struct Captured {
    /// Its path: the program may close our descriptor, and open another file with that number.
    path: Text<NAME_SIZE>,
    status: Option<Status>,
    /// What the file was that was opened at the start.
    file: Option<Status>,
}

/// Written at start-up, when there is one thread, or by the one thread that writes the file: `control` lets in no other.
struct Once<T>(UnsafeCell<T>);

// SAFETY: the contracts of the functions that write keep writing apart from reading.
unsafe impl<T> Sync for Once<T> {}

static OUTPUT: Once<Output> =
    Once(UnsafeCell::new(Output { naming: Naming::Plain, prefix: Text::new(), program: Text::new(), form: None }));
/// The name of the file, made anew each time. Not on the stack: that may be a thread's smallest, or a signal's.
static NAME: Once<Text<NAME_SIZE>> = Once(UnsafeCell::new(Text::new()));
/// The name of a file beside it.
static BESIDE: Once<Text<NAME_SIZE>> = Once(UnsafeCell::new(Text::new()));
static CAPTURED: Once<Captured> = Once(UnsafeCell::new(Captured { path: Text::new(), status: None, file: None }));

/// The descriptors of the directory, and of the file if it was opened at the start; -1 for none.
static DIRECTORY: AtomicI32 = AtomicI32::new(-1);
static FILE: AtomicI32 = AtomicI32::new(-1);
/// The process that the buffer is of. Another one can only be a child that shares our memory, or one that was made
/// behind the C library's back: that must not overwrite our file.
static PROCESS: AtomicI32 = AtomicI32::new(0);
/// Whether it is the child of a fork.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Says how the file is to be named and laid out.
///
/// # Safety
///
/// Only at start-up, when no other thread runs.
pub(crate) unsafe fn configure(change: impl FnOnce(&mut Output)) {
    // SAFETY: nobody else reads or writes it, by the caller's promise.
    change(unsafe { &mut *OUTPUT.0.get() });
}

/// How the file is named and laid out.
pub(super) fn output() -> &'static Output {
    // SAFETY: nothing writes it after start-up.
    unsafe { &*OUTPUT.0.get() }
}

/// Remembers the directory that `descriptor` is open on, or the current one. Only the first call does anything.
pub(super) fn capture_directory(descriptor: Option<Fd>) -> Result<(), Errno> {
    if DIRECTORY.load(Relaxed) != -1 {
        return Ok(());
    }
    let opened = match descriptor {
        Some(fd) => fd.duplicate(0)?,
        None => Fd::open_directory(c".")?,
    };
    let fd = out_of_the_way(opened);
    let status = fd.status()?;
    if !status.is_directory() {
        let _ = fd.close();
        return Err(Errno::ENOTDIR);
    }
    // SAFETY: the first call is at start-up, when there is one thread.
    let captured = unsafe { &mut *CAPTURED.0.get() };
    fd.push_path(&mut captured.path);
    let _ = captured.path.as_c_str(); // ends with a NUL from here on
    captured.status = Some(status);
    DIRECTORY.store(fd.0, Relaxed);
    PROCESS.store(process_id(), Relaxed);
    Ok(())
}

/// Opens the file that is to be written at the end already now if the process is the superuser's, who may give up the right
/// to write here. At start-up, with the directory captured; only once.
pub(super) fn keep_file() {
    if FILE.load(Relaxed) == -1
        && !FORKED.load(Relaxed)
        && effective_user() == 0
        && let Ok(file) = Fd(DIRECTORY.load(Relaxed)).open_for_writing(name(), mode(), false)
    {
        // SAFETY: at start-up there is one thread.
        let captured = unsafe { &mut *CAPTURED.0.get() };
        captured.file = file.status().ok().filter(Status::is_regular);
        FILE.store(out_of_the_way(file).0, Relaxed);
    }
}

/// The permissions of a new file, before the user's mask.
fn mode() -> usize {
    if output().naming == Naming::Private { 0o600 } else { 0o666 }
}

/// Moves a descriptor to a high number.
pub(super) fn out_of_the_way(fd: Fd) -> Fd {
    match fd.duplicate(HIGH_DESCRIPTOR) {
        Ok(high) => {
            let _ = fd.close();
            high
        }
        Err(_) => fd,
    }
}

/// Whether the buffer is this process's own.
pub(crate) fn is_ours() -> bool {
    process_id() == PROCESS.load(Relaxed)
}

/// Makes the buffer the child's own, with a file of its own.
pub(super) fn after_fork_in_child() {
    PROCESS.store(process_id(), Relaxed);
    FORKED.store(true, Relaxed);
    FILE.store(-1, Relaxed);
}

/// The name of the file.
pub(super) fn name() -> &'static CStr {
    let output = output();
    // SAFETY: only the thread that writes the file is here, and what it had of an earlier call it needs no more.
    let name = unsafe { &mut *NAME.0.get() };
    name.clear();
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
    // A name that is too long is no name.
    name.as_c_str().unwrap_or(c"")
}

/// Opens the file in the captured directory, new and empty. One that was there and that we may overwrite loses its name
/// but lives on for whoever has it open or mapped.
///
/// Where that cannot be done any more, the superuser's file that was opened at the start is emptied and given.
pub(super) fn open(to_map: bool) -> Result<Fd, Refusal> {
    // SAFETY: nothing writes it after start-up, which is this thread's.
    let captured = unsafe { &*CAPTURED.0.get() };
    let opened = open_anew(captured, name(), to_map);
    let kept = Fd(FILE.load(Relaxed));
    match opened {
        Err((_, Errno::EACCES | Errno::EPERM)) if !to_map && is_still(kept, captured.file.as_ref()) => {
            kept.truncate().map_err(|error| (&b"empty"[..], error))?;
            kept.duplicate(0).map_err(|error| (&b"open"[..], error))
        }
        other => other,
    }
}

/// A new file to be mapped, with a name of its own until it is a profile: see [`put_in_place`]. `None` where that cannot be,
/// and where there is an empty file, which is used as it is: then there is [`open`].
///
/// # Errors
///
/// What stands in the way of the name, and is not to be overwritten.
pub(super) fn open_beforehand() -> Result<Option<Fd>, Refusal> {
    // SAFETY: nothing writes it after start-up, which is this thread's.
    let directory = directory(unsafe { &*CAPTURED.0.get() }, name())?;
    match directory.open_existing(name()) {
        Ok(there) => {
            let status = refusal(there.status());
            let _ = there.close();
            if status?.size == 0 {
                return Ok(None);
            }
        }
        Err(Errno::ENOENT) => {}
        Err(_) => return Ok(None),
    }
    let (new, create) = (name_beforehand(), |new| directory.create_for_writing(new, mode(), true));
    let file = create(new).or_else(|_| {
        // One of a process with our number that was killed.
        directory.unlink(new).and_then(|()| create(new))
    });
    Ok(file.ok())
}

/// Gives the file of [`open_beforehand`] the name, in one step: whoever opens that finds what was there before, or this.
pub(super) fn put_in_place() -> Result<(), Errno> {
    // SAFETY: as above.
    let directory = directory(unsafe { &*CAPTURED.0.get() }, name()).map_err(|(_, error)| error)?;
    directory.rename(name_beforehand(), name())
}

/// Takes the file of [`open_beforehand`] away.
pub(super) fn give_up(file: Fd) {
    let _ = file.close();
    // SAFETY: as above.
    if let Ok(directory) = directory(unsafe { &*CAPTURED.0.get() }, name()) {
        let _ = directory.unlink(name_beforehand());
    }
}

fn name_beforehand() -> &'static CStr {
    let mut number = Text::<20>::new();
    number.push_decimal(process_id() as u64);
    name_beside(&[b".", number.as_bytes(), b".new"])
}

/// Opens the file with the rights that the process had when the directory was captured, as far as it still can.
#[cfg(any(test, feature = "profil"))]
pub(super) fn open_as_captured() -> Result<Fd, Refusal> {
    match kept_file() {
        Some(kept) if kept.status().is_ok_and(|status| is_private(&status, 0)) => {
            kept.truncate().map_err(|error| (&b"empty"[..], error))?;
            kept.duplicate(0).map_err(|error| (&b"open"[..], error))
        }
        _ => open(false),
    }
}

/// Takes the file away that was opened at the start, if nothing is in it.
#[cfg(any(test, feature = "profil"))]
pub(super) fn discard() {
    if kept_file().is_some_and(|kept| kept.status().is_ok_and(|status| status.size == 0)) {
        let _ = Fd(DIRECTORY.load(Relaxed)).unlink(name());
    }
}

/// The file that was opened at the start.
#[cfg(any(test, feature = "profil"))]
fn kept_file() -> Option<Fd> {
    let kept = Fd(FILE.load(Relaxed));
    // SAFETY: nothing writes it after the directory was captured.
    let captured = unsafe { &*CAPTURED.0.get() };
    is_still(kept, captured.file.as_ref()).then_some(kept)
}

/// Whether only `user` has anything to do with a file.
fn is_private(status: &Status, user: u32) -> bool {
    status.links == 1 && !status.is_shared() && status.owner == user
}

/// The name of the file with these parts behind it.
pub(super) fn name_beside(parts: &[&[u8]]) -> &'static CStr {
    // SAFETY: as for the name itself.
    let beside = unsafe { &mut *BESIDE.0.get() };
    beside.clear();
    beside.push(name().to_bytes());
    parts.iter().for_each(|part| beside.push(part));
    beside.as_c_str().unwrap_or(c"")
}

/// Opens a file beside the file, for which the same holds.
pub(super) fn open_beside(path: &CStr) -> Result<Fd, Refusal> {
    // SAFETY: nothing writes it after start-up, which is this thread's.
    open_anew(unsafe { &*CAPTURED.0.get() }, path, false)
}

/// Opens a file beside the file for reading, if it is a regular one of this user; the result is that and its length.
pub(super) fn open_own_beside(path: &CStr) -> Option<(Fd, u64)> {
    // SAFETY: nothing writes it after start-up, which is this thread's.
    let directory = directory(unsafe { &*CAPTURED.0.get() }, path).ok()?;
    let file = directory.open_own_for_reading(path).ok()?;
    match file.status() {
        Ok(status) if status.is_regular() && status.owner == effective_user() => Some((file, status.size)),
        _ => {
            let _ = file.close();
            None
        }
    }
}

/// Takes the name of a file beside the file away, where that can be done.
pub(super) fn unlink_beside(path: &CStr) {
    // SAFETY: nothing writes it after start-up, which is this thread's.
    if let Ok(directory) = directory(unsafe { &*CAPTURED.0.get() }, path) {
        let _ = directory.unlink(path);
    }
}

fn open_anew(captured: &Captured, path: &CStr, to_map: bool) -> Result<Fd, Refusal> {
    let directory = directory(captured, path)?;
    let file = directory.open_for_writing(path, mode(), to_map).map_err(|error| (&b"open"[..], error))?;
    let refused = match refusal(file.status()) {
        Err(refusal) => refusal,
        Ok(status) if status.size == 0 => return Ok(file),
        Ok(_) => {
            if directory.unlink(path).is_ok()
                && let Ok(new) = directory.create_for_writing(path, mode(), to_map)
            {
                let _ = file.close();
                return Ok(new);
            }
            // We may write the file but not the directory.
            match file.truncate() {
                Ok(()) => return Ok(file),
                Err(error) => (&b"empty"[..], error),
            }
        }
    };
    let _ = file.close();
    Err(refused)
}

/// Why a file of that status is not to be overwritten, or the status.
fn refusal(status: Result<Status, Errno>) -> Result<Status, Refusal> {
    let status = status.map_err(|error| (&b"examine"[..], error))?;
    if !status.is_regular() {
        Err((b"overwrite what is not a regular file", Errno::EINVAL))
    } else if output().naming == Naming::Private && !is_private(&status, effective_user()) {
        Err((b"overwrite a file that others may use", Errno::EINVAL))
    } else {
        Ok(status)
    }
}

/// The directory to look the path up in: the captured one, found again by its path if the program closed our descriptor.
fn directory(captured: &Captured, path: &CStr) -> Result<Fd, Refusal> {
    if path.is_empty() {
        return Err((b"make its name", Errno::ENAMETOOLONG));
    }
    let kept = Fd(DIRECTORY.load(Relaxed));
    if is_still(kept, captured.status.as_ref()) {
        return Ok(kept);
    }
    if path.to_bytes().starts_with(b"/") {
        return Ok(CURRENT);
    }
    let again = CStr::from_bytes_with_nul(captured.path.as_bytes()).ok();
    let found = again.and_then(|path| Fd::open_directory(path).ok());
    let found = found.filter(|fd| is_still(*fd, captured.status.as_ref()));
    found.ok_or((b"open, the program closed our directory", Errno::EBADF))
}

/// Whether a descriptor is open on the file that had this status, and that is still to be found somewhere.
fn is_still(fd: Fd, then: Option<&Status>) -> bool {
    then.zip(fd.status().ok()).is_some_and(|(then, now)| now.is_same_file(then) && now.links > 0)
}
