//! The parts of the live side file that the process changes in the file itself, as docs/format.md has them.

use core::ffi::c_void;
use core::ops::Range;
use core::ptr;
use core::slice;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use gmon::encode::side_file::{LARGEST_NUMBER, ObjectItem, Piece, object, padding_size};
use gmon::layout::mark;
use gmon::layout::side_file::{FILLER, OBJECTS, PART_HEADER_SIZE, RAW_MAPPINGS, RAW_SUMS, RAW_THREADS, REASONS, Tag};

/// Sums of ticks: a `RawSums`.
#[repr(C)]
pub(crate) struct Sums {
    /// The run-time addresses of the bins.
    pub(crate) lowpc: AtomicU64,
    pub(crate) highpc: AtomicU64,
    /// The ticks in `cuts` that are not in the bins.
    pub(crate) outside: AtomicU64,
    /// The ticks of which no stack is known, by the code of the reason.
    pub(crate) cuts: [AtomicU64; REASONS],
}

impl Sums {
    pub(super) const fn new() -> Sums {
        Sums {
            lowpc: AtomicU64::new(0),
            highpc: AtomicU64::new(0),
            outside: AtomicU64::new(0),
            cuts: [const { AtomicU64::new(0) }; REASONS],
        }
    }
}

/// A mapping of an object that was loaded after the start: a `RawMapping`.
#[repr(C)]
pub(crate) struct LiveMapping {
    start: AtomicU64,
    /// Stored last, and cleared first.
    end: AtomicU64,
    bias: AtomicU64,
    object: AtomicU64,
}

/// A thread: a `RawThread`.
#[repr(C)]
pub(crate) struct LiveThread {
    number: AtomicU32,
    is_used: AtomicU32,
    name: [AtomicU64; 2],
}

/// The header of a part.
#[repr(C)]
pub(crate) struct PartHeader {
    /// The tag, and 32 flags, which are 0.
    tag: AtomicU64,
    length: AtomicU64,
}

impl PartHeader {
    /// Makes a part of `length` bytes, whose content is there already. The tag is stored last, so a reader finds either what was there
    /// before or this part.
    pub(crate) fn set(&self, tag: Tag, length: usize) {
        let [a, b, c, d] = tag;
        self.length.store(length as u64, Release);
        self.tag.store(u64::from_ne_bytes([a, b, c, d, 0, 0, 0, 0]), Release);
    }
}

/// The most objects with code at the same time that were loaded after the start.
pub(crate) const MOST_MAPPINGS: usize = 512;
/// The number of objects whose numbers are remembered.
const MOST_NUMBERS: usize = 256;

/// The parts of the live side file. Without a live side file, the pointers are null.
pub(crate) struct LiveParts {
    pub(super) sums: AtomicPtr<Sums>,
    mappings: AtomicPtr<LiveMapping>,
    /// The threads, and their number.
    threads: AtomicPtr<LiveThread>,
    threads_number: AtomicUsize,
    /// The filler behind the last part, and the address behind the filler.
    filler: AtomicPtr<PartHeader>,
    end: AtomicUsize,
    /// Whether a thread changes mappings or adds parts.
    is_changing: AtomicBool,
    /// The objects in the file by key: the upper bits of the key, and the number in the low 16 bits.
    numbers: [AtomicU64; MOST_NUMBERS],
    /// The number of objects that handlers have described.
    pub(crate) found: AtomicU32,
    /// The highest number of the other objects in the file.
    pub(crate) described: AtomicUsize,
    /// Whether an object may have been left out, because another thread was changing the file.
    pub(crate) has_missed: AtomicBool,
}

/// The bytes of the parts that [`LiveParts::begin`] makes, without the filler, for this number of threads.
pub(crate) const fn size_of_parts(threads: usize) -> usize {
    size_of::<Sums>()
        + MOST_MAPPINGS * size_of::<LiveMapping>()
        + threads * size_of::<LiveThread>()
        + 4 * PART_HEADER_SIZE
}

/// A key of an object: objects with different keys are different, or one of them was opened by another path. Different files may have
/// the same build ID.
pub(crate) fn key_of(item: &ObjectItem<'_>, identity: &[u8]) -> u64 {
    let range = item.lowpc.to_ne_bytes().into_iter().chain(item.highpc.to_ne_bytes());
    let marks =
        (0..).zip(range.chain(identity.iter().chain(item.path).copied())).map(|(position, byte)| mark(position, byte));
    marks.fold(1 << 16, u64::wrapping_add)
}

