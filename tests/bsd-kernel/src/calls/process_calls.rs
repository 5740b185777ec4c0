//! Process calls: exit, wait4, IDs, limits.

use nix::errno::Errno;

use crate::kernel::{Kernel, Outcome, Process, Reply, State, ThreadId, Wait};
use crate::record::Kind;

/// exit(status).
///
/// # Errors
///
/// None.
pub fn exit(kernel: &mut Kernel, id: ThreadId, [status, ..]: [u64; 6]) -> Outcome {
    let process = kernel.thread(id).process;
    kernel.end_process(process, (status as i32 & 0xff) << 8);
    Ok(Reply::Switched)
}

/// getpid().
///
/// # Errors
///
/// None.
pub fn getpid(kernel: &mut Kernel, id: ThreadId, _: [u64; 6]) -> Outcome {
    Ok(Reply::Value(u64::from(kernel.process_of(id).id)))
}

/// getppid().
///
/// # Errors
///
/// None.
pub fn getppid(kernel: &mut Kernel, id: ThreadId, _: [u64; 6]) -> Outcome {
    Ok(Reply::Value(u64::from(kernel.process_of(id).parent)))
}

/// getuid() and the like.
///
/// # Errors
///
/// None.
pub fn identity(kernel: &mut Kernel, id: ThreadId, _: [u64; 6]) -> Outcome {
    Ok(Reply::Value(u64::from(kernel.process_of(id).credentials.user)))
}

/// setresuid(real, effective, saved). This kernel requires equal IDs.
///
/// # Errors
///
/// EPERM for another user's ID, unless the user is the superuser.
pub fn set_user(kernel: &mut Kernel, id: ThreadId, [real, effective, saved, ..]: [u64; 6]) -> Outcome {
    if real as u32 != effective as u32 || effective as u32 != saved as u32 {
        kernel.note(id, Kind::Unsupported, "setresuid with different IDs");
        return Err(Errno::EINVAL.into());
    }
    let credentials = &mut kernel.process_of(id).credentials;
    if !credentials.is_root() && credentials.user != effective as u32 {
        return Err(Errno::EPERM.into());
    }
    credentials.user = effective as u32;
    Ok(Reply::Value(0))
}

/// issetugid().
///
/// # Errors
///
/// None.
pub fn issetugid(kernel: &mut Kernel, id: ThreadId, _: [u64; 6]) -> Outcome {
    Ok(Reply::Value(u64::from(kernel.process_of(id).is_set_id)))
}

/// sched_yield().
///
/// # Errors
///
/// None.
pub fn yields(_: &mut Kernel, _: ThreadId, _: [u64; 6]) -> Outcome {
    Ok(Reply::Value(0))
}

/// wait4(which, status, options, usage), without the usage.
///
/// # Errors
///
/// ECHILD, EFAULT.
pub fn wait4(kernel: &mut Kernel, id: ThreadId, [which, status, options, usage, ..]: [u64; 6]) -> Outcome {
    const WNOHANG: u64 = 1;
    /// FreeBSD: children whose end sends another signal than SIGCHLD.
    const WLINUXCLONE: u64 = 0x8000_0000;
    if usage != 0 {
        kernel.note(id, Kind::Unsupported, "wait4 with usage");
    }
    let which = i64::from(which as i32);
    let (process, task) = (kernel.thread(id).process, kernel.task(id));
    let is_clone = options & WLINUXCLONE != 0;
    match kernel.reap(process, (which, is_clone), status, task)? {
        Some(reply) => Ok(reply),
        None if options & WNOHANG != 0 => Ok(Reply::Value(0)),
        None => Ok(Reply::Wait(Wait::Child { which, status, is_clone })),
    }
}

/// umask(mask).
///
/// # Errors
///
/// None.
pub fn umask(kernel: &mut Kernel, id: ThreadId, [mask, ..]: [u64; 6]) -> Outcome {
    let old = std::mem::replace(&mut kernel.process_of(id).mask, mask as u32 & 0o777);
    Ok(Reply::Value(u64::from(old)))
}

/// RLIM_INFINITY.
const NO_LIMIT: u64 = i64::MAX as u64;
/// The number of limits.
const LIMITS: u64 = 15;

/// getrlimit(resource, limits). All limits are infinite unless the program set a limit.
///
/// # Errors
///
/// EINVAL, EFAULT.
pub fn getrlimit(kernel: &mut Kernel, id: ThreadId, [resource, place, ..]: [u64; 6]) -> Outcome {
    if resource >= LIMITS {
        return Err(Errno::EINVAL.into());
    }
    let (soft, hard) = kernel.process_of(id).limits.get(&resource).copied().unwrap_or((NO_LIMIT, NO_LIMIT));
    kernel.task(id).write(place, &[soft.to_le_bytes(), hard.to_le_bytes()].concat())?;
    Ok(Reply::Value(0))
}

/// The resource RLIMIT_FSIZE: the size of files.
const FILE_SIZE: u64 = 1;

/// setrlimit(resource, limits). The tests' kernel enforces only RLIMIT_FSIZE for the file that OpenBSD's kernel writes.
///
/// # Errors
///
/// EINVAL, EFAULT.
pub fn setrlimit(kernel: &mut Kernel, id: ThreadId, [resource, place, ..]: [u64; 6]) -> Outcome {
    let task = kernel.task(id);
    let limits = (task.read_u64(place)?, task.read_u64(place + 8)?);
    if resource >= LIMITS || limits.0 > limits.1 {
        return Err(Errno::EINVAL.into());
    }
    kernel.process_of(id).limits.insert(resource, limits);
    Ok(Reply::Value(0))
}

/// Returns the soft limit of the size of files.
#[must_use]
pub fn file_size_limit(process: &Process) -> u64 {
    process.limits.get(&FILE_SIZE).map_or(NO_LIMIT, |(soft, _)| *soft)
}

/// Wakes at most a number of threads that wait for a word of memory, and returns the number of woken threads.
pub fn wake(kernel: &mut Kernel, id: ThreadId, word: u64, count: u64) -> u64 {
    let own = kernel.process_of(id).space;
    let waits = |state: &State| matches!(state, State::Waiting(Wait::Word { space, address, .. }) if *space == own && *address == word);
    let waiting = kernel.threads.values_mut().filter(|thread| waits(&thread.state) && !thread.is_woken);
    let mut woken = 0;
    for thread in waiting.take(count as usize) {
        thread.is_woken = true;
        woken += 1;
    }
    woken
}
