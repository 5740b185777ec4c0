//! Signal handlers of the runtime's that the program does not see: where one of them is, the program is told what it set.
//!
//! What the program set is the default action, with flags and a mask that then mean nothing, but that it may read again.
//! The kernel keeps them beside the handler. So nothing must be remembered here, one system call reads or changes all of it,
//! and neither two threads nor the child of a `vfork` can come between.

use core::ffi::c_int;

use super::hidden_handlers::{ENTRY_SIZE, entry_number, hidden, hide, is_hidden};
use super::machine::{self, numbers};
use super::signal::{
    SA_ONSTACK, SA_RESETHAND, SA_RESTART, SA_RESTORER, SA_SIGINFO, SIG_DFL, SignalAction, alternate_stack,
};
use super::{Errno, checked, signal};

/// `struct sigaction` as the C libraries have it (the kernel's differs).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) handler: usize,
    /// Of which the kernel has the first word.
    pub(crate) mask: [u64; 16],
    pub(crate) flags: u32,
    restorer: usize,
}

impl Action {
    /// An action with the first word of its mask.
    pub(crate) fn new(handler: usize, flags: u32, mask: u64) -> Action {
        let mut action = Action { handler, mask: [0; 16], flags, restorer: 0 };
        action.mask[0] = mask;
        action
    }
}

/// The program set the default action, and did not only find it.
const BY_PROGRAM: usize = 1;
/// The flags with which the program set it that the kernel has otherwise.
const FLAGS: [(usize, usize); 3] = [(2, SA_SIGINFO), (4, SA_ONSTACK), (8, SA_RESETHAND)];

/// Makes the action that the program wants to set the one to be set.
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

/// Makes the action that was found what the program set, if it is one of ours.
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
        // As the kernel has it before anybody sets it.
        flags = 0;
        found.restorer = 0;
        found.mask[0] = 0;
    }
    found.flags = flags as u32;
}

/// The handler that the program set where `handler` was found.
pub(crate) fn disguised(signal: c_int, handler: usize) -> usize {
    if is_hidden(signal, handler) { SIG_DFL } else { handler }
}

/// Takes the handler of a fatal signal away, and leaves the program's own alone. Says whether there was one, to come or to come back.
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

/// Sets an action as the C libraries do, by a system call: for programs that have no such function of theirs.
///
/// # Errors
///
/// EINVAL, no signal or one of the C library's own; EFAULT.
///
/// # Safety
///
/// `action` must be null or an action that is sound to set, `before` null or valid for writing.
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
    let wanted = wanted.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    let arguments = [signal as usize, wanted.addr(), (&raw mut found).addr(), size_of::<u64>(), 0, 0];
    // The program's own call: what the program's filters do with that is for the program to see.
    // SAFETY: the caller's promise; a set of signals is 8 bytes long.
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

    /// What the program reads after it has set `wanted`.
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
        // As it was at the start.
        let mut found = Action::new(OURS, 0x0c00_0004, 0);
        found.restorer = 77;
        disguise(SIGNAL, &mut found);
        assert_eq!(found, Action::new(SIG_DFL, 0, 0));
        // One handler for all of it, which stays.
        hide(SIGNAL, 0x7000);
        let wanted = Action::new(SIG_DFL, 4, 1);
        assert_eq!(set(SIGNAL, wanted), Action::new(0x7000, 0x1800_0004, u64::MAX));
        assert_eq!(disguised(SIGNAL, 0x7000), SIG_DFL);
        assert_eq!([disguised(SIGNAL, 0x7008), disguised(SIGNAL + 1, 0x7000)], [0x7008, 0x7000]);
        assert_eq!([SIGNAL + 1, 0, -1, 65].map(|signal| set(signal, wanted)), [wanted; 4]);
        hide(SIGNAL, 0);
    }
}
