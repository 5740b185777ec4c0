//! A jail without rights: its parameters are `allow.nosuser` and `allow.nounprivileged_proc_debug`.
//!
//! The superuser of such a jail has no privileges, and a process may not debug processes, which includes itself. The
//! kernel lists the mappings of a process (`kern.proc.vmmap`) only for those who may debug the process. profil(2),
//! timers, signals, and the other system variables that the runtime reads need no rights.
//!
//! Source: sys/kern/kern_priv.c (`priv_check_cred`: PRIV_DEBUG_UNPRIV, `suser_enabled`), sys/kern/kern_prot.c
//! (`p_candebug`), sys/kern/kern_proc.c (`sysctl_kern_proc_vmmap`), sys/kern/vfs_syscalls.c (`sys_chroot`), jail(8).
//! Not seen on a real kernel.

use nix::errno::Errno;

use crate::calls::paths;
use crate::kernel::{Kernel, Outcome, ThreadId};
use crate::record::Kind;

/// Returns whether a process may not debug itself, and records the refusal of a call.
pub(super) fn refuses(kernel: &mut Kernel, id: ThreadId, what: &str) -> bool {
    let is_refused = kernel.process_of(id).is_in_jail;
    if is_refused {
        kernel.note(id, Kind::Refused, &format!("{what} in a jail"));
    }
    is_refused
}

/// chroot(path).
pub(super) fn change_root(kernel: &mut Kernel, id: ThreadId, arguments: [u64; 6]) -> Outcome {
    if refuses(kernel, id, "chroot") {
        return Err(Errno::EPERM.into());
    }
    paths::change_root(kernel, id, arguments)
}
