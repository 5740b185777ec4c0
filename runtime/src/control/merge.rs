//! What all threads counted, put together: the program's own arcs, and what lies outside the program.
//!
//! Only the one thread that may write the file is here, see `control`.

use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use gmon::layout::RawArc;

use super::buffer;
use crate::file::{self, TICKS};
use crate::kernel;
use crate::mcount;
use crate::message::{say, say_error};
use crate::objects::{self, NOWHERE, PROGRAM};
use crate::os::{Errno, map, unmap};
use crate::samples::{bins, outside_text};

/// Entries in memory that grows; a static one, so that they are there when an object is closed and at the end.
struct Pile {
    start: AtomicPtr<RawArc>,
    length: AtomicUsize,
    capacity: AtomicUsize,
    /// The memory that the pile was given to begin with, which is not the pile's own.
    given: AtomicPtr<RawArc>,
    /// Whether the pile is full and there was no memory for a larger one: each try would sort all entries.
    is_full: AtomicBool,
    /// Calls and ticks for which there was no memory.
    lost: AtomicU64,
}

/// What is taken from an address before it is recorded: see `control`.
pub(crate) static RECORDED_BIAS: AtomicUsize = AtomicUsize::new(0);

/// What was counted in objects that are gone, and between them and others: [`objects::place`]s in place of addresses.
static SETTLED: Pile = Pile::new();
/// All that is outside, made anew each time.
static OUTSIDE: Pile = Pile::new();
/// The program's own arcs, made anew each time.
static OWN: Pile = Pile::new();

/// The entries that a pile begins with.
const FIRST_CAPACITY: usize = 4096;

impl Pile {
    const fn new() -> Pile {
        Pile {
            start: AtomicPtr::new(ptr::null_mut()),
            length: AtomicUsize::new(0),
            capacity: AtomicUsize::new(0),
            given: AtomicPtr::new(ptr::null_mut()),
            is_full: AtomicBool::new(false),
            lost: AtomicU64::new(0),
        }
    }

    /// Begins anew in memory for `capacity` entries.
    fn give(&self, start: *mut RawArc, capacity: usize) {
        self.given.store(start, Relaxed);
        self.start.store(start, Relaxed);
        self.capacity.store(capacity, Relaxed);
        self.clear();
    }

    fn entries(&self) -> &[RawArc] {
        // SAFETY: so many were written, and only this thread changes that; without memory there are none.
        unsafe { slice(self.start.load(Relaxed), self.length.load(Relaxed)) }
    }

    #[inline(never)]
    fn push(&self, entry: RawArc) {
        let length = self.length.load(Relaxed);
        if length == self.capacity.load(Relaxed) && (self.is_full.load(Relaxed) || !self.make_room()) {
            self.is_full.store(true, Relaxed);
            self.lost.fetch_add(entry.raw_count as u64, Relaxed);
            return;
        }
        let length = self.length.load(Relaxed);
        // SAFETY: there is room for more than that.
        unsafe { self.start.load(Relaxed).add(length).write(entry) };
        self.length.store(length + 1, Relaxed);
    }

    /// Makes one entry of those that tell of the same.
    #[inline(never)]
    fn combine(&self) {
        let (start, length) = (self.start.load(Relaxed), self.length.load(Relaxed));
        if length > 0 {
            // SAFETY: so many were written, and nobody else looks at them.
            let kept = buffer::combine(unsafe { core::slice::from_raw_parts_mut(start, length) });
            self.length.store(kept, Relaxed);
            // SAFETY: as above. Zeros are no entry, and the memory may be the file.
            unsafe { ptr::write_bytes(start.add(kept), 0, length - kept) };
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
            // SAFETY: the new memory has room for more than that and is another.
            unsafe { ptr::copy_nonoverlapping(start, memory, length) };
        }
        // A thread may end the process at any moment and be taken for the writer's: what is said is always there.
        self.start.store(memory, SeqCst);
        self.capacity.store(larger, SeqCst);
        self.unmap(start, capacity);
        true
    }

    /// Gives memory back that was the pile's own.
    fn unmap(&self, start: *mut RawArc, capacity: usize) {
        if start != self.given.load(Relaxed) {
            // SAFETY: mapped by `make_room`; nobody has an address of that memory any more.
            unsafe { unmap(start.cast(), capacity * size_of::<RawArc>()) };
        }
    }

