//! Opens the file: its directory, its name, and the rules for overwriting.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

use super::kept::{Kept, LIVE_FILE};
use super::names::{
    Children, MOST_ATTEMPTS, NAME_SIZE, Naming, Once, SIDE, attempt, has_process_number, is_child_that, name,
    name_beforehand, name_beside, output, set_attempt,
};
use crate::message::{remember_standard_error, say_cure};
use crate::os::{
    CURRENT, Errno, Fd, HOLDS_LITTLE, Status, changed_mask, effective_user, is_path_of, process_id,
    push_current_directory, restore_limit,
};
use crate::ownership::{FORKED, own};
use crate::state::Inherited;
use crate::text::{Digits, Text};

/// What could not be done, as the end of "cannot ...", and the error.
pub(crate) type Refusal = (&'static [u8], Errno);

/// The captured directory, as it was found at the start.
struct Captured {
    /// The path of the directory, by which it is opened each time that files are written: no descriptor stays open.
    path: Text<NAME_SIZE>,
    status: Option<Status>,
}

static CAPTURED: Inherited<Once<Captured>> = Inherited::new(
    "the child's file is in the same directory",
    Once(UnsafeCell::new(Captured { path: Text::new(), status: None })),
);

/// The descriptor of the directory; [`NONE`] if it is not open now.
static DIRECTORY: Inherited<AtomicI32> =
    Inherited::new("the child's file is in the same directory", AtomicI32::new(NONE));
const NONE: i32 = -1;
/// Whether the descriptor stays open, because the path may not lead to the directory later.
static IS_HELD: Inherited<AtomicBool> =
    Inherited::new("the child's file is in the same directory", AtomicBool::new(false));

/// Captures the directory that `descriptor` leads to, or the current directory. Only the first call has an effect.
/// Files can then be opened there until [`release_directory`].
pub(crate) fn capture_directory(descriptor: Option<Fd>) -> Result<(), Errno> {
    remember_standard_error();
    if captured().status.is_some() {
        return Ok(());
    }
    // SAFETY: the first call is at start-up, when there is one thread, or, where the kernel writes the file, in a
    // snapshot, which only one thread makes at a time. Nothing writes the value afterwards.
    let captured = unsafe { &mut *CAPTURED.0.get() };
    let mut fd = match descriptor {
        Some(fd) => fd.duplicate(0)?,
        None if HOLDS_LITTLE => CURRENT,
        None => Fd::open_directory(c".")?,
    };
    if fd == CURRENT {
        push_current_directory(&mut captured.path);
    } else {
        fd.push_path(&mut captured.path);
    }
    let mut status = fd.status();
    let is_it = |path: &CStr| status.as_ref().is_ok_and(|status| is_path_of(path, status));
    let is_found_again = captured.path.as_c_str().is_some_and(is_it);
    if !is_found_again || !HOLDS_LITTLE {
        if fd == CURRENT {
            fd = Fd::open_directory(c".")?;
            status = fd.status();
        }
        fd = fd.out_of_the_way();
    }
    let status = status?;
    if !status.is_directory() {
        let _ = fd.close();
        return Err(Errno::ENOTDIR);
    }
    captured.status = Some(status);
    IS_HELD.store(!is_found_again, Relaxed);
    DIRECTORY.store(fd.0, Relaxed);
    own(process_id());
    Ok(())
}

/// Closes the directory, unless it is held, and undoes what writing has changed. Call this after each writing.
pub(crate) fn release_directory() {
    restore_limit();
    if HOLDS_LITTLE && !IS_HELD.load(Relaxed) {
        let directory = DIRECTORY.swap(NONE, Relaxed);
        if directory >= 0 {
            let _ = Fd(directory).close();
        }
    }
}

/// Holds the directory open, and both files if `with_files`, because the process is about to give up rights or means
/// that opening them needs. Call this only in the thread that may write files.
#[allow(dead_code, reason = "only Linux hears of that")]
pub(crate) fn hold(with_files: bool) {
    if !IS_HELD.load(Relaxed)
        && let Ok(found) = directory(captured(), c".")
    {
        DIRECTORY.store(found.out_of_the_way().0, Relaxed);
        IS_HELD.store(true, Relaxed);
    }
    if with_files && !is_child_that(Children::Sum) {
        if !LIVE_FILE.is_set() {
            keep(Kept::Profile, false);
        }
        keep(Kept::SideFile, false);
    }
}

/// Opens the file at start-up: see [`keep`].
pub(crate) fn keep_file() {
    keep(Kept::Profile, true);
}

/// Opens the side file at start-up: see [`keep`]. Call this after [`keep_file`], or when the file is a live file.
pub(crate) fn keep_side_file() {
    if Kept::Profile.is_some() || LIVE_FILE.is_set() {
        keep(Kept::SideFile, true);
    }
}

/// Opens a file and keeps the file open, unless the file is kept already.
///
/// At the start, only a process of the superuser needs this, because `setuid` may give up the right to write in the
/// directory. A preloaded runtime hears of that before. A directory in which every user may create files needs no new
/// file yet: a process that is killed or that executes another program leaves no empty file there.
#[inline(never)]
fn keep(kept: Kept, is_at_start: bool) {
    const SUPERUSER: u32 = 0;
    if is_at_start && (cfg!(feature = "preload") || FORKED.load(Relaxed) || effective_user() != SUPERUSER) {
        return;
    }
    let path = name_beside(&[kept.suffix()]);
    let Ok(directory) = directory_of(path) else { return };
    if kept.is_some() {
        return;
    }
    let is_numbered = has_process_number() && matches!(kept, Kept::Profile);
    let opened = match (is_at_start && is_open_to_all(), is_numbered) {
        (true, true) => None, // no other process uses the name
        (true, false) => directory.open_existing(path).ok(),
        (false, true) => open_main(captured(), false).ok().filter(|file| is_locked_for_us(*file)),
        (false, false) => directory.open_for_writing(path, mode(), false).ok(),
    };
    if let Some(file) = opened {
        // SAFETY: at start-up there is one thread; otherwise this is the thread that may write files.
        unsafe { kept.keep(file, is_usable) };
    }
}

fn captured() -> &'static Captured {
    // SAFETY: nothing writes the value after the first capture, which this thread ran.
    unsafe { &*CAPTURED.0.get() }
}

