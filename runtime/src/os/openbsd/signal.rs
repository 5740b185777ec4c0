//! Signals.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::signal_set::{EVERY_SIGNAL, SignalSet, only};
use super::{Errno, call, numbers, thread_id};
use crate::text::decimal;

/// What writing sends to a pipe that nobody reads any more, and beyond the limit of a file's size.
pub(crate) const SIGPIPE: c_int = 13;
pub(crate) const SIGXFSZ: c_int = 25;

/// What the interval timer sends.
pub(crate) const SIGPROF: c_int = 27;

/// The signals that end a process unless it says otherwise: HUP INT QUIT ILL TRAP ABRT EMT FPE BUS SEGV SYS PIPE ALRM TERM XCPU
/// VTALRM PROF USR1 USR2. (KILL cannot be caught, XFSZ is left to who writes files.)
pub(crate) const FATAL_SIGNALS: [c_int; 19] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 24, 26, 27, 30, 31];

/// Those for which programs look whether they have a handler: INT BUS SEGV ALRM.
pub(crate) const LOOKED_FOR_SIGNALS: [c_int; 4] = [2, 10, 11, 14];

const SIG_BLOCK: usize = 1;
const SIG_UNBLOCK: usize = 2;
const SIG_SETMASK: usize = 3;
const SIG_DFL: usize = 0;
const SIG_IGN: usize = 1;
const SA_ONSTACK: c_int = 1;
const SA_RESTART: c_int = 2;
const SA_SIGINFO: c_int = 0x40;

/// The highest signal. There are no real-time signals.
const HIGHEST: c_int = 32;

/// The names of the signals, from 1 on.
const NAMES: &[u8] =
    b"HUP INT QUIT ILL TRAP ABRT EMT FPE KILL BUS SEGV SYS PIPE ALRM TERM URG STOP TSTP CONT CHLD TTIN \
    TTOU IO XCPU XFSZ VTALRM PROF WINCH INFO USR1 USR2 THR";

/// The signal of that name, with `SIG` before it or without, or of that number: `USR1`, `SIGUSR1`, `30`.
pub(crate) fn signal_named(name: &[u8]) -> Option<c_int> {
    if let Some(number) = decimal(name) {
        return c_int::try_from(number).ok().filter(|number| (1..=HIGHEST).contains(number));
    }
    let name = name.strip_prefix(b"SIG").unwrap_or(name);
    let standard = NAMES.split(|byte| *byte == b' ').position(|known| known == name);
    standard.map(|place| place as c_int + 1)
}

/// Whether a signal can have a handler that only looks at something: it can be caught, does not say that the program has
/// come to grief, and is neither the C library's nor ours.
pub(crate) fn is_free_for_use(signal: c_int) -> bool {
    // ILL TRAP ABRT EMT FPE KILL BUS SEGV SYS STOP PROF THR.
    let is_taken = matches!(signal, 4..=12 | 17 | SIGPROF | 32);
    (1..=HIGHEST).contains(&signal) && !is_taken
}

/// `struct sigaction` (`sys/signal.h`).
#[repr(C)]
struct SignalAction {
    /// A [`Handler`], or one of the numbers that stand for one.
    handler: usize,
    mask: u32,
    flags: c_int,
}

const _: () = assert!(size_of::<SignalAction>() == 16);

/// The start of `siginfo_t`.
#[repr(C)]
pub struct SignalInfo {
    signal: i32,
    pub(super) code: i32,
}

impl SignalInfo {
    /// Whether an instruction raised the signal, and raises it again if it is executed again: the first codes of ILL, FPE, BUS
    /// and SEGV.
    fn is_repeatable_fault(&self, signal: c_int) -> bool {
        matches!(signal, 4 | 8 | 10 | 11) && (1..=2).contains(&self.code)
    }
}

/// A handler of a signal.
pub type Handler = unsafe extern "C" fn(c_int, *const SignalInfo, *const c_void);

/// The first address of the handler of fatal signals, and how many bytes behind it are that handler too; 0 before there is one.
static ENTRIES: AtomicUsize = AtomicUsize::new(0);
const ENTRIES_SIZE: usize = 16 * 8;

/// Says where the handler of fatal signals is.
pub(crate) fn set_handler_entries(entries: usize) {
    ENTRIES.store(entries, Relaxed);
}

/// Whether an address is the handler of fatal signals.
fn is_of_fatal_signals(handler: usize) -> bool {
    let entries = ENTRIES.load(Relaxed);
    entries != 0 && handler.wrapping_sub(entries) < ENTRIES_SIZE
}

/// Makes `handler` the handler of a signal, whatever it was. No signal comes in while it runs, and calls that can be restarted go
/// on behind it. Below mcount.
pub(crate) fn catch_signal(signal: c_int, handler: Handler) -> Result<(), Errno> {
    install(signal, handler as usize, SA_RESTART, u32::MAX)
}

/// Makes the handler at `entries` the handler of a signal that has none. A signal that is ignored stays so.
pub(crate) fn on_fatal_signal(signal: c_int, entries: usize) -> Result<(), Errno> {
    if handler_of(signal)? == SIG_DFL {
        install(signal, entries, 0, 0)?;
    }
    Ok(())
}

/// Takes the handler of a fatal signal away, and leaves the program's own alone. Says whether there was one.
pub(crate) fn reveal(signal: c_int) -> bool {
    let is_ours = handler_of(signal).is_ok_and(is_of_fatal_signals);
    if is_ours {
        default_action(signal);
    }
    is_ours
}

/// Whether `handler` is what a signal is handled by.
pub(crate) fn is_caught_by(signal: c_int, handler: Handler) -> bool {
    handler_of(signal) == Ok(handler as usize)
}

