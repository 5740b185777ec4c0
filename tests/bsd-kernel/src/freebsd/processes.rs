//! rfork and process descriptors.

use nix::errno::Errno;

use crate::calls::descriptor_calls::open_of;
use crate::calls::fork::{Copy, Files, VFORK, copy};
use crate::descriptors::Open;
use crate::kernel::{Kernel, Outcome, Reply, ThreadId, Wait};
use crate::record::Kind;
use crate::signal::Action;

const RFFDG: u64 = 4;
const RFPROC: u64 = 0x10;
const RFMEM: u64 = 0x20;
const RFCFDG: u64 = 0x1000;
const RFTHREAD: u64 = 0x2000;
const RFSPAWN: u64 = 0x8000_0000;
/// The flags that this kernel serves. RFTHREAD has an effect only on threads that share a leader's descriptors.
const SERVED: u64 = RFFDG | RFPROC | RFMEM | RFCFDG | RFTHREAD;

/// rfork(flags).
pub(super) fn rfork(kernel: &mut Kernel, id: ThreadId, [flags, ..]: [u64; 6]) -> Outcome {
    let flags = flags & 0xffff_ffff;
    if flags == RFSPAWN {
        return spawn(kernel, id);
    }
    if flags & RFSPAWN != 0 || (flags & RFFDG != 0 && flags & RFCFDG != 0) {
        return Err(Errno::EINVAL.into());
    }
    if flags & !SERVED != 0 {
        kernel.note(id, Kind::Unsupported, &format!("rfork with flags {flags:#x}"));
        return Err(Errno::EINVAL.into());
    }
    let files = match flags & (RFFDG | RFCFDG) {
        RFFDG => Files::Copied,
        RFCFDG => Files::Closed,
        _ => Files::Shared,
    };
    if flags & RFPROC == 0 {
        // The call changes the process itself.
        let process = kernel.process_of(id);
        let descriptors = files.inherited(&process.descriptors);
        process.descriptors = descriptors;
        return Ok(Reply::Value(0));
    }
    let child = copy(kernel, id, Copy { shares_memory: flags & RFMEM != 0, waits: false, files })?;
    Ok(Reply::Pair(u64::from(child), 0))
}

/// rfork(RFSPAWN): a vfork after which the child has no handlers.
fn spawn(kernel: &mut Kernel, id: ThreadId) -> Outcome {
    let child = copy(kernel, id, VFORK)?;
    let process = kernel.processes.get_mut(&child).expect("the new process");
    for action in process.actions.iter_mut().filter(|action| action.is_caught()) {
        *action = Action::default();
    }
    Ok(Reply::Wait(Wait::Vfork(child)))
}

/// pdgetpid(fd, process).
pub(super) fn pdgetpid(kernel: &mut Kernel, id: ThreadId, [fd, process, ..]: [u64; 6]) -> Outcome {
    match *open_of(kernel, id, fd)? {
        Open::Process(number) => kernel.task(id).write(process, &number.to_le_bytes())?,
        Open::File(_) => return Err(Errno::EOPNOTSUPP.into()),
    }
    Ok(Reply::Value(0))
}
