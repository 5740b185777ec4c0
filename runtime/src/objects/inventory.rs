//! Lists what is known: the objects, and where they are loaded now.

use super::loaded::{Known, Object, PROGRAM, VDSO, is_object, known};
use crate::closures::closure_trait;

closure_trait! {
    /// Gets objects.
    pub(crate) EachObject(listed: &Listed)
}

closure_trait! {
    /// Gets executable mappings of objects.
    pub(crate) EachMapping(start: usize, end: usize, bias: usize, object: usize)
}

/// An object that is or was loaded.
pub(crate) struct Listed {
    pub(crate) number: usize,
    pub(crate) object: &'static Object,
    /// The number of earlier objects with the same path.
    pub(crate) generation: usize,
    /// Whether the object is loaded no more.
    pub(crate) is_closed: bool,
}

/// Passes every object but the program and the vDSO to `each`, in ascending order of the numbers.
///
/// # Safety
///
/// As for [`super::look`].
pub(crate) unsafe fn for_each_object(each: &mut dyn EachObject) {
    // SAFETY: the caller's promise.
    let Some(known) = (unsafe { known() }) else { return };
    for (number, object) in objects(known) {
        let before = objects(known).take_while(|(other, _)| *other < number);
        let generation = before.filter(|(_, other)| other.path.as_bytes() == object.path.as_bytes()).count();
        let is_closed = !known.now().entries().iter().any(|loaded| loaded.object == number);
        each.call(&Listed { number, object, generation, is_closed });
    }
}

fn objects(known: &'static Known) -> impl Iterator<Item = (usize, &'static Object)> {
    (1..).map_while(|number| Some((number, known.objects.get(number)?)))
}

/// Passes every known executable mapping of an object to `each`, in ascending order: the first address, the address
/// behind it, the load bias, and the number of the object.
///
/// # Safety
///
/// As for [`super::look`].
pub(crate) unsafe fn for_each_mapping(each: &mut dyn EachMapping) {
    // SAFETY: the caller's promise.
    let Some(known) = (unsafe { known() }) else { return };
    for loaded in known.now().entries() {
        match loaded.object {
            // The vDSO is linked at address 0.
            VDSO => each.call(loaded.start, loaded.end, loaded.base, VDSO),
            PROGRAM => each.call(loaded.start, loaded.end, loaded.bias, loaded.object),
            object if is_object(object) => each.call(loaded.start, loaded.end, loaded.bias, object),
            _ => {}
        }
    }
}
