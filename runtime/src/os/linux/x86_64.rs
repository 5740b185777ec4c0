//! Linux on x86-64: raw system calls, and the kernel's memory layouts.

use core::arch::{asm, naked_asm};
use core::ffi::c_void;

/// The numbers of the system calls that the runtime makes (`asm/unistd_64.h`).
pub(crate) mod numbers {
    pub(crate) const READ: usize = 0;
    pub(crate) const WRITE: usize = 1;
    pub(crate) const CLOSE: usize = 3;
    pub(crate) const MMAP: usize = 9;
    pub(crate) const PREAD: usize = 17;
    pub(crate) const PWRITE: usize = 18;
    pub(crate) const RT_SIGRETURN: usize = 15;
    pub(crate) const EXIT: usize = 60;
    pub(crate) const MLOCKALL: usize = 151;
    pub(crate) const PRCTL: usize = 157;
    pub(crate) const PROCESS_VM_READV: usize = 310;
    pub(crate) const CAPGET: usize = 125;
    pub(crate) const SECCOMP: usize = 317;
    pub(crate) const NANOSLEEP: usize = 35;
    pub(crate) const MUNMAP: usize = 11;
    pub(crate) const MPROTECT: usize = 10;
    pub(crate) const MEMBARRIER: usize = 324;
    pub(crate) const SIGALTSTACK: usize = 131;
    pub(crate) const RT_SIGACTION: usize = 13;
    pub(crate) const RT_SIGPROCMASK: usize = 14;
    pub(crate) const MADVISE: usize = 28;
    pub(crate) const GETITIMER: usize = 36;
    pub(crate) const SETITIMER: usize = 38;
    pub(crate) const GETPID: usize = 39;
    pub(crate) const UNAME: usize = 63;
    pub(crate) const FCNTL: usize = 72;
    pub(crate) const FTRUNCATE: usize = 77;
    pub(crate) const GETEUID: usize = 107;
    pub(crate) const GETTID: usize = 186;
    pub(crate) const TIMER_CREATE: usize = 222;
    pub(crate) const TIMER_SETTIME: usize = 223;
    pub(crate) const TIMER_GETTIME: usize = 224;
    pub(crate) const TIMER_DELETE: usize = 226;
    pub(crate) const CLOCK_GETTIME: usize = 228;
    pub(crate) const CLOCK_GETRES: usize = 229;
    pub(crate) const EXIT_GROUP: usize = 231;
    pub(crate) const TGKILL: usize = 234;
    pub(crate) const RT_TGSIGQUEUEINFO: usize = 297;
    pub(crate) const OPENAT: usize = 257;
    pub(crate) const UNLINKAT: usize = 263;
    pub(crate) const RENAMEAT: usize = 264;
    pub(crate) const READLINKAT: usize = 267;
    pub(crate) const FALLOCATE: usize = 285;
    pub(crate) const PERF_EVENT_OPEN: usize = 298;
    pub(crate) const FSTAT: usize = 5;
    pub(crate) const NEWFSTATAT: usize = 262;
    pub(crate) const SCHED_YIELD: usize = 24;
    pub(crate) const FLOCK: usize = 73;
    pub(crate) const LSEEK: usize = 8;
    pub(crate) const PRLIMIT: usize = 302;
    pub(crate) const STATX: usize = 332;
    pub(crate) const LANDLOCK_RESTRICT_SELF: usize = 446;
    pub(crate) const CHROOT: usize = 161;
    pub(crate) const UNSHARE: usize = 272;
    pub(crate) const SETNS: usize = 308;
    pub(crate) const PIVOT_ROOT: usize = 155;
    pub(crate) const SETUID: usize = 105;
    pub(crate) const SETREUID: usize = 113;
    pub(crate) const SETRESUID: usize = 117;
    pub(crate) const GETCWD: usize = 79;
    pub(crate) const UMASK: usize = 95;
    pub(crate) const PPOLL: usize = 271;
    pub(crate) const RT_SIGPENDING: usize = 127;
    pub(crate) const RT_SIGTIMEDWAIT: usize = 128;
}

/// `AUDIT_ARCH_X86_64`: the number by which seccomp filters identify the architecture (`linux/audit.h`).
pub(crate) const AUDIT_MACHINE: u32 = 0xc000_003e;

