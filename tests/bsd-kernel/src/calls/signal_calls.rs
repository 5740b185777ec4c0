//! Signal calls that use no system-specific structure.

use nix::errno::Errno;

use crate::kernel::{Kernel, Outcome, Reply, ThreadId, Wait};
use crate::signal::{Action, AlternateStack, SIGKILL, SignalSet};

/// Checks a signal's number. Signal 0 tests whether a process exists.
///
/// # Errors
///
/// EINVAL.
pub fn check(kernel: &Kernel, signal: u64) -> Result<u32, Errno> {
    let signal = signal as u32;
    if signal <= kernel.personality.signals { Ok(signal) } else { Err(Errno::EINVAL) }
}

/// Sets the action of a signal, and returns the previous action.
///
/// # Errors
///
/// EINVAL for signals that have no action.
pub fn action(kernel: &mut Kernel, id: ThreadId, signal: u64, new: Option<Action>) -> Result<Action, Errno> {
    let signal = check(kernel, signal)?;
    if signal == 0 || (new.is_some() && [SIGKILL, 17].contains(&signal)) {
        return Err(Errno::EINVAL);
    }
    let process = kernel.process_of(id);
    let old = process.action(signal);
    if let Some(new) = new {
        process.set_action(signal, new);
        if new.is_ignored(signal) {
            process.pending.retain(|info| info.signal != signal);
            let threads = kernel.threads_of(kernel.threads[&id].process);
            for thread in threads {
                kernel.thread(thread).pending.retain(|info| info.signal != signal);
            }
        }
    }
    Ok(old)
}

/// Changes the signal mask of a thread, and returns the previous mask.
///
/// # Errors
///
/// EINVAL for an invalid `how`.
pub fn mask(kernel: &mut Kernel, id: ThreadId, how: u64, set: Option<SignalSet>) -> Result<SignalSet, Errno> {
    let thread = kernel.thread(id);
    let old = thread.mask;
    if let Some(set) = set {
        thread.mask = match how {
            1 => SignalSet(old.0 | set.0),
            2 => SignalSet(old.0 & !set.0),
            3 => set,
            _ => return Err(Errno::EINVAL),
        }
        .blockable();
    }
    Ok(old)
}

/// Waits for a signal with a temporary mask.
pub fn suspend(kernel: &mut Kernel, id: ThreadId, set: SignalSet) -> Reply {
    let thread = kernel.thread(id);
    thread.suspended_mask = Some(thread.mask);
    thread.mask = set.blockable();
    Reply::Wait(Wait::Signal)
}

/// kill(process, signal).
///
/// # Errors
///
/// ESRCH, EINVAL.
pub fn kill(kernel: &mut Kernel, id: ThreadId, [process, signal, ..]: [u64; 6]) -> Outcome {
    let signal = check(kernel, signal)?;
    let sender = kernel.thread(id).process;
    let process = process as u32;
    if !kernel.processes.contains_key(&process) {
        let has_ended = kernel.ended.iter().any(|ended| ended.id == process);
        return if has_ended { Ok(Reply::Value(0)) } else { Err(Errno::ESRCH.into()) };
    }
    if signal != 0 {
        kernel.send_from(sender, process, None, signal);
    }
    Ok(Reply::Value(0))
}

const SS_ONSTACK: u32 = 1;
const SS_DISABLE: u32 = 4;

/// sigaltstack(new, old): both systems have base, size and flags at 0, 8 and 16. `prepare` checks and prepares the
/// memory of a new stack of at least `least` bytes.
///
/// # Errors
///
/// EPERM on the alternate stack itself, ENOMEM for a stack below `least` bytes, EFAULT, and the errors of `prepare`.
pub fn alternate_stack(
    kernel: &mut Kernel,
    id: ThreadId,
    [new, old, ..]: [u64; 6],
    least: u64,
    prepare: fn(&mut Kernel, ThreadId, AlternateStack) -> Result<(), Errno>,
) -> Outcome {
    let thread = kernel.thread(id);
    let (task, current) = (thread.task, thread.alternate);
    let is_on = current.holds(thread.registers.rsp);
    let wanted = if new == 0 { None } else { Some(task.read(new, 24)?) };
    if old != 0 {
        let flags = if current.size == 0 { SS_DISABLE } else { u32::from(is_on) * SS_ONSTACK };
        let mut bytes = [current.base.to_le_bytes(), current.size.to_le_bytes()].concat();
        bytes.extend(u64::from(flags).to_le_bytes());
        task.write(old, &bytes)?;
    }
    if let Some(bytes) = wanted {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let stack = match word(16) as u32 {
            _ if is_on => return Err(Errno::EPERM.into()),
            SS_DISABLE => AlternateStack::default(),
            0 if word(8) < least => return Err(Errno::ENOMEM.into()),
            0 => AlternateStack { base: word(0), size: word(8) },
            _ => return Err(Errno::EINVAL.into()),
        };
        if stack.size != 0 {
            prepare(kernel, id, stack)?;
        }
        kernel.thread(id).alternate = stack;
    }
    Ok(Reply::Value(0))
}