/// Whether every user may create files in the captured directory.
fn is_open_to_all() -> bool {
    captured().status.is_some_and(|status| status.is_open_to_all())
}

/// Whether a file that was opened at the start may be used. Another user may have made the file in a directory that is
/// open to all.
fn is_usable(status: &Status) -> bool {
    status.is_regular() && (!is_open_to_all() || status.owner == effective_user())
}

/// Locks the kept file, which is empty until the end: the lock tells the file from an abandoned file. If a process
/// with the same number has the lock, the file is closed.
fn is_locked_for_us(file: Fd) -> bool {
    let is_anothers = file.lock() == Err(Errno::EAGAIN);
    if is_anothers {
        let _ = file.close();
        set_attempt(0);
    }
    !is_anothers
}

/// The permissions of a new file, before the current umask: no more than the umask at the start allows.
pub(crate) fn mode() -> usize {
    let output = output();
    (if output.naming == Naming::Private { 0o600 } else { 0o666 }) & !output.mask & !changed_mask()
}

/// The directory in which to look up `path`.
pub(crate) fn directory_of(path: &CStr) -> Result<Fd, Refusal> {
    directory(captured(), path)
}

/// Whether a path leads to the file with this status.
pub(crate) fn is_named(directory: Fd, path: &CStr, status: &Status) -> bool {
    directory.open_existing(path).is_ok_and(|file| {
        let is_it = file.status().is_ok_and(|now| now.is_same_file(status));
        let _ = file.close();
        is_it
    })
}

/// Removes a child's own file, whose counts are now in the sum of all children.
pub(crate) fn remove_own() {
    unlink_beside(name());
    unlink_beside(name_beside(&[SIDE]));
}

/// Opens the file in the captured directory, new and empty. An existing file that may be overwritten loses its name,
/// but not its content for processes that use the file. If the file can no longer be opened, the result is the
/// superuser's file that was opened at the start, emptied.
pub(crate) fn open(to_map: bool) -> Result<Fd, Refusal> {
    let opened = open_main(captured(), to_map);
    if to_map { opened } else { or_kept(opened, Kept::Profile) }
}

/// Opens the file or the side file, new and empty: see [`open`].
pub(super) fn open_kept(kept: Kept) -> Result<Fd, Refusal> {
    match kept {
        Kept::Profile => open(false),
        Kept::SideFile => or_kept(open_beside(name_beside(&[SIDE])), kept),
    }
}

/// Opens the side file, new and empty, to map it.
pub(crate) fn open_side_file_to_map() -> Result<Fd, Refusal> {
    open_anew(captured(), name_beside(&[SIDE]), true)
}

