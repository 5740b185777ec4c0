//! `profil`, as Linux's C library declares the function. FreeBSD's `profil` is a system call, which programs keep.

use core::ffi::{c_int, c_uint, c_void};

use super::bsd::gmon_profil_bsd;

/// The C library's `profil`, which a null buffer stops.
#[cfg_attr(not(test), unsafe(export_name = "profil"))]
pub extern "C" fn host(samples: *mut c_void, size: usize, offset: usize, scale: c_uint) -> c_int {
    gmon_profil_bsd(samples, size, offset, if samples.is_null() { 0 } else { scale })
}
