//! The actions of signals with a hidden handler of the runtime: the program sees the action that it has set.
//!
//! That action is the default action, with flags and a mask that have no effect but that the program may read again.
//! The kernel keeps the flags and the mask beside the handler. So the runtime keeps no record, and for a call of the
//! program, one system call reads or changes everything: neither another thread nor the child of a `vfork` can come in
//! between. Only [`leave_alternate_stacks`] reads an action before it changes the action, and puts back what another
//! thread has set in between.

use core::ffi::c_int;
use core::ptr;

use super::alternate_stack::{SA_ONSTACK, alternate_stack, have_left, stop_using};
use super::hidden_handlers::{ENTRY_SIZE, SIGRTMAX, entry_number, hidden, hide, is_hidden};
use super::machine::{self, numbers};
use super::signal::{SA_RESETHAND, SA_RESTART, SA_RESTORER, SA_SIGINFO, SIG_DFL, SIG_IGN, SignalAction};
use super::{Errno, checked, signal};

/// `struct sigaction` of the C libraries (the kernel's differs).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) handler: usize,
    /// The signal mask; the kernel has the first word.
    pub(crate) mask: [u64; 16],
    pub(crate) flags: u32,
    restorer: usize,
}

impl Action {
    /// Makes an action with the first word of its mask.
    #[inline(never)]
    pub(crate) fn new(handler: usize, flags: u32, mask: u64) -> Action {
        let mut action = Action { handler, mask: [0; 16], flags, restorer: 0 };
        action.mask[0] = mask;
        action
    }
}

/// The program has set the default action, and has not only found it.
const BY_PROGRAM: usize = 1;
/// The flags that the kernel needs with other values: bits of the entry number keep the program's values.
const FLAGS: [(usize, usize); 3] = [(2, SA_SIGINFO), (4, SA_ONSTACK), (8, SA_RESETHAND)];

/// Replaces the action that the program wants to set by the action to be set.
pub(crate) fn stand_in(signal: c_int, action: &mut Action) {
    let hidden = hidden(signal);
    if action.handler != SIG_DFL || hidden == 0 {
        return;
    }
    let mut flags = SA_SIGINFO | alternate_stack();
    let mut number = 0;
    if entry_number(hidden).is_some() {
        number = BY_PROGRAM;
        flags |= action.flags as usize & !SA_RESETHAND & !SA_ONSTACK;
        for (bit, flag) in FLAGS {
            number |= if action.flags as usize & flag != 0 { bit } else { 0 };
        }
    } else {
        flags |= SA_RESTART;
        action.mask[0] = u64::MAX;
    }
    action.handler = hidden + number * ENTRY_SIZE;
    action.flags = flags as u32;
}

/// Replaces an action that was found by the action that the program has set, if it is the runtime's.
pub(crate) fn disguise(signal: c_int, found: &mut Action) {
    if !is_hidden(signal, found.handler) {
        return;
    }
    let number = entry_number(found.handler).unwrap_or(0);
    found.handler = SIG_DFL;
    let mut flags = found.flags as usize & !(SA_SIGINFO | SA_ONSTACK);
    for (bit, flag) in FLAGS {
        flags |= if number & bit != 0 { flag } else { 0 };
    }
    if number == 0 {
        // The flags that the kernel reports before anybody sets an action.
        flags = 0;
        found.restorer = 0;
        found.mask[0] = 0;
    }
    found.flags = flags as u32;
}

/// The handler that the program has set if the kernel has `handler`.
pub(crate) fn disguised(signal: c_int, handler: usize) -> usize {
    if is_hidden(signal, handler) { SIG_DFL } else { handler }
}

/// Gives a signal with the default action a handler: one of the entries that begin at `entries`. The number of the
/// entry encodes flags that the program has set with the default action. A signal with another action keeps the action,
/// and gets a handler when the program sets the default action. Signals must be
/// blocked.
///
/// # Errors
///
/// The error of a seccomp filter, and EINVAL for a signal that cannot be caught.
pub(crate) fn on_fatal_signal(signal: c_int, entries: usize) -> Result<(), Errno> {
    let mut found = SignalAction { handler: SIG_IGN, flags: 0, restorer: 0, mask: 0 };
    // Most signals have the default action at the start, so one call is enough. Signals are blocked meanwhile.
    // SAFETY: the kernel writes an action.
    unsafe { signal::install_at(signal, entries, 0, 0, &raw mut found) }?;
    hide(signal, entries);
    if found.handler == SIG_DFL {
        if found.flags == 0 {
            return Ok(());
        }
        let mut action = Action::new(SIG_DFL, found.flags as u32, found.mask);
        stand_in(signal, &mut action);
        (found.handler, found.flags) = (action.handler, action.flags as usize);
    }
    // SAFETY: the handler has the type that the flags require; the rest is as the program has set it.
    unsafe { signal::set_action(signal, &raw const found, ptr::null_mut()) }
}

/// Removes the handler of a fatal signal, unless the handler is the program's. The result says whether there was one
/// of the runtime's.
pub(crate) fn reveal(signal: c_int) -> bool {
    let is_ours = entry_number(hidden(signal)).is_some();
    if is_ours {
        if signal::is_caught_at(signal, |handler| entry_number(handler).is_some()) {
            signal::default_action(signal);
        }
        hide(signal, 0);
    }
    is_ours
}

