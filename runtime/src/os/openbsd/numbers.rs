//! The numbers of the system calls that the runtime makes (`sys/syscall.h`), and the table that allows these calls.
//!
//! OpenBSD's kernel accepts a system call only from an instruction that the section `.openbsd.syscalls` lists with the
//! number of the call. The runtime has one such instruction, in [`machine`](super::machine), and lists the address of
//! this instruction with each number below. If a function of libc.a makes the same call, the program's table has two
//! entries for the number, and the kernel then accepts the call from anywhere in the program's text.
//!
//! The runtime does not call libc's functions instead: these functions set errno, some are cancellation points, and the
//! functions of libc_p.a, which OpenBSD's compiler links into profiled programs, call `__mcount` themselves.

macro_rules! calls {
    ($($name:ident = $number:literal;)*) => {
        $(pub(super) const $name: usize = $number;)*

        /// Makes the entries of the table for the instruction at the local label 9, which must stand above the entries.
        macro_rules! pins {
            () => { concat!($(".long 9b, ", $number, "\n",)*) };
        }
        pub(super) use pins;
    };
}

calls! {
    EXIT = 1;
    FORK = 2;
    READ = 3;
    WRITE = 4;
    CLOSE = 6;
    GETPID = 20;
    GETEUID = 25;
    FSTATAT = 42;
    SIGACTION = 46;
    SIGPROCMASK = 48;
    MMAP = 49;
    SIGPENDING = 52;
    FSTAT = 53;
    EXECVE = 59;
    UMASK = 60;
    SETITIMER = 69;
    GETITIMER = 70;
    MUNMAP = 73;
    CLOCK_GETTIME = 87;
    NANOSLEEP = 91;
    FCNTL = 92;
    PIPE2 = 101;
    PLEDGE = 108;
    THRKILL = 119;
    FLOCK = 131;
    FTRUNCATE = 168;
    PREAD = 169;
    PWRITE = 170;
    PROFIL = 175;
    GETRLIMIT = 194;
    SETRLIMIT = 195;
    SYSCTL = 202;
    MINHERIT = 250;
    POLL = 252;
    ISSETUGID = 253;
    SCHED_YIELD = 298;
    GETTHRID = 299;
    OPENAT = 321;
    RENAMEAT = 323;
    UNLINKAT = 325;
}
