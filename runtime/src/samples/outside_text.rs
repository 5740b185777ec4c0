//! Ticks outside the program's text: in shared objects, in what the kernel lends, in code that was made at run time.
//!
//! What lies there is not known while ticks come in, and need not be: they are counted by the address itself, in a table
//! of fixed size that is there from the start. As in [`super::bins`], nothing here takes a lock or calls out.

use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use crate::os::{PAGE, clear, map};

/// How many stretches of four bytes the table has room for; one that is not touched costs no memory.
const SLOTS: usize = 1 << 16;
/// The slots of a page.
const STRETCH: usize = PAGE / size_of::<Slot>();
/// How many slots are looked at for one address.
const TRIES: usize = 64;

/// The ticks of four bytes of code. All zero, it is free; an address never moves and is never taken out.
struct Slot {
    pc: AtomicUsize,
    ticks: AtomicU64,
}

/// The slots; null if they are not wanted or there was no memory for them.
struct Table {
    slots: AtomicPtr<Slot>,
    /// For each stretch of them whether there are ticks: so that the end does not have to look at all.
    touched: [AtomicBool; SLOTS / STRETCH],
    /// The ticks for which there was no slot.
    elsewhere: AtomicU64,
}

static TABLE: Table = Table::new();
/// Whether anybody wants to know.
static IS_KEPT: AtomicBool = AtomicBool::new(false);

impl Table {
    const fn new() -> Table {
        Table {
            slots: AtomicPtr::new(ptr::null_mut()),
            touched: [const { AtomicBool::new(false) }; SLOTS / STRETCH],
            elsewhere: AtomicU64::new(0),
        }
    }

    fn prepare(&self) {
        self.slots.store(map(SLOTS * size_of::<Slot>()).cast(), SeqCst);
    }

    /// A slot, by its number; none where there is no memory.
    fn slot(&self, number: usize) -> Option<&Slot> {
        let slots = self.slots.load(Relaxed);
        // SAFETY: there are that many, zero or counted, and they are never freed.
        (!slots.is_null()).then(|| unsafe { &*slots.add(number % SLOTS) })
    }

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

    /// The slots that have ticks.
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

    fn clear(&self) {
        self.elsewhere.store(0, Relaxed);
        self.touched.iter().for_each(|touched| touched.store(false, Relaxed));
        let slots = self.slots.load(Relaxed);
        if !slots.is_null() {
            // SAFETY: all of the memory that `prepare` mapped, and no other thread is here.
            unsafe { clear(slots.cast(), SLOTS * size_of::<Slot>()) };
        }
    }
}

/// Makes the table. At start-up.
pub(crate) fn keep_ticks_outside() {
    IS_KEPT.store(true, Relaxed);
    TABLE.prepare();
}

/// Counts ticks at an address outside the bins. In signal handlers.
pub(crate) fn count(pc: usize, ticks: u32) {
    TABLE.count(pc, ticks);
}

/// Hands every address that has ticks to `each`, as (pc, ticks).
pub(crate) fn for_each_tick_outside(each: impl FnMut(usize, u64)) {
    TABLE.for_each(each);
}

/// Takes the ticks of the addresses that `is_wanted` out of the table, and hands them to `each`.
pub(crate) fn take_ticks_outside(is_wanted: impl Fn(usize) -> bool, each: impl FnMut(usize, u64)) {
    TABLE.take(is_wanted, each);
}

/// The ticks for which the table had no room; none if they are not wanted.
pub(crate) fn elsewhere() -> u64 {
    if IS_KEPT.load(Relaxed) { TABLE.elsewhere.load(Relaxed) } else { 0 }
}

/// Forgets all ticks.
pub(crate) fn after_fork_in_child() {
    TABLE.clear();
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn ticks_are_kept_by_address() {
        let table = Table::new();
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
        table.clear();
        table.for_each(|pc, ticks| panic!("{pc:#x} {ticks}"));
    }

    #[test]
    fn what_finds_no_room_is_counted_too() {
        let table = Table::new();
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
}
