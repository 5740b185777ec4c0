//! Signals: masks, actions, and sending.

use super::alternate_stack::alternate_stack;
use super::hidden_handlers::{SIGRTMAX, hide, is_hidden};
use super::machine::{self, numbers};
use super::{Errno, call, checked, process_id, thread_id};
use crate::state::Inherited;
use crate::text::decimal;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The signals that a write raises: for a pipe without a reader, and beyond the limit of a file's size.
pub(crate) const SIGPIPE: c_int = 13;
pub(crate) const SIGXFSZ: c_int = 25;

/// The signal of the interval timer.
pub(crate) const SIGPROF: c_int = 27;

/// The signal of the runtime's timers: a real-time signal that programs leave alone. SIGPROF is the program's; C
/// libraries use the lowest real-time signals, and emulators and valgrind the highest.
pub(crate) const SAMPLING_SIGNAL: c_int = 60;

/// The signal of the timer for the `profil` of other systems.
pub(crate) const PROFIL_SIGNAL: c_int = SAMPLING_SIGNAL - 1;

/// The signals whose default action ends the process: HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM
/// TERM STKFLT XCPU VTALRM PROF IO PWR SYS. (KILL cannot be caught, and XFSZ is left to programs that write files.)
pub(crate) const FATAL_SIGNALS: [c_int; 21] =
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 24, 26, 27, 29, 30, 31];

/// The fatal signals whose handlers programs look for: INT BUS SEGV ALRM.
pub(crate) const LOOKED_FOR_SIGNALS: [c_int; 4] = [2, 7, 11, 14];

/// The set of fatal signals that dump core: QUIT ILL TRAP ABRT BUS FPE SEGV XCPU SYS.
const DUMPS_CORE: u64 = 0b11_1111 << 2 | 1 << 10 | 1 << 23 | 1 << 30;

pub(crate) const SIG_BLOCK: usize = 0;
pub(crate) const SIG_UNBLOCK: usize = 1;
const SIG_SETMASK: usize = 2;
pub(crate) const SIG_DFL: usize = 0;
pub(super) const SIG_IGN: usize = 1;
const SI_USER: i32 = 0;
const SI_TIMER: i32 = -2;
const SI_TKILL: i32 = -6;
pub(super) const SA_SIGINFO: usize = 4;
pub(super) const SA_RESTORER: usize = 0x0400_0000;
pub(crate) const SA_RESTART: usize = 0x1000_0000;
pub(super) const SA_NODEFER: usize = 0x4000_0000;
pub(super) const SA_RESETHAND: usize = 0x8000_0000;

/// The first and the last real-time signal for programs. (32 and 33 are the C library's.)
const SIGRTMIN: c_int = 34;

/// The names of the other signals, from 1 on.
const NAMES: &[u8] =
    b"HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN \
    TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS";

/// The signal with this name, with or without `SIG`, or with this number: `USR1`, `SIGUSR1`, `10`, `RTMIN+3`.
pub(crate) fn signal_named(name: &[u8]) -> Option<c_int> {
    if let Some(number) = decimal(name) {
        return c_int::try_from(number).ok().filter(|number| (1..=SIGRTMAX).contains(number));
    }
    let name = name.strip_prefix(b"SIG").unwrap_or(name);
    let standard = NAMES.split(|byte| *byte == b' ').position(|known| known == name);
    standard.map(|place| place as c_int + 1).or_else(|| real_time_signal(name))
}

/// Parses `RTMIN+n` and `RTMAX-n`.
fn real_time_signal(name: &[u8]) -> Option<c_int> {
    let distance = |digits| decimal(digits).and_then(|number| c_int::try_from(number).ok());
    let signal = match (name.strip_prefix(b"RTMIN"), name.strip_prefix(b"RTMAX")) {
        (Some([]), _) => SIGRTMIN,
        (Some([b'+', digits @ ..]), _) => SIGRTMIN.saturating_add(distance(digits)?),
        (_, Some([])) => SIGRTMAX,
        (_, Some([b'-', digits @ ..])) => SIGRTMAX - distance(digits)?,
        _ => return None,
    };
    (SIGRTMIN..=SIGRTMAX).contains(&signal).then_some(signal)
}

