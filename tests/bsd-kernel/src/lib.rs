//! The kernels of FreeBSD and OpenBSD in user space, for the tests: runs static x86-64 programs of these systems on Linux.
//!
//! Linux loads the program and runs its code; each system call stops the program, and this tracer serves the call with
//! the system's numbers, structures, errors and side effects (`PTRACE_SYSEMU`). Each thread of a program is a Linux process
//! of its own here, so that the tracer alone decides what threads and processes have in common. Descriptors, signals, timers
//! and process numbers are the tracer's, too; the traced processes have nothing of Linux but memory and registers.
//!
//! Time is the tracer's as well: a program asks for ticks of the profiling clock with a system call that no real kernel has
//! ([`calls::test_calls`]), and so exact counts can be expected of profil(2) and of ITIMER_PROF.
//!
//! What differs from a real kernel:
//! - A system call number that is not served fails with ENOSYS, and the record says so; FreeBSD sends SIGSYS, too.
//! - OpenBSD's kernel refuses all calls of a program without a table of pinned calls: what the real one does is not known.
//! - Ticks race with nothing: FreeBSD loses a tick that comes before the last one was counted, and counts of two threads.
//! - AVX registers are not part of signal contexts; SSE registers are.
//! - Job control, credentials, shared `minherit`, superpages and dynamic programs are not there.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

pub mod calls;
pub mod clock;
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
pub mod waits;
