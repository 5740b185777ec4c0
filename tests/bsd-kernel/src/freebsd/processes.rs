//! rfork and process descriptors.

use nix::errno::Errno;

use crate::calls::descriptor_calls::open_of;
use crate::calls::fork::{Copy, Files, copy};
use crate::descriptors::Open;
use crate::kernel::{Kernel, Outcome, Reply, ThreadId, Wait};
use crate::record::Kind;

const RFFDG: u64 = 4;
const RFPROC: u64 = 0x10;
const RFMEM: u64 = 0x20;
const RFCFDG: u64 = 0x1000;
const RFPPWAIT: u64 = 0x8000_0000;

/// rfork(flags).
pub(super) fn rfork(kernel: &mut Kernel, id: ThreadId, [flags, ..]: [u64; 6]) -> Outcome {
    let flags = flags & 0xffff_ffff;
    if flags & RFFDG != 0 && flags & RFCFDG != 0 {
        return Err(Errno::EINVAL.into());
    }
    if flags & !(RFFDG | RFPROC | RFMEM | RFCFDG | RFPPWAIT) != 0 || flags & RFPROC == 0 {
        kernel.note(id, Kind::Unsupported, &format!("rfork with flags {flags:#x}"));
        return Err(Errno::EINVAL.into());
    }
    let files = match flags & (RFFDG | RFCFDG) {
        RFFDG => Files::Copied,
        RFCFDG => Files::Closed,
        _ => Files::Shared,
    };
    let how = Copy { shares_memory: flags & RFMEM != 0, waits: flags & RFPPWAIT != 0, files };
    let child = copy(kernel, id, how)?;
    if how.waits { Ok(Reply::Wait(Wait::Vfork(child))) } else { Ok(Reply::Pair(u64::from(child), 0)) }
}

/// pdgetpid(fd, process).
pub(super) fn pdgetpid(kernel: &mut Kernel, id: ThreadId, [fd, process, ..]: [u64; 6]) -> Outcome {
    match *open_of(kernel, id, fd)? {
        Open::Process(number) => kernel.task(id).write(process, &number.to_le_bytes())?,
        Open::File(_) => return Err(Errno::EOPNOTSUPP.into()),
    }
    Ok(Reply::Value(0))
}