/// Takes the handler of a signal away, if that is `handler`: one that waits is gone, in whichever thread, and the program finds the
/// default action.
pub(crate) fn uncatch_signal(signal: c_int, handler: Handler) {
    if is_caught_by(signal, handler) {
        let ignored = SignalAction { handler: SIG_IGN, flags: 0, mask: 0 };
        // SAFETY: to ignore is always sound.
        let _ = unsafe { set_action(signal, &ignored, ptr::null_mut()) };
        default_action(signal);
    }
}

/// Whether the program does not handle a signal.
pub(crate) fn is_not_handled(signal: c_int) -> bool {
    handler_of(signal).is_ok_and(|handler| handler == SIG_DFL || handler == SIG_IGN || is_of_fatal_signals(handler))
}

/// The handler of a signal, or the number that stands for one.
fn handler_of(signal: c_int) -> Result<usize, Errno> {
    let mut found = MaybeUninit::<SignalAction>::uninit();
    let start: *const SignalAction = found.as_mut_ptr();
    // SAFETY: nothing is set, and there is room for what is, of which the kernel writes all.
    unsafe {
        set_action(signal, ptr::null(), found.as_mut_ptr())?;
        Ok((&raw const (*start).handler).read_volatile())
    }
}

/// Sets the [`Handler`] at an address; the signals of `mask` are kept away while it runs. It runs on the alternate
/// stack where the thread has one: its own may be too small. Word by word: below mcount no vector register may be used.
fn install(signal: c_int, handler: usize, flags: c_int, mask: u32) -> Result<(), Errno> {
    let mut action = MaybeUninit::<SignalAction>::uninit();
    let start: *mut SignalAction = action.as_mut_ptr();
    // SAFETY: all of the action is written, and the handler is of the kind that its flags say.
    unsafe {
        (&raw mut (*start).handler).write_volatile(handler);
        (&raw mut (*start).flags).write_volatile(SA_SIGINFO | SA_ONSTACK | flags);
        (&raw mut (*start).mask).write_volatile(mask);
        set_action(signal, start, ptr::null_mut())
    }
}

/// Lets the signal have its own effect from now on.
pub(crate) fn default_action(signal: c_int) {
    let default = SignalAction { handler: SIG_DFL, flags: 0, mask: 0 };
    // SAFETY: the default is always sound.
    let _ = unsafe { set_action(signal, &default, ptr::null_mut()) };
}

/// Has a signal that a handler was called for end the process now that its action is the default. A fault is raised again by its
/// own instruction, once the handler has returned: a core has the registers of the program then. Any other signal is sent to
/// this thread again and let in at once; a core has the handler's frames above the program's.
///
/// # Safety
///
/// From a handler of the signal, with the three arguments of the handler; `info` may be null.
pub(crate) unsafe fn let_signal_end(signal: c_int, info: *const SignalInfo, _context: *mut c_void) {
    // SAFETY: null, or what the kernel wrote.
    if unsafe { info.as_ref() }.is_some_and(|info| info.signal == signal && info.is_repeatable_fault(signal)) {
        return;
    }
    // SAFETY: no pointers.
    let _ = unsafe { call(numbers::THRKILL, [thread_id() as usize, signal as usize, 0]) };
    let _ = change_blocked(SIG_UNBLOCK, only(signal));
}

/// Blocks every signal for this thread; returns which were blocked. Below mcount.
pub fn block_signals() -> SignalSet {
    change_blocked(SIG_BLOCK, EVERY_SIGNAL).unwrap_or(super::NO_SIGNALS)
}

/// The same where it matters that no signal comes in.
///
/// # Errors
///
/// What the kernel answers.
pub(crate) fn try_to_block_signals() -> Result<SignalSet, Errno> {
    change_blocked(SIG_BLOCK, EVERY_SIGNAL)
}

/// Blocks just these signals for this thread.
pub fn set_blocked_signals(blocked: SignalSet) {
    let _ = change_blocked(SIG_SETMASK, blocked);
}

fn change_blocked(how: usize, signals: SignalSet) -> Result<SignalSet, Errno> {
    // SAFETY: no pointers. The result is the set before.
    unsafe { call(numbers::SIGPROCMASK, [how, signals.0 as usize]) }.map(|before| SignalSet(before as u32))
}

/// The signals that wait to be let in.
///
/// # Errors
///
/// What the kernel answers.
pub(crate) fn pending_signals() -> Result<SignalSet, Errno> {
    // SAFETY: no pointers.
    unsafe { call(numbers::SIGPENDING, []) }.map(|pending| SignalSet(pending as u32))
}

/// Takes a signal away that waits, if it does: the kernel drops it when the signal is ignored.
pub(crate) fn take_signal(signal: c_int) {
    let ignored = SignalAction { handler: SIG_IGN, flags: 0, mask: 0 };
    let mut before = MaybeUninit::<SignalAction>::uninit();
    // SAFETY: to ignore is always sound, and the second call sets what was there.
    unsafe {
        if set_action(signal, &ignored, before.as_mut_ptr()).is_ok() {
            let _ = set_action(signal, before.as_ptr(), ptr::null_mut());
        }
    }
}

/// Sets a signal's action, and says what it was.
///
/// # Safety
///
/// `action` must be null or one that is sound to set, and `before` null or valid for writing.
unsafe fn set_action(signal: c_int, action: *const SignalAction, before: *mut SignalAction) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    unsafe { call(numbers::SIGACTION, [signal as usize, action.addr(), before.addr()]) }.map(|_| ())
}
