//! The unwind tables of a loaded object, where they are in memory.

use core::ops::Range;
use core::{ptr, slice};

use gmon_unwind::{Image, Memory, Object, Parts, Section};

/// The object with these program headers as walks need it. The result is `None` if the object has no code or if its
/// headers cannot be read. `is_loaded`: see [`Image::parts`].
///
/// # Safety
///
/// The object must stay loaded as long as the result is used.
pub(super) unsafe fn object(image: Image, memory: &impl Memory, is_loaded: bool) -> Option<Object<'static>> {
    let Parts { code, tables } = image.parts(memory, is_loaded)?;
    let Some((header, Range { start: address, end: behind })) = tables else {
        return Some(Object::new(code, Section { address: 0, bytes: &[] }, None));
    };
    // SAFETY: a loaded segment of the object, which the caller keeps, and whose first and last page can be read.
    let bytes = unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(address), behind - address) };
    Some(Object::new(code, Section { address, bytes }, Some(header - address)))
}
