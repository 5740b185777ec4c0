//! Signals.

use super::hidden_handlers::{SIGRTMAX, hide, is_hidden};
use super::machine::{self, numbers};
use super::{Errno, call, checked, process_id, thread_id};
use crate::arch;
use crate::text::decimal;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What writing sends to a pipe that nobody reads any more, and beyond the limit of a file's size.
pub(crate) const SIGPIPE: c_int = 13;
pub(crate) const SIGXFSZ: c_int = 25;

/// What the interval timer sends.
pub(crate) const SIGPROF: c_int = 27;

/// What the runtime's own timers send: a real-time signal that programs leave alone. SIGPROF is the program's; the C
/// libraries take theirs from the low end, and emulators and valgrind theirs from the high one.
pub(crate) const SAMPLING_SIGNAL: c_int = 60;

/// What the timer of `profil` sends, the call of other systems: the one before.
pub(crate) const PROFIL_SIGNAL: c_int = SAMPLING_SIGNAL - 1;

/// The signals that end a process unless it says otherwise: HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM
/// TERM STKFLT XCPU VTALRM PROF IO PWR SYS. (KILL cannot be caught, XFSZ is left to who writes files.)
pub(crate) const FATAL_SIGNALS: [c_int; 21] =
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 24, 26, 27, 29, 30, 31];

/// Those for which programs look whether they have a handler: INT BUS SEGV ALRM.
pub(crate) const LOOKED_FOR_SIGNALS: [c_int; 4] = [2, 7, 11, 14];

/// The set of those of them that leave a core behind: QUIT ILL TRAP ABRT BUS FPE SEGV XCPU SYS.
const DUMPS_CORE: u64 = 0b11_1111 << 2 | 1 << 10 | 1 << 23 | 1 << 30;

pub(crate) const SIG_BLOCK: usize = 0;
pub(crate) const SIG_UNBLOCK: usize = 1;
const SIG_SETMASK: usize = 2;
pub(crate) const SIG_DFL: usize = 0;
pub(super) const SIG_IGN: usize = 1;
const SI_USER: i32 = 0;
const SI_QUEUE: i32 = -1;
const SI_TIMER: i32 = -2;
const SI_TKILL: i32 = -6;
pub(super) const SA_SIGINFO: usize = 4;
pub(super) const SA_RESTORER: usize = 0x0400_0000;
pub(super) const SA_ONSTACK: usize = 0x0800_0000;
pub(crate) const SA_RESTART: usize = 0x1000_0000;
pub(super) const SA_RESETHAND: usize = 0x8000_0000;

/// The first and the last real-time signal of programs. (32 and 33 are the C library's.)
const SIGRTMIN: c_int = 34;

/// The names of the others, from 1 on.
const NAMES: &[u8] =
    b"HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN \
    TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS";

/// The signal of that name, with `SIG` before it or without, or of that number: `USR1`, `SIGUSR1`, `10`, `RTMIN+3`.
pub(crate) fn signal_named(name: &[u8]) -> Option<c_int> {
    if let Some(number) = decimal(name) {
        return c_int::try_from(number).ok().filter(|number| (1..=SIGRTMAX).contains(number));
    }
    let name = name.strip_prefix(b"SIG").unwrap_or(name);
    let standard = NAMES.split(|byte| *byte == b' ').position(|known| known == name);
    standard.map(|place| place as c_int + 1).or_else(|| real_time_signal(name))
}

/// `RTMIN+n` and `RTMAX-n`.
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

/// Whether a signal can have a handler that only looks at something: it can be caught, does not say that the program has
/// come to grief, and is neither the C library's nor ours.
pub(crate) fn is_free_for_use(signal: c_int) -> bool {
    // ILL TRAP ABRT BUS FPE KILL SEGV STOP SYS
    let is_taken = matches!(signal, 4..=9 | 11 | 19 | 31..SIGRTMIN | PROFIL_SIGNAL | SAMPLING_SIGNAL);
    (1..=SIGRTMAX).contains(&signal) && !is_taken
}

