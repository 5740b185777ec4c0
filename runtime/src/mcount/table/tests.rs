//! Tables that tests fill.

use std::collections::HashMap;

use super::*;
use crate::os::map;

fn table(generation: usize) -> Table {
    let size = size(generation, 4096);
    let memory = map(size);
    assert!(!memory.is_null());
    let table = Table::new();
    assert_eq!(table.count(1, 2), Counted::Full, "there is no room yet");
    // SAFETY: fresh memory that is never freed.
    unsafe { table.set_memory(memory, size) };
    table
}

fn arcs(table: &Table) -> HashMap<(usize, usize), u64> {
    let mut all = HashMap::new();
    table.for_each(|frompc, selfpc, count| *all.entry((frompc, selfpc)).or_default() += count);
    all
}

#[test]
fn counts_are_those_of_a_map() {
    let table = table(3);
    let mut expected = HashMap::new();
    let mut seed = 1_usize;
    for _ in 0..20_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (frompc, selfpc) = (0x40_0000 + (seed >> 40) % 20 * 4, 0x40_1000 + (seed >> 50) % 20 * 16);
        assert_eq!(table.count(frompc, selfpc), Counted::Yes);
        *expected.entry((frompc, selfpc)).or_default() += 1;
    }
    assert_eq!(arcs(&table), expected);
}

#[test]
fn sizes_grow_to_more_than_any_program_has() {
    let slots: Vec<_> = (0..GENERATIONS).map(|generation| (size(generation, 4096) / 24 - TAIL).ilog2()).collect();
    assert_eq!(slots[..8], [7, 9, 11, 13, 15, 17, 18, 19]);
    assert_eq!(slots[GENERATIONS - 1], 27);
    assert!(u32::try_from((1_u64 << 27) * 24).is_ok(), "mcount computes places in 32 bits");
    assert!(size(0, 4096) == 4096 && size(0, 12288) == 12288);
}

#[test]
fn a_call_from_nowhere_is_an_arc_too() {
    let table = table(0);
    assert_eq!(table.count(0, 0x1000), Counted::Yes);
    assert_eq!(table.count(0, 0x1000), Counted::Yes);
    assert_eq!(arcs(&table), HashMap::from([((0, 0x1000), 2)]));
}

#[test]
fn counts_that_are_taken_begin_anew() {
    let table = table(0);
    for (frompc, selfpc) in [(1, 0x1000), (2, 0x1000), (1, 0x1000), (1, 0x2000)] {
        assert_eq!(table.count(frompc, selfpc), Counted::Yes);
    }
    let mut taken = Vec::new();
    table.take(|_, selfpc| selfpc == 0x1000, |frompc, selfpc, count| taken.push((frompc, selfpc, count)));
    taken.sort_unstable();
    assert_eq!(taken, [(1, 0x1000, 2), (2, 0x1000, 1)]);
    assert_eq!(arcs(&table), HashMap::from([((1, 0x2000), 1)]));
    assert_eq!(table.count(1, 0x1000), Counted::Yes);
    assert_eq!(arcs(&table)[&(1, 0x1000)], 1);
    taken.clear();
    table.take(|_, selfpc| selfpc == 0x1000, |frompc, selfpc, count| taken.push((frompc, selfpc, count)));
    assert_eq!(taken, [(1, 0x1000, 1)]);
    table.empty(|_, _| true, |_, selfpc, count| taken.push((9, selfpc, count)));
    taken.sort_unstable();
    assert_eq!(taken, [(1, 0x1000, 1), (9, 0x2000, 1)]);
    assert_eq!(arcs(&table), HashMap::new());
}

#[test]
fn a_drained_table_is_empty() {
    let table = table(0);
    for frompc in [1, 2, 1] {
        assert_eq!(table.count(frompc, 0x1000), Counted::Yes);
    }
    table.take(|frompc, _| frompc == 1, |_, _, count| assert_eq!(count, 2));
    assert_eq!(table.count(1, 0x1000), Counted::Yes);
    let mut drained = Vec::new();
    table.drain(|frompc, _, count| drained.push((frompc, count)));
    drained.sort_unstable();
    assert_eq!((drained, table.used()), (vec![(1, 1), (2, 1)], 0));
    assert_eq!(table.count(1, 0x1000), Counted::Yes);
    assert_eq!(arcs(&table), HashMap::from([((1, 0x1000), 1)]));
    // Taking everything leaves the counts of the file.
    let mut taken = Vec::new();
    assert!(table.take_all(|frompc, _, count| taken.push((frompc, count))));
    assert_eq!((taken, arcs(&table), table.used()), (vec![(1, 1)], HashMap::new(), 1));
}

#[test]
fn taking_loses_no_call_of_a_thread_that_counts_meanwhile() {
    const CALLS: u64 = 2_000_000;
    let table = table(0);
    let done = AtomicBool::new(false);
    // Increments a count as mcount does, not atomically.
    let call = || {
        for _ in 0..CALLS {
            table.for_each_called(|_, _, _, entry| entry.count.store(entry.count.load(Relaxed) + 1, Relaxed));
        }
        done.store(true, SeqCst);
    };
    assert_eq!(table.count(1, 0x1000), Counted::Yes);
    let mut taken = 0;
    std::thread::scope(|threads| {
        threads.spawn(call);
        while !done.load(SeqCst) {
            table.take(|_, _| true, |_, _, count| taken += count);
        }
    });
    table.take(|_, _| true, |_, _, count| taken += count);
    assert_eq!(taken, CALLS + 1);
}

