//! Signals with OpenBSD's structures: sets of 32 bits by value, actions of 16 bytes (`sys/signal.h` 1.29, 2018-04-18).
//! The calls are in `kern/kern_sig.c`. Not seen on a real kernel.

use nix::errno::Errno;

use super::contexts::{COOKIE_AT, PAGE, cookie};
use crate::calls::signal_calls::{action, alternate_stack, check, mask, suspend};
use crate::kernel::{Kernel, Outcome, Reply, ThreadId};
use crate::record::Kind;
use crate::signal::{Action, AlternateStack, SignalSet};

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

/// sigreturn(context). The kernel accepts each context that the kernel made once, at the address for which the kernel
/// made the context (`arch/amd64/amd64/machdep.c`; not seen on a real kernel).
pub(super) fn sigreturn(kernel: &mut Kernel, id: ThreadId, [context, ..]: [u64; 6]) -> Outcome {
    const SIGILL: u32 = 4;
    let task = kernel.task(id);
    if task.read_u64(context + COOKIE_AT as u64)? != cookie(context) {
        kernel.note(id, Kind::Refused, &format!("sigreturn with a wrong cookie in the context at {context:#x}"));
        let process = kernel.thread(id).process;
        kernel.end_by_signal(process, SIGILL);
        return Ok(Reply::Switched);
    }
    task.write(context + COOKIE_AT as u64, &[0; 8])?;
    kernel.return_from_handler(id, context)?;
    Ok(Reply::Switched)
}

/// thrkill(thread, signal, tcb). Thread 0 is the caller (`kern/kern_sig.c`; not seen on a real kernel).
pub(super) fn thrkill(kernel: &mut Kernel, id: ThreadId, [thread, signal, ..]: [u64; 6]) -> Outcome {
    let signal = check(kernel, signal)?;
    let process = kernel.thread(id).process;
    let wanted = if thread == 0 { id } else { i64::from(thread as u32) };
    if !kernel.threads_of(process).contains(&wanted) {
        return Err(Errno::ESRCH.into());
    }
    if signal != 0 {
        kernel.send_from(process, process, Some(wanted), signal);
    }
    Ok(Reply::Value(0))
}

/// sigaltstack(new, old): the least size is 12288 bytes (`sys/signal.h` 1.29, `kern/kern_sig.c`; not seen on a real
/// kernel).
pub(super) fn sigaltstack(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    const MINSIGSTKSZ: u64 = 12_288;
    alternate_stack(kernel, id, arguments, MINSIGSTKSZ, remap)
}

/// Replaces the pages inside a new alternate stack with new pages of MAP_STACK, all zero. The pages must be readable
/// and writable memory (`uvm/uvm_map.c`, August 2025; not seen on a real kernel).
fn remap(kernel: &mut Kernel, id: ThreadId, stack: AlternateStack) -> Result<(), Errno> {
    let (start, end) = (stack.base.next_multiple_of(PAGE), stack.end() & !(PAGE - 1));
    let task = kernel.task(id);
    if !task.has_writable(start..end) {
        return Err(Errno::EINVAL);
    }
    task.write(start, &vec![0; (end - start) as usize])?;
    kernel.process_of(id).stacks.push(start..end);
    Ok(())
}
