//! What all threads counted, put together: the program's own arcs, and what lies outside the program.
//!
//! Only the one thread that may write the file is here, see `control`.

use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use gmon::layout::RawArc;

use crate::buffer;
use crate::kernel::{self, NOWHERE, PROGRAM, TICKS};
use crate::message::{say, say_error};
use crate::system::{Errno, map, unmap};
use crate::threads;

/// Entries in memory that grows; a static one, so that they are there when an object is closed and at the end.
pub(crate) struct Pile {
    start: AtomicPtr<RawArc>,
    length: AtomicUsize,
    capacity: AtomicUsize,
}

/// What is taken from an address before it is recorded: see `control`.
pub(crate) static RECORDED_BIAS: AtomicUsize = AtomicUsize::new(0);

/// What was counted in objects that are gone, and between them and others: [`kernel::place`]s in place of addresses.
static SETTLED: Pile = Pile::new();
/// All that is outside, made anew each time.
static OUTSIDE: Pile = Pile::new();
/// Calls and ticks for which there was no memory.
static LOST: AtomicU64 = AtomicU64::new(0);

/// The entries that a pile begins with.
const FIRST_CAPACITY: usize = 4096;

impl Pile {
    const fn new() -> Pile {
        Pile { start: AtomicPtr::new(ptr::null_mut()), length: AtomicUsize::new(0), capacity: AtomicUsize::new(0) }
    }

    fn entries(&self) -> &[RawArc] {
        // SAFETY: so many were written, and only this thread changes that; without memory there are none.
        unsafe { slice(self.start.load(Relaxed), self.length.load(Relaxed)) }
    }

    fn push(&self, entry: RawArc) {
        let length = self.length.load(Relaxed);
        if length == self.capacity.load(Relaxed) && !self.make_room() {
            LOST.fetch_add(entry.raw_count as u64, Relaxed);
            return;
        }
        let length = self.length.load(Relaxed);
        // SAFETY: there is room for more than that.
        unsafe { self.start.load(Relaxed).add(length).write(entry) };
        self.length.store(length + 1, Relaxed);
    }

    /// Makes one entry of those that tell of the same.
    fn combine(&self) {
        let (start, length) = (self.start.load(Relaxed), self.length.load(Relaxed));
        if length > 0 {
            // SAFETY: so many were written, and nobody else looks at them.
            let kept = buffer::combine(unsafe { core::slice::from_raw_parts_mut(start, length) });
            self.length.store(kept, Relaxed);
        }
    }

    /// Makes room for one more entry at least; false if there is no memory.
    fn make_room(&self) -> bool {
        self.combine();
        let (start, length, capacity) =
            (self.start.load(Relaxed), self.length.load(Relaxed), self.capacity.load(Relaxed));
        if length < capacity / 2 {
            return true;
        }
        let larger = (capacity * 2).max(FIRST_CAPACITY);
        let memory: *mut RawArc = map(larger * size_of::<RawArc>()).cast();
        if memory.is_null() {
            return length < capacity;
        }
        if capacity > 0 {
            // SAFETY: the new memory has room for more than that and is another; nobody has an address of the old one.
            unsafe {
                ptr::copy_nonoverlapping(start, memory, length);
                unmap(start.cast(), capacity * size_of::<RawArc>());
            }
        }
        self.start.store(memory, Relaxed);
        self.capacity.store(larger, Relaxed);
        true
    }

    fn clear(&self) {
        self.length.store(0, Relaxed);
    }
}

/// # Safety
///
/// At `start` must be so many entries that stay as they are, or `length` be 0.
unsafe fn slice<'a>(start: *const RawArc, length: usize) -> &'a [RawArc] {
    // SAFETY: the caller's promise.
    if length == 0 { &[] } else { unsafe { core::slice::from_raw_parts(start, length) } }
}

