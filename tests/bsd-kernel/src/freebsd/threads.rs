//! Threads: the thr_ calls, _umtx_op, the base of thread-local storage.
//!
//! Source: sys/kern/kern_thr.c, sys/kern/kern_umtx.c, sys/amd64/amd64/vm_machdep.c (`cpu_set_upcall`),
//! sys/amd64/amd64/sys_machdep.c. Seen on FreeBSD 15.1 (amd64): threads of libthr, and the runtime's thread, which
//! libthr does not know.

use nix::errno::Errno;

use crate::calls::process_calls::wake;
use crate::calls::signal_calls::check;
use crate::calls::timers::read_timespec;
use crate::error::Error;
use crate::kernel::{Kernel, Outcome, Reply, ThreadId, Wait};
use crate::record::Kind;
use crate::returning::{CARRY, lose};

/// The offsets of the fields of `struct thr_param`.
mod parameter {
    pub(super) const START: u64 = 0;
    pub(super) const ARGUMENT: u64 = 8;
    pub(super) const STACK: u64 = 16;
    pub(super) const STACK_SIZE: u64 = 24;
    pub(super) const TLS: u64 = 32;
    pub(super) const CHILD_ID: u64 = 48;
    pub(super) const PARENT_ID: u64 = 56;
    pub(super) const SIZE: u64 = 104;
}

/// thr_new(parameters, size).
pub(super) fn create(kernel: &mut Kernel, id: ThreadId, [parameters, size, ..]: [u64; 6]) -> Outcome {
    if size > parameter::SIZE {
        return Err(Errno::EINVAL.into());
    }
    let task = kernel.task(id);
    let field = |at: u64| task.read_u64(parameters + at);
    let (stack, stack_size) = (field(parameter::STACK)?, field(parameter::STACK_SIZE)?);
    let mut registers = kernel.thread(id).registers;
    lose(&mut registers, true);
    registers.eflags &= !CARRY;
    registers.rip = field(parameter::START)?;
    registers.rdi = field(parameter::ARGUMENT)?;
    registers.rsp = ((stack + stack_size) & !15).wrapping_sub(8);
    registers.rbp = 0;
    registers.fs_base = field(parameter::TLS)?;
    let places = [field(parameter::CHILD_ID)?, field(parameter::PARENT_ID)?];
    let (process, mask) = (kernel.thread(id).process, kernel.thread(id).mask);
    let new = task.copy(libc::CLONE_VM)?;
    let thread = kernel.add_thread(process, new, registers, mask);
    for place in places.into_iter().filter(|place| *place != 0) {
        task.write(place, &thread.to_le_bytes())?;
    }
    Ok(Reply::Value(0))
}

/// thr_self(id).
pub(super) fn own_id(kernel: &mut Kernel, id: ThreadId, [place, ..]: [u64; 6]) -> Outcome {
    kernel.task(id).write(place, &id.to_le_bytes())?;
    Ok(Reply::Value(0))
}

/// thr_exit(state): sets the word at `state` to 1 and wakes the threads that wait for the word. The call returns in the
/// last thread of a process, which must end the process itself.
///
/// Source: sys/kern/kern_thr.c (`sys_thr_exit`, `kern_thr_exit`), thr_exit(2). Not seen on a real kernel.
pub(super) fn exit(kernel: &mut Kernel, id: ThreadId, [state, ..]: [u64; 6]) -> Outcome {
    let process = kernel.thread(id).process;
    if state != 0 {
        kernel.task(id).write(state, &1u64.to_le_bytes())?;
        let _ = wake(kernel, id, state, u64::MAX);
    }
    if kernel.threads_of(process).len() == 1 {
        return Ok(Reply::Value(0));
    }
    kernel.end_thread(id);
    Ok(Reply::Switched)
}

