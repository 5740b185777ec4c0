//! Merges the counts of all threads: the program's own arcs, and counts outside the program.
//!
//! Only the thread that may write the file runs this code, see `control`.

use core::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use core::{mem, ptr};

use gmon::layout::RawArc;

use super::pile::Pile;
use crate::closures::closure_trait;
use crate::file;
use crate::file::side_file::threads::CALLS_BY_THREAD;
use crate::kernel;
use crate::mcount::{self, Counter};
use crate::memory::{Row, ThreadRow};
use crate::message::{say, say_error};
use crate::objects::{self, ELSEWHERE, PROGRAM, Tally};
use crate::os::{CHANGES_CODE, Errno};
use crate::samples::contexts::threads::target;
use crate::samples::{bins, contexts, outside_text};
use crate::state::{Inherited, Reset, resets};

closure_trait! {
    /// Gets arcs, by the places of the caller and the called function, with their threads.
    EachPlacedArc(from: usize, to: usize, count: u64, thread: usize)
}

/// The bias that is subtracted from addresses before they are recorded: see `control`.
pub(crate) static RECORDED_BIAS: Inherited<AtomicUsize> = Inherited::new(
    "the child's tables stay as they are, and the child has the program where it was",
    AtomicUsize::new(0),
);

/// Says of which functions the calls are estimated: see [`estimate_calls`].
static IS_ESTIMATED: Inherited<AtomicPtr<()>> =
    Inherited::new("the child has the same code", AtomicPtr::new(ptr::null_mut()));

resets! {
    /// Counts in unloaded objects, and between these and others, with [`objects::place`]s instead of addresses.
    static SETTLED: Reset<Pile<Tally>> = Reset::new();
    /// The calls among `SETTLED`, by thread, if threads are told apart.
    static SETTLED_CALLS: Reset<Pile<ThreadRow>> = Reset::new();
    /// Samples in unloaded objects while calls were counted on demand.
    static COUNTED: Reset<Pile<Tally>> = Reset::new();
    /// All samples while calls were counted on demand, collected anew for each file.
    static ALL_COUNTED: Reset<Pile<Tally>> = Reset::new();
    /// All counts outside the program, collected anew for each file.
    static OUTSIDE: Reset<Pile<Tally>> = Reset::new();
    /// The program's own arcs, collected anew for each file.
    static OWN: Reset<Pile<RawArc>> = Reset::new();
    /// The calls of a window, collected anew for each window.
    static IN_WINDOW: Reset<Pile<RawArc>> = Reset::new();
}

/// Reads the list of mappings and settles the counts in objects that are gone. If no object is being closed, a line
/// reports each such object: the object may have been unmapped long ago, and another object may have used its
/// addresses.
///
/// # Safety
///
/// Call this only in the thread that may write the file.
pub(crate) unsafe fn look() -> Result<(), Errno> {
    kernel::collect();
    if !list_addresses() {
        return Ok(());
    }
    let addresses = OUTSIDE.entries();
    let mut is_wanted = |start: usize, end: usize| {
        let next = addresses.partition_point(|entry| entry.place < start);
        addresses.get(next).is_some_and(|entry| entry.place < end)
    };
    // SAFETY: the caller's promise.
    unsafe { objects::look(&mut is_wanted) }?;
    // SAFETY: as above.
    unsafe { settle_where(true, true) };
    if !mcount::is_any_closing() {
        // SAFETY: as above.
        unsafe { objects::for_each_gone(say_if_counted) };
    }
    // SAFETY: as above.
    unsafe { objects::accept_look() };
    Ok(())
}

/// Reports that an object was unmapped, if there are counts in the object.
fn say_if_counted(number: usize) {
    // SAFETY: this is the thread that may write the file.
    let path = unsafe { objects::path(number) };
    let is_in = |place| objects::number(place) == number;
    let has_counts = || {
        let mut calls = settled_calls().iter().map(|row| row.calls.first);
        SETTLED.entries().iter().any(|entry| is_in(entry.place)) || calls.any(is_in)
    };
    if let Some(path) = path.filter(|_| has_counts()) {
        say(&[path, b" was unmapped without dlclose: it gets all counts at its addresses until now"]);
    }
}

