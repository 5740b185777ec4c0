//! Counts calls exactly, for as long as somebody asks.
//!
//! Compilers leave room at the entries of functions (`-fpatchable-function-entry`). While nobody asks, the room is
//! nops. To count the calls of a function, the code at its entry is changed, while other threads may be executing it:
//! see [`crate::arch::entry_room`]. Every call that begins after [`gmon_calls`] has switched the counting on, and
//! before it is switched off, is counted once.
//!
//! These modules, bottom up:
//!
//! * `patterns`: selects functions by their names; `object_file`: reads the sections and symbols of an object
//! * `lines`: finds source files in line information; `source_files`: the source files of the functions of an object
//! * `sites`: the functions of an object with room; `region`: the memory of the thunks; `modules`: the loaded objects
//! * `changes`: changes much code in few system calls; `intervals`: when calls were counted
//! * `plan`: when windows open; `ratio`: arithmetic; `estimates`: what windows have seen
//! * `windows`: the calls of windows; `refusal`: why nothing was changed; `switching`: what each request changes;
//!   `stepping`: what each tick changes

mod changes;
mod estimates;
mod intervals;
mod lines;
mod modules;
mod object_file;
mod patterns;
mod plan;
mod ratio;
mod refusal;
mod region;
mod sites;
mod source_files;
mod stepping;
pub(crate) mod switching;
pub(crate) mod windows;

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use super::environment::Variable;
use super::moncontrol::{current, is_ours};
use super::watched_signal::WatchedSignal;
use super::writing_thread::exclusively;
use crate::file::one_writer::NOBODY;
use crate::message::say;
use crate::os::{CHANGES_CODE, SignalInfo, a_moment};
use crate::state::{Inherited, Reset, resets};
use crate::text::Text;
use crate::{file, mcount};
use refusal::{Refusal, report};
pub(crate) use switching::set_counter;
use switching::{Request, has_closed, has_counter, state, state_or_new};

/// The signal that switches the counting.
static SIGNAL: Inherited<WatchedSignal> =
    Inherited::new("the child inherits the handler", WatchedSignal::new(Variable::CallsSignal, on_signal));

/// How many moments, about milliseconds, one thread waits for another.
const MOMENTS: u32 = 3000;

resets! {
    /// The number of threads that are closing objects: code may disappear.
    static CLOSING: Reset<AtomicUsize> = Reset::new();
    /// Whether a thread changes code.
    static IS_CHANGING: Reset<AtomicBool> = Reset::new();
}

/// `int gmon_calls(int on, const char *pattern)`: if `on` is not 0, counts the calls of the functions that the list of
/// patterns selects from now on, and of no others; otherwise does not count the calls of these functions any more. Null
/// and an empty list select all functions. The result is 0, or -1 if nothing was changed; a line on standard error then
/// says why, unless the process is not profiled. May be called in any thread and in signal handlers.
#[unsafe(no_mangle)]
unsafe extern "C" fn gmon_calls(on: c_int, pattern: *const c_char) -> c_int {
    // SAFETY: null, or a string that the caller keeps.
    let list = if pattern.is_null() { &[] } else { unsafe { CStr::from_ptr(pattern) }.to_bytes() };
    handle(if on != 0 { Request::On(list) } else { Request::Off(list) })
}