/// thr_kill(thread, signal). Thread -1 means all other threads; without other threads, the call fails with ESRCH.
///
/// Source: sys/kern/kern_thr.c (`sys_thr_kill`), thr_kill(2). Not seen on a real kernel for thread -1.
pub(super) fn kill(kernel: &mut Kernel, id: ThreadId, [thread, signal, ..]: [u64; 6]) -> Outcome {
    let signal = check(kernel, signal)?;
    let process = kernel.thread(id).process;
    let threads = kernel.threads_of(process);
    let wanted = thread as i64;
    let chosen: Vec<_> =
        threads.into_iter().filter(|other| *other == wanted || (wanted == -1 && *other != id)).collect();
    if chosen.is_empty() {
        return Err(Errno::ESRCH.into());
    }
    for thread in chosen.into_iter().filter(|_| signal != 0) {
        kernel.send_from(process, process, Some(thread), signal);
    }
    Ok(Reply::Value(0))
}

const UMTX_OP_WAIT: u64 = 2;
const UMTX_OP_WAKE: u64 = 3;
const UMTX_OP_WAIT_UINT: u64 = 11;
const UMTX_OP_WAIT_UINT_PRIVATE: u64 = 15;
const UMTX_OP_WAKE_PRIVATE: u64 = 16;

/// _umtx_op(word, operation, value, size_of_time, time): waits for a word, or wakes threads that wait for a word.
pub(super) fn umtx(kernel: &mut Kernel, id: ThreadId, [word, operation, value, size, time, _]: [u64; 6]) -> Outcome {
    let task = kernel.task(id);
    let is_as_expected = match operation & 0xffff_ffff {
        UMTX_OP_WAIT => task.read_u64(word)? == value,
        UMTX_OP_WAIT_UINT | UMTX_OP_WAIT_UINT_PRIVATE => task.read(word, 4)? == (value as u32).to_le_bytes(),
        UMTX_OP_WAKE | UMTX_OP_WAKE_PRIVATE => {
            let _ = wake(kernel, id, word, value);
            return Ok(Reply::Value(0));
        }
        operation => {
            kernel.note(id, Kind::Unsupported, &format!("_umtx_op {operation}"));
            return Err(Errno::EOPNOTSUPP.into());
        }
    };
    let deadline = deadline(kernel, id, size, time)?;
    if !is_as_expected {
        return Ok(Reply::Value(0));
    }
    Ok(Reply::Wait(Wait::Word { space: kernel.process_of(id).space, address: word, deadline }))
}

/// Reads the end of a wait as a time since boot, from a timespec or from a `struct _umtx_time`, which has flags after
/// the timespec.
fn deadline(kernel: &mut Kernel, id: ThreadId, size: u64, time: u64) -> Result<Option<u64>, Error> {
    const UMTX_TIME: u64 = 24;
    if time == 0 {
        return Ok(None);
    }
    let task = kernel.task(id);
    let length = read_timespec(task, time)?;
    if size >= UMTX_TIME && task.read(time + 16, 4)? != [0; 4] {
        kernel.note(id, Kind::Unsupported, "_umtx_op with an absolute time");
        return Err(Errno::EINVAL.into());
    }
    Ok(Some(kernel.clock.now() + length))
}

const GET_FSBASE: u64 = 128;
const SET_FSBASE: u64 = 129;

/// sysarch(operation, base): the base of thread-local storage.
pub(super) fn sysarch(kernel: &mut Kernel, id: ThreadId, [operation, place, ..]: [u64; 6]) -> Outcome {
    let task = kernel.task(id);
    match operation {
        GET_FSBASE => task.write(place, &kernel.thread(id).registers.fs_base.to_le_bytes())?,
        SET_FSBASE => kernel.thread(id).registers.fs_base = task.read_u64(place)?,
        _ => {
            kernel.note(id, Kind::Unsupported, &format!("sysarch {operation}"));
            return Err(Errno::EINVAL.into());
        }
    }
    Ok(Reply::Value(0))
}
