//! The loaded objects and their unwind tables, as signal handlers see them.

use core::ops::Range;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};

use super::architecture::Architecture;
use super::bytes::Section;
use super::index::{Found, Index};

/// A loaded object.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    code: Addresses,
    section: Section<'a>,
    /// `None` if the object has no index, or one of an unknown form.
    index: Option<Index>,
}

/// A range of addresses that can be copied.
#[derive(Clone, Copy)]
struct Addresses {
    start: usize,
    end: usize,
}

impl<'a> Object<'a> {
    /// An object with code at these run-time addresses.
    ///
    /// `section` is the segment with `.eh_frame_hdr`, which starts `header` bytes behind the segment's start, and
    /// `.eh_frame`. Both are in one segment in what linkers write. An object without the index can be found too, but
    /// its functions have no rules.
    #[must_use]
    pub fn new(code: Range<usize>, section: Section<'a>, header: Option<usize>) -> Object<'a> {
        let index = header.and_then(|offset| Index::read(section, offset));
        Object { code: Addresses { start: code.start, end: code.end }, section, index }
    }

    /// The first address of the object's code.
    #[must_use]
    pub fn start(&self) -> usize {
        self.code.start
    }

    /// The rule at a program counter.
    #[must_use]
    pub fn rule<A: Architecture>(&'a self, pc: usize) -> Option<Found<'a>> {
        self.index.as_ref()?.find::<A>(&self.section, pc)
    }
}

/// All loaded objects.
#[derive(Clone, Copy)]
pub struct Objects<'a> {
    list: &'a [Object<'a>],
    /// Another number than that of any other list whose objects lay at the same addresses.
    pub(super) generation: u64,
}

impl<'a> Objects<'a> {
    /// Objects in the order of their addresses. `generation` grows each time an object is closed: see
    /// [`Cache`](super::Cache).
    #[must_use]
    pub fn new(list: &'a [Object<'a>], generation: u64) -> Objects<'a> {
        Objects { list, generation }
    }

    /// The object with code at an address.
    #[must_use]
    pub fn find(&self, address: usize) -> Option<&'a Object<'a>> {
        let behind = self.list.partition_point(|object| object.code.start <= address);
        let object = self.list.get(behind.checked_sub(1)?)?;
        (address < object.code.end).then_some(object)
    }
}

/// The list of objects that signal handlers use, replaced outside of handlers.
pub struct Published {
    current: AtomicPtr<Objects<'static>>,
    readers: AtomicUsize,
}

/// Keeps a list of objects from being replaced.
pub struct Reading<'p> {
    readers: &'p AtomicUsize,
    objects: Option<&'p Objects<'static>>,
}

impl Published {
    /// No list.
    #[must_use]
    pub const fn new() -> Published {
        Published { current: AtomicPtr::new(null_mut()), readers: AtomicUsize::new(0) }
    }

    /// The current list, which stays until the result is dropped. Async-signal-safe.
    #[must_use]
    pub fn read(&self) -> Reading<'_> {
        self.readers.fetch_add(1, SeqCst);
        // SAFETY: `replace` got the pointer from a list that lives at least until no reader is left, and this reader is
        // counted before it reads the pointer.
        let objects = unsafe { self.current.load(SeqCst).as_ref() };
        Reading { readers: &self.readers, objects }
    }

    /// Publishes another list, or none. Afterwards calls `wait` until no handler reads the earlier list, or `wait`
    /// returns false. Returns whether the earlier list and the tables of its objects may be unmapped.
    ///
    /// # Safety
    ///
    /// The list and the tables of its objects must stay until a later call returned true.
    pub unsafe fn replace(&self, list: Option<&Objects<'static>>, mut wait: impl FnMut() -> bool) -> bool {
        self.current.store(list.map_or(null_mut(), |list| core::ptr::from_ref(list).cast_mut()), SeqCst);
        while self.readers.load(SeqCst) != 0 {
            if !wait() {
                return false;
            }
        }
        true
    }

    /// Forgets the readers: those of a parent process do not go on in a forked child.
    pub fn reset(&self) {
        self.readers.store(0, SeqCst);
    }
}

impl Default for Published {
    fn default() -> Published {
        Published::new()
    }
}

impl Reading<'_> {
    /// The list. The result lives only as long as the reader.
    #[must_use]
    pub fn objects(&self) -> Objects<'_> {
        self.objects.copied().unwrap_or(Objects { list: &[], generation: 0 })
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.readers.fetch_sub(1, SeqCst);
    }
}
