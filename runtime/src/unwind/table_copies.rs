//! Copies of the unwind tables of objects that were loaded after the start.
//!
//! A copy of a stack is walked later than it was made, and mostly by another thread than the one whose stack it is. So
//! nothing keeps the objects of the stack loaded during the walk: the C library also unloads objects without `dlclose`.
//! The kernel therefore copies the tables of an object when a walk first meets the object; the kernel reports memory
//! that is gone, and no read of the runtime can fail. [`TableCopies::drop_all`] must be called before another object
//! can get the addresses.

use core::mem::MaybeUninit;
use core::ptr::{self, null_mut};
use core::slice;
use core::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{Acquire, Relaxed, SeqCst},
};

use gmon_unwind::{Image, Memory, Object, Parts, Section};

use crate::os::{copy_own_memory, map, unmap};

/// The most objects whose tables are copied; chains through further objects are cut.
const MOST: usize = 256;
/// The largest table that is copied.
const MOST_BYTES: usize = 64 << 20;

/// The number of pages of unknown code that are remembered: code that a program makes by itself has no object and no
/// tables.
const UNKNOWN: usize = 256;
/// How many look-ups in a page of unknown code one search serves. An object may be loaded there at any time.
pub(super) const LOOK_UPS: u8 = 64;
/// The bits of an address in a page, where [`TableCopies::unknown`] has the number of look-ups.
const PAGE_BITS: u32 = 12;

/// The copies of the tables of some objects. All threads and their signal handlers may use them at the same time,
/// without a lock.
pub(super) struct TableCopies {
    /// Null behind the last copy.
    copies: [AtomicPtr<TableCopy>; MOST],
    /// Pages of unknown code, each at the place that its number has, with the look-ups for which it is not searched
    /// for.
    unknown: [AtomicUsize; UNKNOWN],
}

/// An object with a copy of its tables, which follows in the same mapping.
struct TableCopy {
    object: Object<'static>,
    /// The size of the mapping.
    length: usize,
}

/// The memory of this process, as the kernel copies it: memory that is gone cannot be read, also if another thread
/// unmaps the memory at this moment.
pub(super) struct CopiedByKernel;

impl Memory for CopiedByKernel {
    fn read(&self, address: usize) -> Option<usize> {
        let mut word = [0; size_of::<usize>()];
        copy_own_memory(address, &mut word).then_some(usize::from_ne_bytes(word))
    }
}

/// The first address of a page.
fn page_of(address: usize) -> usize {
    address >> PAGE_BITS << PAGE_BITS
}

impl TableCopies {
    /// No copies.
    #[must_use]
    pub(super) const fn new() -> TableCopies {
        TableCopies {
            copies: [const { AtomicPtr::new(null_mut()) }; MOST],
            unknown: [const { AtomicUsize::new(0) }; UNKNOWN],
        }
    }

    /// The object with code at an address, if its tables were copied before.
    ///
    /// # Safety
    ///
    /// The copies must not be dropped as long as the result is used.
    pub(super) unsafe fn find(&self, pc: usize) -> Option<&'static Object<'static>> {
        // SAFETY: the caller's promise, and copies do not change.
        let copies = self.copies.iter().map_while(|copy| unsafe { copy.load(Acquire).as_ref() });
        let mut objects = copies.into_iter().map(|copy| &copy.object);
        objects.find(|object| object.contains(pc))
    }

    /// As [`TableCopies::find`]; if there is no copy, the tables of the object whose first byte is at `base` are
    /// copied, if there is room: see [`TableCopies::has_room`]. The headers of the object are read from `memory`. Two
    /// threads may copy them at the same time; then the later copy is dropped.
    ///
    /// # Safety
    ///
    /// As for [`TableCopies::find`].
    #[inline(never)]
    pub(super) unsafe fn find_or_add(
        &self,
        memory: &impl Memory,
        base: usize,
        pc: usize,
    ) -> Option<&'static Object<'static>> {
        let parts = Image::at(memory, base)?.parts(memory, false).filter(|parts| parts.code.contains(&pc))?;
        let added = TableCopy::make(&parts)?;
        let place = |copy: &&AtomicPtr<TableCopy>| {
            // SAFETY: as for `find`.
            let taken = copy.compare_exchange(null_mut(), added, SeqCst, SeqCst).map_err(|other| unsafe { &*other });
            taken.map_or_else(|other| other.object.contains(pc), |_| true)
        };
        let found = self.copies.iter().find(place).map(|copy| copy.load(Acquire));
        if found != Some(added) {
            // SAFETY: nobody else knows the copy.
            unsafe { TableCopy::drop(added) };
        }
        // SAFETY: as above.
        found.map(|copy| unsafe { &(*copy).object })
    }

