//! Profiling that the program starts itself: `libgmon.a` has no start-up code.

use core::ffi::{CStr, c_char, c_ulong};

use super::fork;
use crate::control::{is_started, strings};
use crate::entry::begin;
use crate::os::has_other_rights;

unsafe extern "C" {
    static environ: *const *const c_char;
    static __progname: *const c_char;
}

/// Returns the process's environment as it is now.
pub(super) fn environment() -> *const *const c_char {
    // SAFETY: the variable is libc's. As for `getenv`, a program must not change its environment in another thread at
    // the same time.
    unsafe { environ }
}

/// `void monstartup(unsigned long lowpc, unsigned long highpc)`: starts profiling and reads the environment. Only the
/// first call has an effect. A process with other rights than its user's is not profiled.
#[unsafe(no_mangle)]
extern "C" fn monstartup(lowpc: c_ulong, highpc: c_ulong) {
    if is_started() || has_other_rights() {
        return;
    }
    fork::find_next();
    // SAFETY: libc sets both before it runs constructors: the process's environment, and a string or null. As for
    // `getenv`, a program must not change its environment in another thread at the same time. The module `fork` sees
    // forks.
    unsafe {
        let name = (!__progname.is_null()).then(|| CStr::from_ptr(__progname));
        begin::begin(name, environ, (lowpc as usize, highpc as usize), || {});
    }
}

/// glibc's own name for [`monstartup`].
#[unsafe(no_mangle)]
extern "C" fn __monstartup(lowpc: c_ulong, highpc: c_ulong) {
    monstartup(lowpc, highpc);
}
