//! Asks the kernel whether memory can be read.

use super::call::call;
use super::{Errno, SIG_BLOCK, numbers};
use crate::arch;

/// No way to change a signal mask (`asm-generic/signal-defs.h` has 0 to 2).
const UNKNOWN: usize = usize::MAX;
/// An address that no program can read: the end of the address space belongs to the kernel.
const NOT_OURS: usize = usize::MAX & !(size_of::<u64>() - 1);

/// Whether the eight bytes at an address can be read now. Async-signal-safe.
///
/// rt_sigprocmask reads the set of signals before it refuses an unknown way to change the mask. So the kernel reports
/// EFAULT for memory that cannot be read and EINVAL for other memory, and changes nothing.
///
/// A filter of system calls may answer in place of the kernel, with any error. So EINVAL counts only if the kernel
/// afterwards reports EFAULT for memory that is not the program's. A filter that another thread installs between the
/// two questions answers the second one too, because filters stay.
///
/// valgrind reports each such question as an error of the program. There no memory counts as readable.
#[must_use]
pub fn is_readable(address: usize) -> bool {
    !arch::is_in_valgrind() && answer(address) == Errno::EINVAL && answer(NOT_OURS) == Errno::EFAULT
}

/// Does the same as [`is_readable`], in a signal handler. Async-signal-safe.
///
/// [`is_readable`] makes the kernel fail once at each call, which takes as long as a walk through all frames of a usual
/// stack. In a handler one call is enough, which succeeds: the kernel reads the word as a set of signals to block, and
/// writes the set of signals that were blocked before. A filter cannot write. The handler of the samples blocks all
/// signals, so nothing changes; and when any handler returns, the kernel blocks what was blocked before the handler.
#[must_use]
pub fn is_readable_in_handler(address: usize) -> bool {
    /// With SIGKILL, which is never blocked.
    const NO_ANSWER: u64 = u64::MAX;
    if address == 0 || arch::is_in_valgrind() {
        return false;
    }
    let mut blocked_before = NO_ANSWER;
    let old = (&raw mut blocked_before).expose_provenance();
    // SAFETY: the kernel reads a set of 8 bytes, if it can, and writes the 8 bytes of a local variable.
    let asked = unsafe { call(numbers::RT_SIGPROCMASK, [SIG_BLOCK, address, old, size_of::<u64>()]) };
    asked.is_ok() && blocked_before != NO_ANSWER
}

/// The error that the kernel, or a filter, reports for an address.
fn answer(address: usize) -> Errno {
    // SAFETY: the kernel reads a set of 8 bytes, if it can, and writes nothing.
    let asked = unsafe { call(numbers::RT_SIGPROCMASK, [UNKNOWN, address, 0, size_of::<u64>()]) };
    // A filter may also answer that the call succeeded.
    asked.err().unwrap_or(Errno(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::{block_signals, set_blocked_signals};

    #[test]
    fn memory_is_readable_if_the_kernel_can_tell() {
        let word = 7_u64;
        assert!(is_readable((&raw const word).addr()));
        assert!(!is_readable(0) && !is_readable(8) && !is_readable(NOT_OURS));
        assert_eq!(answer(NOT_OURS), Errno::EFAULT);
    }

    #[test]
    fn in_a_handler_one_call_tells() {
        let word = 7_u64;
        let blocked = block_signals();
        assert!(is_readable_in_handler((&raw const word).addr()));
        assert!([0, 8, NOT_OURS].into_iter().all(|address| !is_readable_in_handler(address)));
        set_blocked_signals(blocked);
    }
}