    fn clear(&self) {
        self.is_full.store(false, Relaxed);
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

/// Looks at what is mapped, and settles what was counted where an object is no more. If no object is being closed, it is
/// said: it may have been gone for long, and another one may have been at its addresses.
///
/// # Safety
///
/// Only for the one thread that may write the file.
pub(crate) unsafe fn look() -> Result<(), Errno> {
    kernel::collect();
    if !list_addresses() {
        return Ok(());
    }
    let addresses = OUTSIDE.entries();
    let is_wanted = |start: usize, end: usize| {
        let next = addresses.partition_point(|entry| entry.raw_selfpc < start);
        addresses.get(next).is_some_and(|entry| entry.raw_selfpc < end)
    };
    // SAFETY: the caller's promise.
    unsafe { objects::look(is_wanted) }?;
    // SAFETY: as above.
    unsafe { settle_where(true, true) };
    if !mcount::is_any_closing() {
        // SAFETY: as above.
        unsafe { objects::for_each_gone(say_if_counted) };
    }
    // SAFETY: as above.
    unsafe { objects::adopt() };
    Ok(())
}

/// Says that an object was unmapped, if something was counted in it.
fn say_if_counted(number: usize) {
    let is_in = |entry: &&RawArc| objects::number(entry.raw_selfpc) == number;
    // SAFETY: this is the thread that may write the file.
    let path = unsafe { objects::path(number) };
    if let Some(path) = path.filter(|_| SETTLED.entries().iter().any(|entry| is_in(&entry))) {
        say(&[path, b" was unmapped, not by dlclose: using what was counted at its addresses until now as its own"]);
    }
}

/// Makes a sorted list of all addresses outside the program that are not settled yet, as raw_selfpc in `OUTSIDE`. False if
/// there is nothing to tell of: nothing was settled, and outside there are only callers of the program's functions.
fn list_addresses() -> bool {
    OUTSIDE.clear();
    let mut any = !SETTLED.entries().is_empty();
    mcount::for_each_arc(|frompc, selfpc, _| {
        let (frompc, selfpc) = (as_run(frompc), as_run(selfpc));
        any |= !bins::covers(selfpc);
        for pc in [frompc, selfpc].iter().filter(|pc| !bins::covers(**pc)) {
            OUTSIDE.push(entry(0, *pc, 1));
        }
    });
    outside_text::for_each_tick_outside(|pc, _| {
        any = true;
        OUTSIDE.push(entry(0, pc, 1));
    });
    OUTSIDE.combine();
    any
}

/// The address at which a recorded one is while the program runs.
fn as_run(address: usize) -> usize {
    address.wrapping_add(RECORDED_BIAS.load(SeqCst))
}

/// Settles all that was counted in shared objects until now. If something `has_changed`, the latest look has found other
/// objects than are known.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn settle(has_changed: bool) {
    kernel::collect();
    // SAFETY: the caller's promise.
    unsafe { settle_where(false, has_changed) };
}

/// Settles what was counted in shared objects, or only in those that are gone.
///
/// What a thread counts while it closes an object is that object's, whatever is at the addresses now. What another thread
/// has counted since the look before is the object's that is there now: it was not counted before that came, because each
/// look settles what there is, and no object goes without one.
///
/// # Safety
///
/// As for [`look`].
#[inline(never)]
unsafe fn settle_where(only_gone: bool, has_changed: bool) {
    // There may be memory now.
    SETTLED.is_full.store(false, Relaxed);
    let places = |pc| {
        // SAFETY: the caller's promise.
        let before = unsafe { objects::place(pc) };
        // SAFETY: as above.
        (before, if has_changed { unsafe { objects::next_place(pc) } } else { before })
    };
    let is_in_object = |place| objects::is_object(objects::number(place));
    let is_wanted = |pc| {
        let (before, now) = places(pc);
        if only_gone { is_in_object(before) && now != before } else { is_in_object(before) || is_in_object(now) }
    };
    let place = |pc, is_closing| {
        let (before, now) = places(pc);
        let (first, second) = if is_closing { (before, now) } else { (now, before) };
        if is_in_object(first) || objects::number(first) == PROGRAM { first } else { second }
    };
    mcount::take_arcs(
        |frompc, selfpc| is_wanted(as_run(selfpc)) || is_wanted(as_run(frompc)),
        |frompc, selfpc, count, is_closing| {
            SETTLED.push(entry(place(as_run(frompc), is_closing), place(as_run(selfpc), is_closing), count));
        },
    );
    outside_text::take_ticks_outside(is_wanted, |pc, ticks| SETTLED.push(entry(TICKS, place(pc, false), ticks)));
}

/// Takes those arcs out of a file in which the process counts that lead to no function of the program: there they have
/// addresses that mean nothing, and files beside it tell of them. Only once nothing is counted any more.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn settle_live() {
    // SAFETY: the caller's promise.
    let place = |address: usize| unsafe { objects::place(address.wrapping_add(RECORDED_BIAS.load(SeqCst))) };
    if file::is_live() {
        mcount::empty_arcs(
            |_, selfpc| objects::number(place(selfpc)) != PROGRAM,
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
    let place = |address: usize| unsafe { objects::place(address.wrapping_add(RECORDED_BIAS.load(SeqCst))) };
    SETTLED.entries().iter().filter(|entry| entry.raw_frompc != TICKS).for_each(|entry| each(*entry));
    mcount::for_each_arc(|frompc, selfpc, count| each(entry(place(frompc), place(selfpc), count)));
}

/// How many arcs there are, or a few more.
pub(crate) fn arcs_number() -> usize {
    let mut arcs = SETTLED.entries().len();
    mcount::for_each_arc(|_, _, _| arcs += 1);
    arcs
}

/// The arcs that lead to the program's own functions, at the addresses of the executable file, sorted by raw_selfpc and raw_frompc.
/// Calls from outside come from address 0.
pub(crate) struct OwnArcs {
    /// How many are in the room that was given.
    pub(crate) in_room: usize,
    /// Those behind them for which there was no room. They are there until [`give_back`].
    pub(crate) more: &'static [RawArc],
    /// Calls for which there was no memory.
    pub(crate) lost: u64,
}

/// Puts the program's own arcs where there is room for `capacity` of them at `start`. Where they do not fit, they are put
/// together in other memory.
///
/// # Safety
///
/// As for [`look`]. There must be that much room, and nobody else may use it.
pub(crate) unsafe fn own_arcs((start, capacity): (*mut RawArc, usize)) -> OwnArcs {
    OWN.give(start, capacity);
    // SAFETY: the caller's promise.
    unsafe {
        for_each_arc(|arc| {
            if objects::number(arc.raw_selfpc) == PROGRAM {
                let is_own = objects::number(arc.raw_frompc) == PROGRAM;
                OWN.push(RawArc { raw_frompc: if is_own { arc.raw_frompc } else { 0 }, ..arc });
            }
        });
    }
    OWN.combine();
    let (memory, length) = (OWN.start.load(Relaxed), OWN.length.load(Relaxed));
    let in_room = length.min(capacity);
    // SAFETY: there is room for so many, and so many were written; the rest stays until `give_back`.
    let more = unsafe {
        ptr::copy(memory, start, in_room);
        slice(memory.add(in_room), length - in_room)
    };
    OwnArcs { in_room, more, lost: OWN.lost.swap(0, Relaxed) }
}

/// Gives the memory back in which arcs were put together that did not fit.
pub(crate) fn give_back() {
    OWN.unmap(OWN.start.load(Relaxed), OWN.capacity.load(Relaxed));
    OWN.give(ptr::null_mut(), 0);
}

/// All that was counted outside the program or leads out of it or into it, sorted by raw_selfpc and raw_frompc, as
/// [`kernel::terminate`] wants it. It stays as it is until the next call.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn outside() -> &'static [RawArc] {
    // SAFETY: the caller's promise.
    let place = |pc| unsafe { objects::place(pc) };
    let is_own = |place| objects::number(place) == PROGRAM;
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
    outside_text::for_each_tick_outside(|pc, ticks| OUTSIDE.push(entry(TICKS, place(pc), ticks)));
    if OUTSIDE.lost.swap(0, Relaxed) + SETTLED.lost.swap(0, Relaxed) > 0 {
        say_error(&[b"not all that was counted outside the program is told"], Errno::ENOMEM);
    }
    OUTSIDE.combine();
    OUTSIDE.entries()
}

/// Forgets what was settled.
pub(crate) fn after_fork_in_child() {
    SETTLED.clear();
}
