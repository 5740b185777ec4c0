//! Signals with OpenBSD's structures: sets of 32 bits by value, actions of 16 bytes.

use super::contexts::CONTEXT;
use crate::calls::signal_calls::{action, alternate_stack, check, mask, suspend};
use crate::kernel::{Kernel, Outcome, Reply, ThreadId};
use crate::signal::{Action, SignalSet};

fn set(bits: u64) -> SignalSet {
    SignalSet(u128::from(bits as u32))
}

/// sigaction(signal, new, old).
pub(super) fn sigaction(kernel: &mut Kernel, id: ThreadId, [signal, new, old, ..]: [u64; 6]) -> Outcome {
    let task = kernel.task(id);
    let wanted = if new == 0 {
        None
    } else {
        let (handler, rest) = (task.read_u64(new)?, task.read_u64(new + 8)?);
        Some(Action { handler, flags: (rest >> 32) as u32, mask: set(rest) })
    };
    let before = action(kernel, id, signal, wanted)?;
    if old != 0 {
        let rest = u64::from(before.flags) << 32 | u64::from(before.mask.0 as u32);
        task.write(old, &[before.handler.to_le_bytes(), rest.to_le_bytes()].concat())?;
    }
    Ok(Reply::Value(0))
}

/// sigprocmask(how, set): returns the previous set.
pub(super) fn sigprocmask(kernel: &mut Kernel, id: ThreadId, [how, bits, ..]: [u64; 6]) -> Outcome {
    let before = mask(kernel, id, how, Some(set(bits)))?;
    Ok(Reply::Value(u64::from(before.0 as u32)))
}

/// sigpending(): returns the set.
pub(super) fn sigpending(kernel: &mut Kernel, id: ThreadId, _: [u64; 6]) -> Outcome {
    let own = kernel.thread(id).pending.clone();
    let pending = own.iter().chain(&kernel.process_of(id).pending);
    let pending = pending.fold(SignalSet::default(), |set, info| set.with(info.signal));
    Ok(Reply::Value(u64::from(pending.0 as u32)))
}

/// sigsuspend(set).
pub(super) fn sigsuspend(kernel: &mut Kernel, id: ThreadId, [bits, ..]: [u64; 6]) -> Outcome {
    Ok(suspend(kernel, id, set(bits)))
}

/// sigreturn(context).
pub(super) fn sigreturn(kernel: &mut Kernel, id: ThreadId, [context, ..]: [u64; 6]) -> Outcome {
    let bytes = kernel.task(id).read(context, CONTEXT)?;
    kernel.return_from_handler(id, &bytes);
    Ok(Reply::Switched)
}

/// thrkill(thread, signal, tcb). Thread 0 is the caller.
pub(super) fn thrkill(kernel: &mut Kernel, id: ThreadId, [thread, signal, ..]: [u64; 6]) -> Outcome {
    let signal = check(kernel, signal)?;
    let process = kernel.thread(id).process;
    let wanted = if thread == 0 { id } else { i64::from(thread as u32) };
    if !kernel.threads_of(process).contains(&wanted) {
        return Err(nix::errno::Errno::ESRCH.into());
    }
    if signal != 0 {
        kernel.send_from(process, process, Some(wanted), signal);
    }
    Ok(Reply::Value(0))
}

/// sigaltstack(new, old). The kernel replaces the pages inside the stack with new pages, all zero.
pub(super) fn sigaltstack(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    const MINSIGSTKSZ: u64 = 12_288;
    const PAGE: u64 = 4096;
    let reply = alternate_stack(kernel, id, arguments, MINSIGSTKSZ)?;
    let (task, stack) = (kernel.task(id), kernel.thread(id).alternate);
    if arguments[0] != 0 && stack.size != 0 {
        let start = stack.base.next_multiple_of(PAGE);
        let end = (stack.base + stack.size) & !(PAGE - 1);
        task.write(start, &vec![0; end.saturating_sub(start) as usize])?;
    }
    Ok(reply)
}
