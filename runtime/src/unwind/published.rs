//! What signal handlers know of the loaded objects.
//!
//! The objects that were loaded at the start stay, because no `dlclose` unloads them. Their list is published once.
//! Objects that were loaded later are found by walks ([`super::later`]), except while any thread is in `dlclose`:
//! [`Published::begin_close`] returns when no walk uses a later object, and no walk begins to use one before
//! [`Published::end_close`]. It waits only for walks that began before, however many begin meanwhile.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering::SeqCst};

use gmon_unwind::{Object, Objects};

use super::later::LaterObjects;
use super::table_copies::TableCopies;

/// The generation of the objects that stay. No rule from another generation is found by walks that use only these
/// objects.
const STAYING: u64 = u64::MAX;

/// What is known at the start.
pub struct Known {
    /// The objects that stay, in the order of their addresses.
    pub objects: &'static [Object<'static>],
    /// Where to find other objects.
    pub later: Option<LaterObjects>,
}

/// What signal handlers use.
pub(super) struct Published {
    known: AtomicPtr<Known>,
    /// The number of threads in `dlclose`.
    closing: AtomicUsize,
    /// Grows when a thread enters and when it leaves `dlclose`.
    generation: AtomicU64,
    /// The number of walks that may use later objects.
    readers: AtomicUsize,
    /// Copies of the tables of later objects.
    copies: TableCopies,
}

/// A walk that uses the objects.
pub(super) struct Reading<'p> {
    known: Option<&'static Known>,
    /// `None` if later objects may not be used.
    later: Option<UsingLater<'p>>,
}

/// Keeps later objects from being closed.
struct UsingLater<'p> {
    readers: &'p AtomicUsize,
    copies: &'p TableCopies,
    generation: u64,
}

impl Published {
    /// No objects.
    #[must_use]
    pub(super) const fn new() -> Published {
        Published {
            known: AtomicPtr::new(null_mut()),
            closing: AtomicUsize::new(0),
            generation: AtomicU64::new(0),
            readers: AtomicUsize::new(0),
            copies: TableCopies::new(),
        }
    }

    /// Publishes what is known.
    pub(super) fn set(&self, known: &'static Known) {
        self.known.store(core::ptr::from_ref(known).cast_mut(), SeqCst);
    }

    /// Begins a walk. Async-signal-safe.
    #[must_use]
    pub(super) fn read(&self) -> Reading<'_> {
        // SAFETY: null, or a reference that `set` got.
        let known = unsafe { self.known.load(SeqCst).as_ref() };
        Reading { known, later: self.use_later() }
    }

    /// Keeps later objects from being closed; `None` if a thread is in `dlclose`. That thread does not wait for walks
    /// that begin then, or `dlclose` would take as long as such walks begin.
    fn use_later(&self) -> Option<UsingLater<'_>> {
        if self.closing.load(SeqCst) != 0 {
            return None;
        }
        self.readers.fetch_add(1, SeqCst);
        // The generation first: if it is one from before a thread closes an object, that thread waits for this walk.
        let generation = self.generation.load(SeqCst);
        let later = UsingLater { readers: &self.readers, copies: &self.copies, generation };
        (self.closing.load(SeqCst) == 0).then_some(later)
    }

    /// Whether a thread is between [`Published::begin_close`] and [`Published::end_close`].
    #[must_use]
    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(SeqCst) != 0
    }

    /// Must be called before an object may be unloaded. Calls `wait` until no walk uses a later object, and drops the
    /// copies of tables.
    pub(super) fn begin_close(&self, mut wait: impl FnMut()) {
        self.closing.fetch_add(1, SeqCst);
        self.generation.fetch_add(1, SeqCst);
        while self.readers.load(SeqCst) != 0 {
            wait();
        }
        // SAFETY: walks use the copies while they may use later objects, as none does now.
        unsafe { self.copies.drop_all() };
    }

    /// Ends what [`Published::begin_close`] began.
    pub(super) fn end_close(&self) {
        self.generation.fetch_add(1, SeqCst);
        // A child of a fork has forgotten the threads in `dlclose`, even if this thread is one.
        let _ = self.closing.fetch_update(SeqCst, SeqCst, |closing| closing.checked_sub(1));
    }

    /// Forgets the walks and the closing threads of a parent process, which do not go on in a forked child.
    pub(super) fn reset(&self) {
        self.readers.store(0, SeqCst);
        self.closing.store(0, SeqCst);
    }
}

