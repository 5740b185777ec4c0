//! Memory calls.

use std::os::fd::AsRawFd;

use nix::errno::Errno;

use crate::calls::descriptor_calls::{file, open_of};
use crate::error::Error;
use crate::image::without;
use crate::kernel::{Inheritance, Kernel, Outcome, Reply, ThreadId};
use crate::record::Kind;
use crate::task::SCRATCH;

const PAGE: u64 = 4096;

/// The arguments of mmap(2), with Linux's flags.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    /// The address, or a hint.
    pub address: u64,
    /// The length in bytes.
    pub length: u64,
    /// PROT_ bits, which all systems share.
    pub protection: u64,
    /// Linux's MAP_ flags.
    pub flags: i32,
    /// The descriptor of the file, unless the memory is anonymous.
    pub descriptor: u64,
    /// The offset in the file.
    pub offset: u64,
}

/// mmap(2).
///
/// # Errors
///
/// As mmap(2).
pub fn map(kernel: &mut Kernel, id: ThreadId, mapping: &Mapping) -> Outcome {
    let task = kernel.task(id);
    let Mapping { address, length, protection, flags, descriptor, offset } = *mapping;
    let mut fd = u64::MAX;
    if flags & libc::MAP_ANONYMOUS == 0 {
        let open = open_of(kernel, id, descriptor)?;
        // Only this tracer has the file open; the traced process opens the file for the duration of the call.
        let access = nix::fcntl::fcntl(file(&open)?, nix::fcntl::FcntlArg::F_GETFL)? & libc::O_ACCMODE;
        let mut path = format!("/proc/{}/fd/{}", std::process::id(), file(&open)?.as_raw_fd()).into_bytes();
        path.push(0);
        task.write(SCRATCH, &path)?;
        fd = task.call(libc::SYS_open, [SCRATCH, access as u64, 0, 0, 0, 0])?;
    }
    let mapped = task.call(libc::SYS_mmap, [address, length, protection, flags as u64, fd, offset]);
    if fd != u64::MAX {
        task.call(libc::SYS_close, [fd, 0, 0, 0, 0, 0])?;
    }
    let mapped = mapped?;
    forget(kernel, id, mapped, length);
    Ok(Reply::Value(mapped))
}

/// Forgets the inheritance of a range that was mapped or unmapped.
fn forget(kernel: &mut Kernel, id: ThreadId, address: u64, length: u64) {
    let end = address + length.next_multiple_of(PAGE);
    let process = kernel.process_of(id);
    let gone = address..end;
    let parts = |(range, inheritance): (_, Inheritance)| {
        without(&range, &gone).into_iter().map(move |part| (part, inheritance))
    };
    process.inheritance = std::mem::take(&mut process.inheritance).into_iter().flat_map(parts).collect();
    process.stacks = process.stacks.iter().flat_map(|range| without(range, &gone)).collect();
}

/// munmap(address, length).
///
/// # Errors
///
/// As munmap(2).
pub fn unmap(kernel: &mut Kernel, id: ThreadId, [address, length, ..]: [u64; 6]) -> Outcome {
    kernel.task(id).call(libc::SYS_munmap, [address, length, 0, 0, 0, 0])?;
    forget(kernel, id, address, length);
    Ok(Reply::Value(0))
}

/// mprotect(address, length, protection). The BSDs round the address down, Linux does not.
///
/// # Errors
///
/// As mprotect(2).
pub fn protect(kernel: &mut Kernel, id: ThreadId, [address, length, protection, ..]: [u64; 6]) -> Outcome {
    let start = address & !(PAGE - 1);
    kernel.task(id).call(libc::SYS_mprotect, [start, length + (address - start), protection, 0, 0, 0])?;
    Ok(Reply::Value(0))
}

/// madvise(address, length, advice). Advice has no effect that a program can rely on.
///
/// # Errors
///
/// EINVAL for advice that neither system has.
pub fn advise(_: &mut Kernel, _: ThreadId, [_, _, advice, ..]: [u64; 6]) -> Outcome {
    if advice <= 10 { Ok(Reply::Value(0)) } else { Err(Errno::EINVAL.into()) }
}

/// minherit(address, length, inheritance).
///
/// # Errors
///
/// EINVAL for an invalid inheritance, and for shared memory, which the tests' kernel does not support.
pub fn inherit(kernel: &mut Kernel, id: ThreadId, [address, length, inheritance, ..]: [u64; 6]) -> Outcome {
    let start = address & !(PAGE - 1);
    let length = (length + (address - start)).next_multiple_of(PAGE);
    let inheritance = match inheritance {
        1 => None,
        2 => Some(Inheritance::Nothing),
        3 => Some(Inheritance::Zero),
        _ => {
            kernel.note(id, Kind::Unsupported, &format!("minherit with {inheritance}"));
            return Err(Errno::EINVAL.into());
        }
    };
    // The call fails for unmapped memory.
    kernel.task(id).call(libc::SYS_madvise, [start, length, libc::MADV_NORMAL as u64, 0, 0, 0])?;
    forget(kernel, id, start, length);
    if let Some(inheritance) = inheritance {
        kernel.process_of(id).inheritance.push((start..start + length, inheritance));
    }
    Ok(Reply::Value(0))
}

/// Applies the parent's minherit(2) settings to the memory of a new child.
///
/// # Errors
///
/// EFAULT when a range cannot be written.
pub fn apply_inheritance(kernel: &mut Kernel, child: ThreadId) -> Result<(), Error> {
    let task = kernel.task(child);
    for (range, inheritance) in kernel.process_of(child).inheritance.clone() {
        let length = range.end - range.start;
        match inheritance {
            Inheritance::Zero => task.write(range.start, &vec![0; length as usize])?,
            Inheritance::Nothing => {
                task.call(libc::SYS_munmap, [range.start, length, 0, 0, 0, 0])?;
            }
        }
    }
    Ok(())
}
