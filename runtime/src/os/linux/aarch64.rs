//! Linux on AArch64: raw system calls, and the kernel's memory layouts.

use core::arch::{asm, naked_asm};
use core::ffi::c_void;

/// The numbers of the system calls that the runtime makes (`asm-generic/unistd.h`).
pub(crate) mod numbers {
    pub(crate) const READ: usize = 63;
    pub(crate) const WRITE: usize = 64;
    pub(crate) const CLOSE: usize = 57;
    pub(crate) const MMAP: usize = 222;
    pub(crate) const PREAD: usize = 67;
    pub(crate) const PWRITE: usize = 68;
    pub(crate) const RT_SIGRETURN: usize = 139;
    pub(crate) const EXIT: usize = 93;
    pub(crate) const MLOCKALL: usize = 230;
    pub(crate) const PRCTL: usize = 167;
    pub(crate) const PROCESS_VM_READV: usize = 270;
    pub(crate) const CAPGET: usize = 90;
    pub(crate) const SECCOMP: usize = 277;
    pub(crate) const NANOSLEEP: usize = 101;
    pub(crate) const MUNMAP: usize = 215;
    pub(crate) const MPROTECT: usize = 226;
    pub(crate) const MEMBARRIER: usize = 283;
    pub(crate) const SIGALTSTACK: usize = 132;
    pub(crate) const RT_SIGACTION: usize = 134;
    pub(crate) const RT_SIGPROCMASK: usize = 135;
    pub(crate) const MADVISE: usize = 233;
    pub(crate) const GETITIMER: usize = 102;
    pub(crate) const SETITIMER: usize = 103;
    pub(crate) const GETPID: usize = 172;
    pub(crate) const UNAME: usize = 160;
    pub(crate) const FCNTL: usize = 25;
    pub(crate) const FTRUNCATE: usize = 46;
    pub(crate) const GETEUID: usize = 175;
    pub(crate) const GETTID: usize = 178;
    pub(crate) const TIMER_CREATE: usize = 107;
    pub(crate) const TIMER_SETTIME: usize = 110;
    pub(crate) const TIMER_GETTIME: usize = 108;
    pub(crate) const TIMER_DELETE: usize = 111;
    pub(crate) const CLOCK_GETTIME: usize = 113;
    pub(crate) const CLOCK_GETRES: usize = 114;
    pub(crate) const EXIT_GROUP: usize = 94;
    pub(crate) const TGKILL: usize = 131;
    pub(crate) const RT_TGSIGQUEUEINFO: usize = 240;
    pub(crate) const OPENAT: usize = 56;
    pub(crate) const UNLINKAT: usize = 35;
    pub(crate) const RENAMEAT: usize = 38;
    pub(crate) const READLINKAT: usize = 78;
    pub(crate) const FALLOCATE: usize = 47;
    pub(crate) const PERF_EVENT_OPEN: usize = 241;
    pub(crate) const FSTAT: usize = 80;
    pub(crate) const NEWFSTATAT: usize = 79;
    pub(crate) const SCHED_YIELD: usize = 124;
    pub(crate) const FLOCK: usize = 32;
    pub(crate) const LSEEK: usize = 62;
    pub(crate) const PRLIMIT: usize = 261;
    pub(crate) const STATX: usize = 291;
    pub(crate) const LANDLOCK_RESTRICT_SELF: usize = 446;
    pub(crate) const CHROOT: usize = 51;
    pub(crate) const UNSHARE: usize = 97;
    pub(crate) const SETNS: usize = 268;
    pub(crate) const PIVOT_ROOT: usize = 41;
    pub(crate) const SETUID: usize = 146;
    pub(crate) const SETREUID: usize = 145;
    pub(crate) const SETRESUID: usize = 147;
    pub(crate) const GETCWD: usize = 17;
    pub(crate) const UMASK: usize = 166;
    pub(crate) const PPOLL: usize = 73;
    pub(crate) const RT_SIGPENDING: usize = 136;
    pub(crate) const RT_SIGTIMEDWAIT: usize = 137;
}

/// `AUDIT_ARCH_AARCH64`: the number by which seccomp filters identify the architecture (`linux/audit.h`).
pub(crate) const AUDIT_MACHINE: u32 = 0xc000_00b7;

/// `struct stat` (`asm-generic/stat.h`), as far as needed.
#[repr(C)]
pub(crate) struct Stat {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) mode: u32,
    links: u32,
    pub(crate) owner: u32,
    group: u32,
    special_device: [u64; 2],
    pub(crate) size: u64,
    rest: [u64; 9],
}

impl Stat {
    /// The number of names of the file.
    pub(crate) fn links(&self) -> u32 {
        self.links
    }
}

