//! `prctl`, `syscall` and `mlockall`, by which a program installs a seccomp filter or locks its memory, and the
//! functions by which a program gives up the means to write files.
//!
//! The functions do what the C library's do. Before a seccomp filter is installed, the runtime gets what it may need
//! later; from then on it asks the filter before each system call of its own: see [`expect_filter`].

use core::ffi::{c_int, c_long};

use crate::control::{calls, get_ready, hold, hold_files, is_in_file, is_ours, is_profiled, snapshot, write_snapshot};
use crate::kernel::system;
use crate::message::say;
use crate::os::{
    Errno, Expected, NO_SIGNALS, RLIMIT_AS, SignalSet, Wanted, are_few_descriptors, can_write_files, expect, numbers,
    remember_mask, set_errno, syscall, unreserve,
};
use crate::process::exits;
use crate::samples::bins;
use crate::state::Inherited;
use crate::{mcount, ownership};

const PR_SET_SECCOMP: usize = 22;
const SECCOMP_SET_MODE_STRICT: usize = 0;
const SECCOMP_SET_MODE_FILTER: usize = 1;
const SECCOMP_FILTER_FLAG_TSYNC: usize = 1 << 0;
const SECCOMP_FILTER_FLAG_NEW_LISTENER: usize = 1 << 3;

/// `int prctl(int op, ...)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn prctl(operation: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { special(numbers::PRCTL, operation as usize, a, b, c, d, 0) as c_int }
}

/// `int mlockall(int flags)`. Unused reserved memory is unmapped first, because the kernel would touch all of it.
#[unsafe(no_mangle)]
unsafe extern "C" fn mlockall(flags: c_int) -> c_int {
    // SAFETY: no pointers.
    unsafe { special(numbers::MLOCKALL, flags as usize, 0, 0, 0, 0, 0) as c_int }
}

/// As [`special`], for the functions of calls with at most four arguments.
pub(crate) unsafe extern "C" fn make(a: usize, b: usize, c: usize, d: usize, number: usize) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { special(number, a, b, c, d, 0, 0) as c_int }
}

/// Opens what the process may not be able to open after a call.
fn prepare_for_loss(number: usize, b: usize, c: usize) {
    match number {
        numbers::LANDLOCK_RESTRICT_SELF => hold(true),
        numbers::PRLIMIT if are_few_descriptors(b, c) => hold(true),
        // The list of the objects needs memory.
        numbers::PRLIMIT if b == RLIMIT_AS && c != 0 => hold(false),
        numbers::CHROOT | numbers::PIVOT_ROOT | numbers::SETNS | numbers::UNSHARE => hold(false),
        // The start-up objects have opened the files at the start.
        numbers::SETUID | numbers::SETREUID | numbers::SETRESUID if cfg!(feature = "preload") && is_ours() => {
            hold_files();
        }
        _ => {}
    }
}

/// Makes a system call, after what must be done before some calls.
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
        // SAFETY: the caller's promise.
        unsafe { syscall(number, [a, b, c, d, e, f]) }
    };
    prepare_for_loss(number, b, c);
    if number == numbers::MLOCKALL {
        unreserve();
    } else if is_end(number) && is_in_file() {
        // Nobody writes the arcs later: a thread in strict mode cannot use the C library's exit.
        write_snapshot();
    }
    let result = match wanted(number, a, b, c) {
        // A positive result is a descriptor if the call asked for one, or the number of a thread that cannot have the
        // filter.
        Some((wanted, for_all)) => filtered(wanted, for_all, b & SECCOMP_FILTER_FLAG_NEW_LISTENER != 0, make),
        None => make(),
    };
    if number == numbers::UMASK {
        remember_mask(result as usize);
    }
    if result < 0 { failed(result) } else { result as c_long }
}

/// The end of the numbers in [`SPECIAL`].
pub(crate) const NUMBERS: usize = 64 * SPECIAL_WORDS;
const SPECIAL_WORDS: usize = 8;

/// The numbers of the calls for which `syscall` calls [`special`], as a bit set.
#[allow(clippy::indexing_slicing, reason = "the compiler evaluates this")]
pub(crate) static SPECIAL: Inherited<[u64; SPECIAL_WORDS]> = Inherited::new("never changes", {
    use numbers::{
        CHROOT, EXIT, EXIT_GROUP, LANDLOCK_RESTRICT_SELF, MLOCKALL, PIVOT_ROOT, PRCTL, PRLIMIT, SECCOMP, SETNS,
        SETRESUID, SETREUID, SETUID, UMASK, UNSHARE,
    };
    let all = [
        CHROOT,
        EXIT,
        EXIT_GROUP,
        LANDLOCK_RESTRICT_SELF,
        MLOCKALL,
        PIVOT_ROOT,
        PRCTL,
        PRLIMIT,
        SECCOMP,
        SETNS,
        SETRESUID,
        SETREUID,
        SETUID,
        UMASK,
        UNSHARE,
    ];
    let mut words = [0; SPECIAL_WORDS];
    let mut index = 0;
    while index < all.len() {
        words[all[index] / 64] |= 1 << (all[index] % 64);
        index += 1;
    }
    words
});

/// Sets `errno` for a failed call as the C library does, and returns -1.
pub(crate) extern "C" fn failed(result: isize) -> c_long {
    set_errno(Errno(-result as c_int));
    -1
}

fn is_end(number: usize) -> bool {
    number == numbers::EXIT || number == numbers::EXIT_GROUP
}

/// The filter that a call is to install, and whether the filter is for all threads.
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

/// Installs the filter by `make`.
fn filtered(wanted: Wanted, for_all: bool, gets_descriptor: bool, make: impl FnOnce() -> isize) -> isize {
    let Some(prepared) = expect_filter(wanted, for_all) else { return make() };
    let result = make();
    if result < 0 || (result > 0 && !gets_descriptor) {
        prepared.withdraw();
    }
    result
}

/// A filter for which everything is prepared, and what must be undone if the kernel refuses the filter.
struct Prepared {
    filter: Expected,
    /// Whether samples were stopped.
    stopped: bool,
    /// The signals whose handlers were removed.
    unwatched: SignalSet,
}

/// Prepares for a seccomp filter that the program is about to install: reserves memory, reads the list of loaded
/// objects, and moves the profile into the file if the file could not be written later. Removes handlers that could
/// not work behind the filter. From here on no system call that the filter refuses is made, also by a process without
/// a profile.
fn expect_filter(wanted: Wanted, for_all: bool) -> Option<Prepared> {
    // The filter of a vfork child would bind the record of its parent's thread.
    if !is_ours() && !ownership::is_copy() {
        return None;
    }
    let filter = expect(wanted, for_all)?;
    let permits = |number, arguments| filter.permits(number, arguments);
    get_ready(for_all, can_write_files(permits));
    // Signals must not be blocked here: the filter may refuse to unblock them.
    let stopped = !system::can_sample(permits) && {
        snapshot::unwatch();
        calls::unwatch();
        system::stop_for_good(|| mcount::run_clocks(false))
    };
    if stopped && is_profiled() {
        // Behind the filter the runtime may be unable to write a line.
        say(&[b"no samples from now on: the program's seccomp filter forbids rt_sigreturn"]);
    }
    let unwatched = if system::can_end_by_signal(permits) { NO_SIGNALS } else { exits::unwatch() };
    filter.enforce();
    Some(Prepared { filter, stopped, unwatched })
}

impl Prepared {
    /// Undoes the preparation after the kernel refused the filter.
    fn withdraw(self) {
        self.filter.withdraw();
        snapshot::watch_again();
        calls::watch_again();
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
