//! Signals.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::Errno;
pub use super::constants::SignalInfo;
use super::constants::{HIGHEST_SIGNAL, NO_MASK, SignalAction, real_time_signal};
use super::signal_action::set_action;
use super::signal_calls::{change_blocked, send_to_this_thread};
pub(crate) use super::signal_calls::{pending_signals, take_signal};
use super::signal_set::{EVERY_SIGNAL, SignalSet, only};
use crate::state::Inherited;
use crate::text::decimal;

/// The signals that a write causes: to a pipe without readers, and beyond the limit of file sizes.
pub(crate) const SIGPIPE: c_int = 13;
pub(crate) const SIGXFSZ: c_int = 25;

/// The signal of `ITIMER_PROF`.
pub(crate) const SIGPROF: c_int = 27;

/// The signals that end a process by default: HUP INT QUIT ILL TRAP ABRT EMT FPE BUS SEGV SYS PIPE ALRM TERM XCPU
/// VTALRM PROF USR1 USR2. The list leaves out KILL, which cannot be caught, and XFSZ.
pub(crate) const FATAL_SIGNALS: [c_int; 19] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 24, 26, 27, 30, 31];

/// The fatal signals for which programs check whether a handler is installed: INT BUS SEGV ALRM.
pub(crate) const LOOKED_FOR_SIGNALS: [c_int; 4] = [2, 10, 11, 14];

const SIG_BLOCK: usize = 1;
const SIG_UNBLOCK: usize = 2;
const SIG_SETMASK: usize = 3;
const SIG_DFL: usize = 0;
const SIG_IGN: usize = 1;
const SA_ONSTACK: c_int = 1;
const SA_RESTART: c_int = 2;
const SA_SIGINFO: c_int = 0x40;

/// The names of the signals, from number 1. A system may lack the last signals.
const NAMES: &[u8] =
    b"HUP INT QUIT ILL TRAP ABRT EMT FPE KILL BUS SEGV SYS PIPE ALRM TERM URG STOP TSTP CONT CHLD TTIN \
    TTOU IO XCPU XFSZ VTALRM PROF WINCH INFO USR1 USR2 THR LIBRT";

/// Returns the signal with a name, with or without the prefix `SIG`, or with a number: `USR1`, `SIGUSR1`, `30`,
/// `RTMIN+3`.
pub(crate) fn signal_named(name: &[u8]) -> Option<c_int> {
    if let Some(number) = decimal(name) {
        return c_int::try_from(number).ok().filter(|number| (1..=HIGHEST_SIGNAL).contains(number));
    }
    let name = name.strip_prefix(b"SIG").unwrap_or(name);
    let standard = NAMES.split(|byte| *byte == b' ').position(|known| known == name);
    let standard = standard.map(|place| place as c_int + 1).filter(|number| *number <= HIGHEST_SIGNAL);
    standard.or_else(|| real_time_signal(name))
}

/// Returns whether the user may choose the signal to request a dump: the signal can be caught, does not report an error
/// of the program, and is used by neither the C library nor gmon.
pub(crate) fn is_free_for_use(signal: c_int) -> bool {
    // ILL TRAP ABRT EMT FPE KILL BUS SEGV SYS STOP PROF THR LIBRT, and the numbers below the real-time signals.
    let is_taken = matches!(signal, 4..=12 | 17 | SIGPROF | 32..=64);
    (1..=HIGHEST_SIGNAL).contains(&signal) && !is_taken
}

impl SignalInfo {
    /// Returns whether an instruction raised the signal and would raise the signal again: the first two codes of ILL,
    /// FPE, BUS and SEGV.
    fn is_repeatable_fault(&self, signal: c_int) -> bool {
        matches!(signal, 4 | 8 | 10 | 11) && (1..=2).contains(&self.code)
    }
}

/// A signal handler.
pub type Handler = unsafe extern "C" fn(c_int, *const SignalInfo, *const c_void);

/// The address of the entry points of the fatal-signal handler; 0 before the handler is set. The entry points occupy
/// [`ENTRIES_SIZE`] bytes. The crate gmon-profil in libgmon.a has its own copy of this module, in which the variable is
/// weak: if the runtime is linked, both use the runtime's variable.
#[cfg_attr(not(test), unsafe(export_name = "gmon_handler_entries"))]
static ENTRIES: Inherited<AtomicUsize> = Inherited::new("the child inherits the handlers", AtomicUsize::new(0));
const ENTRIES_SIZE: usize = 16 * 8;

/// Sets the address of the entry points of the fatal-signal handler.
pub(crate) fn set_handler_entries(entries: usize) {
    ENTRIES.store(entries, Relaxed);
}

/// Returns whether an address is an entry point of the fatal-signal handler.
fn is_of_fatal_signals(handler: usize) -> bool {
    let entries = ENTRIES.load(Relaxed);
    entries != 0 && handler.wrapping_sub(entries) < ENTRIES_SIZE
}

/// Installs `handler` for a signal and replaces any other handler. All signals are blocked while the handler runs, and
/// interrupted system calls restart if possible. Called below mcount.
pub(crate) fn catch_signal(signal: c_int, handler: Handler) -> Result<(), Errno> {
    install(signal, handler as usize, SA_RESTART, u32::MAX)
}

