//! Ticks outside the program's text: in shared objects, in the vDSO, in the kernel, and in code that was generated at
//! run time.
//!
//! The object of an address is not known while ticks come in, and is not needed: ticks are counted by address, in a
//! table of fixed size that is allocated at the start. As in [`super::bins`], nothing here takes a lock or calls the
//! C library.

use core::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::memory::Memory;
use crate::os::{CHANGES_CODE, PAGE};
use crate::state::{Inherited, Reset, Resettable, resets};

/// The number of slots that are tried for one address.
const TRIES: usize = 64;

/// Whether ticks outside the text are wanted.
static IS_KEPT: Inherited<AtomicBool> = Inherited::new("what the user asked for", AtomicBool::new(false));

resets! {
    /// The ticks outside the text.
    static TICKS: Reset<TicksOutside> = Reset::new();
    /// The ticks, in the text and outside, while calls were counted on demand.
    static COUNTED: Reset<TicksOutside> = Reset::new();
}

/// Whether calls are counted on demand now.
static IS_COUNTING_CALLS: Inherited<AtomicBool> = Inherited::new("the child has the same code", AtomicBool::new(false));

/// The number of slots, each for four bytes of code. Untouched slots take no memory.
const SLOTS: usize = 1 << 16;
/// The number of slots in a page.
const STRETCH: usize = PAGE / size_of::<Slot>();

/// The ticks of four bytes of code. A slot of zeros is free. An address never moves and is never removed.
struct Slot {
    pc: AtomicUsize,
    ticks: AtomicU64,
}

/// Ticks by address. There are no slots if the ticks are not wanted or there was no memory.
struct TicksOutside {
    slots: Memory,
    /// Whether each stretch of slots has ticks, so that the end of the process need not look at all slots.
    touched: [AtomicBool; SLOTS / STRETCH],
    /// The ticks for which there was no slot.
    elsewhere: AtomicU64,
}

impl TicksOutside {
    const fn new() -> TicksOutside {
        TicksOutside {
            slots: Memory::none(),
            touched: [const { AtomicBool::new(false) }; SLOTS / STRETCH],
            elsewhere: AtomicU64::new(0),
        }
    }

    fn prepare(&self) {
        self.slots.map(SLOTS * size_of::<Slot>());
    }

    /// The slot with this number; `None` if there is no memory.
    fn slot(&self, number: usize) -> Option<&Slot> {
        let slots = self.slots.start::<Slot>();
        // SAFETY: there are [`SLOTS`] slots, which are never freed.
        (!slots.is_null()).then(|| unsafe { &*slots.add(number % SLOTS) })
    }
}

/// A child clears all ticks.
impl Resettable for TicksOutside {
    const VALUE: TicksOutside = TicksOutside::new();

    #[inline(always)]
    fn reset(&self) {
        let TicksOutside { slots, touched, elsewhere } = self;
        elsewhere.store(0, Relaxed);
        touched.iter().for_each(|touched| touched.store(false, Relaxed));
        slots.clear();
    }

    #[cfg(test)]
    fn change(&self) {
        let TicksOutside { slots: _, touched, elsewhere } = self;
        self.prepare();
        for number in [0, 1, SLOTS - 1] {
            let slot = self.slot(number).unwrap();
            slot.pc.store(5, Relaxed);
            slot.ticks.store(5, Relaxed);
            touched[number / STRETCH].store(true, Relaxed);
        }
        elsewhere.store(3, Relaxed);
    }

    #[cfg(test)]
    fn is_first(&self) -> bool {
        let TicksOutside { slots, touched, elsewhere } = self;
        slots.is_first() && touched.iter().all(AtomicBool::is_first) && elsewhere.load(Relaxed) == 0
    }
}

impl TicksOutside {
    fn count(&self, pc: usize, ticks: u32) {
        let pc = pc & !3;
        const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
        let home = ((pc as u64).wrapping_mul(GOLDEN_RATIO) >> (u64::BITS - SLOTS.ilog2())) as usize;
        let is_its = |slot: &Slot| match slot.pc.load(Relaxed) {
            0 => slot.pc.compare_exchange(0, pc, SeqCst, SeqCst).map_or_else(|now| now == pc, |_| true),
            taken => taken == pc,
        };
        let found = (home..home + TRIES).find(|number| pc != 0 && self.slot(*number).is_some_and(is_its));
        if let Some(touched) = found.and_then(|number| self.touched.get(number % SLOTS / STRETCH)) {
            touched.store(true, Relaxed);
        }
        let place = found.and_then(|number| self.slot(number)).map_or(&self.elsewhere, |slot| &slot.ticks);
        place.fetch_add(u64::from(ticks), Relaxed);
    }

    /// The slots with ticks.
    fn counted(&self) -> impl Iterator<Item = &Slot> {
        let touched = self.touched.iter().enumerate().filter(|(_, touched)| touched.load(Relaxed));
        let numbers = touched.flat_map(|(stretch, _)| stretch * STRETCH..(stretch + 1) * STRETCH);
        numbers.filter_map(|number| self.slot(number)).filter(|slot| slot.ticks.load(Relaxed) > 0)
    }

    fn for_each(&self, mut each: impl FnMut(usize, u64)) {
        self.counted().for_each(|slot| each(slot.pc.load(Relaxed), slot.ticks.load(Relaxed)));
    }

    fn take(&self, is_wanted: impl Fn(usize) -> bool, mut each: impl FnMut(usize, u64)) {
        for slot in self.counted() {
            let pc = slot.pc.load(Relaxed);
            if is_wanted(pc) {
                each(pc, slot.ticks.swap(0, SeqCst));
            }
        }
    }
}

