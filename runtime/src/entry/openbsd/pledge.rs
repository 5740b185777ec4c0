//! `pledge`: the runtime remembers the promises, because the kernel kills a process that breaks a promise and does not
//! report promises.
//!
//! A program can make the call only by this function: the kernel accepts a system call only from pinned addresses, and
//! libc's function of this name is not linked if the start-up object defines the name.

use core::arch::global_asm;
use core::ffi::{c_char, c_int};

use super::dynamic::libcs_pledge;
use crate::os::{self, set_errno};

/// `int pledge(const char *promises, const char *execpromises)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn gmon_pledge(promises: *const c_char, after_exec: *const c_char) -> c_int {
    if let Some(pledge) = libcs_pledge() {
        // SAFETY: the caller passes null pointers or strings.
        return unsafe { pledge(promises, after_exec) };
    }
    // SAFETY: the caller passes null pointers or strings.
    match unsafe { os::pledge(promises, after_exec) } {
        Ok(()) => 0,
        Err(error) => {
            set_errno(error);
            -1
        }
    }
}

// Weak, because a program may define its own function of this name.
global_asm!(".weak pledge", ".type pledge, %function", ".set pledge, gmon_pledge");