/// Takes the file that was opened at the start, emptied, if the process may not open the file any more. A new file
/// replaces the kept file, whose name it has.
fn or_kept(opened: Result<Fd, Refusal>, kept: Kept) -> Result<Fd, Refusal> {
    match opened {
        Err((_, Errno::EACCES | Errno::EPERM | Errno::EMFILE | Errno::ENFILE)) => kept.file().map_or(opened, emptied),
        // SAFETY: `control` lets only one thread write files.
        Ok(file) => Ok(unsafe { kept.replace(file) }),
        Err(_) => opened,
    }
}

fn emptied(file: Fd) -> Result<Fd, Refusal> {
    file.truncate().map_err(|error| (&b"empty"[..], error)).map(|()| file)
}

/// Closes a file from [`open`] or [`open_kept`], unless it is the file that was opened at the start.
pub(crate) fn close(file: Fd) -> Result<(), Errno> {
    let is_kept = Kept::Profile.has_descriptor(file) || Kept::SideFile.has_descriptor(file);
    if is_kept { Ok(()) } else { file.close() }
}

/// Closes a file like [`close`], after `written` says how writing ended. If writing failed, the file becomes empty,
/// because a part of a file could seem complete.
pub(crate) fn finish<T>(file: Fd, written: Result<T, Errno>) -> Result<T, Refusal> {
    if written.is_err() {
        let _ = file.truncate();
    }
    let closed = close(file);
    written.and_then(|written| closed.map(|()| written)).map_err(|error| (&b"write"[..], error))
}

/// Opens the file. If the name has the process number and is taken by another process, the next name is tried.
fn open_main(captured: &Captured, to_map: bool) -> Result<Fd, Refusal> {
    let before = attempt();
    if has_process_number() && before == 0 {
        let directory = directory(captured, name())?;
        for attempt in 1..=MOST_ATTEMPTS {
            set_attempt(attempt);
            match directory.create_for_writing(name(), mode(), to_map) {
                Ok(file) => return Ok(file),
                Err(Errno::EEXIST) if is_anothers(directory) => {}
                Err(_) => break,
            }
        }
    }
    let opened = open_anew(captured, name(), to_map);
    if opened.is_err() {
        set_attempt(before);
    }
    opened
}

/// Whether the file with the name has contents, or is kept by another process. Anything else is an obstacle, which
/// opening the file reports.
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

/// Reports that a file could not be written, and what helps: a directory for a user without permission, `descriptor`
/// for a lack of descriptors, and a shorter prefix for a name that is too long.
pub(crate) fn say_refusal(path: &[u8], (what, error): Refusal, descriptor: &[u8]) {
    let mut user = Digits::new();
    user.push_decimal(u64::from(effective_user()));
    let private: [&[u8]; 3] = [b", set PROFDIR to a directory where user ", user.as_bytes(), b" may create files"];
    let cure: &[&[u8]] = match error {
        Errno::EACCES | Errno::EPERM | Errno::EROFS => &private,
        Errno::EMFILE => &[descriptor],
        Errno::ENAMETOOLONG if output().naming == Naming::Prefix => &[b", shorten GMON_OUT_PREFIX"],
        _ => &[],
    };
    // The name is empty if it is too long.
    let path = if path.is_empty() { b"the profile" } else { path };
    say_cure(&[path, b": cannot ", what], error, cure);
}

/// Creates a file to be mapped, with a temporary name until it is a profile: see [`put_in_place`]. `None` if that is
/// impossible, and if there is an empty file, which is used as it is: then use [`open`].
///
/// # Errors
///
/// Why the existing file must not be overwritten.
pub(crate) fn open_beforehand() -> Result<Option<Fd>, Refusal> {
    if has_process_number() {
        return Ok(None); // such a file replaces no other file
    }
    let directory = directory(captured(), name())?;
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
        // The file of a process with the same number that was killed.
        directory.unlink(new).and_then(|()| create(new))
    });
    Ok(file.ok())
}

/// Renames the file of [`open_beforehand`] to the final name, in one step: a reader finds either the old file or this
/// file.
pub(crate) fn put_in_place() -> Result<(), Errno> {
    let directory = directory(captured(), name()).map_err(|(_, error)| error)?;
    directory.rename(name_beforehand(), name())
}

/// Closes and removes the file of [`open_beforehand`].
pub(crate) fn give_up(file: Fd) {
    let _ = file.close();
    if let Ok(directory) = directory(captured(), name()) {
        let _ = directory.unlink(name_beforehand());
    }
}