#[test]
fn a_full_table_still_counts_what_it_has() {
    let table = table(0);
    let full = (1..).find(|n| table.count(n * 8, 0x1000) == Counted::Full).unwrap();
    assert_eq!(full, 128 / 8 + 1);
    assert_eq!(table.count(8, 0x1000), Counted::Yes);
    assert_eq!(arcs(&table)[&(8, 0x1000)], 2);
    assert_eq!(arcs(&table).len(), 128 / 8);
    // The case that there is no larger table.
    let full = (1..).find(|n| table.count_anywhere(n * 8, 0x1000) == Counted::Full).unwrap();
    assert_eq!(full, 128 / 2 + 1);
}

#[test]
fn arcs_with_one_home_want_a_larger_table() {
    // Functions at the same offset in their pages.
    let arc = |n| (0x1000, 0x10_0000 + n * 4096);
    let count = |table: &Table| (0..100).take_while(|n| table.count(arc(*n).0, arc(*n).1) == Counted::Yes).count();
    let small = table(1);
    assert_eq!(small.mask(), 4096 - 8, "they differ above that only");
    assert_eq!(count(&small), 1 + FAR);
    assert_eq!(small.count(arc(FAR).0, arc(FAR).1), Counted::Yes, "those that it has, it still counts");
    assert_eq!(small.count_anywhere(0x1000, 0x20_0000), Counted::Yes, "where there is no memory for a larger one");
    assert_eq!(count(&table(2)), 4 * (1 + FAR));
}

#[test]
fn one_entry_stays_empty_however_the_hashes_fall() {
    // The last slot is the home of all these arcs, and the entries behind it are near in so large a table.
    let table = table(6);
    let unlucky = (1..).map(|n| n * 8).filter(|frompc| arch::hash(*frompc, 0x1000) & table.mask() == table.mask());
    let counted = unlucky.take_while(|frompc| table.count(*frompc, 0x1000) == Counted::Yes).count();
    let tail = table.length.load(Relaxed) - 2 * SMALL;
    assert_eq!(counted, tail);
    let last = table.entry(2 * SMALL + tail - 1).unwrap();
    assert_eq!(last.selfpc.load(Relaxed), 0);
}

#[test]
fn large_tables_have_more_arcs_at_larger_distances() {
    let bounds = |slots: usize| {
        let table = Table::new();
        table.slots.store(slots, Relaxed);
        let far = (0..).take(1000).position(|distance| table.is_far(distance));
        (table.most_used(), far)
    };
    assert_eq!(bounds(128), (16, Some(FAR + 1)));
    assert_eq!(bounds(SMALL), (SMALL / 8, Some(FAR + 1)));
    assert_eq!(bounds(2 * SMALL), (SMALL, Some(FAR_IN_LARGE + 1)));
    assert_eq!(bounds(LARGEST_LEFT / 2).1, Some(FAR_IN_LARGE + 1));
    assert_eq!(bounds(LARGEST_LEFT), (LARGEST_LEFT / 2, None));
}

#[test]
fn entries_that_are_being_filled_have_no_calls_yet() {
    let table = table(0);
    assert_eq!(table.count(1, 0x1000), Counted::Yes);
    for (index, selfpc) in [(100, CLAIMED), (101, 0)] {
        let entry = table.entry(index).unwrap();
        entry.selfpc.store(selfpc, Relaxed);
        entry.count.store(3, Relaxed);
    }
    assert_eq!(arcs(&table), HashMap::from([((1, 0x1000), 1)]));
}

#[test]
fn a_table_whose_memory_is_cleared_is_empty() {
    // So many arcs that the parts that were taken fill several pages.
    const ARCS: usize = 1000;
    let table = table(2);
    let arc = |number: usize| (8 * number, 0x1000 + 64 * number);
    let once: HashMap<_, _> = (0..ARCS).map(|number| (arc(number), 1)).collect();
    let count_all = || {
        (0..ARCS).for_each(|number| assert_eq!(table.count_anywhere(arc(number).0, arc(number).1), Counted::Yes));
    };
    let take_all = || {
        let mut taken = HashMap::new();
        assert!(table.take_all(|frompc, selfpc, count| assert!(taken.insert((frompc, selfpc), count).is_none())));
        taken
    };
    count_all();
    assert_eq!((arcs(&table), take_all(), take_all()), (once.clone(), once.clone(), HashMap::new()));
    count_all();
    assert_eq!((arcs(&table), take_all()), (once.clone(), once.clone()));
    let (memory, size) = table.memory();
    assert_eq!(size, size_of::<Entry>() * table.length.load(Relaxed));
    // SAFETY: all of the table's memory.
    unsafe { os::clear(memory, size) };
    table.mark_empty();
    assert!(table.used() == 0 && !table.leads_outside.load(Relaxed));
    count_all();
    assert_eq!(arcs(&table), once);
}

#[test]
fn arcs_of_the_programs_own_code_are_told_apart() {
    if !crate::samples::is_alone("mcount::table::tests::arcs_of_the_programs_own_code_are_told_apart") {
        return;
    }
    // SAFETY: fresh memory that is never freed.
    unsafe { bins::start(map(4096), 4096, 0x40_0000, 0x8000) };
    let (inside, outside) = (0x40_0100, 0x50_0000);
    for (frompc, selfpc, leads_outside) in
        [(inside, inside, false), (outside, inside, true), (inside, outside, true), (outside, outside, true)]
    {
        let table = table(0);
        assert_eq!(table.count(frompc, selfpc), Counted::Yes);
        assert_eq!(table.leads_outside(), leads_outside, "{frompc:#x} {selfpc:#x}");
        let mut taken = 0;
        table.take(|_, _| true, |_, _, count| taken += count);
        assert_eq!(taken, 1);
    }
}