/// Makes all handlers of the runtime leave alternate stacks alone, because a thread's alternate stack is too small or
/// about to be unmapped. The program does not see the difference.
///
/// Several threads may be here at once: none returns before all handlers have changed.
pub(crate) fn leave_alternate_stacks() {
    if !stop_using() {
        return;
    }
    for signal in (1..=SIGRTMAX).filter(|signal| hidden(*signal) != 0) {
        let is_on_stack = |action: &SignalAction| is_hidden(signal, action.handler) && action.flags & SA_ONSTACK != 0;
        let mut found = SignalAction { handler: SIG_DFL, flags: 0, restorer: 0, mask: 0 };
        let mut replaced = SignalAction { handler: SIG_DFL, flags: 0, restorer: 0, mask: 0 };
        // SAFETY: nothing is set, and the kernel writes an action; then an action that the kernel had, with another
        // flag; then an action that the kernel had.
        unsafe {
            let _ = signal::set_action(signal, ptr::null(), &raw mut found);
            if is_on_stack(&found) {
                found.flags &= !SA_ONSTACK;
                let is_set = signal::set_action(signal, &raw const found, &raw mut replaced).is_ok();
                // Another thread has set an action in between, which has no such flag if the handler is the runtime's.
                if is_set && !is_on_stack(&replaced) {
                    let _ = signal::set_action(signal, &raw const replaced, ptr::null_mut());
                }
            }
        }
    }
    have_left();
}

/// Sets an action as the C libraries do, by a system call: for programs whose C library has no such function.
///
/// # Errors
///
/// EINVAL for an invalid signal or a signal of the C library; EFAULT.
///
/// # Safety
///
/// `action` must be null or a valid action, and `before` must be null or valid for writing.
pub(crate) unsafe fn set_action_raw(signal: c_int, action: *const Action, before: *mut Action) -> Result<(), Errno> {
    // Only musl leaves programs without a function of its own.
    if matches!(signal, 32..=34) {
        return Err(Errno::EINVAL);
    }
    // SAFETY: the caller's promise.
    let wanted = unsafe { action.as_ref() }.map(|action| SignalAction {
        handler: action.handler,
        flags: action.flags as usize | SA_RESTORER,
        restorer: machine::signal_return as *const () as usize,
        mask: action.mask[0],
    });
    let mut found = SignalAction { handler: SIG_DFL, flags: 0, restorer: 0, mask: 0 };
    let wanted = wanted.as_ref().map_or(ptr::null(), ptr::from_ref);
    let arguments = [signal as usize, wanted.addr(), (&raw mut found).addr(), size_of::<u64>(), 0, 0];
    // The program's own call, which only the program's filters judge.
    // SAFETY: the caller's promise; a set of signals has 8 bytes.
    checked(unsafe { machine::syscall(numbers::RT_SIGACTION, arguments) })?;
    // SAFETY: as above.
    if let Some(before) = unsafe { before.as_mut() } {
        before.handler = found.handler;
        before.mask[0] = found.mask;
        before.flags = found.flags as u32;
        before.restorer = found.restorer;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::hidden_handlers::set_handler_entries;
    use super::*;

    const SIGNAL: c_int = 12;
    const OURS: usize = 0x10_0000;

    fn set(signal: c_int, mut action: Action) -> Action {
        stand_in(signal, &mut action);
        action
    }

    /// The action that the program reads after it has set `wanted`.
    fn read_again(wanted: &Action) -> Action {
        let mut found = set(SIGNAL, *wanted);
        disguise(SIGNAL, &mut found);
        found
    }

    #[test]
    fn a_program_reads_what_it_set() {
        set_handler_entries(OURS);
        hide(SIGNAL, OURS);
        let flags = [0, 0x1000_0000, 4, 0x0800_0000, 0x8000_0000, 0x4000_0000, 0xdc00_0004];
        for flags in flags {
            for handler in [SIG_DFL, 1, 0x4000] {
                let wanted = Action::new(handler, flags, 0x1234);
                assert_eq!(read_again(&wanted), wanted);
                let installed = set(SIGNAL, wanted).flags & 0x8800_0004;
                let expected = if handler == SIG_DFL { 0x0800_0004 } else { flags & 0x8800_0004 };
                assert_eq!(installed, expected, "information, and the other stack");
            }
        }
        // The action at the start.
        let mut found = Action::new(OURS, 0x0c00_0004, 0);
        found.restorer = 77;
        disguise(SIGNAL, &mut found);
        assert_eq!(found, Action::new(SIG_DFL, 0, 0));
        // One handler without entries, which stays.
        hide(SIGNAL, 0x7000);
        let wanted = Action::new(SIG_DFL, 4, 1);
        assert_eq!(set(SIGNAL, wanted), Action::new(0x7000, 0x1800_0004, u64::MAX));
        assert_eq!(disguised(SIGNAL, 0x7000), SIG_DFL);
        assert_eq!([disguised(SIGNAL, 0x7008), disguised(SIGNAL + 1, 0x7000)], [0x7008, 0x7000]);
        assert_eq!([SIGNAL + 1, 0, -1, 65].map(|signal| set(signal, wanted)), [wanted; 4]);
        hide(SIGNAL, 0);
    }
}
