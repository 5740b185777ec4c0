//! The names of the profiling functions of the system's libc: without these definitions, a program would get the ones of libc_p.a.

use core::ffi::{c_int, c_ulong, c_void};
use core::sync::atomic::AtomicI32;

use crate::control;

/// `void _monstartup(unsigned long lowpc, unsigned long highpc)`: `monstartup`. Only the first call has an effect, and the start-up code
/// has called already.
#[unsafe(no_mangle)]
extern "C" fn _monstartup(lowpc: c_ulong, highpc: c_ulong) {
    control::start(lowpc as usize, highpc as usize, None, false);
}

/// `struct gmonparam *_gmon_alloc(void)`: libpthread asks for a new thread's tables. Null: the runtime has tables of its own.
#[unsafe(no_mangle)]
extern "C" fn _gmon_alloc() -> *mut c_void {
    core::ptr::null_mut()
}

/// The state of libc's profiling: off, for functions of libc that look.
const OFF: c_int = 3;

/// `struct gmonparam _gmonparam`: the state, and room for the rest.
#[repr(C, align(16))]
struct Parameters {
    state: AtomicI32,
    rest: [AtomicI32; 63],
}

#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's name")]
static _gmonparam: Parameters = Parameters { state: AtomicI32::new(OFF), rest: [const { AtomicI32::new(0) }; 63] };
