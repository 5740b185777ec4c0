//! unveil(2) (`kern/kern_unveil.c`, `kern/vfs_syscalls.c`). Not seen on a real kernel.

use std::ffi::CString;

use nix::errno::Errno;

use crate::calls::place::{AT_FDCWD, place};
use crate::kernel::{Kernel, Outcome, Reply, ThreadId};
use crate::visibility::Access;

/// unveil(path, permissions): limits the process to the given paths. Without arguments, the limits become final.
pub(super) fn call(kernel: &mut Kernel, id: ThreadId, [path, permissions, ..]: [u64; 6]) -> Outcome {
    if (path, permissions) == (0, 0) {
        kernel.process_of(id).unveiled.lock();
        return Ok(Reply::Value(0));
    }
    let letters = CString::new(kernel.task(id).read_string(permissions)?).map_err(|_| Errno::EINVAL)?;
    let access = Access::parse(letters.as_bytes())?;
    let path = place(kernel, id, AT_FDCWD as u64, path)?.absolute(false)?;
    kernel.process_of(id).unveiled.add(path, access)?;
    Ok(Reply::Value(0))
}
