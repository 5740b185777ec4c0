//! Asks the kernel whether memory can be read.

use super::call::call;
use super::{Errno, numbers};
use crate::arch::is_in_valgrind;

/// No way to change a signal mask (`asm-generic/signal-defs.h` has 0 to 2).
const UNKNOWN: usize = usize::MAX;

/// Whether the eight bytes at an address can be read now. Async-signal-safe.
///
/// rt_sigprocmask reads the set of signals before it refuses an unknown way to change the mask. So the kernel reports
/// EFAULT for memory that cannot be read and EINVAL for other memory, and changes nothing. If a filter of the program
/// refuses the call, no memory counts as readable. Neither does any under valgrind, which would report the question, and walks
/// through uninitialized memory, as errors of the program.
#[must_use]
pub fn is_readable(address: usize) -> bool {
    if is_in_valgrind() {
        return false;
    }
    // SAFETY: the kernel reads a set of 8 bytes, if it can, and writes nothing.
    let asked = unsafe { call(numbers::RT_SIGPROCMASK, [UNKNOWN, address, 0, size_of::<u64>()]) };
    asked == Err(Errno::EINVAL)
}
