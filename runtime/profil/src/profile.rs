//! A profile: the addresses that are counted, in memory of the program.
//!
//! A tick comes in a signal handler, in any thread, and nothing there may wait. The handler adds the tick to a word
//! of this crate, the bin's *pending* ticks, and puts the bin on a list. The handler that comes first takes the list
//! and adds the pending ticks to the program's counts, by a system call: see `os::guarded`. So only one handler at a
//! time changes a count, no tick is lost, and handlers do not wait for each other.

use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};

use super::rules::Dialect;
use gmon_runtime::kernel::profil_clock::{self as clock, Rate};
use gmon_runtime::os::{Errno, Handler, LARGEST_PAGE, clear, map, read, unmap, write};

/// A range of code, and its bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// The lowest address, and the address behind the highest.
    pub(crate) lowpc: usize,
    pub(crate) highpc: usize,
    /// The scale of the dialect.
    pub(crate) scale: u32,
    /// The address of the first bin, which need not be aligned.
    pub(crate) bins: usize,
    /// The number of bins.
    pub(crate) length: usize,
}

impl Range {
    /// The bin of an address; `None` outside the range and for an address without a bin.
    fn bin(&self, dialect: Dialect, pc: usize) -> Option<usize> {
        let inside = self.lowpc <= pc && pc < self.highpc;
        dialect.bin(pc, self.lowpc, self.scale).filter(|bin| inside && *bin < self.length)
    }
}

/// The ticks of a bin that are not yet in its count.
#[repr(C)]
struct Pending {
    ticks: AtomicU32,
    /// The number of the next bin on the list, plus 1; 0 at the end of the list.
    next: AtomicU32,
}

/// A profile: this structure, its ranges, and from the next page on a [`Pending`] for each bin, in one mapping.
pub(crate) struct Profile {
    dialect: Dialect,
    rate: Rate,
    /// The size of the mapping in bytes.
    size: usize,
    ranges: usize,
    bins: usize,
    /// Set when counting has ended: a count is full, or its memory is missing.
    over: AtomicBool,
    /// The list of bins with pending ticks: the number of the first bin plus 1, or 0.
    first: AtomicU32,
    /// Whether a handler is processing the list.
    busy: AtomicBool,
    /// The addresses that have a place in the array, and the addresses that were stored.
    claimed: AtomicUsize,
    stored: AtomicUsize,
}

