//! Capability mode.
//!
//! Source: sys/kern/sys_capability.c, sys/kern/syscalls.master (CAPENABLED; capabilities.conf of 2012), cap_enter(2).
//! Not seen on a real kernel.

use crate::calls::signal_calls;
use crate::error::Error;
use crate::kernel::{Allowed, Kernel, Outcome, Reply, SystemCall, ThreadId};
use crate::record::Kind;

/// Refuses calls that capability mode does not allow.
pub(super) fn refuse(kernel: &mut Kernel, id: ThreadId, call: Option<&SystemCall>) -> Option<Outcome> {
    let call = call.filter(|call| call.allowed == Allowed::Never)?;
    if !kernel.process_of(id).is_in_capability_mode {
        return None;
    }
    kernel.note(id, Kind::Refused, &format!("{} in capability mode", call.name));
    Some(Err(Error::CapabilityMode))
}

/// cap_enter().
pub(super) fn enter(kernel: &mut Kernel, id: ThreadId, _: [u64; 6]) -> Outcome {
    kernel.process_of(id).is_in_capability_mode = true;
    Ok(Reply::Value(0))
}

/// cap_getmode(mode).
pub(super) fn mode(kernel: &mut Kernel, id: ThreadId, [mode, ..]: [u64; 6]) -> Outcome {
    let is_on = u32::from(kernel.process_of(id).is_in_capability_mode);
    kernel.task(id).write(mode, &is_on.to_le_bytes())?;
    Ok(Reply::Value(0))
}

/// kill(process, signal). In capability mode, a process may only signal itself.
pub(super) fn kill(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    let process = kernel.process_of(id);
    if process.is_in_capability_mode && u64::from(process.id) != arguments[0] {
        kernel.note(id, Kind::Refused, "kill of another process in capability mode");
        return Err(Error::CapabilityMode);
    }
    signal_calls::kill(kernel, id, arguments)
}