/// Whether a signal can have a handler that only observes: the signal can be caught, does not report a fault of the
/// program, and is used neither by the C library nor by the runtime.
pub(crate) fn is_free_for_use(signal: c_int) -> bool {
    // ILL TRAP ABRT BUS FPE KILL SEGV STOP SYS
    let is_taken = matches!(signal, 4..=9 | 11 | 19 | 31..SIGRTMIN | PROFIL_SIGNAL | SAMPLING_SIGNAL);
    (1..=SIGRTMAX).contains(&signal) && !is_taken
}

/// The kernel's `struct sigaction` (the C library's differs).
#[repr(C)]
pub(super) struct SignalAction {
    /// A [`Handler`], or a number with a special meaning.
    pub(super) handler: usize,
    pub(super) flags: usize,
    pub(super) restorer: usize,
    pub(super) mask: u64,
}

/// The start of `siginfo_t`.
#[repr(C)]
pub struct SignalInfo {
    signal: i32,
    pub(super) error: i32,
    pub(super) code: i32,
    padding: i32,
    timer: i32,
    overrun: i32,
    value: usize,
}

impl SignalInfo {
    /// The value of the POSIX timer that sent the signal; `None` if something else sent it.
    pub(crate) fn timer_value(&self) -> Option<usize> {
        (self.code == SI_TIMER).then_some(self.value)
    }

    /// The number of expiries that the signal stands for: a timer sends no second signal before the first is
    /// delivered.
    pub(crate) fn expiries(&self) -> u32 {
        if self.code == SI_TIMER { 1 + self.overrun.max(0) as u32 } else { 1 }
    }

    /// Whether another process has sent the signal by `kill` or by `pidfd_send_signal`.
    pub(crate) fn is_of_other_process(&self) -> bool {
        // The field of a timer's number has the sender's process number here.
        self.code == SI_USER && self.timer != process_id()
    }

    /// Whether an instruction raised the signal and would raise it again. Some such signals are not recognized: a
    /// trap points behind its instruction, and some memory errors are reported later.
    fn is_repeatable_fault(&self, signal: c_int) -> bool {
        // The first codes of each of ILL, BUS, FPE and SEGV.
        matches!(signal, 4 | 7 | 8 | 11) && (1..=4).contains(&self.code)
    }

    /// Whether this process sent the signal to the thread by `tgkill`, as `raise` and `abort` do.
    fn is_own_tgkill(&self) -> bool {
        // The field of a timer's number has the sender's process number here.
        self.code == SI_TKILL && self.timer == process_id()
    }
}

/// A signal handler.
pub type Handler = unsafe extern "C" fn(c_int, *const SignalInfo, *const c_void);

/// Makes `handler` the handler of a signal, and hides the handler from the program. Signals are blocked while the
/// handler runs, and restartable system calls are restarted. May be called below mcount.
pub(crate) fn catch_signal(signal: c_int, handler: Handler) -> Result<(), Errno> {
    install(signal, handler, SA_RESTART, u64::MAX)?;
    hide(signal, handler as usize);
    Ok(())
}

/// Whether `handler` is the handler of a signal; true if a seccomp filter hides the answer.
pub(crate) fn is_caught_by(signal: c_int, handler: Handler) -> bool {
    handler_of(signal).map_or(true, |found| found == handler as usize)
}

/// Removes the handler of a signal, if it is `handler`: a pending signal is discarded in every thread, and the
/// program finds the default action.
pub(crate) fn uncatch_signal(signal: c_int, handler: Handler) {
    if handler_of(signal) == Ok(handler as usize) {
        let ignored = SignalAction { handler: SIG_IGN, flags: 0, restorer: 0, mask: 0 };
        // SAFETY: ignoring a signal is always sound.
        let _ = unsafe { set_action(signal, &ignored, ptr::null_mut()) };
        default_action(signal);
    }
    hide(signal, 0);
}