/// Collects all addresses outside the program that are not settled in `OUTSIDE`, sorted, as places. The result is
/// false if there is nothing to report: nothing was settled, and the only addresses outside are callers of the
/// program's functions.
fn list_addresses() -> bool {
    OUTSIDE.clear();
    let mut any = !SETTLED.entries().is_empty() || !settled_calls().is_empty();
    mcount::for_each_arc(&mut |frompc, selfpc, _, _| {
        let (frompc, selfpc) = (as_run(frompc), as_run(selfpc));
        any |= !bins::covers(selfpc);
        for pc in [frompc, selfpc].iter().filter(|pc| !bins::covers(**pc)) {
            OUTSIDE.push(Tally::samples(*pc, 1));
        }
    });
    let mut push = |pc| {
        any = true;
        OUTSIDE.push(Tally::samples(pc, 1));
    };
    outside_text::for_each_tick_outside(|pc, _| push(pc));
    if contexts::are_kept() {
        contexts::each_address(|pc| {
            if !bins::covers(pc) {
                push(pc);
            }
        });
    }
    OUTSIDE.combine();
    any
}

/// Converts a recorded address to the run-time address.
fn as_run(address: usize) -> usize {
    address.wrapping_add(RECORDED_BIAS.load(SeqCst))
}

/// Settles all counts in shared objects until now. `has_changed` says that the latest look found other objects than
/// the known ones.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn settle(has_changed: bool) {
    kernel::collect();
    // SAFETY: the caller's promise.
    unsafe { settle_where(false, has_changed) };
}

/// Settles the counts in all shared objects, or only in objects that are gone.
///
/// Counts of a thread that closes an object belong to that object, whatever is at the addresses now. Counts of
/// another thread since the previous look belong to the object that is there now: they cannot be older than the
/// object, because each look settles all counts, and no object is closed without a look.
///
/// # Safety
///
/// As for [`look`].
#[inline(never)]
unsafe fn settle_where(only_gone: bool, has_changed: bool) {
    // Memory may be available again.
    SETTLED.try_again();
    SETTLED_CALLS.try_again();
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
    // The same look settles each sample in the bins and in the tree.
    let _no_walk = contexts::hold_walks();
    mcount::take_arcs(
        true,
        &mut |frompc, selfpc| !is_estimated(as_run(selfpc)) && (is_wanted(as_run(selfpc)) || is_wanted(as_run(frompc))),
        &mut |frompc, selfpc, count, counter: Counter| {
            let place = |pc| place(as_run(pc), counter.is_closing);
            settle_calls(counter, place(frompc), place(selfpc), count);
        },
    );
    outside_text::take_ticks_outside(is_wanted, |pc, ticks| SETTLED.push(Tally::samples(place(pc, false), ticks)));
    outside_text::take_counted_ticks(is_wanted, |pc, ticks| COUNTED.push(Tally::samples(place(pc, false), ticks)));
    if contexts::are_kept() {
        settle_contexts(has_changed, places);
    }
}

/// The settled calls by thread; none if threads are not told apart.
fn settled_calls() -> &'static [ThreadRow] {
    contexts::by_thread().map_or(&[], |_| SETTLED_CALLS.entries())
}

/// Adds calls between places to the settled counts.
fn settle_calls(counter: Counter, from: usize, to: usize, count: u64) {
    match contexts::by_thread() {
        Some(contexts) => {
            let thread = target(contexts, counter.thread);
            SETTLED_CALLS.push(ThreadRow { thread, calls: Row { first: to, second: from, count } });
        }
        None => SETTLED.push(Tally::calls(from, to, count)),
    }
}

/// Settles the addresses of calling contexts in objects that are gone. Other objects keep their addresses, so that
/// later samples find the same nodes. `places` returns the places of an address before and now.
///
/// Samples that came while a thread was in `dlclose` are settled in each case. As other samples since the previous
/// look, they belong to the object that is there now.
fn settle_contexts(has_changed: bool, places: impl Fn(usize) -> (usize, usize)) {
    let is_in_object = |place| objects::is_object(objects::number(place));
    contexts::settle(has_changed, |pc, is_while_closing| {
        let (before, now) = places(pc);
        if is_while_closing {
            return [now, before].into_iter().find(|place| is_in_object(*place));
        }
        (is_in_object(before) && now != before).then_some(before)
    });
}

