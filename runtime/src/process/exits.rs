//! Writes the file when the program ends without the C library's `exit`: by `_exit`, by `quick_exit`, or by a fatal
//! signal.

use core::ffi::{c_char, c_int, c_void};

use crate::arch::handler_entries;
use crate::control::_mcleanup;
use crate::os::{
    FATAL_SIGNALS, LOOKED_FOR_SIGNALS, NO_SIGNALS, O_RDWR, SavedSignals, SignalInfo, SignalSet, block_signals,
    contains, default_action, exit_process, let_signal_end, on_fatal_signal, process_id, reveal, set_blocked_signals,
    set_handler_entries, with_signal, without_signal,
};
use crate::state::Inherited;

unsafe extern "C" {
    fn at_quick_exit(function: extern "C" fn()) -> c_int;
    fn fork() -> c_int;
    fn setsid() -> c_int;
    fn chdir(path: *const c_char) -> c_int;
    fn open(path: *const c_char, flags: c_int) -> c_int;
    fn dup2(from: c_int, to: c_int) -> c_int;
    fn close(fd: c_int) -> c_int;
}

/// The number of the process for which the kernel drops signals that the process does not handle, unless its own
/// instructions raise them.
const FIRST_PROCESS: i32 = 1;

/// Makes `quick_exit` write the profile.
pub(crate) fn watch_quick_exit() {
    // SAFETY: the C library is initialized. This handler is the first, so it runs last.
    unsafe { at_quick_exit(_mcleanup) };
}

/// The signals without a handler of the runtime because this is the first process of its namespace. Its children get
/// the handlers.
static LEFT_TO_CHILDREN: Inherited<SavedSignals> =
    Inherited::new("the child of the first process takes the signals from there", SavedSignals::none());

/// With `signals`, makes fatal signals write the profile. Only signals with the default action get a handler. The
/// program does not see the handlers.
pub(crate) fn watch(signals: bool) {
    if signals {
        set_handler_entries(entries as *const () as usize);
        catch(all());
    }
}

/// The set of all fatal signals.
fn all() -> SignalSet {
    FATAL_SIGNALS.into_iter().fold(NO_SIGNALS, with_signal)
}

/// Restores the default action of fatal signals, because a seccomp filter is about to forbid what the handler does.
/// The result is the set of the signals that had the handler, or whose handlers are left to children.
pub(crate) fn unwatch() -> SignalSet {
    let mut had = LEFT_TO_CHILDREN.saved();
    LEFT_TO_CHILDREN.save(NO_SIGNALS);
    for signal in FATAL_SIGNALS {
        if reveal(signal) {
            had = with_signal(had, signal);
        }
    }
    had
}

/// Makes signals write the profile: undoes [`unwatch`], which returned `had`. In the first process of a namespace, the
/// signals are left to its children.
pub(crate) fn watch_again(had: SignalSet) {
    if had != NO_SIGNALS {
        let blocked = block_signals();
        catch(had);
        set_blocked_signals(blocked);
    }
}

/// Does the work of [`watch_again`]. Signals must be blocked.
fn catch(had: SignalSet) {
    if process_id() == FIRST_PROCESS {
        LEFT_TO_CHILDREN.save(had);
        return;
    }
    LEFT_TO_CHILDREN.save(NO_SIGNALS);
    for signal in FATAL_SIGNALS {
        if contains(had, signal) {
            // A signal that cannot be caught keeps its action.
            let _ = on_fatal_signal(signal, entries as *const () as usize);
        }
    }
}

/// Removes the handlers that programs look for, if the program could see them.
pub(crate) fn give_way() {
    for signal in LOOKED_FOR_SIGNALS {
        reveal(signal);
        LEFT_TO_CHILDREN.save(without_signal(LEFT_TO_CHILDREN.saved(), signal));
    }
}

/// Removes the handlers in the child of a fork that is the first process of its namespace, and restores the handlers in
/// a child of the first process.
pub(crate) fn after_fork_in_child() {
    if process_id() == FIRST_PROCESS {
        LEFT_TO_CHILDREN.save(unwatch());
    } else {
        watch_again(LEFT_TO_CHILDREN.saved());
    }
}

handler_entries!(entries, fatal);

/// Handles a fatal signal: writes the profile, then gives the signal its own effect.
///
/// This function may run at any moment: it uses no memory of the program's, and does not rely on its arguments (a
/// program that reads the kernel's record may have found this function and call it from its own handler).
unsafe extern "C" fn fatal(signal: c_int, info: *const SignalInfo, context: *mut c_void) {
    _mcleanup();
    default_action(signal);
    // SAFETY: the arguments of the handler, or what another handler passed for them.
    unsafe { let_signal_end(signal, info, context) };
}

/// `void _exit(int status)`: writes the profile, then ends the process at once.
///
/// The child of a `vfork`, which shares its parent's memory, does not write the parent's profile.
#[unsafe(no_mangle)]
extern "C" fn _exit(status: c_int) -> ! {
    _mcleanup();
    exit_process(status)
}

/// `void _Exit(int status)`: C's name for [`_exit`].
#[unsafe(no_mangle)]
extern "C" fn _Exit(status: c_int) -> ! {
    _exit(status)
}

/// `int daemon(int nochdir, int noclose)`: continues as a child without a terminal, in `/` unless `nochdir` is set,
/// and with its standard files closed unless `noclose` is set.
///
/// The C library's function ends the parent by an `_exit` of its own, which would lose the parent's profile.
#[unsafe(no_mangle)]
extern "C" fn daemon(nochdir: c_int, noclose: c_int) -> c_int {
    // SAFETY: calls of the C library with valid arguments; the strings end with NULs.
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