    /// Whether another copy can be added.
    pub(super) fn has_room(&self) -> bool {
        self.copies.last().is_some_and(|last| last.load(Acquire).is_null())
    }

    fn unknown(&self, pc: usize) -> Option<&AtomicUsize> {
        self.unknown.get((pc >> PAGE_BITS) % UNKNOWN)
    }

    /// Whether a search in vain for an object with this page is remembered. Each call uses up one of the look-ups.
    pub(super) fn is_unknown(&self, pc: usize) -> bool {
        let Some(place) = self.unknown(pc) else { return false };
        let left = place.load(Relaxed).wrapping_sub(page_of(pc));
        let is_left = (1..usize::from(LOOK_UPS)).contains(&left);
        if is_left {
            // If another thread changes the place at the same time, one of the changes is lost.
            place.store(page_of(pc) + left - 1, Relaxed);
        }
        is_left
    }

    /// Remembers that no object has code in this page.
    pub(super) fn remember_unknown(&self, pc: usize) {
        if let Some(place) = self.unknown(pc) {
            place.store(page_of(pc) + usize::from(LOOK_UPS) - 1, Relaxed);
        }
    }

    /// Drops all copies, and forgets which code is unknown.
    ///
    /// # Safety
    ///
    /// Nobody may use a copy.
    pub(super) unsafe fn drop_all(&self) {
        for copy in &self.copies {
            let copy = copy.swap(null_mut(), SeqCst);
            if !copy.is_null() {
                // SAFETY: the caller's promise.
                unsafe { TableCopy::drop(copy) };
            }
        }
        self.unknown.iter().for_each(|place| place.store(0, SeqCst));
    }
}

impl TableCopy {
    /// Copies the tables of an object to fresh memory; `None` without memory, or if the object is being unloaded.
    fn make(parts: &Parts) -> Option<*mut TableCopy> {
        let (header, tables) = parts.tables.clone().unwrap_or_default();
        let size = tables.end.checked_sub(tables.start).filter(|size| *size <= MOST_BYTES)?;
        let length = size_of::<TableCopy>() + size;
        let copy: *mut TableCopy = map(length).cast();
        if copy.is_null() {
            return None;
        }
        // SAFETY: fresh memory of this size behind the structure.
        let bytes = unsafe { slice::from_raw_parts_mut(copy.add(1).cast::<u8>(), size) };
        if size > 0 && !copy_own_memory(tables.start, bytes) {
            // SAFETY: mapped above.
            unsafe { unmap(copy.cast(), length) };
            return None;
        }
        let section = Section { address: tables.start, bytes };
        let index = parts.tables.is_some().then(|| header - tables.start);
        let object = Object::new(parts.code.clone(), section, index);
        // SAFETY: fresh memory for the structure.
        unsafe {
            (&raw mut (*copy).length).write(length);
            store(&object, &raw mut (*copy).object);
        }
        Some(copy)
    }

    /// Unmaps a copy.
    ///
    /// # Safety
    ///
    /// Nobody may use the copy.
    unsafe fn drop(copy: *mut TableCopy) {
        // SAFETY: made by `make`; the caller's promise.
        unsafe { unmap(copy.cast(), (*copy).length) };
    }
}

