//! The file: its name, the directory that was captured for it, and whether it may be overwritten.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

use super::names::{MOST_TURNS, NAME_SIZE, Naming, Once, has_turn, name, name_beforehand, name_beside, output};
use crate::message::{know_standard_error, say_cure};
use crate::os::{CURRENT, Errno, Fd, Status, effective_user, process_id};
use crate::ownership::{FORKED, own};
use crate::per_process::PER_PROCESS;
use crate::text::{Digits, Text};

/// What could not be done, as the end of "cannot ...", and why.
pub(crate) type Refusal = (&'static [u8], Errno);

/// The directory that was captured, and what else was then.
struct Captured {
    /// Its path: the program may close our descriptor, and open another file with that number.
    path: Text<NAME_SIZE>,
    status: Option<Status>,
    /// What the file was that was opened at the start.
    file: Option<Status>,
}

static CAPTURED: Once<Captured> = Once(UnsafeCell::new(Captured { path: Text::new(), status: None, file: None }));

/// The descriptor of the directory; -1 for none.
static DIRECTORY: AtomicI32 = AtomicI32::new(-1);
/// Remembers the directory that `descriptor` is open on, or the current one. Only the first call does anything.
pub(crate) fn capture_directory(descriptor: Option<Fd>) -> Result<(), Errno> {
    know_standard_error();
    if DIRECTORY.load(Relaxed) != -1 {
        return Ok(());
    }
    let opened = match descriptor {
        Some(fd) => fd.duplicate(0)?,
        None => Fd::open_directory(c".")?,
    };
    let fd = opened.out_of_the_way();
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
    own(process_id());
    Ok(())
}

/// Opens the file at start-up if the process is the superuser's, because the process may give up the right to write in the
/// directory. Call this after [`capture_directory`]. Only the first call does anything.
///
/// A directory in which every user may create files needs no new file yet: a process that is killed or that executes another
/// program leaves no empty file there.
pub(crate) fn keep_file() {
    if PER_PROCESS.kept_file.load(Relaxed) != -1 || FORKED.load(Relaxed) || effective_user() != 0 {
        return;
    }
    // SAFETY: at start-up there is one thread.
    let captured = unsafe { &mut *CAPTURED.0.get() };
    let directory = Fd(DIRECTORY.load(Relaxed));
    let opened = match captured.status {
        Some(status) if status.is_open_to_all() => {
            if has_turn() {
                return; // the name is of this process alone
            }
            directory.open_existing(name()).ok()
        }
        _ if has_turn() => open_main(captured, false).ok().filter(|file| is_locked_for_us(*file)),
        _ => directory.open_for_writing(name(), mode(), false).ok(),
    };
    if let Some(file) = opened {
        captured.file = file.status().ok().filter(Status::is_regular);
        PER_PROCESS.kept_file.store(file.out_of_the_way().0, Relaxed);
    }
}

/// Locks the file that is kept, empty, until the end: that tells it from one that was left. If a process with our number has
/// it, which made it just now or found it when we did, it is closed.
fn is_locked_for_us(file: Fd) -> bool {
    let is_anothers = file.lock() == Err(Errno::EAGAIN);
    if is_anothers {
        let _ = file.close();
        PER_PROCESS.name_turn.store(0, Relaxed);
    }
    !is_anothers
}

/// The permissions of a new file, before the user's mask as it is then: never more than that of the start allows.
pub(crate) fn mode() -> usize {
    let output = output();
    (if output.naming == Naming::Private { 0o600 } else { 0o666 }) & !output.mask
}

/// The directory to look that path up in.
pub(crate) fn directory_of(path: &CStr) -> Result<Fd, Refusal> {
    // SAFETY: nothing writes it after start-up.
    directory(unsafe { &*CAPTURED.0.get() }, path)
}

/// Whether a path leads to the file of that status.
pub(crate) fn is_named(directory: Fd, path: &CStr, status: &Status) -> bool {
    directory.open_existing(path).is_ok_and(|file| {
        let is_it = file.status().is_ok_and(|now| now.is_same_file(status));
        let _ = file.close();
        is_it
    })
}

/// Takes away the file of its own that a child has left which is told of by the sum now.
pub(crate) fn take_away_own() {
    let own = name();
    if let Ok(directory) = directory_of(own) {
        let _ = directory.unlink(own);
        let _ = directory.unlink(name_beside(&[b".objects"]));
    }
}

/// Opens the file in the captured directory, new and empty. One that was there and that we may overwrite loses its name
/// but lives on for whoever has it open or mapped.
///
/// Where that cannot be done any more, the superuser's file that was opened at the start is emptied and given.
pub(crate) fn open(to_map: bool) -> Result<Fd, Refusal> {
    // SAFETY: nothing writes it after start-up, which is this thread's.
    let captured = unsafe { &*CAPTURED.0.get() };
    let kept = Fd(PER_PROCESS.kept_file.load(Relaxed));
    match open_main(captured, to_map) {
        Err((_, Errno::EACCES | Errno::EPERM | Errno::EMFILE | Errno::ENFILE))
            if !to_map && is_still(kept, captured.file.as_ref()) =>
        {
            kept.truncate().map_err(|error| (&b"empty"[..], error)).map(|()| kept)
        }
        other => other,
    }
}

/// Closes a file that was given by [`open`], unless it is the one that was opened at the start.
pub(crate) fn close(file: Fd) -> Result<(), Errno> {
    if file.0 == PER_PROCESS.kept_file.load(Relaxed) { Ok(()) } else { file.close() }
}

/// Opens the file. One that has the number of the process and was written by another is not ours: then it is the next name.
fn open_main(captured: &Captured, to_map: bool) -> Result<Fd, Refusal> {
    let before = PER_PROCESS.name_turn.load(Relaxed);
    if has_turn() && before == 0 {
        let directory = directory(captured, name())?;
        for turn in 1..=MOST_TURNS {
            PER_PROCESS.name_turn.store(turn, Relaxed);
            match directory.create_for_writing(name(), mode(), to_map) {
                Ok(file) => return Ok(file),
                Err(Errno::EEXIST) if is_anothers(directory) => {}
                Err(_) => break,
            }
        }
    }
    let opened = open_anew(captured, name(), to_map);
    if opened.is_err() {
        PER_PROCESS.name_turn.store(before, Relaxed);
    }
    opened
}

/// Whether the file of our name is a file that something is in, or that is kept for that. What else is there stands in the way.
fn is_anothers(directory: Fd) -> bool {
    match directory.open_existing(name()) {
        Ok(there) => {
            let is_anothers =
                refusal(there.status()).is_ok_and(|status| status.size > 0 || there.lock() == Err(Errno::EAGAIN));
            let _ = there.close();
            is_anothers
        }
        Err(error) => error == Errno::EACCES,
    }
}

/// Says that a file could not be written, and what helps: where the user has no right to, and for want of a descriptor.
pub(crate) fn say_refusal(path: &[u8], (what, error): Refusal, descriptor: &[u8]) {
    let mut user = Digits::new();
    user.push_decimal(u64::from(effective_user()));
    let private: [&[u8]; 3] = [b", set PROFDIR to a directory where user ", user.as_bytes(), b" may create files"];
    let cure: &[&[u8]] = match error {
        Errno::EACCES | Errno::EPERM | Errno::EROFS => &private,
        Errno::EMFILE => &[descriptor],
        _ => &[],
    };
    say_cure(&[path, b": cannot ", what], error, cure);
}

/// A new file to be mapped, with a name of its own until it is a profile: see [`put_in_place`]. `None` where that cannot be,
/// and where there is an empty file, which is used as it is: then there is [`open`].
///
/// # Errors
///
/// What stands in the way of the name, and is not to be overwritten.
pub(crate) fn open_beforehand() -> Result<Option<Fd>, Refusal> {
    if has_turn() {
        return Ok(None); // it replaces no file
    }
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
pub(crate) fn put_in_place() -> Result<(), Errno> {
    // SAFETY: as above.
    let directory = directory(unsafe { &*CAPTURED.0.get() }, name()).map_err(|(_, error)| error)?;
    directory.rename(name_beforehand(), name())
}

/// Takes the file of [`open_beforehand`] away.
pub(crate) fn give_up(file: Fd) {
    let _ = file.close();
    // SAFETY: as above.
    if let Ok(directory) = directory(unsafe { &*CAPTURED.0.get() }, name()) {
        let _ = directory.unlink(name_beforehand());
    }
}

/// Opens the file with the rights that the process had when the directory was captured, as far as it still can.
pub(crate) fn open_as_captured() -> Result<Fd, Refusal> {
    match kept_file() {
        Some(kept) if kept.status().is_ok_and(|status| is_private(&status, 0)) => {
            kept.truncate().map_err(|error| (&b"empty"[..], error)).map(|()| kept)
        }
        _ => open(false),
    }
}

/// Takes the file away that was opened at the start, if nothing is in it.
pub(crate) fn discard() {
    if kept_file().is_some_and(|kept| kept.status().is_ok_and(|status| status.size == 0)) {
        let _ = Fd(DIRECTORY.load(Relaxed)).unlink(name());
    }
}

/// The file that was opened at the start.
fn kept_file() -> Option<Fd> {
    let kept = Fd(PER_PROCESS.kept_file.load(Relaxed));
    // SAFETY: nothing writes it after the directory was captured.
    let captured = unsafe { &*CAPTURED.0.get() };
    is_still(kept, captured.file.as_ref()).then_some(kept)
}

/// Whether only `user` has anything to do with a file.
fn is_private(status: &Status, user: u32) -> bool {
    status.links == 1 && !status.is_shared() && status.owner == user
}

/// Opens a file beside the file, for which the same holds.
pub(crate) fn open_beside(path: &CStr) -> Result<Fd, Refusal> {
    // SAFETY: nothing writes it after start-up, which is this thread's.
    open_anew(unsafe { &*CAPTURED.0.get() }, path, false)
}

/// Opens a file beside the file for reading, if it is a regular one of this user; the result is that and its length.
pub(crate) fn open_own_beside(path: &CStr) -> Option<(Fd, u64)> {
    // SAFETY: nothing writes it after start-up, which is this thread's.
    let directory = directory(unsafe { &*CAPTURED.0.get() }, path).ok()?;
    let file = directory.open_regular_for_reading(path).ok()?;
    match file.status() {
        Ok(status) if status.is_regular() && status.owner == effective_user() => Some((file, status.size)),
        _ => {
            let _ = file.close();
            None
        }
    }
}

/// Takes the name of a file beside the file away, where that can be done.
pub(crate) fn unlink_beside(path: &CStr) {
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
pub(crate) fn refusal(status: Result<Status, Errno>) -> Result<Status, Refusal> {
    let status = status.map_err(|error| (&b"examine"[..], error))?;
    if !status.is_regular() {
        Err((b"overwrite, not a regular file", Errno::EINVAL))
    } else if output().naming == Naming::Private && !is_private(&status, effective_user()) {
        Err((b"overwrite, other users can access the file", Errno::EINVAL))
    } else {
        Ok(status)
    }
}

/// The directory to look the path up in: the captured one, found again by its path if the program closed our descriptor.
fn directory(captured: &Captured, path: &CStr) -> Result<Fd, Refusal> {
    if path.is_empty() {
        return Err((b"form the name", Errno::ENAMETOOLONG));
    }
    let kept = Fd(DIRECTORY.load(Relaxed));
    let is_captured = |now: &Status| captured.status.is_some_and(|then| now.is_same_file(&then));
    let status = kept.status();
    let now = status.as_ref().ok().filter(|now| is_captured(now));
    match now {
        Some(now) if now.links > 0 => return Ok(kept),
        _ if path.to_bytes().starts_with(b"/") => return Ok(CURRENT),
        // A filter of system calls.
        _ if status.as_ref().is_err_and(|error| *error == Errno::EPERM) => {
            return Err((b"examine its directory", Errno::EPERM));
        }
        Some(_) => return Err((b"create, its directory was removed", Errno::ENOENT)),
        None => {}
    }
    let lost = |error| (&b"find its directory, the program closed its descriptor"[..], error);
    let path = CStr::from_bytes_with_nul(captured.path.as_bytes()).map_err(|_| lost(Errno::ENOENT))?;
    let found = Fd::open_directory(path).map_err(lost)?;
    if !found.status().is_ok_and(|now| is_captured(&now)) {
        let _ = found.close();
        return Err(lost(Errno::ENOENT));
    }
    let found = found.out_of_the_way();
    DIRECTORY.store(found.0, Relaxed);
    Ok(found)
}

/// Whether a descriptor is open on the file that had this status, and that is still to be found somewhere.
fn is_still(fd: Fd, then: Option<&Status>) -> bool {
    then.zip(fd.status().ok()).is_some_and(|(then, now)| now.is_same_file(then) && now.links > 0)
}
