//! The system calls of FreeBSD 14 and 15: the numbers, and whether capability mode allows each call.

use super::{capabilities, clocks, files, jail, processes, signals, sysctl, threads};
use crate::calls::{descriptor_calls as descriptors, exec, fork, mapping, paths, process_calls, timers};
use crate::kernel::{Allowed, Handler, SystemCall};

/// A call that capability mode allows.
const fn free(number: u64, name: &'static str, handler: Handler) -> SystemCall {
    SystemCall { number, name, handler, allowed: Allowed::Always }
}

/// A call that capability mode refuses.
const fn shut(number: u64, name: &'static str, handler: Handler) -> SystemCall {
    SystemCall { number, name, handler, allowed: Allowed::Never }
}

/// All calls that this kernel serves, with the source file that has the rules of each call: files of `sys/kern`, except
/// `vm_mmap.c` of `sys/vm`, and `sys_machdep.c` and `exec_machdep.c` of `sys/amd64/amd64`. A rule that has a source of
/// its own names the source beside it.
///
/// Source: sys/kern/syscalls.master, sys/sys/syscall.h. Seen on FreeBSD 15.1 (amd64): the calls that the runtime and
/// libc make in a profiled program with threads, forks and signals; not the errors of the calls, and not capability
/// mode.
pub(super) static CALLS: &[SystemCall] = &[
    free(1, "exit", process_calls::exit),                                // kern_exit.c
    free(2, "fork", |kernel, id, _| fork::call(kernel, id, fork::FORK)), // kern_fork.c
    free(3, "read", descriptors::read),                                  // sys_generic.c
    free(4, "write", descriptors::write_bytes),                          // sys_generic.c
    shut(5, "open", files::open),                                        // vfs_syscalls.c
    free(6, "close", descriptors::close),                                // kern_descrip.c
    shut(7, "wait4", process_calls::wait4),                              // kern_exit.c
    shut(10, "unlink", files::unlink),                                   // vfs_syscalls.c
    shut(12, "chdir", paths::change_directory),                          // vfs_syscalls.c
    shut(13, "fchdir", paths::change_directory_to),                      // vfs_syscalls.c
    free(20, "getpid", process_calls::getpid),                           // kern_prot.c
    free(24, "getuid", process_calls::identity),                         // kern_prot.c
    free(25, "geteuid", process_calls::identity),                        // kern_prot.c
    free(37, "kill", capabilities::kill),                                // kern_sig.c
    free(39, "getppid", process_calls::getppid),                         // kern_prot.c
    free(41, "dup", descriptors::dup),                                   // kern_descrip.c
    free(43, "getegid", process_calls::identity),                        // kern_prot.c
    free(44, "profil", clocks::profil),                                  // subr_prof.c
    free(47, "getgid", process_calls::identity),                         // kern_prot.c
    free(53, "sigaltstack", signals::sigaltstack),                       // kern_sig.c
    shut(59, "execve", exec::call),                                      // kern_exec.c
    shut(61, "chroot", jail::change_root),                               // vfs_syscalls.c
    free(60, "umask", process_calls::umask),                             // vfs_syscalls.c
    shut(66, "vfork", |kernel, id, _| fork::call(kernel, id, fork::VFORK)), // kern_fork.c
    free(73, "munmap", mapping::unmap),                                  // vm_mmap.c
    free(74, "mprotect", mapping::protect),                              // vm_mmap.c
    free(75, "madvise", mapping::advise),                                // vm_mmap.c
    free(83, "setitimer", timers::setitimer),                            // kern_time.c
    free(86, "getitimer", timers::getitimer),                            // kern_time.c
    free(90, "dup2", descriptors::dup2),                                 // kern_descrip.c
    free(92, "fcntl", files::control),                                   // kern_descrip.c
    free(116, "gettimeofday", timers::gettimeofday),                     // kern_time.c
    free(121, "writev", descriptors::writev),                            // sys_generic.c
    shut(128, "rename", files::rename),                                  // vfs_syscalls.c
    free(131, "flock", descriptors::lock),                               // kern_descrip.c
    shut(136, "mkdir", files::make_directory),                           // vfs_syscalls.c
    free(147, "setsid", process_calls::getpid),                          // kern_prot.c
    free(165, "sysarch", threads::sysarch),                              // sys_machdep.c
    free(194, "getrlimit", process_calls::getrlimit),                    // kern_resource.c
    free(195, "setrlimit", process_calls::setrlimit),                    // kern_resource.c
    free(202, "__sysctl", sysctl::by_numbers),                           // kern_sysctl.c
    free(209, "poll", descriptors::poll),                                // sys_generic.c
    free(232, "clock_gettime", clocks::clock_gettime),                   // kern_time.c
    free(235, "ktimer_create", clocks::timer_create),                    // kern_time.c
    free(236, "ktimer_delete", clocks::timer_delete),                    // kern_time.c
    free(237, "ktimer_settime", clocks::timer_settime),                  // kern_time.c
    free(240, "nanosleep", timers::nanosleep),                           // kern_time.c
    free(250, "minherit", mapping::inherit),                             // vm_mmap.c
    shut(251, "rfork", processes::rfork),                                // kern_fork.c
    free(253, "issetugid", process_calls::issetugid),                    // kern_prot.c
    free(331, "sched_yield", process_calls::yields),                     // p1003_1b.c
    free(340, "sigprocmask", signals::sigprocmask),                      // kern_sig.c
    free(341, "sigsuspend", signals::sigsuspend),                        // kern_sig.c
    free(343, "sigpending", signals::sigpending),                        // kern_sig.c
    free(345, "sigtimedwait", signals::sigtimedwait),                    // kern_sig.c
    free(416, "sigaction", signals::sigaction),                          // kern_sig.c
    free(417, "sigreturn", signals::sigreturn),                          // exec_machdep.c
    free(429, "sigwait", signals::sigwait),                              // kern_sig.c
    free(431, "thr_exit", threads::exit),                                // kern_thr.c
    free(432, "thr_self", threads::own_id),                              // kern_thr.c
    free(433, "thr_kill", threads::kill),                                // kern_thr.c
    free(454, "_umtx_op", threads::umtx),                                // kern_umtx.c
    free(455, "thr_new", threads::create),                               // kern_thr.c
    free(464, "thr_set_name", process_calls::yields),                    // kern_thr.c
    free(475, "pread", descriptors::pread),                              // sys_generic.c
    free(476, "pwrite", descriptors::pwrite),                            // sys_generic.c
    free(477, "mmap", files::map),                                       // vm_mmap.c
    free(478, "lseek", descriptors::lseek),                              // vfs_syscalls.c
    free(480, "ftruncate", descriptors::truncate),                       // sys_generic.c
    free(492, "fexecve", exec::by_descriptor),                           // kern_exec.c
    free(496, "mkdirat", files::make_directory_at),                      // vfs_syscalls.c
    free(499, "openat", files::open_at),                                 // vfs_syscalls.c
    free(501, "renameat", files::rename_at),                             // vfs_syscalls.c
    free(503, "unlinkat", files::unlink_at),                             // vfs_syscalls.c
    free(516, "cap_enter", capabilities::enter),                         // sys_capability.c
    free(517, "cap_getmode", capabilities::mode),                        // sys_capability.c
    free(518, "pdfork", processes::pdfork),                              // kern_fork.c
    free(520, "pdgetpid", processes::pdgetpid),                          // sys_procdesc.c
    free(530, "posix_fallocate", files::allocate),                       // sys_generic.c
    free(542, "pipe2", descriptors::pipe2),                              // sys_pipe.c
    free(551, "fstat", files::fstat),                                    // kern_descrip.c
    free(552, "fstatat", files::fstatat),                                // vfs_syscalls.c
    free(570, "__sysctlbyname", sysctl::by_name),                        // kern_sysctl.c
    free(575, "close_range", descriptors::close_range),                  // kern_descrip.c
    shut(600, "pdrfork", processes::pdrfork),                            // kern_fork.c
];
