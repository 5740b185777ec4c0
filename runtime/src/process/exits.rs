//! The ends of a program that pass the C library's `exit` by: `_exit`, `quick_exit`, and signals that kill.

use core::ffi::{c_char, c_int, c_void};

use crate::arch::handler_entries;
use crate::control::{_mcleanup, is_ours};
use crate::os::{
    FATAL_SIGNALS, LOOKED_FOR_SIGNALS, NO_SIGNALS, O_RDWR, SignalInfo, SignalSet, contains, default_action,
    exit_process, let_signal_end, on_fatal_signal, process_id, reveal, set_handler_entries, with_signal,
};

unsafe extern "C" {
    fn at_quick_exit(function: extern "C" fn()) -> c_int;
    fn fork() -> c_int;
    fn setsid() -> c_int;
    fn chdir(path: *const c_char) -> c_int;
    fn open(path: *const c_char, flags: c_int) -> c_int;
    fn dup2(from: c_int, to: c_int) -> c_int;
    fn close(fd: c_int) -> c_int;
}

/// The process of that number gets no signal that it does not handle, but for those that its own instructions raise.
const FIRST_PROCESS: i32 = 1;

/// Sees to it that `quick_exit` writes the profile as well. Once the C library is up.
pub(crate) fn watch_quick_exit() {
    // SAFETY: the C library is up. Ours is the first, so it runs last.
    unsafe { at_quick_exit(_mcleanup) };
}

/// Sees to it that signals that kill write the profile as well, if `signals` is set: those that nobody cares for yet. The
/// program does not see the handlers.
pub(crate) fn watch(signals: bool) {
    if signals && process_id() != FIRST_PROCESS {
        let first = entries as *const () as usize;
        set_handler_entries(first);
        for signal in FATAL_SIGNALS {
            // What cannot be caught is left as it is.
            let _ = on_fatal_signal(signal, first);
        }
    }
}

/// Leaves those signals to themselves: what our handler does a filter of system calls is about to forbid. The result is the set of
/// those that had the handler.
pub(crate) fn unwatch() -> SignalSet {
    let mut had = NO_SIGNALS;
    for signal in FATAL_SIGNALS {
        if reveal(signal) {
            had = with_signal(had, signal);
        }
    }
    had
}

/// Undoes [`unwatch`], which gave `had`.
pub(crate) fn watch_again(had: SignalSet) {
    for signal in FATAL_SIGNALS {
        if contains(had, signal) {
            let _ = on_fatal_signal(signal, entries as *const () as usize);
        }
    }
}

/// Takes away the handlers that programs look for, for a program that would see them.
pub(crate) fn give_way() {
    LOOKED_FOR_SIGNALS.into_iter().for_each(|signal| _ = reveal(signal));
}

/// Takes the handlers away in the child of a fork if that is the first process of its namespace.
pub(crate) fn after_fork_in_child() {
    if process_id() == FIRST_PROCESS {
        unwatch();
    }
}

handler_entries!(entries, fatal);

/// Writes the profile, then lets the signal have its effect.
///
/// This may run in the middle of anything: it uses no memory of the program's, and does not trust that it was called as
/// it was installed (a program that reads the kernel's own record may have taken us for the handler that it is to call
/// after its own).
unsafe extern "C" fn fatal(signal: c_int, info: *const SignalInfo, context: *mut c_void) {
    if is_ours() {
        _mcleanup();
    }
    default_action(signal);
    // SAFETY: the arguments of the handler, or whatever was passed on for them.
    unsafe { let_signal_end(signal, info, context) };
}

/// `void _exit(int status)`: ends the process at once, but writes the profile first.
///
/// The child of a `vfork`, whose memory is its parent's, leaves that alone.
#[unsafe(no_mangle)]
extern "C" fn _exit(status: c_int) -> ! {
    if is_ours() {
        _mcleanup();
    }
    exit_process(status)
}

/// `void _Exit(int status)`: C's name for [`_exit`].
#[unsafe(no_mangle)]
extern "C" fn _Exit(status: c_int) -> ! {
    _exit(status)
}

/// `int daemon(int nochdir, int noclose)`: goes on as a child without a terminal, in `/` unless `nochdir` is set and with
/// its standard files closed unless `noclose` is.
///
/// The C library's ends the parent by an `_exit` of its own, which would forget what the parent did.
#[unsafe(no_mangle)]
extern "C" fn daemon(nochdir: c_int, noclose: c_int) -> c_int {
    // SAFETY: the calls of the C library as their pages have them; the strings end with NULs.
    unsafe {
        match fork() {
            -1 => return -1,
            0 => {}
            _ => _exit(0),
        }
        if setsid() == -1 || (nochdir == 0 && chdir(c"/".as_ptr()) == -1) {
            return -1;
        }
        if noclose == 0 {
            let null = open(c"/dev/null".as_ptr(), O_RDWR as c_int);
            if null == -1 || (0..3).any(|standard| dup2(null, standard) == -1) {
                return -1;
            }
            if null > 2 {
                close(null);
            }
        }
    }
    0
}