/// Takes arcs that lead to no function of the program out of a live file: addresses outside the program mean nothing
/// there, and the files beside it report these arcs. Call this only after counting has stopped.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn settle_live() {
    // SAFETY: the caller's promise.
    let place = |address: usize| unsafe { objects::place(as_run(address)) };
    if file::is_live() {
        mcount::empty_arcs(
            &mut |_, selfpc| objects::number(place(selfpc)) != PROGRAM,
            &mut |frompc, selfpc, count, counter: Counter| settle_calls(counter, place(frompc), place(selfpc), count),
        );
    }
}

/// Passes every arc to `each`, as the places of the caller and the called function, the count, and the thread. An arc
/// may occur several times.
///
/// # Safety
///
/// As for [`look`].
#[inline(never)]
unsafe fn for_each_arc(each: &mut dyn EachPlacedArc) {
    // SAFETY: the caller's promise.
    let place = |address: usize| unsafe { objects::place(as_run(address)) };
    for tally in SETTLED.entries() {
        if let Some(from) = tally.caller() {
            // Threads are not told apart.
            each.call(from, tally.place, tally.count, 0);
        }
    }
    for ThreadRow { thread, calls } in settled_calls() {
        each.call(calls.second, calls.first, calls.count, *thread);
    }
    mcount::for_each_arc(&mut |frompc, selfpc, count, counter: Counter| {
        if !is_estimated(as_run(selfpc)) {
            each.call(place(frompc), place(selfpc), count, counter.thread);
        }
    });
}

/// Lets `is_site` say, by its run-time address, of which functions the calls are estimated. These calls are in no sum.
#[allow(dead_code, reason = "not all systems count calls on demand")]
pub(super) fn estimate_calls(is_site: fn(usize) -> bool) {
    IS_ESTIMATED.store(is_site as *mut (), SeqCst);
}

/// Whether the calls of the function at a run-time address are estimated.
fn is_estimated(selfpc: usize) -> bool {
    let is_site = IS_ESTIMATED.load(Relaxed);
    // SAFETY: null, or a function of that type, from `estimate_calls`.
    CHANGES_CODE && !is_site.is_null() && unsafe { mem::transmute::<*mut (), fn(usize) -> bool>(is_site) }(selfpc)
}

/// Takes the calls that are to be estimated out of all tables. The result is their sum since the last call, by called
/// function and caller, with [`objects::place`]s; it is valid until the next call.
///
/// # Safety
///
/// As for [`look`].
#[allow(dead_code, reason = "not all systems count calls on demand")]
pub(super) unsafe fn take_estimated() -> &'static [RawArc] {
    IN_WINDOW.clear();
    // SAFETY: the caller's promise.
    let place = |address: usize| unsafe { objects::place(as_run(address)) };
    mcount::take_arcs(false, &mut |_, selfpc| is_estimated(as_run(selfpc)), &mut |frompc, selfpc, count, _| {
        let (raw_frompc, raw_selfpc) = (place(frompc), place(selfpc));
        IN_WINDOW.push(RawArc { raw_frompc, raw_selfpc, raw_count: isize::try_from(count).unwrap_or(isize::MAX) });
    });
    IN_WINDOW.combine();
    IN_WINDOW.entries()
}

/// An upper bound of the number of arcs.
pub(crate) fn arcs_number() -> usize {
    let mut arcs = SETTLED.entries().len() + settled_calls().len();
    mcount::for_each_arc(&mut |_, _, _, _| arcs += 1);
    arcs
}

/// The arcs that lead to the program's own functions, at the addresses of the executable file, sorted by raw_selfpc
/// and raw_frompc. Calls from outside the program come from address 0.
pub(crate) struct OwnArcs {
    /// The number of arcs in the given room.
    pub(crate) in_room: usize,
    /// The arcs behind those, for which there was no room. They are valid until the next call.
    pub(crate) more: &'static [RawArc],
    /// The number of calls that were lost for lack of memory.
    pub(crate) lost: u64,
}

