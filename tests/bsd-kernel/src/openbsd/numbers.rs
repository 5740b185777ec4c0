//! The system calls of OpenBSD 7.8: the numbers, and the promises of pledge(2) that allow each call.
//!
//! The numbers are from `sys/syscall.h` 1.283 (2025-05-24), the promises from `kern/kern_pledge.c`, August 2025. Not
//! seen on a real kernel.

use super::{files, pledge, profil, signals, sysctl, threads, unveil};
use crate::calls::{descriptor_calls as descriptors, exec, fork, mapping, paths, process_calls, signal_calls, timers};
use crate::kernel::{Allowed, Handler, SystemCall};

/// A call that any of the given promises allows.
const fn with(number: u64, name: &'static str, promises: &'static [&'static str], handler: Handler) -> SystemCall {
    SystemCall { number, name, handler, allowed: Allowed::With(promises) }
}

/// A call that the promise "stdio" allows.
const fn stdio(number: u64, name: &'static str, handler: Handler) -> SystemCall {
    with(number, name, &["stdio"], handler)
}

/// A call that is always allowed.
const fn free(number: u64, name: &'static str, handler: Handler) -> SystemCall {
    SystemCall { number, name, handler, allowed: Allowed::Always }
}

/// vfork is fork, except that the parent sleeps until the child executes a program or ends: the child has a copy of the
/// memory (`kern/kern_fork.c`, read in November 2026; not seen on a real kernel).
const VFORK: fork::Copy = fork::Copy { waits: true, ..fork::FORK };

const PATHS: &[&str] = &["rpath", "wpath", "cpath"];

/// All calls that this kernel serves.
pub(super) static CALLS: &[SystemCall] = &[
    free(1, "exit", process_calls::exit),
    with(2, "fork", &["proc"], |kernel, id, _| fork::call(kernel, id, fork::FORK)),
    stdio(3, "read", descriptors::read),
    stdio(4, "write", files::write),
    with(5, "open", PATHS, files::open),
    stdio(6, "close", descriptors::close),
    stdio(8, "__tfork", threads::create),
    with(10, "unlink", &["cpath"], files::unlink),
    stdio(11, "wait4", process_calls::wait4),
    with(12, "chdir", &["rpath"], paths::change_directory),
    with(13, "fchdir", &["stdio"], paths::change_directory_to),
    stdio(20, "getpid", process_calls::getpid),
    stdio(24, "getuid", process_calls::identity),
    stdio(25, "geteuid", process_calls::identity),
    stdio(39, "getppid", process_calls::getppid),
    stdio(41, "dup", descriptors::dup),
    with(42, "fstatat", &["rpath"], files::fstatat),
    stdio(46, "sigaction", signals::sigaction),
    stdio(48, "sigprocmask", signals::sigprocmask),
    stdio(49, "mmap", files::map),
    stdio(52, "sigpending", signals::sigpending),
    stdio(53, "fstat", files::fstat),
    with(59, "execve", &["exec"], exec::call),
    stdio(60, "umask", process_calls::umask),
    with(61, "chroot", &["id"], paths::change_root),
    with(66, "vfork", &["proc"], |kernel, id, _| fork::call(kernel, id, VFORK)),
    stdio(69, "setitimer", timers::setitimer),
    stdio(70, "getitimer", timers::getitimer),
    stdio(73, "munmap", files::unmap),
    stdio(74, "mprotect", files::protect),
    stdio(75, "madvise", mapping::advise),
    stdio(83, "futex", threads::futex),
    stdio(87, "clock_gettime", sysctl::clock_gettime),
    stdio(90, "dup2", descriptors::dup2),
    stdio(91, "nanosleep", timers::nanosleep),
    stdio(92, "fcntl", files::control),
    stdio(101, "pipe2", descriptors::pipe2),
    free(103, "sigreturn", signals::sigreturn),
    free(108, "pledge", pledge::call),
    stdio(111, "sigsuspend", signals::sigsuspend),
    with(114, "unveil", &["unveil"], unveil::call),
    stdio(119, "thrkill", signals::thrkill),
    stdio(121, "writev", descriptors::writev),
    with(122, "kill", &["proc", "stdio"], signal_calls::kill),
    stdio(131, "flock", descriptors::lock),
    stdio(159, "mimmutable", files::make_immutable),
    stdio(166, "lseek", descriptors::lseek),
    stdio(168, "ftruncate", descriptors::truncate),
    stdio(169, "pread", descriptors::pread),
    stdio(170, "pwrite", descriptors::pwrite),
    stdio(175, "profil", profil::call),
    stdio(194, "getrlimit", process_calls::getrlimit),
    with(195, "setrlimit", &["proc"], process_calls::setrlimit),
    stdio(202, "sysctl", sysctl::call),
    stdio(250, "minherit", mapping::inherit),
    stdio(252, "poll", descriptors::poll),
    stdio(253, "issetugid", process_calls::issetugid),
    with(282, "setresuid", &["id"], process_calls::set_user),
    stdio(288, "sigaltstack", signals::sigaltstack),
    stdio(298, "sched_yield", process_calls::yields),
    stdio(299, "getthrid", threads::own_id),
    stdio(302, "__threxit", threads::exit),
    with(321, "openat", PATHS, files::open_at),
    with(323, "renameat", &["cpath"], files::rename_at),
    with(325, "unlinkat", &["cpath"], files::unlink_at),
    stdio(329, "__set_tcb", threads::set_tcb),
    stdio(330, "__get_tcb", threads::get_tcb),
];
