//! `dlclose`: what was counted in an object is settled before another can take its addresses.

use core::ffi::{c_char, c_int, c_void};
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::arch;
use crate::control::look_at_objects;

/// `RTLD_NEXT`: the next definition behind the program's own.
const NEXT: usize = usize::MAX;

type Lookup = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
type Close = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The C library's `dlclose`; 0 before it was looked up.
static THEIRS: AtomicUsize = AtomicUsize::new(0);

/// `int dlclose(void *handle)`: the C library's, with a look at what is loaded before and after it.
///
/// In a static program, which has no other, it does nothing: the object stays, as it does with a C library that never unloads.
#[unsafe(no_mangle)]
extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    let Some(close) = theirs() else { return 0 };
    look_at_objects(false);
    // SAFETY: the caller's own promise.
    let result = unsafe { close(handle) };
    look_at_objects(true);
    result
}

/// The C library's `dlclose`.
fn theirs() -> Option<Close> {
    let mut found = THEIRS.load(Relaxed);
    if found == 0 {
        // SAFETY: null, or `dlsym`, which this is the type of.
        let lookup: Option<Lookup> = unsafe { mem::transmute(arch::dlsym_address()) };
        // SAFETY: the name ends with a NUL.
        found = unsafe { lookup?(NEXT as *mut c_void, c"dlclose".as_ptr()) }.addr();
        THEIRS.store(found, Relaxed);
    }
    // SAFETY: null, or a function of that type: the next one of that name.
    unsafe { mem::transmute(found) }
}
