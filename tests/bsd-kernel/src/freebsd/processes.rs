//! rfork and process descriptors.
//!
//! Source: beside each call. Not seen on a real kernel.

use nix::errno::Errno;

use crate::calls::descriptor_calls::open_of;
use crate::calls::fork::{Copy, FORK, Files, VFORK, copy, with_descriptor};
use crate::descriptors::Open;
use crate::kernel::{Kernel, Outcome, ProcessId, Reply, ThreadId, Wait};
use crate::record::Kind;
use crate::signal::{Action, SIGCHLD};

/// The signal of RFLINUXTHPN.
const SIGUSR1: u32 = 30;

/// The flags of rfork(2), from `sys/unistd.h`. RFTHREAD has an effect only on advisory locks, which this kernel does
/// not have.
const RFFDG: u64 = 4;
const RFPROC: u64 = 0x10;
const RFMEM: u64 = 0x20;
const RFNOWAIT: u64 = 0x40;
const RFCFDG: u64 = 0x1000;
const RFTHREAD: u64 = 0x2000;
const RFSIGSHARE: u64 = 0x4000;
const RFLINUXTHPN: u64 = 0x1_0000;
const RFTSIGZMB: u64 = 0x8_0000;
/// The exit signal for RFTSIGZMB, in bits 20 to 27.
const RFTSIGFLAGS: u64 = 0xff << RFTSIGSHIFT;
const RFTSIGSHIFT: u32 = 20;
const RFPROCDESC: u64 = 0x1000_0000;
const RFSPAWN: u64 = 0x8000_0000;
/// The flags for programs. The others are for the kernel itself (RFSTOPPED, RFHIGHPID), or were never implemented.
const ALLOWED: u64 =
    RFFDG | RFPROC | RFMEM | RFNOWAIT | RFCFDG | RFTHREAD | RFSIGSHARE | RFLINUXTHPN | RFTSIGZMB | RFTSIGFLAGS;

/// rfork(flags).
///
/// Source: sys/kern/kern_fork.c (`sys_rfork`, `fork1`, `fork_norfproc`), sys/unistd.h, rfork(2). Not seen on a real
/// kernel.
pub(super) fn rfork(kernel: &mut Kernel, id: ThreadId, [flags, ..]: [u64; 6]) -> Outcome {
    let flags = flags & 0xffff_ffff;
    if flags == RFSPAWN {
        let child = copy(kernel, id, VFORK)?;
        drop_caught_signals(kernel, child);
        return Ok(Reply::Wait(Wait::Vfork(child)));
    }
    let how = checked(kernel, flags)?;
    if flags & RFPROC != 0 {
        let child = copy(kernel, id, how)?;
        return Ok(Reply::Pair(u64::from(child), 0));
    }
    // The call changes the process itself.
    let process = kernel.process_of(id);
    let (own, space) = (process.id, process.space);
    if !how.shares_memory && kernel.processes.values().any(|other| other.id != own && other.space == space) {
        kernel.note(id, Kind::Unsupported, "rfork that ends the sharing of memory");
    }
    let process = kernel.process_of(id);
    let descriptors = how.files.inherited(&process.descriptors);
    process.descriptors = descriptors;
    Ok(Reply::Value(0))
}

/// Checks the flags of rfork(2) other than RFSPAWN, and returns what they mean for a child.
fn checked(kernel: &Kernel, flags: u64) -> Result<Copy, Errno> {
    let signal = (flags & RFTSIGFLAGS) >> RFTSIGSHIFT;
    let has_signal = flags & RFTSIGZMB != 0;
    let is_wrong = flags & !ALLOWED != 0
        || (signal != 0 && !has_signal)
        || flags & (RFFDG | RFCFDG) == RFFDG | RFCFDG
        || signal > u64::from(kernel.personality.signals);
    if is_wrong {
        return Err(Errno::EINVAL);
    }
    let files = match flags & (RFFDG | RFCFDG) {
        RFFDG => Files::Copied,
        RFCFDG => Files::Closed,
        _ => Files::Shared,
    };
    let exit_signal = match flags & (RFTSIGZMB | RFLINUXTHPN) {
        0 => SIGCHLD,
        RFLINUXTHPN => SIGUSR1,
        _ => signal as u32,
    };
    Ok(Copy {
        shares_memory: flags & RFMEM != 0,
        waits: false,
        files,
        shares_actions: flags & RFSIGSHARE != 0,
        is_abandoned: flags & RFNOWAIT != 0,
        exit_signal,
    })
}

/// Gives a child of RFSPAWN the default actions in the place of its parent's handlers.
fn drop_caught_signals(kernel: &mut Kernel, child: ProcessId) {
    let process = kernel.processes.get_mut(&child).expect("the new process");
    for action in process.actions.borrow_mut().iter_mut().filter(|action| action.is_caught()) {
        *action = Action::default();
    }
}

/// pdfork(fd, flags).
///
/// Source: sys/kern/kern_fork.c (`sys_pdfork`), sys/kern/sys_procdesc.c, pdfork(2). Not seen on a real kernel.
pub(super) fn pdfork(kernel: &mut Kernel, id: ThreadId, [number, flags, ..]: [u64; 6]) -> Outcome {
    with_descriptor(kernel, id, number, flags, FORK)
}

/// pdrfork(fd, flags, rfork_flags): RFSPAWN alone, or RFPROC and RFPROCDESC with other flags of rfork(2).
///
/// Source: sys/kern/kern_fork.c (`sys_pdrfork`), pdfork(2) of the main branch. Not seen on a real kernel.
/// `sys/syscall.h` of FreeBSD 15.0 does not have the call; the number 600 serves only the tests.
pub(super) fn pdrfork(kernel: &mut Kernel, id: ThreadId, [number, flags, rfork_flags, ..]: [u64; 6]) -> Outcome {
    const BOTH: u64 = RFPROC | RFPROCDESC;
    let rfork_flags = rfork_flags & 0xffff_ffff;
    if rfork_flags == RFSPAWN {
        let outcome = with_descriptor(kernel, id, number, flags, VFORK)?;
        if let Reply::Wait(Wait::Vfork(child)) = outcome {
            drop_caught_signals(kernel, child);
        }
        return Ok(outcome);
    }
    if rfork_flags & BOTH != BOTH {
        return Err(Errno::EINVAL.into());
    }
    let how = checked(kernel, rfork_flags & !RFPROCDESC)?;
    with_descriptor(kernel, id, number, flags, how)
}

/// pdgetpid(fd, process).
///
/// Source: sys/kern/sys_procdesc.c (`sys_pdgetpid`). Not seen on a real kernel.
pub(super) fn pdgetpid(kernel: &mut Kernel, id: ThreadId, [fd, process, ..]: [u64; 6]) -> Outcome {
    match *open_of(kernel, id, fd)? {
        Open::Process(number) => kernel.task(id).write(process, &number.to_le_bytes())?,
        Open::File(_) => return Err(Errno::EOPNOTSUPP.into()),
    }
    Ok(Reply::Value(0))
}
