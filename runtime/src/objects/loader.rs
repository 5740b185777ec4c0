//! Reads the dynamic linker's list before and after it closes an object.
//!
//! The list is read under the dynamic linker's lock (`dl_iterate_phdr`). The dynamic linker holds this lock when it
//! adds a mapped object, and when it removes an object from the list and from memory: under the lock, no object comes
//! or goes. Counts are settled under the lock, so each count certainly goes to the object that had the address.
//!
//! The list has counters of objects that were ever added and removed. If the counters have not changed, nothing else
//! is examined. Otherwise new objects are at the end of the list and are examined; all others are unchanged.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::Relaxed;

use super::headers::{self, Headers};
use super::linker_list::{Counters, Kept, NewObject};
use super::loaded::{Known, Loaded, Object, PROGRAM, PROGRAM_BIAS, VDSO, for_each_code, known_or_new};
use crate::closures::closure_trait;
use crate::os::{Errno, Identity, ListedObject, Mapping, OwnMemory, PAGE, VDSO_PATH};

closure_trait! {
    /// Says whether this thread may look.
    pub(crate) Enter() -> bool
}

closure_trait! {
    /// Settles the counts.
    pub(crate) Settle(has_changed: bool)
}

type Each = unsafe extern "C" fn(*const ListedObject, usize, *mut c_void) -> c_int;

/// `dl_iterate_phdr`.
pub(crate) type Iterate = unsafe extern "C" fn(Each, *mut c_void) -> c_int;

unsafe extern "C" {
    /// The C library's function.
    pub(crate) fn dl_iterate_phdr(each: Each, data: *mut c_void) -> c_int;
}

/// The result of a look at the list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// This thread may not look.
    Nothing,
    /// The counts are settled.
    All,
    /// New objects were examined: look again to settle the counts.
    NewObjects,
}

/// A look at the list.
struct Walk<'a> {
    enter: &'a mut dyn Enter,
    settle: &'a mut dyn Settle,
    seen: Seen,
    counters: Counters,
    known: Option<&'static Known>,
    kept: Kept,
}

/// Reads the list. `enter` is called first, under the dynamic linker's lock, and says whether this thread may do what
/// only one thread may do; the right continues after the return. If the list was read, `settle` is called, still
/// under the lock, with whether something has changed: [`super::place`] has the state before, and
/// [`super::next_place`] the current state, which then becomes known.
///
/// # Errors
///
/// The errors of examining new objects.
///
/// # Safety
///
/// `iterate` must be the C library's function, and `enter` must tell the truth.
pub(crate) unsafe fn look_at_list(
    iterate: Iterate,
    enter: &mut dyn Enter,
    settle: &mut dyn Settle,
) -> Result<Seen, Errno> {
    let mut walk =
        Walk { enter, settle, seen: Seen::Nothing, counters: (0, 0), known: None, kept: Kept { number: 0, at: 0 } };
    // SAFETY: the caller's promise; the function calls `each` with that pointer.
    unsafe { iterate(each, (&raw mut walk).cast()) };
    if let Some(known) = walk.known.filter(|_| walk.seen == Seen::NewObjects) {
        known.examine_new_objects()?;
        known.list.prepared.set(walk.counters);
    }
    Ok(walk.seen)
}

