//! The known and the current entries of the dynamic linker's list: see [`super::loader`].

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_char;

use super::headers::Headers;
use crate::os::{Identity, ListedObject};

/// The number of objects of the list that are known; further objects count as elsewhere.
const MOST_LISTED: usize = 4096;
/// The number of new objects that are examined at one time; further objects count as elsewhere.
const MOST_NEW: usize = 1024;

/// An object of the list.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) bias: usize,
    pub(super) segments: usize,
    /// The position in the list that was read after this one, from 1 on; 0 if the object is not there.
    pub(super) successor: usize,
}

/// An object that is new in the list.
pub(super) struct NewObject {
    pub(super) place: usize,
    pub(super) bias: usize,
    pub(super) segments: usize,
    pub(super) segments_number: u16,
    pub(super) name: *const c_char,
    /// The headers, once they were read.
    pub(super) headers: Option<Headers>,
    pub(super) named: Identity,
}

pub(super) struct Entries {
    pub(super) number: usize,
    pub(super) all: [Entry; MOST_LISTED],
}

pub(super) struct NewObjects {
    pub(super) number: usize,
    pub(super) all: [NewObject; MOST_NEW],
}

/// How many objects were added and removed; zeros if nothing is known.
pub(super) type Counters = (u64, u64);

/// The list as it is known. A list of zeros is empty.
pub(super) struct List {
    pub(super) known: Cell<Counters>,
    /// The counters of the latest look, whose result has not become the known list yet.
    pub(super) prepared: Cell<Counters>,
    entries: [UnsafeCell<Entries>; 2],
    pub(super) is_second_known: Cell<bool>,
    pub(super) new_objects: UnsafeCell<NewObjects>,
}

/// Which of the known entries are still in the list that is being read.
pub(super) struct Kept {
    /// The number of entries that are certainly unchanged: no removed object can have been before them.
    pub(super) number: usize,
    /// Where in the known list to search for the next of these entries.
    pub(super) at: usize,
}

impl List {
    /// Discards the result of the latest look.
    pub(super) fn discard_prepared(&self) {
        self.prepared.set((0, 0));
    }

    /// The known entries, and the entries that will replace them.
    ///
    /// # Safety
    ///
    /// Nobody may have a reference to either.
    #[expect(clippy::mut_from_ref, reason = "the caller's promise")]
    pub(super) unsafe fn entries(&self) -> (&mut Entries, &mut Entries) {
        let [first, second] = &self.entries;
        // SAFETY: the caller's promise.
        let (first, second) = unsafe { (&mut *first.get(), &mut *second.get()) };
        if self.is_second_known.get() { (second, first) } else { (first, second) }
    }

    /// Starts to read the list. The result is the number of entries at its start that are certainly unchanged.
    pub(super) fn begin(&self, removed: u64) -> usize {
        self.discard_prepared();
        // SAFETY: no function here returns a reference to the entries or to the new objects.
        let ((now, next), new_objects) = unsafe { (self.entries(), &mut *self.new_objects.get()) };
        now.all.iter_mut().take(now.number).for_each(|entry| entry.successor = 0);
        next.number = 0;
        new_objects.number = 0;
        let gone = removed.wrapping_sub(self.known.get().1);
        now.number.saturating_sub(usize::try_from(gone).unwrap_or(usize::MAX))
    }

    /// Adds an entry.
    pub(super) fn add(&self, kept: &mut Kept, info: &ListedObject) {
        // SAFETY: as above.
        let ((now, next), new_objects) = unsafe { (self.entries(), &mut *self.new_objects.get()) };
        let entry = Entry { bias: info.bias, segments: info.segments.addr(), successor: 0 };
        let Some(free) = next.all.get_mut(next.number) else { return };
        *free = entry;
        next.number += 1;
        let place = next.number;
        if place <= kept.number {
            let mut left = now.all.iter_mut().take(now.number).skip(kept.at);
            let found = left.position(|old| {
                let is_it = (old.bias, old.segments) == (entry.bias, entry.segments);
                if is_it {
                    old.successor = place;
                }
                is_it
            });
            if let Some(distance) = found {
                kept.at += distance + 1;
                return;
            }
        }
        if let Some(free) = new_objects.all.get_mut(new_objects.number) {
            *free = NewObject {
                place,
                bias: info.bias,
                segments: info.segments.addr(),
                segments_number: info.segments_number,
                name: info.name,
                headers: None,
                named: Identity::NONE,
            };
            new_objects.number += 1;
        }
    }
}
