//! `dlclose`: settles the counts in an object before another object can take its addresses, and keeps walks through
//! stacks from using an object that is being unloaded.

use core::ffi::{c_int, c_void};
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::control::{calls, is_ours, look_at_objects};
use crate::kernel;
use crate::mcount;
use crate::objects::dl_iterate_phdr;
use crate::os::{a_moment, next_definition};
use crate::state::Inherited;
use crate::unwind::while_closing;

type Close = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The address of the C library's `dlclose`; 0 before the look-up.
static THEIRS: Inherited<AtomicUsize> =
    Inherited::new("the C library's functions stay where they are", AtomicUsize::new(0));

/// `int dlclose(void *handle)`: calls the C library's function, and reads the list of loaded objects before and after
/// the call.
///
/// In a static program, which has no other `dlclose`, the function does nothing: the object stays, as with a C
/// library that never unloads.
#[unsafe(no_mangle)]
extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    let Some(close) = theirs() else { return 0 };
    if !is_ours() {
        // SAFETY: the caller's promise.
        return unsafe { close(handle) };
    }
    // Samples with copies of stacks are walked while walks may still use the object.
    kernel::count_stored();
    while_closing(a_moment, || {
        // All walks that have not seen that an object is being closed are over at this look.
        // SAFETY: the C library's function.
        unsafe { look_at_objects(dl_iterate_phdr) };
        // The counts of destructors belong to their object, whatever another thread loads there at the same time.
        let was_closing = mcount::set_closing(true);
        calls::begin_closing();
        // SAFETY: the caller's promise.
        let result = unsafe { close(handle) };
        calls::end_closing();
        // SAFETY: as above.
        unsafe { look_at_objects(dl_iterate_phdr) };
        mcount::set_closing(was_closing);
        result
    })
}

/// The C library's `dlclose`.
fn theirs() -> Option<Close> {
    let mut found = THEIRS.load(Relaxed);
    if found == 0 {
        found = next_definition(c"dlclose");
        THEIRS.store(found, Relaxed);
    }
    // SAFETY: null, or a function of that type: the next definition of the name.
    unsafe { mem::transmute(found) }
}
