//! The parts of the live side file that the process changes in the file itself, as docs/side-file.md has them.

use core::ffi::c_void;
use core::ops::Range;
use core::ptr;
use core::slice;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use gmon::layout::side_file::{FILLER, PART_HEADER_SIZE, RAW_MAPPINGS, RAW_SUMS, RAW_THREADS, REASONS, Tag};

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
    pub(super) start: AtomicU64,
    /// Stored last, and cleared first.
    pub(super) end: AtomicU64,
    pub(super) bias: AtomicU64,
    pub(super) object: AtomicU64,
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
    /// Makes a part of `length` bytes, whose content is there already. The tag is stored last, so a reader finds either
    /// what was there before or this part.
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
    pub(super) filler: AtomicPtr<PartHeader>,
    pub(super) end: AtomicUsize,
    /// Whether a thread changes mappings or adds parts.
    pub(super) is_changing: AtomicBool,
    /// The objects in the file by key: the upper bits of the key, and the number in the low 16 bits.
    pub(super) numbers: [AtomicU64; MOST_NUMBERS],
    /// The number of objects that handlers have described.
    pub(crate) found: AtomicU32,
    /// The highest number of the other objects in the file.
    pub(crate) described: AtomicUsize,
    /// Whether an object may have been left out, because another thread was changing the file.
    pub(crate) has_missed: AtomicBool,
    /// Whether a mapping was left out, because all mappings are in use.
    pub(crate) is_full: AtomicBool,
}

/// The bytes of the parts that [`LiveParts::begin`] makes, without the filler, for this number of threads.
pub(crate) const fn size_of_parts(threads: usize) -> usize {
    size_of::<Sums>()
        + MOST_MAPPINGS * size_of::<LiveMapping>()
        + threads * size_of::<LiveThread>()
        + 4 * PART_HEADER_SIZE
}

/// The right to change mappings and to add parts. It ends when the value is dropped.
pub(crate) struct Changing<'a>(pub(super) &'a LiveParts);

impl LiveParts {
    pub(crate) const fn new() -> LiveParts {
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
            is_full: AtomicBool::new(false),
        }
    }

    /// Makes the parts: sums for a profile with bins at these addresses, room for mappings, for `threads` threads, and
    /// for other parts to come.
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
        self.is_full.store(false, SeqCst);
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
        // Readers of the file find the name of a used entry.
        thread.is_used.store(1, Release);
    }

    /// Begins to change mappings and parts; `None` without a live side file, and while another thread changes them.
    pub(crate) fn change(&self) -> Option<Changing<'_>> {
        let is_free = self.is_there() && !self.is_changing.swap(true, SeqCst);
        is_free.then(|| Changing(self))
    }

    pub(super) fn mappings(&self) -> &[LiveMapping] {
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
            // The start first: see `Changing::map`.
            .any(|mapping| mapping.start.load(Acquire) <= address && address < mapping.end.load(Acquire))
    }
}

#[cfg(test)]
impl LiveParts {
    /// Changes all that [`LiveParts::forget`] must reset.
    pub(super) fn change_all(&self) {
        let LiveParts {
            sums,
            mappings,
            threads,
            threads_number: _,
            filler,
            end: _,
            is_changing,
            numbers,
            found,
            described,
            has_missed,
            is_full,
        } = self;
        sums.store(ptr::dangling_mut(), SeqCst);
        mappings.store(ptr::dangling_mut(), SeqCst);
        threads.store(ptr::dangling_mut(), SeqCst);
        filler.store(ptr::dangling_mut(), SeqCst);
        [is_changing, has_missed, is_full].iter().for_each(|flag| flag.store(true, SeqCst));
        numbers.iter().for_each(|number| number.store(3, SeqCst));
        found.store(3, SeqCst);
        described.store(3, SeqCst);
    }

    /// Whether the file is forgotten.
    pub(super) fn is_first(&self) -> bool {
        let LiveParts {
            sums,
            mappings,
            threads,
            threads_number: _,
            filler,
            end: _,
            is_changing,
            numbers,
            found,
            described,
            has_missed,
            is_full,
        } = self;
        sums.load(SeqCst).is_null()
            && mappings.load(SeqCst).is_null()
            && threads.load(SeqCst).is_null()
            && filler.load(SeqCst).is_null()
            && [is_changing, has_missed, is_full].iter().all(|flag| !flag.load(SeqCst))
            && numbers.iter().all(|number| number.load(SeqCst) == 0)
            && (found.load(SeqCst), described.load(SeqCst)) == (0, 0)
    }
}