/// Encodes an object. The result is the number of bytes; `None` if there is no room.
pub(crate) fn encode_object(room: &mut [u8], item: &ObjectItem<'_>, identity: &[u8]) -> Option<usize> {
    let mut piece = Piece::new(room);
    if !piece.has_room(8 * LARGEST_NUMBER + identity.len() + item.path.len()) {
        return None;
    }
    object(&mut piece, item);
    Some(piece.content().len())
}

/// The right to change mappings and to add parts. It ends when the value is dropped.
pub(crate) struct Changing<'a>(&'a LiveParts);

impl LiveParts {
    pub(super) const fn new() -> LiveParts {
        LiveParts {
            sums: AtomicPtr::new(ptr::null_mut()),
            mappings: AtomicPtr::new(ptr::null_mut()),
            threads: AtomicPtr::new(ptr::null_mut()),
            threads_number: AtomicUsize::new(0),
            filler: AtomicPtr::new(ptr::null_mut()),
            end: AtomicUsize::new(0),
            is_changing: AtomicBool::new(false),
            numbers: [const { AtomicU64::new(0) }; MOST_NUMBERS],
            found: AtomicU32::new(0),
            described: AtomicUsize::new(0),
            has_missed: AtomicBool::new(false),
        }
    }

    /// Makes the parts: sums for a profile with bins at these addresses, room for mappings, for `threads` threads, and for other
    /// parts to come.
    ///
    /// # Safety
    ///
    /// `start` must be `length` bytes of the file, mapped for good, all zero, at a multiple of 8, and longer than
    /// [`size_of_parts`].
    pub(crate) unsafe fn begin(&self, start: *mut c_void, length: usize, threads: usize, bins: Range<usize>) {
        let mut next: *mut PartHeader = start.cast();
        let mut part = |tag, size: usize| {
            // SAFETY: the caller's promise; sizes are multiples of 8.
            unsafe {
                (*next).set(tag, size);
                let content: *mut c_void = next.add(1).cast();
                next = content.byte_add(size).cast();
                content
            }
        };
        let sums: *mut Sums = part(RAW_SUMS, size_of::<Sums>()).cast();
        self.mappings.store(part(RAW_MAPPINGS, MOST_MAPPINGS * size_of::<LiveMapping>()).cast(), Relaxed);
        if threads > 0 {
            self.threads.store(part(RAW_THREADS, threads * size_of::<LiveThread>()).cast(), Relaxed);
            self.threads_number.store(threads, Relaxed);
        }
        let end = start.addr() + length;
        // SAFETY: as above; `sums` is the content of a part.
        unsafe {
            (*next).set(FILLER, end - next.addr() - PART_HEADER_SIZE);
            (*sums).lowpc.store(bins.start as u64, Relaxed);
            (*sums).highpc.store(bins.end as u64, Relaxed);
        }
        self.filler.store(next, Relaxed);
        self.end.store(end, Relaxed);
        self.sums.store(sums, SeqCst);
    }

    /// Whether there is a live side file.
    pub(crate) fn is_there(&self) -> bool {
        !self.sums.load(Relaxed).is_null()
    }

    /// Forgets the file, whose parts stay mapped.
    pub(crate) fn forget(&self) {
        self.sums.store(ptr::null_mut(), SeqCst);
        self.mappings.store(ptr::null_mut(), SeqCst);
        self.threads.store(ptr::null_mut(), SeqCst);
        self.filler.store(ptr::null_mut(), SeqCst);
        self.is_changing.store(false, SeqCst);
        self.numbers.iter().for_each(|number| number.store(0, SeqCst));
        self.found.store(0, SeqCst);
        self.described.store(0, SeqCst);
        self.has_missed.store(false, SeqCst);
    }

    /// Stores the number and the name of a thread.
    pub(crate) fn set_thread(&self, index: usize, number: i32, name: [u64; 2]) {
        let start = self.threads.load(Relaxed);
        if start.is_null() || index >= self.threads_number.load(Relaxed) {
            return;
        }
        // SAFETY: memory for that many threads, which stays mapped.
        let thread = unsafe { &*start.add(index) };
        thread.number.store(u32::try_from(number).unwrap_or(0), Relaxed);
        thread.name.iter().zip(name).for_each(|(place, word)| place.store(word, Relaxed));
        thread.is_used.store(1, Relaxed);
    }