/// Installs the handler at `entries` if the signal has the default action. An ignored signal stays ignored.
pub(crate) fn on_fatal_signal(signal: c_int, entries: usize) -> Result<(), Errno> {
    if handler_of(signal)? == SIG_DFL {
        install(signal, entries, 0, 0)?;
    }
    Ok(())
}

/// Removes gmon's handler of a fatal signal, but not the program's handler. Returns whether gmon's handler was
/// installed.
pub(crate) fn reveal(signal: c_int) -> bool {
    let is_ours = handler_of(signal).is_ok_and(is_of_fatal_signals);
    if is_ours {
        default_action(signal);
    }
    is_ours
}

/// Returns whether `handler` is installed for a signal.
pub(crate) fn is_caught_by(signal: c_int, handler: Handler) -> bool {
    handler_of(signal) == Ok(handler as usize)
}

/// Removes `handler` if it is installed for a signal, discards pending signals of all threads, and restores the default
/// action.
pub(crate) fn uncatch_signal(signal: c_int, handler: Handler) {
    if is_caught_by(signal, handler) {
        let ignored = SignalAction { handler: SIG_IGN, flags: 0, mask: NO_MASK };
        // SAFETY: ignoring a signal is always sound.
        let _ = unsafe { set_action(signal, &ignored, ptr::null_mut()) };
        default_action(signal);
    }
}

/// Returns whether the program has no handler for a signal.
pub(crate) fn is_not_handled(signal: c_int) -> bool {
    handler_of(signal).is_ok_and(|handler| handler == SIG_DFL || handler == SIG_IGN || is_of_fatal_signals(handler))
}

/// Returns the address of a signal's handler, or [`SIG_DFL`] or [`SIG_IGN`].
fn handler_of(signal: c_int) -> Result<usize, Errno> {
    let mut found = MaybeUninit::<SignalAction>::uninit();
    let start: *const SignalAction = found.as_mut_ptr();
    // SAFETY: the call changes no action. `found` has room for a `SignalAction`, and the kernel writes the whole
    // structure.
    unsafe {
        set_action(signal, ptr::null(), found.as_mut_ptr())?;
        Ok((&raw const (*start).handler).read_volatile())
    }
}

/// Installs the [`Handler`] at an address. While the handler runs, the signals in `mask`, repeated for each word of the
/// set, are blocked. The handler runs on the thread's alternate stack if there is one, because the thread's stack may
/// be too small. The function writes word by word, because code below mcount must not use vector registers.
fn install(signal: c_int, handler: usize, flags: c_int, mask: u32) -> Result<(), Errno> {
    let mut action = MaybeUninit::<SignalAction>::uninit();
    let start: *mut SignalAction = action.as_mut_ptr();
    // SAFETY: the block writes the whole action, and the handler takes the three arguments that SA_SIGINFO promises.
    unsafe {
        (&raw mut (*start).handler).write_volatile(handler);
        (&raw mut (*start).flags).write_volatile(SA_SIGINFO | SA_ONSTACK | flags);
        for word in 0..size_of_val(&NO_MASK) / size_of::<u32>() {
            (&raw mut (*start).mask).cast::<u32>().add(word).write_volatile(mask);
        }
        set_action(signal, start, ptr::null_mut())
    }
}

/// Restores the default action of a signal.
pub(crate) fn default_action(signal: c_int) {
    let default = SignalAction { handler: SIG_DFL, flags: 0, mask: NO_MASK };
    // SAFETY: the default action is always sound.
    let _ = unsafe { set_action(signal, &default, ptr::null_mut()) };
}

/// Makes the signal of the running handler end the process. The signal's action must be the default. For a fault, the
/// function does nothing: the instruction faults again after the handler returns, so a core dump has the program's
/// registers. The function sends any other signal to this thread again and unblocks the signal; a core dump then has
/// the handler's frames on top of the program's.
///
/// # Safety
///
/// Must be called in a handler of the signal, with the three arguments of the handler; `info` may be null.
pub(crate) unsafe fn let_signal_end(signal: c_int, info: *const SignalInfo, _context: *mut c_void) {
    // SAFETY: the pointer is null or points to the kernel's siginfo_t.
    if unsafe { info.as_ref() }.is_some_and(|info| info.signal == signal && info.is_repeatable_fault(signal)) {
        return;
    }
    send_to_this_thread(signal);
    let _ = change_blocked(SIG_UNBLOCK, only(signal));
}

/// Blocks all signals for this thread, and returns the previous mask. Called below mcount.
pub fn block_signals() -> SignalSet {
    change_blocked(SIG_BLOCK, EVERY_SIGNAL).unwrap_or(super::NO_SIGNALS)
}

/// Blocks all signals for this thread, and returns the previous mask or the kernel's error.
///
/// # Errors
///
/// The error of sigprocmask(2); the mask is then unchanged.
pub(crate) fn try_to_block_signals() -> Result<SignalSet, Errno> {
    change_blocked(SIG_BLOCK, EVERY_SIGNAL)
}

/// Sets the signal mask of this thread.
pub fn set_blocked_signals(blocked: SignalSet) {
    let _ = change_blocked(SIG_SETMASK, blocked);
}