/// `struct stat` (`asm/stat.h`), as far as needed.
#[repr(C)]
pub(crate) struct Stat {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    links: u64,
    pub(crate) mode: u32,
    pub(crate) owner: u32,
    group: [u32; 2],
    special_device: u64,
    pub(crate) size: u64,
    rest: [u64; 11],
}

impl Stat {
    /// The number of names of the file.
    pub(crate) fn links(&self) -> u32 {
        self.links as u32
    }
}

/// The program counter among the registers that perf records (`asm/perf_regs.h`), as a bit set.
pub(crate) const PERF_ONLY_PROGRAM_COUNTER: u64 = 1 << 8;
/// The registers that perf records for a walk (`asm/perf_regs.h`), as a bit set: ax bx cx dx si di bp sp ip, and r8 to
/// r15.
pub(crate) const PERF_REGISTERS: u64 = 0x00ff_01ff;
/// The places of the registers in a record, by DWARF's numbers (see [`CONTEXT_REGISTERS`]): a record has them in perf's
/// order.
pub(crate) const PERF_ORDER: &[u8] = &[0, 3, 2, 1, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 8];
/// The places of the stack pointer and of the program counter.
pub(crate) const PERF_STACK_POINTER: usize = 7;
pub(crate) const PERF_PROGRAM_COUNTER: usize = 8;

/// The flags of `open` whose values depend on the architecture (`asm/fcntl.h`).
pub(crate) const O_DIRECTORY: usize = 0o200_000;
pub(crate) const O_NOFOLLOW: usize = 0o400_000;

/// The numbers that only the `profil` of other systems needs.
pub(crate) mod profil_numbers {
    pub(crate) const FUTEX: usize = 202;
    pub(crate) const PROCESS_VM_WRITEV: usize = 311;
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
    // SAFETY: the kernel changes rax, rcx and r11 and no other register; the caller promises the rest.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r9") f,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// The return address of a signal handler. Debuggers and unwinders recognize the trampoline by exactly these bytes.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn signal_return() {
    naked_asm!(
        "    mov     rax, 15", // rt_sigreturn
        "    syscall",
    )
}

/// The instructions to which signal handlers return, in all C libraries: `mov $15, %rax; syscall`.
pub const SIGNAL_TRAMPOLINE: &[u8] = &[0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05];
/// The offset of the system call in the trampoline.
pub const SIGNAL_TRAMPOLINE_CALL: usize = 7;
/// The distance from the stack pointer to the context when a handler has returned to the trampoline. struct
/// rt_sigframe has the return address before the context.
pub const CONTEXT_ABOVE_STACK: usize = 0;
/// The offsets in struct ucontext of the registers, by DWARF's numbers: rax rdx rcx rbx rsi rdi rbp rsp, r8 to r15, and
/// rip.
pub const CONTEXT_REGISTERS: &[u16] =
    &[144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, CONTEXT_PC];
/// The offset of the program counter in struct ucontext.
pub const CONTEXT_PC: u16 = 168;

/// The program counter that a signal interrupted.
///
/// # Safety
///
/// `context` must be the third argument of a handler that was installed with SA_SIGINFO.
#[inline]
pub unsafe fn interrupted_pc(context: *const c_void) -> usize {
    // struct ucontext: flags, link, stack (8 + 8 + 24 bytes), then r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp
    // and rip, eight bytes each (asm/ucontext.h, asm/sigcontext.h).
    const RIP: usize = 8 + 8 + 24 + 16 * 8;
    // SAFETY: the kernel wrote a complete struct ucontext there.
    unsafe { context.byte_add(RIP).cast::<usize>().read() }
}

/// Whether the second and third argument of a handler have the positions of the kernel's signal frame.
#[inline]
pub(crate) fn is_signal_frame(info: usize, context: usize) -> bool {
    // struct rt_sigframe: a return address, the context, the siginfo_t.
    info.wrapping_sub(context) == BLOCKED + size_of::<u64>()
}

/// The address of the set of signals that will be blocked after the handler returns.
///
/// # Safety
///
/// As for [`interrupted_pc`].
#[inline]
pub(crate) unsafe fn blocked_on_return(context: *mut c_void) -> *mut u64 {
    // SAFETY: the kernel wrote a complete struct ucontext there.
    unsafe { context.byte_add(BLOCKED).cast() }
}

/// The offset of the set of blocked signals in a struct ucontext: behind a struct sigcontext of 256 bytes, at the
/// end.
const BLOCKED: usize = 8 + 8 + 24 + 256;