/// Looks at what is loaded, and settles what was counted where an object is no more. If that is not to be `expected`, it is
/// said: the object may have been gone for long, and another one may have been at its addresses.
///
/// # Safety
///
/// Only for the one thread that may write the file.
pub(crate) unsafe fn look(expected: bool) -> Result<(), Errno> {
    kernel::collect();
    // SAFETY: the caller's promise.
    unsafe { kernel::look() }?;
    // SAFETY: as above.
    let is_gone = |pc| unsafe { kernel::is_gone(pc) };
    // SAFETY: as above.
    let place = |pc| unsafe { kernel::place(pc) };
    let as_run = |address: usize| address.wrapping_add(RECORDED_BIAS.load(SeqCst));
    let mut gone = None;
    threads::take_arcs(
        |frompc, selfpc| is_gone(as_run(selfpc)) || is_gone(as_run(frompc)),
        |frompc, selfpc, count| {
            let (frompc, selfpc) = (as_run(frompc), as_run(selfpc));
            gone = Some(place(if is_gone(selfpc) { selfpc } else { frompc }));
            SETTLED.push(entry(place(frompc), place(selfpc), count));
        },
    );
    kernel::take_ticks_outside(is_gone, |pc, ticks| {
        gone = Some(place(pc));
        SETTLED.push(entry(TICKS, place(pc), ticks));
    });
    // SAFETY: as above.
    if let Some(path) = gone.filter(|_| !expected).and_then(|place| unsafe { kernel::path(place) }) {
        say(&[path, b" was unmapped, not by dlclose: using what was counted at its addresses until now as its own"]);
    }
    // SAFETY: as above.
    unsafe { kernel::adopt() };
    Ok(())
}

/// Takes those arcs out of a file in which the process counts that lead to no function of the program: there they have
/// addresses that mean nothing, and files beside it tell of them. Only once nothing is counted any more.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn settle_live() {
    // SAFETY: the caller's promise.
    let place = |address: usize| unsafe { kernel::place(address.wrapping_add(RECORDED_BIAS.load(SeqCst))) };
    if kernel::is_live() {
        threads::take_arcs(
            |_, selfpc| kernel::number(place(selfpc)) != PROGRAM,
            |frompc, selfpc, count| SETTLED.push(entry(place(frompc), place(selfpc), count)),
        );
    }
}

fn entry(frompc: usize, selfpc: usize, count: u64) -> RawArc {
    RawArc { raw_frompc: frompc, raw_selfpc: selfpc, raw_count: isize::try_from(count).unwrap_or(isize::MAX) }
}

/// Hands every arc to `each`, as places; one may come several times.
///
/// # Safety
///
/// As for [`look`].
unsafe fn for_each_arc(mut each: impl FnMut(RawArc)) {
    // SAFETY: the caller's promise.
    let place = |address: usize| unsafe { kernel::place(address.wrapping_add(RECORDED_BIAS.load(SeqCst))) };
    SETTLED.entries().iter().filter(|entry| entry.raw_frompc != TICKS).for_each(|entry| each(*entry));
    threads::for_each_arc(|frompc, selfpc, count| each(entry(place(frompc), place(selfpc), count)));
}

/// How many arcs there are, or a few more.
pub(crate) fn arcs_number() -> usize {
    let mut arcs = SETTLED.entries().len();
    threads::for_each_arc(|_, _, _| arcs += 1);
    arcs
}

/// Hands those arcs to `each` that lead to the program's own functions, at the addresses of the executable file: calls from
/// outside come from address 0.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn for_each_own_arc(mut each: impl FnMut(RawArc)) {
    // SAFETY: the caller's promise.
    unsafe {
        for_each_arc(|arc| {
            if kernel::number(arc.raw_selfpc) == PROGRAM {
                let is_own = kernel::number(arc.raw_frompc) == PROGRAM;
                each(RawArc { raw_frompc: if is_own { arc.raw_frompc } else { 0 }, ..arc });
            }
        });
    }
}

/// All that was counted outside the program or leads out of it or into it, sorted by raw_selfpc and raw_frompc, as
/// [`kernel::terminate`] wants it. It stays as it is until the next call.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn outside() -> &'static [RawArc] {
    // SAFETY: the caller's promise.
    let place = |pc| unsafe { kernel::place(pc) };
    let is_own = |place| kernel::number(place) == PROGRAM;
    OUTSIDE.clear();
    // SAFETY: as above.
    unsafe {
        for_each_arc(|arc| {
            let is_nothing = is_own(arc.raw_selfpc) && (is_own(arc.raw_frompc) || arc.raw_frompc == NOWHERE);
            if !is_nothing {
                OUTSIDE.push(arc);
            }
        });
    }
    SETTLED.entries().iter().filter(|entry| entry.raw_frompc == TICKS).for_each(|entry| OUTSIDE.push(*entry));
    kernel::for_each_tick_outside(|pc, ticks| OUTSIDE.push(entry(TICKS, place(pc), ticks)));
    let lost = LOST.swap(0, SeqCst);
    if lost > 0 {
        say_error(&[b"not all that was counted outside the program is told"], Errno::ENOMEM);
    }
    OUTSIDE.combine();
    OUTSIDE.entries()
}

/// Forgets what was settled.
pub(crate) fn after_fork_in_child() {
    SETTLED.clear();
}