/// `struct sigaction` as the kernel has it (the C library's differs).
#[repr(C)]
pub(super) struct SignalAction {
    /// A [`Handler`], or one of the numbers that stand for one.
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
    /// The value of the POSIX timer that sent the signal; `None` if something else did.
    pub(crate) fn timer_value(&self) -> Option<usize> {
        (self.code == SI_TIMER).then_some(self.value)
    }

    /// How many expiries the signal stands for: a timer whose signal was not delivered in time sends no second one.
    pub(crate) fn expiries(&self) -> u32 {
        if self.code == SI_TIMER { 1 + self.overrun.max(0) as u32 } else { 1 }
    }

    /// Whether a process sent it, by `kill`, `tgkill` or with a value.
    pub(crate) fn is_sent(&self) -> bool {
        matches!(self.code, SI_USER | SI_QUEUE | SI_TKILL)
    }

    /// Whether an instruction raised the signal, and raises it again if it is executed again. Not all that do so are known:
    /// a trap is behind its instruction, and some errors of memory are reported later.
    fn is_repeatable_fault(&self, signal: c_int) -> bool {
        // The first codes of ILL, BUS, FPE and SEGV, of each of them.
        matches!(signal, 4 | 7 | 8 | 11) && (1..=4).contains(&self.code)
    }

    /// Whether this process sent the signal to the thread by `tgkill`, as `raise` and `abort` do.
    fn is_own_tgkill(&self) -> bool {
        // Here the word of a timer's number is the sender's.
        self.code == SI_TKILL && self.timer == process_id()
    }
}

/// A handler of a signal.
pub type Handler = unsafe extern "C" fn(c_int, *const SignalInfo, *const c_void);

/// Makes `handler` the handler of a signal, whatever it was, and hides the handler from the program. No signal comes in
/// while it runs, and calls that can be restarted go on behind it. Below mcount.
pub(crate) fn catch_signal(signal: c_int, handler: Handler) -> Result<(), Errno> {
    install(signal, handler, SA_RESTART, u64::MAX)?;
    hide(signal, handler as usize);
    Ok(())
}

/// Makes the first of `entries`, each of which is a handler, the handler of a signal that has none. A signal that is ignored
/// stays so, and gets the handler when the program wants the default action.
pub(crate) fn on_fatal_signal(signal: c_int, entries: usize) -> Result<(), Errno> {
    let found = handler_of(signal)?;
    if found == SIG_DFL {
        install_at(signal, entries, 0, 0)?;
    }
    if found == SIG_DFL || found == SIG_IGN {
        hide(signal, entries);
    }
    Ok(())
}

/// Whether `handler` is what a signal is handled by; so it is as far as known where a filter of system calls lets nobody ask.
pub(crate) fn is_caught_by(signal: c_int, handler: Handler) -> bool {
    handler_of(signal).map_or(true, |found| found == handler as usize)
}

/// Takes the handler of a signal away, if that is `handler`: one that waits is gone, in whichever thread, and the program finds the
/// default action.
pub(crate) fn uncatch_signal(signal: c_int, handler: Handler) {
    if handler_of(signal) == Ok(handler as usize) {
        let ignored = SignalAction { handler: SIG_IGN, flags: 0, restorer: 0, mask: 0 };
        // SAFETY: to ignore is always sound.
        let _ = unsafe { set_action(signal, &ignored, ptr::null_mut()) };
        default_action(signal);
    }
    hide(signal, 0);
}

/// Whether what a signal is handled by `is_it`.
pub(super) fn is_caught_at(signal: c_int, is_it: impl FnOnce(usize) -> bool) -> bool {
    handler_of(signal).is_ok_and(is_it)
}

