//! Publishes the objects that are loaded at the start, for walks through stacks.

use core::ffi::{c_int, c_void};
use core::{ptr, slice};

use super::loader::dl_iterate_phdr;
use super::program;
use crate::os::{ListedObject, map, vdso};
use crate::unwind::{self, Known, LaterObjects, Object};

/// `struct r_debug` (`link.h`) has the address of the list's first entry in the second word, and an entry
/// (`struct link_map`) has the address of the next entry in the fourth word.
const FIRST: usize = 1;
const NEXT: usize = 3;

/// The objects of the dynamic linker's list.
struct Listing {
    /// Where to store the objects, and the number of objects for which there is room.
    start: *mut Object<'static>,
    room: usize,
    /// The number of objects in the list.
    listed: usize,
    /// The number of stored objects.
    number: usize,
    only_program: bool,
}

/// Publishes the objects that are loaded now. Call this once, before the program's own code runs.
///
/// `hears_of_closing` says whether each `dlclose` of the program is inside [`unwind::while_closing`]. Otherwise each
/// object other than the program and the vDSO may disappear at any time.
///
/// Without memory, nothing is published.
pub fn publish(hears_of_closing: bool) {
    let mut listing =
        Listing { start: ptr::null_mut(), room: 0, listed: 0, number: 0, only_program: !hears_of_closing };
    listing.read();
    let room = listing.listed + 1;
    let memory = map(size_of::<Known>() + room * size_of::<Object<'_>>());
    if memory.is_null() {
        return;
    }
    // SAFETY: the objects are behind `Known` in that memory, and both are made of words.
    (listing.start, listing.room) = (unsafe { memory.byte_add(size_of::<Known>()) }.cast(), room);
    listing.read();
    let vdso = vdso();
    // Kernels without such an object, and emulators, say 0.
    // SAFETY: the kernel's object is never unmapped by the dynamic linker.
    if let Some(vdso) = (vdso != 0).then(|| unsafe { unwind::object_at(vdso) }).flatten() {
        listing.insert(vdso);
    }
    // SAFETY: `read` and `insert` have stored this number of objects, and nobody changes them any more.
    let objects = unsafe { slice::from_raw_parts(listing.start, listing.number) };
    let last = last_entry(listing.only_program);
    let later = last.map(|last| LaterObjects { last, may_remember: hears_of_closing });
    let known: *mut Known = memory.cast();
    // SAFETY: fresh memory for the value, which is never freed.
    unsafe {
        known.write(Known { objects, later });
        unwind::publish(&*known);
    }
}

impl Listing {
    /// Reads the list from its start.
    fn read(&mut self) {
        (self.listed, self.number) = (0, 0);
        // SAFETY: `add` gets the pointer to the listing.
        unsafe { dl_iterate_phdr(add, ptr::from_mut(self).cast()) };
    }

    /// Stores an object in the order of addresses, unless there is no room or another object has these addresses.
    fn insert(&mut self, object: Object<'static>) {
        // SAFETY: that many objects are stored.
        let stored = unsafe { slice::from_raw_parts(self.start, self.number) };
        let place = stored.partition_point(|other| other.start() < object.start());
        let is_known = stored.get(place).is_some_and(|other| other.start() == object.start());
        if self.number < self.room && !is_known {
            // SAFETY: there is room for one more object.
            unsafe {
                let place = self.start.add(place);
                ptr::copy(place, place.add(1), stored.len() - place.offset_from_unsigned(self.start));
                place.write(object);
            }
            self.number += 1;
        }
    }
}

/// Called for each entry of the list, until the result is not 0.
unsafe extern "C" fn add(info: *const ListedObject, _size: usize, listing: *mut c_void) -> c_int {
    // SAFETY: the arguments that the C library passes; `read` passes its listing.
    let (info, listing) = unsafe { (&*info, &mut *listing.cast::<Listing>()) };
    listing.listed += 1;
    if listing.room > 0 {
        // SAFETY: the program is never unloaded, and objects that are loaded at the start are not either.
        let object = unsafe { unwind::object(info.bias, info.segments.addr(), info.segments_number.into()) };
        if let Some(object) = object {
            listing.insert(object);
        }
    }
    // The program is the first entry.
    listing.only_program.into()
}

/// The address of the last entry of the dynamic linker's list, or of the first; `None` in a static program.
fn last_entry(is_first: bool) -> Option<usize> {
    // SAFETY: the dynamic linker's structures are complete at the start, and no other thread changes them.
    let word =
        |address: usize, index: usize| unsafe { ptr::with_exposed_provenance::<usize>(address).add(index).read() };
    let mut entry = word(program::linker_data()?, FIRST);
    while !is_first && entry != 0 && word(entry, NEXT) != 0 {
        entry = word(entry, NEXT);
    }
    (entry != 0).then_some(entry)
}