    /// Begins to change mappings and parts; `None` without a live side file, and while another thread changes them.
    pub(crate) fn change(&self) -> Option<Changing<'_>> {
        let is_free = self.is_there() && !self.is_changing.swap(true, SeqCst);
        is_free.then(|| Changing(self))
    }

    fn mappings(&self) -> &[LiveMapping] {
        let start = self.mappings.load(Relaxed);
        if start.is_null() {
            return &[];
        }
        // SAFETY: memory for that many mappings, which stays mapped; zeros are valid.
        unsafe { slice::from_raw_parts(start, MOST_MAPPINGS) }
    }

    /// Whether a mapping contains an address.
    pub(crate) fn is_mapped(&self, address: usize) -> bool {
        let address = address as u64;
        self.mappings()
            .iter()
            .any(|mapping| mapping.start.load(Relaxed) <= address && address < mapping.end.load(Acquire))
    }
}

impl Changing<'_> {
    /// Sets the mapping of an object, and removes those that it overlaps.
    pub(crate) fn map(&self, start: usize, end: usize, bias: usize, object: usize) {
        let [start, end, bias, object] = [start, end, bias, object].map(|value| value as u64);
        let same = |mapping: &LiveMapping| {
            let range = (mapping.start.load(Relaxed), mapping.end.load(Relaxed));
            range == (start, end) && mapping.object.load(Relaxed) == object
        };
        if self.0.mappings().iter().any(same) {
            return;
        }
        self.keep(|(first, behind, _)| behind <= start || end <= first);
        let free = self.0.mappings().iter().find(|mapping| mapping.end.load(Relaxed) == 0);
        if let Some(mapping) = free {
            mapping.start.store(start, Relaxed);
            mapping.bias.store(bias, Relaxed);
            mapping.object.store(object, Relaxed);
            mapping.end.store(end, Release);
        }
    }

    /// Removes all mappings but those that `is_kept` wants, as (first address, address behind, object).
    pub(crate) fn keep(&self, is_kept: impl Fn((u64, u64, u64)) -> bool) {
        for mapping in self.0.mappings() {
            let end = mapping.end.load(Relaxed);
            if end != 0 && !is_kept((mapping.start.load(Relaxed), end, mapping.object.load(Relaxed))) {
                mapping.end.store(0, Release);
            }
        }
    }

    /// The number of the object in the file with a key.
    pub(crate) fn number(&self, key: u64) -> Option<usize> {
        let numbers = self.0.numbers.iter().map(|number| number.load(Relaxed));
        let found = numbers.take_while(|number| *number != 0).find(|number| number >> 16 == key >> 16)?;
        Some((found & 0xffff) as usize)
    }

    /// Remembers the number of the object with a key, while there is room.
    pub(crate) fn set_number(&self, key: u64, number: usize) {
        let of_key = |place: &&AtomicU64| {
            let found = place.load(Relaxed);
            found == 0 || found >> 16 == key >> 16
        };
        if let Some(place) = self.0.numbers.iter().find(of_key) {
            place.store(key & !0xffff | number as u64 & 0xffff, Relaxed);
        }
    }

    /// Describes an object with this build ID, if it has one. The result is false if there is no room.
    pub(crate) fn add_object(&self, item: &ObjectItem<'_>, identity: &[u8]) -> bool {
        let is_added = self.append(OBJECTS, |room| encode_object(room, item, identity));
        if is_added {
            self.set_number(key_of(item, identity), item.number as usize);
        }
        is_added
    }

    /// Adds a part with the content that `fill` writes, if there is room. `fill` gets the room and returns the number of bytes that it
    /// has used, or `None` to add nothing. The result says whether the part was added.
    pub(crate) fn append(&self, tag: Tag, fill: impl FnOnce(&mut [u8]) -> Option<usize>) -> bool {
        let (filler, end) = (self.0.filler.load(Relaxed), self.0.end.load(Relaxed));
        let start = filler.addr() + PART_HEADER_SIZE;
        let room = end.saturating_sub(start);
        if filler.is_null() || room < PART_HEADER_SIZE {
            return false;
        }
        // SAFETY: the filler's content, which only the thread with this right uses. Behind it is room for another header.
        let content = unsafe { slice::from_raw_parts_mut(filler.add(1).cast::<u8>(), room - PART_HEADER_SIZE) };
        let Some(length) = fill(content) else { return false };
        let padded = length + padding_size(length as u64);
        // SAFETY: inside the filler; its header and its end are multiples of 8, and the content is not longer than the room.
        let next: *mut PartHeader = unsafe { filler.add(1).byte_add(padded) };
        // SAFETY: as above. The bytes are the filler's, or those of the header that the filler gets.
        unsafe { (*next).set(FILLER, end - next.addr() - PART_HEADER_SIZE) };
        self.0.filler.store(next, Relaxed);
        // SAFETY: the header of the filler.
        unsafe { (*filler).set(tag, length) };
        true
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.is_changing.store(false, SeqCst);
    }
}