/// Whether the program does not handle a signal. Below mcount.
pub(crate) fn is_not_handled(signal: c_int) -> bool {
    handler_of(signal).is_ok_and(|handler| handler == SIG_DFL || handler == SIG_IGN || is_hidden(signal, handler))
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

/// Sets a handler; `mask` is kept away while it runs. Word by word: below mcount no vector register may be used.
pub(super) fn install(signal: c_int, handler: Handler, flags: usize, mask: u64) -> Result<(), Errno> {
    install_at(signal, handler as usize, flags, mask)
}

/// Sets the [`Handler`] at an address.
fn install_at(signal: c_int, handler: usize, flags: usize, mask: u64) -> Result<(), Errno> {
    let mut action = MaybeUninit::<SignalAction>::uninit();
    let start: *mut SignalAction = action.as_mut_ptr();
    let flags = SA_SIGINFO | alternate_stack() | SA_RESTORER | flags;
    // SAFETY: all of the action is written, and the handler is of the kind that its flags say.
    unsafe {
        (&raw mut (*start).handler).write_volatile(handler);
        (&raw mut (*start).flags).write_volatile(flags);
        (&raw mut (*start).restorer).write_volatile(machine::signal_return as *const () as usize);
        (&raw mut (*start).mask).write_volatile(mask);
        set_action(signal, start, ptr::null_mut())
    }
}

/// The flag that has a handler run on the alternate stack where the thread has one: its own may be too small.
///
/// valgrind takes the flag for the stack itself: in a thread that has no alternate one it does not make room for the
/// handler, and ends the program as if the stack had run over.
pub(super) fn alternate_stack() -> usize {
    if arch::is_in_valgrind() { 0 } else { SA_ONSTACK }
}

/// Lets the signal have its own effect from now on.
pub(crate) fn default_action(signal: c_int) {
    let default = SignalAction { handler: SIG_DFL, flags: 0, restorer: 0, mask: 0 };
    // SAFETY: the default is always sound.
    let _ = unsafe { set_action(signal, &default, ptr::null_mut()) };
}

/// Sends this thread a signal; if it is blocked, as in its own handler, it comes in later.
pub(crate) fn send_to_this_thread(signal: c_int) {
    let arguments = [process_id() as usize, thread_id() as usize, signal as usize];
    // SAFETY: no pointers.
    let _ = unsafe { call(numbers::TGKILL, arguments) };
}

/// Has a signal that a handler was called for end the process now that its action is the default, as it would have ended
/// without the handler: a core has the registers of the interrupted program, and what the kernel said of the signal.
///
/// A fault is raised again by its own instruction, once the handler has returned. Any other signal that dumps core is sent
/// again with what came with it, and waits until the handler returns. Whatever else kills has no more to tell, and is sent
/// and let in at once.
///
/// # Safety
///
/// From a handler of the signal, with the three arguments of the handler; but if `info` and `context` do not lie as the
/// kernel puts them they are not used.
pub(crate) unsafe fn let_signal_end(signal: c_int, info: *const SignalInfo, context: *mut c_void) {
    if !contains(DUMPS_CORE, signal) || !machine::is_signal_frame(info.addr(), context.addr()) {
        send_to_this_thread(signal);
        // Now, and not when the handler returns: a program may let a signal in only for as long as it waits.
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
    // SAFETY: as above; the word has the signals that are blocked once the handler has returned.
    unsafe {
        let blocked = machine::blocked_on_return(context);
        *blocked = without_signal(*blocked, signal);
    }
}

/// Has a signal that a handler was called for wait in this thread, and blocks it there, if `is_blocked` says so of the signals that the
/// thread had blocked. False where it does not, and where that cannot be done.
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
    // SAFETY: the kernel's frame, which only this thread uses; the word has the signals that are blocked once the handler
    // has returned.
    let blocked = unsafe { &mut *machine::blocked_on_return(context) };
    let waits = is_blocked(*blocked) && queue_to_this_thread(signal, info).is_ok();
    if waits {
        *blocked |= 1 << (signal - 1);
    }
    waits
}

/// Sends this thread a signal with the information of an earlier one.
fn queue_to_this_thread(signal: c_int, info: *const SignalInfo) -> Result<(), Errno> {
    let arguments = [process_id() as usize, thread_id() as usize, signal as usize, info.addr()];
    // SAFETY: the kernel reads a siginfo_t.
    unsafe { call(numbers::RT_TGSIGQUEUEINFO, arguments) }.map(|_| ())
}

/// Blocks every signal for this thread; returns which were blocked.
pub fn block_signals() -> SignalSet {
    change_blocked(SIG_BLOCK, u64::MAX)
}

/// The same where it matters that no signal comes in.
///
/// # Errors
///
/// What a filter of system calls answers.
pub(crate) fn try_to_block_signals() -> Result<SignalSet, Errno> {
    change_as_permitted(SIG_BLOCK, u64::MAX)
}

/// Lets a signal in; if it is waiting, it is delivered before this returns.
fn unblock_signal(signal: c_int) {
    change_blocked(SIG_UNBLOCK, 1 << (signal - 1));
}

/// A set of signals.
pub type SignalSet = u64;

/// The set without signals.
pub(crate) const NO_SIGNALS: SignalSet = 0;

/// A place for a set of signals. All zero, no signal is in the set.
pub(crate) struct SavedSignals(AtomicU64);

impl SavedSignals {
    pub(crate) fn save(&self, signals: SignalSet) {
        self.0.store(signals, Relaxed);
    }

    pub(crate) fn saved(&self) -> SignalSet {
        self.0.load(Relaxed)
    }
}

/// A set with one more signal.
pub(crate) fn with_signal(signals: SignalSet, signal: c_int) -> SignalSet {
    signals | 1 << (signal - 1)
}

/// Whether a signal is in a set.
pub(crate) fn contains(signals: SignalSet, signal: c_int) -> bool {
    signals & 1 << (signal - 1) != 0
}

/// A set of signals without one of them.
pub(crate) fn without_signal(signals: SignalSet, signal: c_int) -> SignalSet {
    signals & !(1 << (signal - 1))
}

/// Blocks just these signals for this thread.
pub fn set_blocked_signals(blocked: SignalSet) {
    change_blocked(SIG_SETMASK, blocked);
}

/// The signals that wait to be let in.
///
/// # Errors
///
/// What a filter of system calls answers.
pub(crate) fn pending_signals() -> Result<SignalSet, Errno> {
    let mut pending = 0_u64;
    // SAFETY: the kernel writes a set of 8 bytes.
    unsafe { call(numbers::RT_SIGPENDING, [(&raw mut pending).addr(), size_of::<u64>()]) }.map(|_| pending)
}

/// Takes a signal away that waits, if it does.
pub(crate) fn take_signal(signal: c_int) {
    static NO_TIME: [i64; 2] = [0, 0];
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
    // SAFETY: the kernel reads one set and writes the other, 8 bytes each.
    unsafe { call(numbers::RT_SIGPROCMASK, arguments) }.map(|_| before)
}

/// Changes for the program which signals are blocked for this thread, if there is a set; returns which were. What the
/// program's own filters do with that call is for the program to see.
pub(crate) fn change_mask(how: usize, signals: Option<&u64>) -> Result<u64, Errno> {
    let mut before = 0_u64;
    let signals = signals.map_or(ptr::null(), ptr::from_ref);
    let arguments = [how, signals.addr(), (&raw mut before).addr(), size_of::<u64>(), 0, 0];
    // SAFETY: the kernel reads one set, if there is one, and writes the other, 8 bytes each.
    checked(unsafe { machine::syscall(numbers::RT_SIGPROCMASK, arguments) }).map(|_| before)
}

/// Sets a signal's action, and says what it was.
///
/// # Safety
///
/// `action` must be one that is sound to set, and `before` null or valid for writing.
pub(super) unsafe fn set_action(
    signal: c_int,
    action: *const SignalAction,
    before: *mut SignalAction,
) -> Result<(), Errno> {
    // A set of signals is 8 bytes long.
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