/// Whether `is_it` is true of a signal's handler.
pub(super) fn is_caught_at(signal: c_int, is_it: impl FnOnce(usize) -> bool) -> bool {
    handler_of(signal).is_ok_and(is_it)
}

/// Whether the program does not handle a signal. May be called below mcount.
pub(crate) fn is_not_handled(signal: c_int) -> bool {
    handler_of(signal).is_ok_and(|handler| handler == SIG_DFL || handler == SIG_IGN || is_hidden(signal, handler))
}

/// The handler of a signal, or a number with a special meaning.
fn handler_of(signal: c_int) -> Result<usize, Errno> {
    let mut found = MaybeUninit::<SignalAction>::uninit();
    let start: *const SignalAction = found.as_mut_ptr();
    // SAFETY: nothing is set, and the kernel writes all of the room.
    unsafe {
        set_action(signal, ptr::null(), found.as_mut_ptr())?;
        Ok((&raw const (*start).handler).read_volatile())
    }
}

/// Sets a handler; the signals of `mask` are blocked while it runs. The action is written word by word, because below
/// mcount no vector register may be used.
pub(super) fn install(signal: c_int, handler: Handler, flags: usize, mask: u64) -> Result<(), Errno> {
    // SAFETY: the previous action is not wanted.
    unsafe { install_at(signal, handler as usize, flags, mask, ptr::null_mut()) }
}

/// Sets the [`Handler`] at an address, and returns the previous action in `before`.
///
/// # Safety
///
/// `before` must be null or valid for writing.
pub(super) unsafe fn install_at(
    signal: c_int,
    handler: usize,
    flags: usize,
    mask: u64,
    before: *mut SignalAction,
) -> Result<(), Errno> {
    let mut action = MaybeUninit::<SignalAction>::uninit();
    let start: *mut SignalAction = action.as_mut_ptr();
    let flags = SA_SIGINFO | alternate_stack() | SA_RESTORER | flags;
    // SAFETY: all of the action is written, and the handler has the type that the flags require.
    unsafe {
        (&raw mut (*start).handler).write_volatile(handler);
        (&raw mut (*start).flags).write_volatile(flags);
        (&raw mut (*start).restorer).write_volatile(machine::signal_return as *const () as usize);
        (&raw mut (*start).mask).write_volatile(mask);
        set_action(signal, start, before)
    }
}

/// Restores the default action of a signal.
pub(crate) fn default_action(signal: c_int) {
    let default = SignalAction { handler: SIG_DFL, flags: 0, restorer: 0, mask: 0 };
    // SAFETY: the default action is always sound.
    let _ = unsafe { set_action(signal, &default, ptr::null_mut()) };
}

/// Sends a signal to this thread. A blocked signal, as in its own handler, is delivered later.
pub(crate) fn send_to_this_thread(signal: c_int) {
    let arguments = [process_id() as usize, thread_id() as usize, signal as usize];
    // SAFETY: no pointers.
    let _ = unsafe { call(numbers::TGKILL, arguments) };
}

/// Ends the process by the signal whose handler is running, after its default action was restored, as the signal
/// would have ended the process without the handler: a core has the registers of the interrupted program and the
/// kernel's siginfo_t.
///
/// The instruction of a fault raises the signal again after the handler returns. Any other signal that dumps core is
/// sent again with its siginfo_t, and is delivered when the handler returns. All other signals carry nothing else,
/// and are sent and unblocked at once.
///
/// # Safety
///
/// Call this from a handler of the signal, with the handler's three arguments. If `info` and `context` do not have
/// the kernel's positions, they are not used.
pub(crate) unsafe fn let_signal_end(signal: c_int, info: *const SignalInfo, context: *mut c_void) {
    if !contains(DUMPS_CORE, signal) || !machine::is_signal_frame(info.addr(), context.addr()) {
        send_to_this_thread(signal);
        // Now, not when the handler returns: a program may unblock a signal only while it waits.
        unblock_signal(signal);
        return;
    }
    // SAFETY: the kernel's frame, which only this thread uses.
    let told = unsafe { &*info };
    if told.is_repeatable_fault(signal) {
        return;
    }
    if told.is_own_tgkill() || queue_to_this_thread(signal, info).is_err() {
        send_to_this_thread(signal);
    }
    // SAFETY: as above; the word is the set of signals that are blocked after the handler returns.
    unsafe {
        let blocked = machine::blocked_on_return(context);
        *blocked = without_signal(*blocked, signal);
    }
}