impl Profile {
    /// Makes a profile of some ranges, whose ends ascend.
    ///
    /// # Errors
    ///
    /// ENOMEM if there is no memory for the profile, or if the number of bins exceeds 32 bits.
    pub(crate) fn new(
        dialect: Dialect,
        rate: Rate,
        ranges: impl Iterator<Item = Range> + Clone,
    ) -> Result<&'static Profile, Errno> {
        let (mut number, mut bins) = (0_usize, 0_usize);
        for range in ranges.clone() {
            number += 1;
            bins = bins.checked_add(range.length).ok_or(Errno::ENOMEM)?;
        }
        if dialect == Dialect::Addresses {
            bins = 0;
        } else if u32::try_from(bins).is_err() {
            return Err(Errno::ENOMEM);
        }
        let size = (size_of::<Profile>() + number * size_of::<Range>()).next_multiple_of(LARGEST_PAGE)
            + (bins * size_of::<Pending>()).next_multiple_of(LARGEST_PAGE);
        let memory: *mut Profile = map(size).cast();
        if memory.is_null() {
            return Err(Errno::ENOMEM);
        }
        let profile = Profile {
            dialect,
            rate,
            size,
            ranges: number,
            bins,
            over: AtomicBool::new(false),
            first: AtomicU32::new(0),
            busy: AtomicBool::new(false),
            claimed: AtomicUsize::new(0),
            stored: AtomicUsize::new(0),
        };
        // SAFETY: fresh memory, whose first pages have room for the profile and its ranges. Both are whole words.
        unsafe {
            memory.write(profile);
            for (index, range) in ranges.enumerate().take(number) {
                memory.add(1).cast::<Range>().add(index).write(range);
            }
            Ok(&*memory)
        }
    }

    /// Frees the profile.
    ///
    /// # Safety
    ///
    /// Nobody may use the profile any more.
    pub(crate) unsafe fn free(&'static self) {
        // SAFETY: mapped by `new`, and the caller's promise.
        unsafe { unmap(ptr::from_ref(self).cast_mut().cast(), self.size) };
    }

    fn ranges(&self) -> &[Range] {
        // SAFETY: `new` has written the ranges there.
        unsafe { slice::from_raw_parts(ptr::from_ref(self).add(1).cast(), self.ranges) }
    }

    fn pending(&self) -> &[Pending] {
        let pages = self.size - (self.bins * size_of::<Pending>()).next_multiple_of(LARGEST_PAGE);
        // SAFETY: these are the last pages of the mapping; zeros are bins without ticks.
        unsafe { slice::from_raw_parts(ptr::from_ref(self).byte_add(pages).cast(), self.bins) }
    }

    /// The rate of the ticks.
    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// The number of addresses that were stored.
    pub(crate) fn stored(&self) -> usize {
        self.stored.load(SeqCst)
    }

    /// Counts ticks at an address. Async-signal-safe.
    pub(crate) fn count(&self, pc: usize, ticks: u32) {
        if self.over.load(SeqCst) {
            return;
        }
        if self.dialect == Dialect::Addresses {
            self.store(pc, ticks);
        } else if let Some(bin) = self.bin(pc) {
            let Some(pending) = self.pending().get(bin) else { return };
            if pending.ticks.fetch_add(ticks, SeqCst) == 0 {
                self.put_on_list(bin as u32 + 1, pending);
            }
            self.work_off();
        }
    }

    /// The number of an address's bin among the bins of all ranges. If ranges overlap, the first range counts.
    fn bin(&self, pc: usize) -> Option<usize> {
        let mut before = 0;
        for range in self.ranges() {
            if let Some(bin) = range.bin(self.dialect, pc) {
                return Some(before + bin);
            }
            before += range.length;
        }
        None
    }

    /// The address of a bin.
    fn address(&self, mut bin: usize) -> Option<usize> {
        for range in self.ranges() {
            if bin < range.length {
                return Some(range.bins.wrapping_add(bin * size_of::<u16>()));
            }
            bin -= range.length;
        }
        None
    }

    fn put_on_list(&self, number: u32, pending: &Pending) {
        let mut first = self.first.load(SeqCst);
        loop {
            pending.next.store(first, SeqCst);
            match self.first.compare_exchange_weak(first, number, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }

    /// Adds pending ticks to their counts, unless another handler does so: that handler checks the list again when it
    /// is done.
    fn work_off(&self) {
        while self.first.load(SeqCst) != 0 && !self.busy.swap(true, SeqCst) {
            let mut number = self.first.swap(0, SeqCst);
            while let Some(bin) = number.checked_sub(1) {
                let Some(pending) = self.pending().get(bin as usize) else { break };
                // The next bin is read first: once its ticks are taken, this bin may be put on the list again.
                number = pending.next.load(SeqCst);
                self.raise(bin as usize, pending.ticks.swap(0, SeqCst));
            }
            self.busy.store(false, SeqCst);
        }
    }

    /// Raises a count of the program; ends the profile if that fails or the count is full.
    fn raise(&self, bin: usize, ticks: u32) {
        let Some(address) = self.address(bin).filter(|_| !self.over.load(SeqCst)) else { return };
        let mut count = [0; size_of::<u16>()];
        let goes_on = read(address, &mut count).and_then(|()| {
            let (count, goes_on) = self.dialect.raise(u16::from_ne_bytes(count), ticks);
            write(address, &count.to_ne_bytes()).map(|()| goes_on)
        });
        if goes_on != Ok(true) {
            self.end();
        }
    }

    /// Stores an address, once for each tick.
    fn store(&self, pc: usize, ticks: u32) {
        let Some(places) = self.ranges().first() else { return };
        for _ in 0..ticks {
            let next = |place: usize| (place < places.length).then_some(place + 1);
            let Ok(place) = self.claimed.fetch_update(SeqCst, SeqCst, next) else { return };
            let address = places.bins.wrapping_add(place * size_of::<usize>());
            if write(address, &pc.to_ne_bytes()).is_err() {
                self.end();
                return;
            }
            self.stored.fetch_add(1, SeqCst);
            if place + 1 == places.length {
                self.end();
            }
        }
    }

    fn end(&self) {
        self.over.store(true, SeqCst);
        clock::stop();
    }

    /// Starts the profile in the child of a fork, which has no other handler: pending ticks belong to the parent. On
    /// some systems the child has ticks only after a call of its own.
    pub(crate) fn begin_in_child(&self, handler: Handler) {
        let pending = self.pending();
        // SAFETY: whole pages of the mapping, and this is the only thread.
        unsafe { clear(pending.as_ptr().cast_mut().cast(), size_of_val(pending)) };
        self.first.store(0, SeqCst);
        self.busy.store(false, SeqCst);
        // A place that another thread had not filled yet stays empty.
        if clock::CONTINUES_IN_CHILD && !self.over.load(SeqCst) {
            let _ = clock::run(self.rate, handler);
        }
    }
}
