//! Profiling that the program starts itself: `libgmon.a` has no start-up code.

use core::ffi::{c_char, c_ulong};

use super::start::begin;
use crate::control::is_started;

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// `void _monstartup(unsigned long lowpc, unsigned long highpc)`: starts profiling and reads the environment. Only the
/// first call has an effect. A set-user-ID or set-group-ID program is not profiled.
#[unsafe(no_mangle)]
extern "C" fn _monstartup(lowpc: c_ulong, highpc: c_ulong) {
    if !is_started() {
        // SAFETY: libc has set `environ`. As for `getenv`, a program must not change its environment in another thread
        // at the same time.
        unsafe { begin(environ, (lowpc as usize, highpc as usize)) }
    }
}

/// The name of [`_monstartup`] on other systems.
#[unsafe(no_mangle)]
extern "C" fn monstartup(lowpc: c_ulong, highpc: c_ulong) {
    _monstartup(lowpc, highpc);
}

/// glibc's own name for [`monstartup`].
#[unsafe(no_mangle)]
extern "C" fn __monstartup(lowpc: c_ulong, highpc: c_ulong) {
    _monstartup(lowpc, highpc);
}