/// Sends the signal whose handler is running to this thread again and blocks it there, if `is_blocked` is true of the
/// thread's mask. The result is false if the signal was not sent.
///
/// # Safety
///
/// As for [`let_signal_end`].
pub(crate) unsafe fn let_signal_wait(
    signal: c_int,
    info: *const SignalInfo,
    context: *mut c_void,
    is_blocked: impl Fn(u64) -> bool,
) -> bool {
    if !machine::is_signal_frame(info.addr(), context.addr()) {
        return false;
    }
    // SAFETY: the kernel's frame, which only this thread uses; the word is the set of signals that are blocked after
    // the handler returns.
    let blocked = unsafe { &mut *machine::blocked_on_return(context) };
    let waits = is_blocked(*blocked) && queue_to_this_thread(signal, info).is_ok();
    if waits {
        *blocked |= 1 << (signal - 1);
    }
    waits
}

/// Sends a signal to this thread with the siginfo_t of an earlier signal.
fn queue_to_this_thread(signal: c_int, info: *const SignalInfo) -> Result<(), Errno> {
    let arguments = [process_id() as usize, thread_id() as usize, signal as usize, info.addr()];
    // SAFETY: the kernel reads a siginfo_t.
    unsafe { call(numbers::RT_TGSIGQUEUEINFO, arguments) }.map(|_| ())
}

/// Blocks every signal in this thread. The result is the previous mask.
pub fn block_signals() -> SignalSet {
    change_blocked(SIG_BLOCK, u64::MAX)
}

/// As [`block_signals`], for callers that depend on the success.
///
/// # Errors
///
/// The error of a seccomp filter.
pub(crate) fn try_to_block_signals() -> Result<SignalSet, Errno> {
    change_as_permitted(SIG_BLOCK, u64::MAX)
}

/// Unblocks a signal; a pending signal is delivered before the function returns.
fn unblock_signal(signal: c_int) {
    change_blocked(SIG_UNBLOCK, 1 << (signal - 1));
}

/// A set of signals.
pub type SignalSet = u64;

/// The empty set.
pub(crate) const NO_SIGNALS: SignalSet = 0;

/// A set of signals in memory. Zero is the empty set.
pub(crate) struct SavedSignals(AtomicU64);

impl SavedSignals {
    pub(crate) const fn none() -> SavedSignals {
        SavedSignals(AtomicU64::new(NO_SIGNALS))
    }

    pub(crate) fn save(&self, signals: SignalSet) {
        self.0.store(signals, Relaxed);
    }

    pub(crate) fn saved(&self) -> SignalSet {
        self.0.load(Relaxed)
    }
}

/// Adds a signal to a set.
pub(crate) fn with_signal(signals: SignalSet, signal: c_int) -> SignalSet {
    signals | 1 << (signal - 1)
}

/// Whether a signal is in a set.
pub(crate) fn contains(signals: SignalSet, signal: c_int) -> bool {
    signals & 1 << (signal - 1) != 0
}

/// Removes a signal from a set.
pub(crate) fn without_signal(signals: SignalSet, signal: c_int) -> SignalSet {
    signals & !(1 << (signal - 1))
}

/// Blocks exactly these signals in this thread.
pub fn set_blocked_signals(blocked: SignalSet) {
    change_blocked(SIG_SETMASK, blocked);
}