impl Default for Published {
    fn default() -> Published {
        Published::new()
    }
}

impl Reading<'_> {
    /// The objects that stay.
    #[must_use]
    pub(super) fn objects(&self) -> Objects<'static> {
        let generation = self.later.as_ref().map_or(STAYING, |later| later.generation);
        Objects::new(self.known.map_or(&[], |known| known.objects), generation)
    }

    /// Where to find other objects; `None` while an object may be unloaded.
    #[must_use]
    pub(super) fn later(&self) -> Option<LaterObjects> {
        self.known.filter(|_| self.later.is_some())?.later
    }

    /// Copies of the tables of other objects, for walks during which these objects may be unloaded; `None` while an
    /// object may be unloaded, or if the runtime would not hear of that.
    #[must_use]
    pub(super) fn copies(&self) -> Option<&TableCopies> {
        let later = self.later().filter(|later| later.may_remember);
        later.and(self.later.as_ref()).map(|later| later.copies)
    }
}

impl Drop for UsingLater<'_> {
    fn drop(&mut self) {
        self.readers.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use gmon_unwind::Loaded as _;

    use super::*;

    #[test]
    fn copies_are_used_while_no_object_is_closed() {
        static PUBLISHED: Published = Published::new();
        let known = |may_remember| Known { objects: &[], later: Some(LaterObjects { last: 8, may_remember }) };
        let publish = |known| PUBLISHED.set(Box::leak(Box::new(known)));
        let has_copies = || PUBLISHED.read().copies().is_some_and(|copies| core::ptr::eq(copies, &PUBLISHED.copies));
        assert!(PUBLISHED.read().copies().is_none(), "nothing is published");
        publish(known(false));
        assert!(PUBLISHED.read().copies().is_none(), "the runtime does not hear when an object is closed");
        publish(known(true));
        assert!(has_copies() && !PUBLISHED.is_closing());
        PUBLISHED.begin_close(|| panic!("no walk"));
        assert!(PUBLISHED.read().copies().is_none() && PUBLISHED.is_closing());
        PUBLISHED.end_close();
        assert!(has_copies() && !PUBLISHED.is_closing());
    }

    #[test]
    fn later_objects_are_not_used_while_an_object_is_closed() {
        static PUBLISHED: Published = Published::new();
        static OBJECTS: [Object<'static>; 0] = [];
        assert!(PUBLISHED.read().later().is_none(), "nothing is published");
        let later = LaterObjects { last: 8, may_remember: true };
        PUBLISHED.set(Box::leak(Box::new(Known { objects: &OBJECTS, later: Some(later) })));
        let early = PUBLISHED.read();
        assert!(early.later().is_some());
        let mut early = Some(early);
        let mut waits = 0;
        let generation = || PUBLISHED.read().objects().generation();
        let before = generation();
        PUBLISHED.begin_close(|| {
            waits += 1;
            if waits == 3 {
                early = None;
            }
        });
        assert_eq!(waits, 3, "it waits for walks that began before");
        assert!(PUBLISHED.read().later().is_none());
        PUBLISHED.begin_close(|| panic!("no walk"));
        PUBLISHED.end_close();
        assert!(PUBLISHED.read().later().is_none(), "another thread closes an object");
        let within = generation();
        PUBLISHED.end_close();
        assert!(PUBLISHED.read().later().is_some());
        let after = generation();
        assert!(before < after && within != before && within != after, "no rule from before is used");
        PUBLISHED.begin_close(|| panic!("no walk"));
        PUBLISHED.reset();
        assert!(PUBLISHED.read().later().is_some(), "the child of a fork");
        PUBLISHED.end_close();
        assert!(PUBLISHED.read().later().is_some());
    }

    #[test]
    fn an_object_is_closed_without_waiting_for_walks_that_begin_then() {
        static PUBLISHED: Published = Published::new();
        let mut older = Some(PUBLISHED.read());
        let mut newer = Vec::new();
        let mut waits = 0;
        PUBLISHED.begin_close(|| {
            waits += 1;
            assert_eq!(waits, 1, "it waits for the older walk only");
            newer.push(PUBLISHED.read());
            older = None;
        });
        assert_eq!((waits, newer.len()), (1, 1));
        PUBLISHED.end_close();
        newer.clear();
        let mut between = Some(PUBLISHED.read());
        PUBLISHED.begin_close(|| assert!(between.take().is_some(), "it waits for one walk"));
        assert!(between.is_none(), "the walks before were counted right");
    }
}