/// Opens the file with the rights that the process had when the directory was captured, if that is still possible.
pub(crate) fn open_as_captured() -> Result<Fd, Refusal> {
    match kept_file() {
        Some(kept) if kept.status().is_ok_and(|status| is_private(&status, 0)) => emptied(kept),
        _ => open(false),
    }
}

/// Removes the file that was opened at the start, if the file is empty.
pub(crate) fn discard() {
    if kept_file().is_some_and(|kept| kept.status().is_ok_and(|status| status.size == 0)) {
        unlink_beside(name());
    }
}

/// Opens the file at start-up, new and empty, and keeps the file open. Call this after [`capture_directory`].
#[allow(dead_code, reason = "only where pledge forbids to open files later")]
pub(crate) fn keep_new_file() -> Result<(), Refusal> {
    let file = open(false)?;
    // SAFETY: at start-up there is one thread.
    unsafe { Kept::Profile.keep(file, |_| true) };
    Ok(())
}

/// The file that was opened at the start.
pub(crate) fn kept_file() -> Option<Fd> {
    Kept::Profile.file()
}

/// Whether only `user` can access a file.
fn is_private(status: &Status, user: u32) -> bool {
    status.links == 1 && !status.is_shared() && status.owner == user
}

/// Opens a file beside the file, by the rules for the file.
pub(crate) fn open_beside(path: &CStr) -> Result<Fd, Refusal> {
    open_anew(captured(), path, false)
}

/// Opens a file beside the file for reading, if it is a regular file of this user. The result is the file and its
/// length.
pub(crate) fn open_own_beside(path: &CStr) -> Option<(Fd, u64)> {
    let directory = directory(captured(), path).ok()?;
    let file = directory.open_regular_for_reading(path).ok()?;
    match file.status() {
        Ok(status) if status.is_regular() && status.owner == effective_user() => Some((file, status.size)),
        _ => {
            let _ = file.close();
            None
        }
    }
}

/// Removes a file beside the file, if possible.
pub(crate) fn unlink_beside(path: &CStr) {
    if let Ok(directory) = directory(captured(), path) {
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
            // The process may write the file but not the directory.
            match file.truncate() {
                Ok(()) => return Ok(file),
                Err(error) => (&b"empty"[..], error),
            }
        }
    };
    let _ = file.close();
    Err(refused)
}

/// Returns the status if a file with this status may be overwritten, and otherwise the reason.
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

/// The directory in which to look up `path`: the captured one, which is found again by its path.
fn directory(captured: &Captured, path: &CStr) -> Result<Fd, Refusal> {
    const REMOVED: Refusal = (b"create, its directory was removed", Errno::ENOENT);
    if path.is_empty() {
        return Err((b"form the name", Errno::ENAMETOOLONG));
    }
    let known = Fd(DIRECTORY.load(Relaxed));
    let is_captured = |now: &Status| captured.status.is_some_and(|then| now.is_same_file(&then));
    let mut refusal = (&b"find its directory"[..], Errno::ENOENT);
    if !HOLDS_LITTLE || IS_HELD.load(Relaxed) {
        // The program may have closed the descriptor and opened another file with its number.
        match known.status() {
            Ok(now) if is_captured(&now) && now.links > 0 => return Ok(known),
            Ok(now) if is_captured(&now) => refusal = REMOVED,
            // A seccomp filter forbids the question.
            Err(Errno::EPERM) => refusal = (b"examine its directory", Errno::EPERM),
            _ => {}
        }
    } else if known.0 != NONE {
        return Ok(known); // opened for this writing
    }
    if path.to_bytes().starts_with(b"/") {
        return Ok(CURRENT);
    }
    // The program may have renamed the directory and be there still.
    let again = CStr::from_bytes_with_nul(captured.path.as_bytes()).unwrap_or(c".");
    for place in [again, c"."].into_iter().take(if HOLDS_LITTLE { 2 } else { 1 }) {
        let found = match Fd::open_directory(place) {
            Ok(found) => found,
            Err(error) => {
                refusal = if error == Errno::ENOENT { REMOVED } else { refusal };
                continue;
            }
        };
        if let Some(now) = found.status().ok().filter(is_captured) {
            if now.links > 0 {
                IS_HELD.store(!HOLDS_LITTLE, Relaxed);
                DIRECTORY.store(found.0, Relaxed);
                return Ok(found);
            }
            refusal = REMOVED;
        }
        let _ = found.close();
    }
    Err(refusal)
}
