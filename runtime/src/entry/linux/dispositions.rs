//! `sigaction` and its relatives. A program that asks for the action of a signal sees the action that the program
//! set, not the runtime's handler.
//!
//! CPython, Rust's standard library and many shells install a handler only if they find the default action. Each
//! function calls the next definition of its name and disguises the result. All functions are async-signal-safe, keep
//! no records, and may be called before the runtime has started and in the child of a `vfork`.

use core::arch::global_asm;
use core::ffi::{CStr, c_int};
use core::mem::{self, MaybeUninit};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::machine;
use crate::control::is_ours;
use crate::os::{
    self, Action, Errno, SA_RESTART, SIG_BLOCK, SIG_DFL, SIG_UNBLOCK, disguise, disguised,
    is_runtimes_handler_in_place, is_shared, next_definition, programs_action, set_action_raw, set_errno,
    set_programs_action, stand_in,
};
use crate::state::Inherited;

const SIG_HOLD: usize = 2;
const SIG_ERR: usize = usize::MAX;
const SA_INTERRUPT: u32 = 0x2000_0000;
const SA_NODEFER: u32 = 0x4000_0000;
const SA_RESETHAND: u32 = 0x8000_0000;

type Sigaction = unsafe extern "C" fn(c_int, *const Action, *mut Action) -> c_int;
type Signal = unsafe extern "C" fn(c_int, usize) -> usize;

/// The next definitions of `sigaction` and `signal`; 0 before the look-up, [`MISSING`] if there are none.
static NEXT_SIGACTION: Inherited<AtomicUsize> =
    Inherited::new("the C library's functions stay where they are", AtomicUsize::new(0));
static NEXT_SIGNAL: Inherited<AtomicUsize> =
    Inherited::new("the C library's functions stay where they are", AtomicUsize::new(0));
const MISSING: usize = usize::MAX;

/// Looks up the next definitions in programs with a dynamic linker. Called at the start, because a look-up is not
/// allowed everywhere.
pub(crate) fn find_next() {
    NEXT_SIGACTION.store(next(c"sigaction"), Relaxed);
    NEXT_SIGNAL.store(next(c"signal"), Relaxed);
}

/// The address of the next definition of a name, or [`MISSING`].
#[inline(never)]
fn next(name: &CStr) -> usize {
    let found = next_definition(name);
    if found == 0 { MISSING } else { found }
}

/// The next `sigaction`.
///
/// In a static program this is `__sigaction`, which is linked if anything in the C library depends on its records.
/// glibc's shared library exports `__sigaction` too, which serves calls before the start. musl's shared library does
/// not: there, constructors of libraries may call this function early.
fn next_sigaction() -> Option<Sigaction> {
    let mut found = NEXT_SIGACTION.load(Relaxed);
    if found == 0 {
        found = machine::sigaction_address();
    }
    if found == 0 {
        found = next(c"sigaction");
        NEXT_SIGACTION.store(found, Relaxed);
    }
    // SAFETY: a function of that name and type.
    (found != MISSING).then(|| unsafe { mem::transmute::<usize, Sigaction>(found) })
}

/// The next `signal`, if there is one that keeps records; otherwise [`signal`] uses [`set_and_ask`].
fn next_signal() -> Option<Signal> {
    let found = match NEXT_SIGNAL.load(Relaxed) {
        0 | MISSING => machine::bsd_signal_address(),
        found => found,
    };
    // SAFETY: null, or a function of that type.
    unsafe { mem::transmute(found) }
}

/// Whether the C library is musl, whose shared library does not export `__sigaction`.
fn is_musl() -> bool {
    machine::sigaction_address() == 0 || machine::handler_set_address() != 0
}

/// Whether the program can see the runtime's handlers: the program defines `sigaction`, or was linked with the C
/// library's before the runtime's.
pub(crate) fn are_visible() -> bool {
    machine::programs_sigaction_address() != set_and_ask as *const () as usize
}

// The C library's name is an alias, because a program may define the same name.
global_asm!(".globl sigaction", ".type sigaction, %function", ".set sigaction, {}", sym set_and_ask);

/// `int sigaction(int signum, const struct sigaction *act, struct sigaction *oldact)`.
unsafe extern "C" fn set_and_ask(signal: c_int, action: *const Action, before: *mut Action) -> c_int {
    if is_shared(signal) && is_ours() {
        // SAFETY: the caller's promise.
        return unsafe { set_shared(signal, action, before) };
    }
    let mut other = MaybeUninit::<Action>::uninit();
    let mut action = action;
    if !action.is_null() {
        // SAFETY: an action, by the caller's promise, and room for a copy.
        unsafe {
            other.write(*action);
            stand_in(signal, other.assume_init_mut());
        }
        action = other.as_ptr();
    }
    let result = match next_sigaction() {
        // SAFETY: the caller's promise, and a valid action.
        Some(next) => unsafe { next(signal, action, before) },
        // SAFETY: as above.
        None => match unsafe { set_action_raw(signal, action, before) } {
            Ok(()) => 0,
            Err(error) => {
                set_errno(error);
                -1
            }
        },
    };
    // SAFETY: null, or the caller's variable.
    let before = unsafe { before.as_mut() }.filter(|_| result == 0);
    if let Some(before) = before {
        disguise(signal, before);
    }
    result
}

