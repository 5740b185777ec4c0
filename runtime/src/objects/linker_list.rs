//! The entries of the dynamic linker's list, as they were and as they are: see [`super::loader`].

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_char;

use super::headers::Headers;
use crate::os::{Identity, ListedObject};

/// How many objects of the list are known; what is more is elsewhere.
const MOST_LISTED: usize = 4096;
/// How many are looked into at one time; what is more is elsewhere as well.
const MOST_NEW: usize = 1024;

/// An object of the list.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) bias: usize,
    pub(super) segments: usize,
    /// Its place in the list that was read after this one, from 1 on; 0 if it is not there.
    pub(super) successor: usize,
}

/// An object that has come into the list.
pub(super) struct New {
    pub(super) place: usize,
    pub(super) bias: usize,
    pub(super) segments: usize,
    pub(super) segments_number: u16,
    pub(super) name: *const c_char,
    /// What was found out about it.
    pub(super) headers: Option<Headers>,
    pub(super) named: Identity,
}

pub(super) struct Entries {
    pub(super) number: usize,
    pub(super) all: [Entry; MOST_LISTED],
}

pub(super) struct News {
    pub(super) number: usize,
    pub(super) all: [New; MOST_NEW],
}

/// How many objects were put in and taken out; zeros, nothing was.
pub(super) type Counters = (u64, u64);

/// What is known of the list. All zero, that is nothing.
pub(super) struct List {
    pub(super) known: Cell<Counters>,
    /// Those of the list that the latest look found, which is not what is known yet.
    pub(super) prepared: Cell<Counters>,
    entries: [UnsafeCell<Entries>; 2],
    pub(super) is_second_known: Cell<bool>,
    pub(super) news: UnsafeCell<News>,
}

/// Which of the entries are as they were, while the list is read.
pub(super) struct Kept {
    /// How many are so for certain: none that was taken out can have been before them.
    pub(super) number: usize,
    /// Where in the known list the next of those is to be looked for.
    pub(super) at: usize,
}

impl List {
    /// What was prepared does not hold any more.
    pub(super) fn forget_what_is_prepared(&self) {
        self.prepared.set((0, 0));
    }

    /// What is known, and what is to become that.
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

    /// Begins to read the list; the result is how many entries at its beginning are surely as they were.
    pub(super) fn begin(&self, removed: u64) -> usize {
        self.forget_what_is_prepared();
        // SAFETY: no function here returns such a reference, or one to the news.
        let ((now, next), news) = unsafe { (self.entries(), &mut *self.news.get()) };
        now.all.iter_mut().take(now.number).for_each(|entry| entry.successor = 0);
        next.number = 0;
        news.number = 0;
        let gone = removed.wrapping_sub(self.known.get().1);
        now.number.saturating_sub(usize::try_from(gone).unwrap_or(usize::MAX))
    }

    /// Adds an entry.
    pub(super) fn add(&self, kept: &mut Kept, info: &ListedObject) {
        // SAFETY: as above.
        let ((now, next), news) = unsafe { (self.entries(), &mut *self.news.get()) };
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
        if let Some(free) = news.all.get_mut(news.number) {
            *free = New {
                place,
                bias: info.bias,
                segments: info.segments.addr(),
                segments_number: info.segments_number,
                name: info.name,
                headers: None,
                named: Identity::NONE,
            };
            news.number += 1;
        }
    }
}