/// The program counter among the registers that perf records (`asm/perf_regs.h`), as a bit set.
pub(crate) const PERF_ONLY_PROGRAM_COUNTER: u64 = 1 << 32;
/// The registers that perf records for a walk (`asm/perf_regs.h`), as a bit set: x0 to x30, sp, and pc.
pub(crate) const PERF_REGISTERS: u64 = (1 << 33) - 1;
/// The places of the registers in a record, by DWARF's numbers (see [`CONTEXT_REGISTERS`]): a record has them in that
/// order.
pub(crate) const PERF_ORDER: &[u8] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
    31,
];
/// The places of the stack pointer and of the program counter.
pub(crate) const PERF_STACK_POINTER: usize = 31;
pub(crate) const PERF_PROGRAM_COUNTER: usize = 32;

/// The flags of `open` whose values depend on the architecture (`asm/fcntl.h`).
pub(crate) const O_DIRECTORY: usize = 0o40_000;
pub(crate) const O_NOFOLLOW: usize = 0o100_000;

/// The numbers that only the `profil` of other systems needs.
pub(crate) mod profil_numbers {
    pub(crate) const FUTEX: usize = 98;
    pub(crate) const PROCESS_VM_WRITEV: usize = 271;
}

/// Makes a system call. The result is the kernel's, with errors from -4095 to -1.
///
/// # Safety
///
/// The effect of the call on memory must be sound: pointers among the arguments must be valid for the kernel's
/// accesses.
#[inline]
pub(crate) unsafe fn syscall(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result;
    // SAFETY: the kernel changes x0 and no other register; the caller promises the rest.
    unsafe {
        asm!(
            "svc #0",
            in("x8") number,
            inlateout("x0") a as isize => result,
            in("x1") b,
            in("x2") c,
            in("x3") d,
            in("x4") e,
            in("x5") f,
            options(nostack),
        );
    }
    result
}

/// The return address of a signal handler. Debuggers and unwinders recognize the trampoline by exactly these
/// instructions.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn signal_return() {
    naked_asm!(
        "    mov     x8, #139", // rt_sigreturn
        "    svc     #0",
    )
}

/// The instructions to which signal handlers return, in the vDSO and in all C libraries: `mov x8, #139; svc #0`.
pub const SIGNAL_TRAMPOLINE: &[u8] = &[0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4];
/// The offset of the system call in the trampoline.
pub const SIGNAL_TRAMPOLINE_CALL: usize = 4;
/// The distance from the stack pointer to the context when a handler has returned to the trampoline. struct
/// rt_sigframe has the siginfo_t before the context.
pub const CONTEXT_ABOVE_STACK: usize = 128;
/// The offsets in struct ucontext of x0 to x30 and sp, as DWARF numbers them.
#[allow(clippy::indexing_slicing, reason = "the compiler evaluates this")]
pub const CONTEXT_REGISTERS: &[u16] = &{
    let mut offsets = [184; 32];
    let mut number = 0;
    while number < offsets.len() {
        offsets[number] += 8 * number as u16;
        number += 1;
    }
    offsets
};
/// The offset of the program counter in struct ucontext.
pub const CONTEXT_PC: u16 = 440;

/// The program counter that a signal interrupted.
///
/// # Safety
///
/// `context` must be the third argument of a handler that was installed with SA_SIGINFO.
#[inline]
pub unsafe fn interrupted_pc(context: *const c_void) -> usize {
    // struct ucontext: flags, link, stack (8 + 8 + 24 bytes), 128 bytes for the signals, 8 bytes of padding; then the
    // fault's address, x0 to x30, sp and pc, eight bytes each (asm/ucontext.h, asm/sigcontext.h).
    const PC: usize = 8 + 8 + 24 + 128 + 8 + (1 + 31 + 1) * 8;
    // SAFETY: the kernel wrote a complete struct ucontext there.
    unsafe { context.byte_add(PC).cast::<usize>().read() }
}

/// Whether the second and third argument of a handler have the positions of the kernel's signal frame.
#[inline]
pub(crate) fn is_signal_frame(info: usize, context: usize) -> bool {
    // struct rt_sigframe: the siginfo_t, 128 bytes, and the context.
    context.wrapping_sub(info) == 128
}

/// The address of the set of signals that will be blocked after the handler returns.
///
/// # Safety
///
/// As for [`interrupted_pc`].
#[inline]
pub(crate) unsafe fn blocked_on_return(context: *mut c_void) -> *mut u64 {
    // struct ucontext: flags, link, stack.
    const BLOCKED: usize = 8 + 8 + 24;
    // SAFETY: the kernel wrote a complete struct ucontext there.
    unsafe { context.byte_add(BLOCKED).cast() }
}