/// As [`set_and_ask`], for the signal that the program shares with the runtime.
///
/// # Safety
///
/// As for [`set_and_ask`].
unsafe fn set_shared(signal: c_int, action: *const Action, before: *mut Action) -> c_int {
    // SAFETY: null, or an action, by the caller's promise.
    let wanted = unsafe { action.as_ref() }.copied();
    // The C library's own calls, as in `sigignore`, change the kernel's handler.
    // SAFETY: null, or room for an action, by the caller's promise.
    let found = match unsafe { before.as_mut() } {
        Some(before) if is_runtimes_handler_in_place() => {
            let (handler, flags, mask) = programs_action();
            *before = Action::new(handler, flags, mask);
            Ok(())
        }
        // SAFETY: nothing is set; as above.
        _ => unsafe { set_action_raw(signal, ptr::null(), before) },
    };
    let result = found.and_then(|()| wanted.map_or(Ok(()), |wanted| set_programs_action(&wanted)));
    result.map_or_else(
        |error| {
            set_errno(error);
            -1
        },
        |()| 0,
    )
}

/// Sets a handler by [`set_and_ask`]; the result is the previous handler, or `SIG_ERR`.
fn set(signal: c_int, handler: usize, flags: u32, mask: u64) -> usize {
    if handler == SIG_ERR && !is_musl() {
        set_errno(Errno::EINVAL);
        return SIG_ERR;
    }
    let action = Action::new(handler, flags, mask);
    let mut before = Action::new(SIG_DFL, 0, 0);
    // SAFETY: the caller of the calling function wants this handler.
    if unsafe { set_and_ask(signal, &raw const action, &raw mut before) } == 0 { before.handler } else { SIG_ERR }
}

/// `sighandler_t signal(int signum, sighandler_t handler)`, with BSD's meaning.
#[unsafe(no_mangle)]
unsafe extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    match next_signal() {
        // SAFETY: the caller's promise.
        Some(next) if handler != SIG_DFL && !is_shared(signal) => disguised(signal, unsafe { next(signal, handler) }),
        _ => {
            // glibc adds the signal to the handler's mask. The system call refuses invalid signals.
            let mask = if is_musl() { 0 } else { 1_u64.wrapping_shl(signal.wrapping_sub(1) as u32) };
            set(signal, handler, SA_RESTART as u32, mask)
        }
    }
}

/// `bsd_signal`: another name of [`signal`].
#[unsafe(no_mangle)]
unsafe extern "C" fn bsd_signal(number: c_int, handler: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { signal(number, handler) }
}

/// `ssignal`: another name of [`signal`].
#[unsafe(no_mangle)]
unsafe extern "C" fn ssignal(number: c_int, handler: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { signal(number, handler) }
}

/// `sighandler_t sysv_signal(int signum, sighandler_t handler)`, with System V's meaning.
#[unsafe(no_mangle)]
unsafe extern "C" fn sysv_signal(signal: c_int, handler: usize) -> usize {
    set(signal, handler, SA_RESETHAND | SA_NODEFER | SA_INTERRUPT, 0)
}

/// glibc's own name for [`sysv_signal`], which programs for the X/Open standards alone call.
#[unsafe(no_mangle)]
unsafe extern "C" fn __sysv_signal(signal: c_int, handler: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { sysv_signal(signal, handler) }
}

/// `sighandler_t sigset(int sig, sighandler_t disp)`: sets a handler and unblocks the signal, or blocks the signal.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigset(signal: c_int, handler: usize) -> usize {
    let mut before = Action::new(SIG_DFL, 0, 0);
    let found = if handler == SIG_HOLD {
        // SAFETY: nothing is set.
        if unsafe { set_and_ask(signal, ptr::null(), &raw mut before) } == 0 { before.handler } else { SIG_ERR }
    } else {
        set(signal, handler, 0, 0)
    };
    if found == SIG_ERR {
        return SIG_ERR;
    }
    let how = if handler == SIG_HOLD { SIG_BLOCK } else { SIG_UNBLOCK };
    match os::change_mask(how, Some(&(1 << (signal - 1)))) {
        Ok(blocked) if os::contains(blocked, signal) => SIG_HOLD,
        Ok(_) => found,
        Err(error) => {
            set_errno(error);
            SIG_ERR
        }
    }
}
