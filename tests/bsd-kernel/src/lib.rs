//! The tests' kernel: implements the system calls of FreeBSD and OpenBSD in a tracer, which runs static x86-64 programs
//! of these systems on Linux.
//!
//! Linux loads the program and runs its code. Each system call stops the program, and this tracer serves the call with
//! the system's numbers, structures, errors and side effects (`PTRACE_SYSEMU`). Each thread of a program is a separate
//! Linux process, so only the tracer decides what threads and processes share. The tracer also implements descriptors,
//! signals, timers and process IDs; the traced processes use only Linux's memory and registers.
//!
//! The tracer has virtual time: a program requests ticks of the profiling clock with a system call that no real kernel
//! has ([`calls::test_calls`]). Tests can therefore expect exact counts of profil(2) and ITIMER_PROF.
//!
//! Differences from a real kernel:
//! - An unknown system call number fails with ENOSYS and adds an event to the record; FreeBSD also sends SIGSYS.
//! - The tests' kernel for OpenBSD refuses all calls of a program without a table of pinned calls; the real behavior is
//!   unknown.
//! - Ticks do not race: FreeBSD loses a tick that arrives before the previous tick was counted, and loses counts of two
//!   threads.
//! - Only the file that OpenBSD's kernel writes obeys RLIMIT_FSIZE. Other limits have no effect.
//! - A cookie of a signal context depends only on the context's address. OpenBSD adds a random number of the process.
//! - Job control, groups, shared `minherit`, superpages and dynamic programs are not implemented.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

pub mod calls;
pub mod clock;
pub mod credentials;
pub mod delivery;
pub mod descriptors;
pub mod ending;
pub mod error;
pub mod freebsd;
pub mod image;
pub mod kernel;
pub mod machine;
pub mod openbsd;
pub mod posting;
pub mod profil;
pub mod record;
pub mod returning;
pub mod signal;
pub mod task;
pub mod ticks;
pub mod visibility;
pub mod waits;