/// Allocates the table. Called at start-up.
pub(crate) fn keep_ticks_outside() {
    IS_KEPT.store(true, Relaxed);
    TICKS.prepare();
}

/// Counts ticks at an address outside the bins. Called in signal handlers.
pub(crate) fn count(pc: usize, ticks: u32) {
    TICKS.count(pc, ticks);
}

/// Says whether calls are counted on demand from now on.
#[allow(dead_code, reason = "not all systems count calls on demand")]
pub(crate) fn count_while_counting_calls(on: bool) {
    if on && COUNTED.slots.start::<Slot>().is_null() {
        COUNTED.prepare();
    }
    IS_COUNTING_CALLS.store(on, SeqCst);
}

/// Counts ticks at any address once more if calls are counted on demand now. Called in signal handlers.
#[inline]
pub(crate) fn count_if_counting_calls(pc: usize, ticks: u32) {
    if CHANGES_CODE && IS_COUNTING_CALLS.load(Relaxed) {
        COUNTED.count(pc, ticks);
    }
}

/// Passes every address with ticks while calls were counted on demand to `each`, as (pc, ticks).
#[allow(dead_code, reason = "not all systems count calls on demand")]
pub(crate) fn for_each_counted_tick(each: impl FnMut(usize, u64)) {
    COUNTED.for_each(each);
}

/// Takes the ticks of the addresses that `is_wanted`, while calls were counted on demand, out of the table, and passes
/// them to `each`.
pub(crate) fn take_counted_ticks(is_wanted: impl Fn(usize) -> bool, each: impl FnMut(usize, u64)) {
    if CHANGES_CODE {
        COUNTED.take(is_wanted, each);
    }
}

/// Passes every address with ticks to `each`, as (pc, ticks).
pub(crate) fn for_each_tick_outside(each: impl FnMut(usize, u64)) {
    TICKS.for_each(each);
}

/// Takes the ticks of the addresses that `is_wanted` out of the table, and passes them to `each`.
pub(crate) fn take_ticks_outside(is_wanted: impl Fn(usize) -> bool, each: impl FnMut(usize, u64)) {
    TICKS.take(is_wanted, each);
}

/// The ticks for which the table had no room; 0 if ticks outside the text are not wanted.
pub(crate) fn elsewhere() -> u64 {
    if IS_KEPT.load(Relaxed) { TICKS.elsewhere.load(Relaxed) } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn ticks_are_kept_by_address() {
        let table = TicksOutside::new();
        table.prepare();
        let mut expected = HashMap::new();
        for pc in (0x7f00_0000_0000_usize..).step_by(4).take(1000) {
            table.count(pc, 1);
            table.count(pc + 3, 2);
            expected.insert(pc, 3);
        }
        let mut found = HashMap::new();
        table.for_each(|pc, ticks| assert!(found.insert(pc, ticks).is_none()));
        assert_eq!(found, expected);
        let mut taken = 0;
        table.take(|pc| pc < 0x7f00_0000_0100, |_, ticks| taken += ticks);
        table.take(|pc| pc < 0x7f00_0000_0100, |_, _| panic!("taken twice"));
        assert_eq!(taken, 64 * 3);
        table.reset();
        table.for_each(|pc, ticks| panic!("{pc:#x} {ticks}"));
    }

    #[test]
    fn what_finds_no_room_is_counted_too() {
        let table = TicksOutside::new();
        table.count(0x7000, 3);
        assert_eq!(table.elsewhere.load(Relaxed), 3, "there are no slots");
        table.prepare();
        table.count(0, 5);
        assert_eq!(table.elsewhere.load(Relaxed), 8, "no address");
        (1..=2 * SLOTS).for_each(|number| table.count(number * 4, 1));
        let mut kept = 0;
        table.for_each(|_, ticks| kept += ticks);
        assert!(kept > SLOTS as u64 / 2 && kept <= SLOTS as u64);
        assert_eq!(kept + table.elsewhere.load(Relaxed), 8 + 2 * SLOTS as u64);
    }

    #[test]
    fn a_stretch_with_ticks_is_found_wherever_it_is() {
        for number in 1..50 {
            let table = TicksOutside::new();
            table.prepare();
            table.count(number * 0x1234, 7);
            let mut found = Vec::new();
            table.for_each(|pc, ticks| found.push((pc, ticks)));
            assert_eq!(found, [(number * 0x1234, 7)]);
        }
    }

    #[test]
    fn the_process_has_a_table_if_ticks_outside_are_wanted() {
        if !super::super::is_alone("samples::outside_text::tests::the_process_has_a_table_if_ticks_outside_are_wanted")
        {
            return;
        }
        count(0x7f00_0000_0000, 3);
        assert_eq!(elsewhere(), 0, "they are not wanted");
        keep_ticks_outside();
        assert_eq!(elsewhere(), 3);
        count(0x7f00_0000_0000, 4);
        let all = || {
            let mut all = Vec::new();
            for_each_tick_outside(|pc, ticks| all.push((pc, ticks)));
            all
        };
        assert_eq!(all(), [(0x7f00_0000_0000, 4)]);
        let mut taken = Vec::new();
        take_ticks_outside(|pc| pc == 0x7f00_0000_0000, |_, ticks| taken.push(ticks));
        assert_eq!((taken, all(), elsewhere()), (vec![4], vec![], 3));
    }
}
