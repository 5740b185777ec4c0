//! Calls that no real kernel has: programs of the tests ask for ticks with them.
//!
//! | rax | call |
//! |---|---|
//! | 0x676d0001 | `ticks(count)`: so many ticks of the profiling clock interrupt the thread at this system call instruction |
//! | 0x676d0002 | `charge(pc, count)`: the same at any pc, but only profil(2) counts them, and no time passes |
//! | 0x676d0003 | `sleep(nanoseconds)`: time passes, and no CPU time |
//!
//! Arguments are in rdi and rsi, as for all calls. All return 0.

use crate::kernel::{Allowed, Kernel, Outcome, Reply, SystemCall, ThreadId, Wait};

/// The calls.
pub static CALLS: [SystemCall; 3] = [
    SystemCall { number: 0x676d_0001, name: "ticks", handler: ticks, allowed: Allowed::Always },
    SystemCall { number: 0x676d_0002, name: "charge", handler: charge, allowed: Allowed::Always },
    SystemCall { number: 0x676d_0003, name: "sleep", handler: sleep, allowed: Allowed::Always },
];

fn ticks(kernel: &mut Kernel, id: ThreadId, [count, ..]: [u64; 6]) -> Outcome {
    kernel.give_ticks(id, count)
}

fn charge(kernel: &mut Kernel, id: ThreadId, [pc, count, ..]: [u64; 6]) -> Outcome {
    for _ in 0..count {
        kernel.charge(id, pc);
    }
    Ok(Reply::Value(0))
}

fn sleep(kernel: &mut Kernel, _: ThreadId, [nanoseconds, ..]: [u64; 6]) -> Outcome {
    Ok(Reply::Wait(Wait::Time(kernel.clock.now() + nanoseconds)))
}
