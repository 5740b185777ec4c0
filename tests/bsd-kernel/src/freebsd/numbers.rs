//! The system calls of FreeBSD 14 and 15: the numbers, and whether capability mode allows each call.

use super::{capabilities, clocks, files, processes, signals, sysctl, threads};
use crate::calls::{descriptor_calls as descriptors, exec, fork, mapping, paths, process_calls, signal_calls, timers};
use crate::kernel::{Allowed, Handler, SystemCall};

/// A call that capability mode allows.
const fn free(number: u64, name: &'static str, handler: Handler) -> SystemCall {
    SystemCall { number, name, handler, allowed: Allowed::Always }
}

/// A call that capability mode refuses.
const fn shut(number: u64, name: &'static str, handler: Handler) -> SystemCall {
    SystemCall { number, name, handler, allowed: Allowed::Never }
}

/// All calls that this kernel serves.
pub(super) static CALLS: &[SystemCall] = &[
    free(1, "exit", process_calls::exit),
    free(2, "fork", |kernel, id, _| fork::call(kernel, id, fork::FORK)),
    free(3, "read", descriptors::read),
    free(4, "write", descriptors::write_bytes),
    shut(5, "open", files::open),
    free(6, "close", descriptors::close),
    shut(7, "wait4", process_calls::wait4),
    shut(10, "unlink", files::unlink),
    shut(12, "chdir", paths::change_directory),
    shut(13, "fchdir", paths::change_directory_to),
    free(20, "getpid", process_calls::getpid),
    free(24, "getuid", process_calls::identity),
    free(25, "geteuid", process_calls::identity),
    free(37, "kill", capabilities::kill),
    free(39, "getppid", process_calls::getppid),
    free(41, "dup", descriptors::dup),
    free(43, "getegid", process_calls::identity),
    free(44, "profil", clocks::profil),
    free(47, "getgid", process_calls::identity),
    free(53, "sigaltstack", |kernel, id, arguments| {
        signal_calls::alternate_stack(kernel, id, arguments, 2048, |_, _, _| Ok(()))
    }),
    shut(59, "execve", exec::call),
    shut(61, "chroot", paths::change_root),
    free(60, "umask", process_calls::umask),
    shut(66, "vfork", |kernel, id, _| fork::call(kernel, id, fork::VFORK)),
    free(73, "munmap", mapping::unmap),
    free(74, "mprotect", mapping::protect),
    free(75, "madvise", mapping::advise),
    free(83, "setitimer", timers::setitimer),
    free(86, "getitimer", timers::getitimer),
    free(90, "dup2", descriptors::dup2),
    free(92, "fcntl", files::control),
    free(116, "gettimeofday", timers::gettimeofday),
    free(121, "writev", descriptors::writev),
    shut(128, "rename", files::rename),
    free(131, "flock", descriptors::lock),
    shut(136, "mkdir", files::make_directory),
    free(147, "setsid", process_calls::getpid),
    free(165, "sysarch", threads::sysarch),
    free(194, "getrlimit", process_calls::getrlimit),
    free(195, "setrlimit", process_calls::setrlimit),
    free(202, "__sysctl", sysctl::by_numbers),
    free(209, "poll", descriptors::poll),
    free(232, "clock_gettime", clocks::clock_gettime),
    free(235, "ktimer_create", clocks::timer_create),
    free(236, "ktimer_delete", clocks::timer_delete),
    free(237, "ktimer_settime", clocks::timer_settime),
    free(240, "nanosleep", timers::nanosleep),
    free(250, "minherit", mapping::inherit),
    shut(251, "rfork", processes::rfork),
    free(253, "issetugid", process_calls::issetugid),
    free(331, "sched_yield", process_calls::yields),
    free(340, "sigprocmask", signals::sigprocmask),
    free(341, "sigsuspend", signals::sigsuspend),
    free(343, "sigpending", signals::sigpending),
    free(345, "sigtimedwait", signals::sigtimedwait),
    free(416, "sigaction", signals::sigaction),
    free(417, "sigreturn", signals::sigreturn),
    free(429, "sigwait", signals::sigwait),
    free(431, "thr_exit", threads::exit),
    free(432, "thr_self", threads::own_id),
    free(433, "thr_kill", threads::kill),
    free(454, "_umtx_op", threads::umtx),
    free(455, "thr_new", threads::create),
    free(464, "thr_set_name", process_calls::yields),
    free(475, "pread", descriptors::pread),
    free(476, "pwrite", descriptors::pwrite),
    free(477, "mmap", files::map),
    free(478, "lseek", descriptors::lseek),
    free(480, "ftruncate", descriptors::truncate),
    free(492, "fexecve", exec::by_descriptor),
    free(496, "mkdirat", files::make_directory_at),
    free(499, "openat", files::open_at),
    free(501, "renameat", files::rename_at),
    free(503, "unlinkat", files::unlink_at),
    free(516, "cap_enter", capabilities::enter),
    free(517, "cap_getmode", capabilities::mode),
    free(518, "pdfork", fork::with_descriptor),
    free(520, "pdgetpid", processes::pdgetpid),
    free(530, "posix_fallocate", files::allocate),
    free(542, "pipe2", descriptors::pipe2),
    free(551, "fstat", files::fstat),
    free(552, "fstatat", files::fstatat),
    free(570, "__sysctlbyname", sysctl::by_name),
    free(575, "close_range", descriptors::close_range),
];
