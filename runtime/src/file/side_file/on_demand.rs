//! When and which calls were counted on demand: the parts that another module writes.

use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::SeqCst};

use crate::file::writer::Writer;
use crate::state::Inherited;

/// Writes the parts.
type Source = fn(&mut Writer);

/// The function that writes the parts; null if there are none.
static SOURCE: Inherited<AtomicPtr<()>> =
    Inherited::new("the child has the same code", AtomicPtr::new(ptr::null_mut()));

/// Lets a function write the parts from now on.
#[allow(dead_code, reason = "not all systems count calls on demand")]
pub(crate) fn set_source(source: Source) {
    SOURCE.store(source as *mut (), SeqCst);
}

/// Writes the parts, and the time that has elapsed, if there are such parts. The result says whether there are.
pub(super) fn put(out: &mut Writer) -> bool {
    let source = SOURCE.load(SeqCst);
    if source.is_null() {
        return false;
    }
    // SAFETY: a function of that type, from `set_source`.
    let source = unsafe { mem::transmute::<*mut (), Source>(source) };
    source(out);
    true
}
