//! `prctl`, `syscall` and `mlockall`: a program that gives up system calls, or the freedom of memory.
//!
//! These do what the C library's do. Before a filter of system calls (seccomp) is installed, the runtime gets what there may be no way
//! to later, and from then on asks the filter before each call of its own: see [`expect_filter`].

use core::ffi::{c_int, c_long};

use crate::control::{get_ready, is_in_file, is_ours, is_profiled, snapshot, write_snapshot};
use crate::kernel::system;
use crate::message::say;
use crate::os::{
    Errno, Expected, NO_SIGNALS, SignalSet, Wanted, can_write_files, expect, numbers, set_errno, syscall, unreserve,
};
use crate::process::exits;
use crate::samples::bins;
use crate::{mcount, ownership};

const PR_SET_SECCOMP: usize = 22;
const SECCOMP_SET_MODE_STRICT: usize = 0;
const SECCOMP_SET_MODE_FILTER: usize = 1;
const SECCOMP_FILTER_FLAG_TSYNC: usize = 1 << 0;
const SECCOMP_FILTER_FLAG_NEW_LISTENER: usize = 1 << 3;

/// `int prctl(int op, ...)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn prctl(operation: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int {
    // SAFETY: the caller's own promise.
    unsafe { special(numbers::PRCTL, operation as usize, a, b, c, d, 0) as c_int }
}

/// `int mlockall(int flags)`. What is reserved and was never used is given back before: it would all be touched.
#[unsafe(no_mangle)]
unsafe extern "C" fn mlockall(flags: c_int) -> c_int {
    // SAFETY: no pointers.
    unsafe { special(numbers::MLOCKALL, flags as usize, 0, 0, 0, 0, 0) as c_int }
}

/// Those system calls before which something is to be done, and any others.
pub(crate) unsafe extern "C" fn special(
    number: usize,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    let make = || {
        // SAFETY: the caller's own promise.
        unsafe { syscall(number, [a, b, c, d, e, f]) }
    };
    if number == numbers::MLOCKALL {
        unreserve();
    } else if is_end(number) && is_in_file() {
        // Nobody will write the arcs any more: the C library's exit is not for a thread in strict mode.
        write_snapshot();
    }
    let result = match wanted(number, a, b, c) {
        // A number that is no error is a descriptor where one was asked for, else that of a thread that cannot have the filter.
        Some((wanted, for_all)) => filtered(wanted, for_all, b & SECCOMP_FILTER_FLAG_NEW_LISTENER != 0, make),
        None => make(),
    };
    if result < 0 { failed(result) } else { result as c_long }
}

/// What the C library says of a call that the kernel refused with that number.
pub(crate) extern "C" fn failed(result: isize) -> c_long {
    set_errno(Errno(-result as c_int));
    -1
}

fn is_end(number: usize) -> bool {
    number == numbers::EXIT || number == numbers::EXIT_GROUP
}

/// Which filter a call is to install, and whether for all threads.
fn wanted(number: usize, a: usize, b: usize, c: usize) -> Option<(Wanted, bool)> {
    // prctl counts its modes from 1.
    let (mode, for_all, program) = match number {
        numbers::PRCTL if a as c_int as usize == PR_SET_SECCOMP => (b.wrapping_sub(1), false, c),
        numbers::SECCOMP => (a as u32 as usize, b & SECCOMP_FILTER_FLAG_TSYNC != 0, c),
        _ => return None,
    };
    match mode {
        SECCOMP_SET_MODE_STRICT => Some((Wanted::Strict, for_all)),
        SECCOMP_SET_MODE_FILTER => Some((Wanted::Filter(program), for_all)),
        _ => None,
    }
}

/// Has the filter installed by `make`.
fn filtered(wanted: Wanted, for_all: bool, gets_descriptor: bool, make: impl FnOnce() -> isize) -> isize {
    let Some(prepared) = expect_filter(wanted, for_all) else { return make() };
    let result = make();
    if result < 0 || (result > 0 && !gets_descriptor) {
        prepared.withdraw();
    }
    result
}

/// A filter for which everything is ready, and what is to be undone if the kernel refuses to install it.
struct Prepared {
    filter: Expected,
    /// Whether samples have been stopped.
    stopped: bool,
    /// The signals whose handlers have been taken away.
    unwatched: SignalSet,
}

/// Gets ready for a filter of system calls that the program is about to install, after which much cannot be had any more: memory is
/// reserved, what is loaded is looked at, and if the file could not be written later, the profile is moved into it now. Handlers that
/// could not do their work are taken away. From here on no call is made that the filter refuses, by a process without a profile either.
fn expect_filter(wanted: Wanted, for_all: bool) -> Option<Prepared> {
    // The child of a vfork would bind its parent, whose memory it has.
    if !is_ours() && !ownership::is_copy() {
        return None;
    }
    let filter = expect(wanted, for_all)?;
    let permits = |number, arguments| filter.permits(number, arguments);
    get_ready(for_all, can_write_files(permits));
    // Not with signals blocked: the filter may refuse to let them in again.
    let stopped = !system::can_sample(permits) && {
        snapshot::unwatch();
        system::stop_for_good(|| mcount::run_clocks(false))
    };
    if stopped && is_profiled() {
        // Behind the filter there may be no way to say anything.
        say(&[b"no samples from now on: the program's seccomp filter forbids rt_sigreturn"]);
    }
    let unwatched = if system::can_end_by_signal(permits) { NO_SIGNALS } else { exits::unwatch() };
    filter.enforce();
    Some(Prepared { filter, stopped, unwatched })
}

impl Prepared {
    /// The kernel has not installed it.
    fn withdraw(self) {
        self.filter.withdraw();
        snapshot::watch_again();
        exits::watch_again(self.unwatched);
        if self.stopped {
            system::go_on_again();
            mcount::run_clocks(bins::is_counting());
            if is_profiled() {
                say(&[b"sampling continues: the kernel refused the filter"]);
            }
        }
    }
}