/// Which calls are counted from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand<'a> {
    /// All calls of the functions that a list of patterns selects; an empty list selects all functions.
    All(&'a [u8]),
    /// The calls of these functions in windows that cover this part of the time, in millionths.
    InWindows(u64, &'a [u8]),
}

/// Begins to count calls. Called at start-up.
pub(crate) fn switch_on(demand: Demand<'_>) {
    match demand {
        Demand::All(list) => handle(Request::Start(list)),
        Demand::InWindows(..) if file::is_live() => report(Refusal::Live),
        Demand::InWindows(share, list) => handle(Request::Windows(share, list)),
    };
}

/// Installs the handler that switches the counting at each signal.
pub(crate) fn watch(signal: c_int) {
    if !CHANGES_CODE {
        handle(Request::Toggle);
        return;
    }
    SIGNAL.watch(signal);
}

/// Restores the signal's default action: see [`WatchedSignal::unwatch`].
#[cfg(all(feature = "start", not(test)))]
pub(crate) fn unwatch() {
    SIGNAL.unwatch();
}

/// Undoes [`unwatch`].
#[cfg(all(feature = "start", not(test)))]
pub(crate) fn watch_again() {
    SIGNAL.watch_again();
}

/// Handles the signal.
unsafe extern "C" fn on_signal(_signal: c_int, _info: *const SignalInfo, _context: *const c_void) {
    handle(Request::Toggle);
}

/// `void gmon_calls_loaded(void)`: looks for functions in an object that the program has just loaded, if calls are
/// being counted. The constructors of objects call this.
#[unsafe(no_mangle)]
extern "C" fn gmon_calls_loaded() {
    if state().is_some() {
        handle(Request::Look);
    }
}

/// Prepares the child of a fork. The profile of the child begins at the fork. `was_changing` tells whether another
/// thread of the parent may have been changing the code at the fork; the child does not have this thread.
pub(super) fn after_fork_in_child(was_changing: bool) {
    if CHANGES_CODE && let Some(state) = state() {
        // SAFETY: memory that is never freed; the child has one thread.
        unsafe { &mut *state }.restart(was_changing);
    }
}

/// Counts the calls of the functions that a list of patterns selects, until [`give_back`]. If nothing was changed,
/// the function returns false, and `why` gets the reason.
pub(super) fn borrow<const N: usize>(list: &[u8], why: &mut Text<N>) -> bool {
    match attempt(Request::Borrow(list)) {
        Ok(()) => true,
        Err(Some(refusal)) => {
            refusal::text(refusal, why);
            false
        }
        Err(None) => false,
    }
}

/// Counts the calls that were counted before [`borrow`], unless somebody has asked for others since.
pub(super) fn give_back() {
    handle(Request::GiveBack);
}

/// Does what is asked for in one thread at a time. The result is -1 if nothing was changed.
fn handle(request: Request<'_>) -> c_int {
    if !CHANGES_CODE {
        say(&[b"cannot count calls on demand on this system: compile with -pg"]);
        return -1;
    }
    match attempt(request) {
        Ok(()) => 0,
        Err(refusal) => refusal.map_or(-1, report),
    }
}

/// Does what is asked for. An error without a reason means that the process is not profiled, or not any more.
fn attempt(request: Request<'_>) -> Result<(), Option<Refusal<'_>>> {
    if current().is_none() || !is_ours() || !has_counter() {
        // The user does not want this process to be profiled.
        return Err(None);
    }
    let Some(state) = state_or_new() else { return Err(Some(Refusal::NoMemory)) };
    // A thread that is closing an object, or has just opened one, has the dynamic linker's lock, so no other thread
    // can be unmapping an object.
    let has_lock = matches!(request, Request::Look) || mcount::is_closing();
    for _ in 0..MOMENTS {
        let mut result = None;
        let has_run = exclusively(NOBODY, &mut || {
            // SAFETY: one thread at a time is here, and zeros are valid.
            change(has_lock, || result = Some(unsafe { &mut *state }.handle(request).map_err(Some)));
        });
        match result {
            Some(result) => return result,
            // The profile is complete.
            None if !has_run => return Err(None),
            None => a_moment(),
        }
    }
    Err(Some(Refusal::Closing))
}

/// Whether a tick may change code: the process is profiled, and this thread is not closing an object.
fn may_change() -> bool {
    current().is_some() && is_ours() && !mcount::is_closing()
}

/// Changes code by `work`, unless an object is being closed. Called in the thread that may write the file.
fn change_now(work: impl FnOnce()) {
    change(false, work);
}

/// Changes code by `work`, unless another thread is closing an object and this thread does not have the dynamic
/// linker's lock.
fn change(has_lock: bool, work: impl FnOnce()) {
    IS_CHANGING.store(true, SeqCst);
    if has_lock || CLOSING.load(SeqCst) == 0 {
        work();
    }
    IS_CHANGING.store(false, SeqCst);
}

/// Says that this thread will call the C library's `dlclose`, and waits until no other thread changes code.
#[allow(dead_code, reason = "not all systems close objects")]
pub(crate) fn begin_closing() {
    CLOSING.fetch_add(1, SeqCst);
    for _ in 0..MOMENTS {
        if !IS_CHANGING.load(SeqCst) {
            break;
        }
        a_moment();
    }
    if let Some(state) = state().filter(|_| windows::are_planned() && is_ours()) {
        // The code of the object may be gone when the window would close.
        // SAFETY: memory that is never freed, and one thread at a time is here.
        exclusively(NOBODY, &mut || unsafe { &mut *state }.close_early());
    }
}

/// Undoes [`begin_closing`].
#[allow(dead_code, reason = "not all systems close objects")]
pub(crate) fn end_closing() {
    has_closed();
    if windows::are_planned() && is_ours() {
        // A window opens at a tick, which does not look: it would change the code of the next object at this place.
        let _ = attempt(Request::Look);
    }
    // A fork child begins at 0, even inside `dlclose`.
    let _ = CLOSING.fetch_update(SeqCst, SeqCst, |threads| threads.checked_sub(1));
}
