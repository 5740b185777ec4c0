//! Threads: __tfork (`kern/kern_fork.c`), __threxit, getthrid, futex (`sys/futex.h` 1.3, 2025-05-07;
//! `kern/sys_futex.c`), the thread control block (`arch/amd64/include/tcb.h` 1.6, 2017-10-13). Not seen on a real
//! kernel.

use nix::errno::Errno;

use crate::calls::process_calls::wake;
use crate::calls::timers::read_timespec;
use crate::kernel::{Kernel, Outcome, Reply, ThreadId, Wait};
use crate::record::Kind;
use crate::returning::{CARRY, lose};

/// __tfork(parameters, size): the new thread returns 0 on its own stack.
pub(super) fn create(kernel: &mut Kernel, id: ThreadId, [parameters, size, ..]: [u64; 6]) -> Outcome {
    const SIZE: u64 = 24;
    if size != SIZE {
        return Err(Errno::EINVAL.into());
    }
    let task = kernel.task(id);
    let (tcb, place, stack) =
        (task.read_u64(parameters)?, task.read_u64(parameters + 8)?, task.read_u64(parameters + 16)?);
    let mut registers = kernel.thread(id).registers;
    lose(&mut registers, false);
    registers.eflags &= !CARRY;
    (registers.rax, registers.rsp, registers.fs_base) = (0, stack, tcb);
    let (process, mask) = (kernel.thread(id).process, kernel.thread(id).mask);
    let new = task.copy(libc::CLONE_VM)?;
    let thread = kernel.add_thread(process, new, registers, mask);
    if place != 0 {
        task.write(place, &(thread as u32).to_le_bytes())?;
    }
    Ok(Reply::Value(thread as u64))
}

/// __threxit(word): sets the word to 0 and wakes the threads that wait for the word. The end of the last thread is the
/// end of the process, with status 0, as by `exit` (`kern/kern_exit.c`; not seen on a real kernel). FreeBSD's call
/// returns to the last thread instead.
pub(super) fn exit(kernel: &mut Kernel, id: ThreadId, [word, ..]: [u64; 6]) -> Outcome {
    let process = kernel.thread(id).process;
    if word != 0 {
        kernel.task(id).write(word, &[0; 4])?;
        let _ = wake(kernel, id, word, u64::MAX);
    }
    if kernel.threads_of(process).len() == 1 {
        kernel.end_process(process, 0);
    } else {
        kernel.end_thread(id);
    }
    Ok(Reply::Switched)
}

/// getthrid().
pub(super) fn own_id(_: &mut Kernel, id: ThreadId, _: [u64; 6]) -> Outcome {
    Ok(Reply::Value(id as u64))
}

/// futex(word, operation, value, timeout, other).
pub(super) fn futex(kernel: &mut Kernel, id: ThreadId, [word, operation, value, timeout, ..]: [u64; 6]) -> Outcome {
    let task = kernel.task(id);
    match operation & 0x7f {
        1 => {
            if task.read(word, 4)? != (value as u32).to_le_bytes() {
                return Err(Errno::EAGAIN.into());
            }
            let length = if timeout == 0 { None } else { Some(read_timespec(task, timeout)?) };
            let deadline = length.map(|length| kernel.clock.now() + length);
            Ok(Reply::Wait(Wait::Word { space: kernel.process_of(id).space, address: word, deadline }))
        }
        2 => Ok(Reply::Value(wake(kernel, id, word, value))),
        operation => {
            kernel.note(id, Kind::Unsupported, &format!("futex {operation}"));
            Err(Errno::ENOSYS.into())
        }
    }
}

/// __set_tcb(address).
pub(super) fn set_tcb(kernel: &mut Kernel, id: ThreadId, [address, ..]: [u64; 6]) -> Outcome {
    kernel.thread(id).registers.fs_base = address;
    Ok(Reply::Value(0))
}

/// __get_tcb().
pub(super) fn get_tcb(kernel: &mut Kernel, id: ThreadId, _: [u64; 6]) -> Outcome {
    Ok(Reply::Value(kernel.thread(id).registers.fs_base))
}