/// The pending signals.
///
/// # Errors
///
/// The error of a seccomp filter.
pub(crate) fn pending_signals() -> Result<SignalSet, Errno> {
    let mut pending = 0_u64;
    // SAFETY: the kernel writes a set of 8 bytes.
    unsafe { call(numbers::RT_SIGPENDING, [(&raw mut pending).addr(), size_of::<u64>()]) }.map(|_| pending)
}

/// Discards a pending signal, if there is one.
pub(crate) fn take_signal(signal: c_int) {
    static NO_TIME: Inherited<[i64; 2]> = Inherited::new("never changes", [0, 0]);
    let set = 1_u64 << (signal - 1);
    let arguments = [(&raw const set).addr(), 0, (&raw const NO_TIME).addr(), size_of::<u64>()];
    // SAFETY: the kernel reads a set of 8 bytes and a struct timespec.
    let _ = unsafe { call(numbers::RT_SIGTIMEDWAIT, arguments) };
}

fn change_blocked(how: usize, signals: u64) -> u64 {
    change_as_permitted(how, signals).unwrap_or(0)
}

fn change_as_permitted(how: usize, signals: u64) -> Result<u64, Errno> {
    let mut before = 0_u64;
    let arguments = [how, (&raw const signals).addr(), (&raw mut before).addr(), size_of::<u64>()];
    // SAFETY: the kernel reads one set and writes another, 8 bytes each.
    unsafe { call(numbers::RT_SIGPROCMASK, arguments) }.map(|_| before)
}

/// Changes this thread's mask for the program, if there is a set. The result is the previous mask. Only the program's
/// own filters judge this call.
pub(crate) fn change_mask(how: usize, signals: Option<&u64>) -> Result<u64, Errno> {
    let mut before = 0_u64;
    let signals = signals.map_or(ptr::null(), ptr::from_ref);
    let arguments = [how, signals.addr(), (&raw mut before).addr(), size_of::<u64>(), 0, 0];
    // SAFETY: the kernel reads one set, if there is one, and writes another, 8 bytes each.
    checked(unsafe { machine::syscall(numbers::RT_SIGPROCMASK, arguments) }).map(|_| before)
}

/// Sets a signal's action, and returns the previous action.
///
/// # Safety
///
/// `action` must be null or a valid action, and `before` must be null or valid for writing.
pub(super) unsafe fn set_action(
    signal: c_int,
    action: *const SignalAction,
    before: *mut SignalAction,
) -> Result<(), Errno> {
    // A set of signals has 8 bytes.
    let arguments = [signal as usize, action.addr(), before.addr(), size_of::<u64>()];
    // SAFETY: the caller's promise.
    unsafe { call(numbers::RT_SIGACTION, arguments) }.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_the_names_that_kill_prints() {
        let named = |name: &str| signal_named(name.as_bytes());
        assert_eq!([named("USR1"), named("SIGUSR1"), named("SIGKILL")], [Some(10), Some(10), Some(9)]);
        assert_eq!([named("SYS"), named("PROF"), named("10"), named("64")], [Some(31), Some(27), Some(10), Some(64)]);
        assert_eq!([named("RTMIN"), named("RTMIN+3"), named("SIGRTMIN+30")], [Some(34), Some(37), Some(64)]);
        assert_eq!([named("RTMAX"), named("RTMAX-14"), named("RTMAX-30")], [Some(64), Some(50), Some(34)]);
        for wrong in [
            "",
            "SIG",
            "usr1",
            "USR3",
            "RTMIN+",
            "RTMIN+31",
            "RTMAX-99",
            "RTMIN+1x",
            "RTMIN+:",
            "0",
            "65",
            "99999999999",
        ] {
            assert_eq!(named(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_means_something_else_is_not_free() {
        let free: Vec<_> = (-1..70).filter(|signal| is_free_for_use(*signal)).collect();
        let standard = [1, 2, 3, 10, 12, 13, 14, 15, 16, 17, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30];
        assert_eq!(free[..standard.len()], standard);
        assert_eq!(free[standard.len()..], [(34..59).collect::<Vec<_>>(), (61..65).collect()].concat());
    }
}
