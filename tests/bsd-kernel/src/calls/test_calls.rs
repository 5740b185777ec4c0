//! Calls that no real kernel has. Test programs request ticks with these calls.
//!
//! | rax | call |
//! |---|---|
//! | 0x676d0001 | `ticks(count)`: `count` ticks of the profiling clock interrupt the thread at this system call instruction |
//! | 0x676d0002 | `charge(pc, count)`: profil(2) counts `count` ticks at any pc; no time passes |
//! | 0x676d0003 | `sleep(nanoseconds)`: time passes, but no CPU time |
//! | 0x676d0004 | `late_ticks(count)`: as `ticks`, but the interval-timer clock reports the time of all ticks at one time |
//! | 0x676d0005 | `system_ticks(count)`: the call takes the time of `count` ticks in the kernel |
//!
//! Arguments are in rdi and rsi, as for all calls. All return 0.

use crate::kernel::{Allowed, Kernel, Outcome, Reply, SystemCall, ThreadId, Wait};
use crate::ticks::Mode;

/// The calls.
pub static CALLS: [SystemCall; 5] = [
    SystemCall { number: 0x676d_0001, name: "ticks", handler: ticks, allowed: Allowed::Always },
    SystemCall { number: 0x676d_0002, name: "charge", handler: charge, allowed: Allowed::Always },
    SystemCall { number: 0x676d_0003, name: "sleep", handler: sleep, allowed: Allowed::Always },
    SystemCall { number: 0x676d_0004, name: "late_ticks", handler: late_ticks, allowed: Allowed::Always },
    SystemCall { number: 0x676d_0005, name: "system_ticks", handler: system_ticks, allowed: Allowed::Always },
];

fn ticks(kernel: &mut Kernel, id: ThreadId, [count, ..]: [u64; 6]) -> Outcome {
    kernel.give_ticks(id, count, Mode::User)
}

fn late_ticks(kernel: &mut Kernel, id: ThreadId, [count, ..]: [u64; 6]) -> Outcome {
    kernel.give_late_ticks(id, count)
}

fn system_ticks(kernel: &mut Kernel, id: ThreadId, [count, ..]: [u64; 6]) -> Outcome {
    kernel.give_ticks(id, count, Mode::System)
}

fn charge(kernel: &mut Kernel, id: ThreadId, [pc, count, ..]: [u64; 6]) -> Outcome {
    kernel.charge(id, pc, count);
    Ok(Reply::Value(0))
}

fn sleep(kernel: &mut Kernel, _: ThreadId, [nanoseconds, ..]: [u64; 6]) -> Outcome {
    Ok(Reply::Wait(Wait::Time(kernel.clock.now() + nanoseconds)))
}
