//! The items that the runtime needs of an architecture in `os/linux/`. `tests/tests/house/architectures.rs` compiles
//! this file; nothing runs it.
#![allow(unused_variables, clippy::all)]

use core::ffi::c_void;

pub(crate) mod numbers {
    pub(crate) const CAPGET: usize = 0;
    pub(crate) const CHROOT: usize = 1;
    pub(crate) const CLOCK_GETRES: usize = 2;
    pub(crate) const CLOCK_GETTIME: usize = 3;
    pub(crate) const CLOSE: usize = 4;
    pub(crate) const EXIT: usize = 5;
    pub(crate) const EXIT_GROUP: usize = 6;
    pub(crate) const FALLOCATE: usize = 7;
    pub(crate) const FCNTL: usize = 8;
    pub(crate) const FLOCK: usize = 9;
    pub(crate) const FSTAT: usize = 10;
    pub(crate) const FTRUNCATE: usize = 11;
    pub(crate) const GETCWD: usize = 12;
    pub(crate) const GETEUID: usize = 13;
    pub(crate) const GETITIMER: usize = 14;
    pub(crate) const GETPID: usize = 15;
    pub(crate) const GETTID: usize = 16;
    pub(crate) const LANDLOCK_RESTRICT_SELF: usize = 17;
    pub(crate) const LSEEK: usize = 18;
    pub(crate) const MADVISE: usize = 19;
    pub(crate) const MLOCKALL: usize = 20;
    pub(crate) const MMAP: usize = 21;
    pub(crate) const MUNMAP: usize = 22;
    pub(crate) const MEMBARRIER: usize = 322;
    pub(crate) const MPROTECT: usize = 323;
    pub(crate) const NANOSLEEP: usize = 23;
    pub(crate) const NEWFSTATAT: usize = 24;
    pub(crate) const OPENAT: usize = 25;
    pub(crate) const PERF_EVENT_OPEN: usize = 26;
    pub(crate) const PIVOT_ROOT: usize = 27;
    pub(crate) const PPOLL: usize = 28;
    pub(crate) const PRCTL: usize = 29;
    pub(crate) const PREAD: usize = 30;
    pub(crate) const PRLIMIT: usize = 31;
    pub(crate) const PROCESS_VM_READV: usize = 32;
    pub(crate) const PWRITE: usize = 33;
    pub(crate) const READ: usize = 34;
    pub(crate) const READLINKAT: usize = 35;
    pub(crate) const RENAMEAT: usize = 36;
    pub(crate) const RT_SIGACTION: usize = 37;
    pub(crate) const RT_SIGPENDING: usize = 38;
    pub(crate) const RT_SIGPROCMASK: usize = 39;
    pub(crate) const RT_SIGRETURN: usize = 40;
    pub(crate) const RT_SIGTIMEDWAIT: usize = 41;
    pub(crate) const RT_TGSIGQUEUEINFO: usize = 42;
    pub(crate) const SCHED_YIELD: usize = 43;
    pub(crate) const SECCOMP: usize = 44;
    pub(crate) const SETITIMER: usize = 45;
    pub(crate) const SETNS: usize = 46;
    pub(crate) const SETRESUID: usize = 59;
    pub(crate) const SETREUID: usize = 60;
    pub(crate) const SETUID: usize = 61;
    pub(crate) const SIGALTSTACK: usize = 47;
    pub(crate) const STATX: usize = 48;
    pub(crate) const TGKILL: usize = 49;
    pub(crate) const TIMER_CREATE: usize = 50;
    pub(crate) const TIMER_DELETE: usize = 51;
    pub(crate) const TIMER_GETTIME: usize = 52;
    pub(crate) const TIMER_SETTIME: usize = 53;
    pub(crate) const UMASK: usize = 54;
    pub(crate) const UNAME: usize = 55;
    pub(crate) const UNLINKAT: usize = 56;
    pub(crate) const UNSHARE: usize = 57;
    pub(crate) const WRITE: usize = 58;
}

pub(crate) const AUDIT_MACHINE: u32 = 1;

#[repr(C)]
pub(crate) struct Stat {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) mode: u32,
    links: u32,
    pub(crate) owner: u32,
    pub(crate) size: u64,
}

impl Stat {
    pub(crate) fn links(&self) -> u32 {
        self.links
    }
}

pub(crate) const PERF_ONLY_PROGRAM_COUNTER: u64 = 1;
pub(crate) const PERF_REGISTERS: u64 = 0b111;
pub(crate) const PERF_ORDER: &[u8] = &[0, 1, 2];
pub(crate) const PERF_STACK_POINTER: usize = 1;
pub(crate) const PERF_PROGRAM_COUNTER: usize = 2;

pub(crate) const O_DIRECTORY: usize = 1 << 16;
pub(crate) const O_NOFOLLOW: usize = 1 << 17;

pub(crate) mod profil_numbers {
    pub(crate) const FUTEX: usize = 101;
    pub(crate) const PROCESS_VM_WRITEV: usize = 102;
}

pub(crate) unsafe fn syscall(number: usize, arguments: [usize; 6]) -> isize {
    loop {}
}

pub(crate) unsafe extern "C" fn signal_return() {}

pub const SIGNAL_TRAMPOLINE: &[u8] = &[1, 2, 3, 4];
pub const SIGNAL_TRAMPOLINE_CALL: usize = 0;
pub const CONTEXT_ABOVE_STACK: usize = 128;
pub const CONTEXT_REGISTERS: &[u16] = &[8, 16, CONTEXT_PC];
pub const CONTEXT_PC: u16 = 24;

pub unsafe fn interrupted_pc(context: *const c_void) -> usize {
    loop {}
}

pub(crate) fn is_signal_frame(info: usize, context: usize) -> bool {
    false
}

pub(crate) unsafe fn blocked_on_return(context: *mut c_void) -> *mut u64 {
    context.cast()
}
