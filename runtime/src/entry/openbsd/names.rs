//! The profiling functions of OpenBSD's libc. If the object did not define these names, the linker would take the
//! functions from libc_p.a.

use core::ffi::{c_int, c_ulong, c_void};
use core::sync::atomic::AtomicI32;

use crate::control;
#[cfg(feature = "start")]
use crate::os::NO_SIGNALS;
use crate::state::Inherited;

/// `void _monstartup(unsigned long lowpc, unsigned long highpc)`: `monstartup`. Only the first call has an effect, and
/// the start-up code makes this first call. (Without start-up code, the function is in `by_hand`.)
#[cfg(feature = "start")]
#[unsafe(no_mangle)]
extern "C" fn _monstartup(lowpc: c_ulong, highpc: c_ulong) {
    control::start(lowpc as usize, highpc as usize, None, false, NO_SIGNALS);
}

/// `struct gmonparam *_gmon_alloc(void)`, by which libpthread allocates a new thread's tables. Returns null, because
/// the runtime allocates its own tables.
#[unsafe(no_mangle)]
extern "C" fn _gmon_alloc() -> *mut c_void {
    core::ptr::null_mut()
}

/// The state of libc's profiling for functions of libc that check the state: off.
const OFF: c_int = 3;

/// `struct gmonparam _gmonparam`: the state, and memory for the other members, which stay 0.
#[repr(C, align(16))]
struct Parameters {
    state: AtomicI32,
    rest: [AtomicI32; 63],
}

#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's name")]
static _gmonparam: Inherited<Parameters> =
    Inherited::new("never changes", Parameters { state: AtomicI32::new(OFF), rest: [const { AtomicI32::new(0) }; 63] });