/// Copies an object word by word: the compiler may make a move of an object a call of memcpy, which a handler must not
/// call.
///
/// # Safety
///
/// `place` must be valid for writes.
unsafe fn store(object: &Object<'static>, place: *mut Object<'static>) {
    type Word = MaybeUninit<usize>;
    const WORDS: usize = size_of::<Object<'static>>() / size_of::<Word>();
    const { assert!(size_of::<Object<'static>>() == WORDS * size_of::<Word>()) };
    const { assert!(align_of::<Object<'static>>() >= align_of::<Word>()) };
    let (from, to): (*const Word, *mut Word) = (ptr::from_ref(object).cast(), place.cast());
    for word in 0..WORDS {
        // SAFETY: both objects have this word; it may be padding, so it is not a number. The caller's promise.
        unsafe { to.add(word).write_volatile(from.add(word).read()) };
    }
}

impl Default for TableCopies {
    fn default() -> TableCopies {
        TableCopies::new()
    }
}

#[cfg(test)]
mod tests {
    use gmon_unwind::{Native, Objects};

    use super::super::{Words, in_place};
    use super::*;

    unsafe extern "C" {
        static __ehdr_start: u8;
    }

    fn here() -> usize {
        here as fn() -> usize as usize
    }

    #[test]
    fn a_copy_has_the_rules_of_its_object() {
        let (base, copies) = ((&raw const __ehdr_start).addr(), TableCopies::new());
        // SAFETY: no copy is dropped before the end of the test, and this program is not unloaded.
        let (none, added, found, own) = unsafe {
            let none = copies.find(here());
            let added = copies.find_or_add(&CopiedByKernel, base, here()).unwrap();
            let image = Image::at(&CopiedByKernel, base).unwrap();
            (none, added, copies.find(here()).unwrap(), in_place::object(image, &CopiedByKernel, false).unwrap())
        };
        assert!(none.is_none());
        assert_eq!([added.start(), found.start()], [own.start(); 2]);
        let list = [own];
        assert!(Objects::new(&list, 0).find(here()).is_some());
        for pc in (here()..here() + 0x10_0000).step_by(7) {
            let [copied, expected] = [found, &own].map(|object| object.rule::<Native>(pc).map(|found| found.rule));
            assert_eq!(copied, expected, "{pc:#x}");
        }
        // SAFETY: as above; nothing uses the copies any more.
        unsafe {
            assert!(
                copies.find_or_add(&CopiedByKernel, base, 16).is_none()
                    && copies.find_or_add(&CopiedByKernel, 16, 16).is_none()
            );
            copies.drop_all();
            assert!(copies.find(here()).is_none());
        }
    }

    #[test]
    fn threads_that_meet_an_object_at_the_same_time_keep_one_copy() {
        let (base, copies) = ((&raw const __ehdr_start).addr(), TableCopies::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                // SAFETY: the copies are not dropped.
                scope.spawn(|| assert!(unsafe { copies.find_or_add(&CopiedByKernel, base, here()) }.is_some()));
            }
        });
        assert_eq!(copies.copies.iter().filter(|copy| !copy.load(Acquire).is_null()).count(), 1);
        // SAFETY: nothing uses the copies any more.
        unsafe { copies.drop_all() };
    }

    #[test]
    fn pages_of_unknown_code_are_told_apart() {
        let copies = TableCopies::new();
        let pages = [0x7f12_3456_7000_usize, 0x7f12_3456_8000, 0x40_0000];
        pages.iter().for_each(|page| copies.remember_unknown(page + 0x123));
        for page in pages {
            assert!(copies.is_unknown(page + 0xfff) && copies.is_unknown(page));
            let others = [0x1000 * UNKNOWN, 1 << 40].map(|distance| page ^ distance);
            assert!(others.iter().all(|other| !copies.is_unknown(*other)), "{page:#x}");
        }
    }

    #[test]
    fn an_object_without_tables_has_a_copy_and_a_full_list_is_noticed() {
        let mut words = Words::default();
        let base = 0x5000_0000;
        words.extend([
            (base, usize::from_le_bytes(*b"\x7fELF\x02\x01\x01\0")),
            (base + 32, 64),
            (base + 54, 1 << 16 | 56),
        ]);
        words.extend([(base + 64, 1 | 5 << 32), (base + 64 + 16, 0x1000), (base + 64 + 32, 0x1000)]);
        let copies = TableCopies::new();
        // SAFETY: nothing uses a copy after it is dropped.
        let added = unsafe { copies.find_or_add(&words, base, base + 0x1800) }.unwrap();
        assert_eq!((added.start(), added.end()), (base + 0x1000, base + 0x2000));
        assert!(added.rule::<Native>(base + 0x1800).is_none() && copies.has_room());
        let last = copies.copies.last().unwrap();
        last.store(copies.copies[0].load(Acquire), SeqCst);
        assert!(!copies.has_room());
        last.store(null_mut(), SeqCst);
        // SAFETY: as above.
        unsafe { copies.drop_all() };
    }
}
