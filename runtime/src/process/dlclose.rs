//! `dlclose`: what was counted in an object is settled before another can take its addresses.

use core::ffi::{c_int, c_void};
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::control::{is_ours, look_at_objects};
use crate::mcount;
use crate::objects::Iterate;
use crate::os::next_definition;

type Close = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The C library's `dlclose`; 0 before it was looked up.
static THEIRS: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    /// The C library's. Its callback is of a type of ours.
    fn dl_iterate_phdr();
}

/// `int dlclose(void *handle)`: the C library's, with a look at what is loaded before and after it.
///
/// In a static program, which has no other, it does nothing: the object stays, as it does with a C library that never unloads.
#[unsafe(no_mangle)]
extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    let Some(close) = theirs() else { return 0 };
    if !is_ours() {
        // SAFETY: the caller's own promise.
        return unsafe { close(handle) };
    }
    // SAFETY: this is its type, but for what the callback's arguments are called.
    let iterate: Iterate = unsafe { mem::transmute(dl_iterate_phdr as *const ()) };
    // SAFETY: as it says.
    unsafe { look_at_objects(iterate) };
    // What destructors count is the object's that they are of, whatever another thread loads there at once.
    let was_closing = mcount::set_closing(true);
    // SAFETY: the caller's own promise.
    let result = unsafe { close(handle) };
    // SAFETY: as above.
    unsafe { look_at_objects(iterate) };
    mcount::set_closing(was_closing);
    result
}

/// The C library's `dlclose`.
fn theirs() -> Option<Close> {
    let mut found = THEIRS.load(Relaxed);
    if found == 0 {
        found = next_definition(c"dlclose");
        THEIRS.store(found, Relaxed);
    }
    // SAFETY: null, or a function of that type: the next one of that name.
    unsafe { mem::transmute(found) }
}
