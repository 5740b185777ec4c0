//! Signals with FreeBSD's structures: sets of 128 bits, actions of 32 bytes.
//!
//! Source: sys/kern/kern_sig.c, sys/sys/signal.h. Seen on FreeBSD 15.1 (amd64): sigaction(2) and sigprocmask(2) in
//! profiled programs.

use nix::errno::Errno;

use crate::calls::signal_calls::{action, alternate_stack, mask, suspend};
use crate::calls::timers::read_timespec;
use crate::kernel::{Kernel, Outcome, Reply, ThreadId, Wait};
use crate::signal::{Action, SignalSet};
use crate::task::Task;

fn read_set(task: Task, address: u64) -> Result<SignalSet, Errno> {
    let bytes = task.read(address, 16)?;
    Ok(SignalSet(u128::from_le_bytes(bytes.try_into().map_err(|_| Errno::EFAULT)?)))
}

fn write_set(task: Task, address: u64, set: SignalSet) -> Result<(), Errno> {
    task.write(address, &set.0.to_le_bytes())
}

/// sigaction(signal, new, old).
pub(super) fn sigaction(kernel: &mut Kernel, id: ThreadId, [signal, new, old, ..]: [u64; 6]) -> Outcome {
    let task = kernel.task(id);
    let wanted = if new == 0 {
        None
    } else {
        let flags = task.read(new + 8, 4)?.try_into().map_or(0, u32::from_le_bytes);
        Some(Action { handler: task.read_u64(new)?, flags, mask: read_set(task, new + 12)? })
    };
    let before = action(kernel, id, signal, wanted)?;
    if old != 0 {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&before.handler.to_le_bytes());
        bytes[8..12].copy_from_slice(&before.flags.to_le_bytes());
        bytes[12..28].copy_from_slice(&before.mask.0.to_le_bytes());
        task.write(old, &bytes)?;
    }
    Ok(Reply::Value(0))
}

/// sigprocmask(how, set, old).
pub(super) fn sigprocmask(kernel: &mut Kernel, id: ThreadId, [how, set, old, ..]: [u64; 6]) -> Outcome {
    let task = kernel.task(id);
    let wanted = if set == 0 { None } else { Some(read_set(task, set)?) };
    let before = mask(kernel, id, how, wanted)?;
    if old != 0 {
        write_set(task, old, before)?;
    }
    Ok(Reply::Value(0))
}

/// sigaltstack(new, old).
pub(super) fn sigaltstack(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    const LEAST: u64 = 2048;
    alternate_stack(kernel, id, arguments, LEAST, |_, _, _| Ok(()))
}

/// sigsuspend(mask).
pub(super) fn sigsuspend(kernel: &mut Kernel, id: ThreadId, [set, ..]: [u64; 6]) -> Outcome {
    let set = read_set(kernel.task(id), set)?;
    Ok(suspend(kernel, id, set))
}

/// sigpending(set).
pub(super) fn sigpending(kernel: &mut Kernel, id: ThreadId, [set, ..]: [u64; 6]) -> Outcome {
    let own = kernel.thread(id).pending.clone();
    let pending = own.iter().chain(&kernel.process_of(id).pending);
    let pending = pending.fold(SignalSet::default(), |set, info| set.with(info.signal));
    write_set(kernel.task(id), set, pending)?;
    Ok(Reply::Value(0))
}

/// sigwait(set, signal).
pub(super) fn sigwait(kernel: &mut Kernel, id: ThreadId, [set, number, ..]: [u64; 6]) -> Outcome {
    let set = read_set(kernel.task(id), set)?;
    Ok(Reply::Wait(Wait::AnyOf { set, number, info: 0, deadline: None }))
}

/// sigtimedwait(set, info, timeout).
pub(super) fn sigtimedwait(kernel: &mut Kernel, id: ThreadId, [set, info, timeout, ..]: [u64; 6]) -> Outcome {
    let task = kernel.task(id);
    let set = read_set(task, set)?;
    let deadline = if timeout == 0 { None } else { Some(kernel.clock.now() + read_timespec(task, timeout)?) };
    Ok(Reply::Wait(Wait::AnyOf { set, number: 0, info, deadline }))
}

/// sigreturn(context).
pub(super) fn sigreturn(kernel: &mut Kernel, id: ThreadId, [context, ..]: [u64; 6]) -> Outcome {
    kernel.return_from_handler(id, context)?;
    Ok(Reply::Switched)
}