/// Stores the program's own arcs at `start`, where there is room for `capacity` arcs. Arcs that do not fit are stored
/// in other memory.
///
/// # Safety
///
/// As for [`look`]. There must be room for `capacity` arcs, and nobody else may use the room.
pub(crate) unsafe fn own_arcs((start, capacity): (*mut RawArc, usize)) -> OwnArcs {
    OWN.give(start, capacity);
    // SAFETY: the caller's promise.
    unsafe {
        for_each_arc(&mut |from, to, count, _| {
            if objects::number(to) == PROGRAM {
                let raw_frompc = if objects::number(from) == PROGRAM { from } else { 0 };
                let raw_count = isize::try_from(count).unwrap_or(isize::MAX);
                OWN.push(RawArc { raw_frompc, raw_selfpc: to, raw_count });
            }
        });
    }
    OWN.combine();
    let all = OWN.entries();
    let (first, more) = all.split_at_checked(capacity).unwrap_or((all, &[]));
    // SAFETY: there is room for this number of arcs.
    unsafe { ptr::copy(first.as_ptr(), start, first.len()) };
    OwnArcs { in_room: first.len(), more, lost: OWN.take_lost() }
}

/// All counts outside the program, and of calls that enter or leave the program, sorted by place and caller, as
/// [`kernel::terminate`] expects them. They are valid until the next call.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn outside() -> &'static [Tally] {
    // SAFETY: the caller's promise.
    let place = |pc| unsafe { objects::place(pc) };
    let is_own = |place| objects::number(place) == PROGRAM;
    OUTSIDE.clear();
    // SAFETY: as above.
    unsafe {
        for_each_arc(&mut |from, to, count, _| {
            let is_nothing = is_own(to) && (is_own(from) || objects::number(from) == ELSEWHERE);
            if !is_nothing {
                OUTSIDE.push(Tally::calls(from, to, count));
            }
        });
    }
    SETTLED.entries().iter().filter(|tally| tally.is_samples()).for_each(|tally| OUTSIDE.push(*tally));
    outside_text::for_each_tick_outside(|pc, ticks| OUTSIDE.push(Tally::samples(place(pc), ticks)));
    if OUTSIDE.take_lost() + SETTLED.take_lost() + SETTLED_CALLS.take_lost() > 0 {
        say_error(&[b"some counts outside the program are lost"], Errno::ENOMEM);
    }
    OUTSIDE.combine();
    // SAFETY: the caller's promise.
    unsafe { collect_by_thread() };
    OUTSIDE.entries()
}

/// The samples while calls were counted on demand, sorted by place. They are valid until the next call.
///
/// # Safety
///
/// As for [`look`].
#[allow(dead_code, reason = "not all systems count calls on demand")]
pub(super) unsafe fn counted_samples() -> &'static [Tally] {
    ALL_COUNTED.clear();
    COUNTED.entries().iter().for_each(|tally| ALL_COUNTED.push(*tally));
    // SAFETY: the caller's promise.
    let place = |pc| unsafe { objects::place(pc) };
    outside_text::for_each_counted_tick(|pc, ticks| ALL_COUNTED.push(Tally::samples(place(pc), ticks)));
    ALL_COUNTED.combine();
    ALL_COUNTED.entries()
}

/// Collects the calls of each thread for the side file, sorted by thread, place and caller, if threads are told apart.
///
/// # Safety
///
/// As for [`look`].
unsafe fn collect_by_thread() {
    let Some(contexts) = contexts::by_thread() else { return };
    CALLS_BY_THREAD.clear();
    // SAFETY: the caller's promise.
    unsafe {
        for_each_arc(&mut |from, to, count, thread| {
            let thread = target(contexts, thread);
            CALLS_BY_THREAD.push(ThreadRow { thread, calls: Row { first: to, second: from, count } });
        });
    }
    if CALLS_BY_THREAD.lost.swap(0, Relaxed) > 0 {
        say_error(&[b"some calls are not counted by thread"], Errno::ENOMEM);
    }
    CALLS_BY_THREAD.combine();
}