/// Called for each entry of the list, until the result is not 0.
unsafe extern "C" fn each(info: *const ListedObject, _size: usize, walk: *mut c_void) -> c_int {
    // SAFETY: the arguments that the C library passes.
    let (info, walk) = unsafe { (&*info, &mut *walk.cast::<Walk<'_>>()) };
    if walk.known.is_none() {
        if !walk.enter.call() {
            return 1;
        }
        // SAFETY: `enter` has said that this is the one thread.
        walk.known = unsafe { known_or_new() };
        walk.counters = (info.added, info.removed);
        let Some(known) = walk.known else { return 1 };
        if [known.list.known.get(), known.list.prepared.get()].contains(&walk.counters) {
            walk.seen = Seen::All;
            let has_changed = known.list.known.get() != walk.counters;
            walk.settle.call(has_changed);
            if has_changed {
                known.accept_list();
            }
            return 1;
        }
        walk.seen = Seen::NewObjects;
        walk.kept.number = known.list.begin(info.removed);
    }
    if let Some(known) = walk.known {
        known.list.add(&mut walk.kept, info);
    }
    0
}

impl Known {
    /// Makes the result of the latest look the known list.
    fn accept_list(&self) {
        self.list.known.set(self.list.prepared.take());
        self.list.is_second_known.set(!self.list.is_second_known.get());
        self.is_second_known.set(!self.is_second_known.get());
    }

    /// Identifies the new objects and their mappings.
    fn examine_new_objects(&self) -> Result<(), Errno> {
        let memory = OwnMemory::open()?;
        // SAFETY: no function here returns a reference to these.
        let ((before, _), new_objects, next) =
            unsafe { (self.list.entries(), &mut *self.list.new_objects.get(), self.next_to_fill()) };
        next.number = 0;
        for loaded in self.now().entries() {
            let entry = loaded.listed.checked_sub(1).and_then(|index| before.all.get(index));
            match entry.map(|entry| entry.successor) {
                None => next.push(*loaded),
                Some(0) => {}
                Some(listed) => next.push(Loaded { listed, ..*loaded }),
            }
        }
        let mut unknown = 0;
        for new in new_objects.all.iter_mut().take(new_objects.number) {
            new.headers = headers::read_listed(&memory, new.bias, new.segments, new.segments_number);
            let Some(headers) = &new.headers else { continue };
            new.named = Identity::of(new.name);
            // The program is the first entry of the list.
            let is_program = new.place == 1 && new.bias == PROGRAM_BIAS.load(Relaxed);
            let is_this =
                |object: &Object| new.named != Identity::NONE && object.named.get() == new.named && object.has(headers);
            let found = if is_program { Some(PROGRAM) } else { self.objects.find(is_this) };
            match found {
                Some(object) => next.insert(new.loaded(headers, object, self.objects.get(object))),
                None => unknown += 1,
            }
            if found.is_some() {
                new.headers = None;
            }
        }
        memory.close();
        if unknown > 0 { self.identify_new_objects() } else { Ok(()) }
    }

    /// Identifies the new objects that are not among the known objects.
    fn identify_new_objects(&self) -> Result<(), Errno> {
        // SAFETY: as above; and nobody else has a reference to the room.
        let (new_objects, next, room) =
            unsafe { (&mut *self.list.new_objects.get(), self.next_to_fill(), &mut *self.room.get()) };
        for_each_code(room, &mut |mapping: &Mapping<'_>, base| {
            let is_there = |new: &&mut NewObject| {
                new.headers.as_ref().is_some_and(|headers| headers.is_at(mapping.start, mapping.end))
            };
            let Some(new) = new_objects.all.iter_mut().take(new_objects.number).find(is_there) else { return };
            let Some(headers) = new.headers.take() else { return };
            if mapping.path == VDSO_PATH {
                next.insert(Loaded { object: VDSO, listed: new.place, ..Loaded::of(mapping, base) });
            } else if let Some(object) = self.objects.number_of(&headers, mapping, new.named) {
                next.insert(new.loaded(&headers, object, self.objects.get(object)));
            }
        })
        .map(|_| ())
    }
}

impl NewObject {
    /// The mapping of the object's code.
    fn loaded(&self, headers: &Headers, number: usize, object: Option<&Object>) -> Loaded {
        Loaded {
            start: headers.bias.wrapping_add(headers.lowpc) & !(PAGE - 1),
            end: headers.bias.wrapping_add(headers.highpc).next_multiple_of(PAGE),
            device: object.map_or(0, |object| object.device),
            inode: object.map_or(0, |object| object.inode),
            base: headers.base,
            bias: headers.bias,
            object: number,
            listed: self.place,
        }
    }
}

impl Headers {
    /// Whether the object's code begins in a range.
    fn is_at(&self, start: usize, end: usize) -> bool {
        (start..end).contains(&self.bias.wrapping_add(self.lowpc))
    }
}
