use super::super::memory::Words;
use super::*;

const THREAD: usize = 0x7000;
const SIGN: usize = 0xab << 48;
const FRAMES: usize = 100;

/// The slot and the return address of a frame, the outermost of which has number 0. Each function has 256 bytes of
/// code.
fn slot(frame: usize) -> usize {
    0x10_0000 - 64 * frame
}
fn address(frame: usize) -> usize {
    0x40_0010 + 256 * frame
}

fn trail() -> Trail {
    Trail { ring: [[1; 2]; OUTER_FRAMES], number: 7, outer: [1; OUTER_FRAMES], outers: 3 }
}

/// Remembers a stack of a hundred frames.
fn remembered() -> (Room<4>, Words) {
    let ends = Room::new();
    let mut trail = trail();
    trail.clear();
    for frame in (0..FRAMES).rev() {
        trail.push(Position { address: address(frame), slot: slot(frame), ..Position::default() });
    }
    remember(&ends, THREAD, slot(FRAMES), &trail);
    (ends, (0..FRAMES).map(|frame| (slot(frame), address(frame) | SIGN)).collect())
}

fn confirm(ends: &Room<4>, memory: &Words, thread: usize, frame: usize) -> (Option<Confirmed>, Vec<u64>) {
    let is_same_function = |one: usize, other: usize| one / 256 == other / 256;
    let with = Confirming { memory, address_bits: (1 << 48) - 1, is_same_function };
    let here = Position { address: address(frame), slot: slot(frame), sp: slot(frame) + 8, bottom: slot(FRAMES) };
    let mut trail = trail();
    let known = super::confirm(ends, thread, here, &with, &mut trail);
    (known, trail.outer().to_vec())
}

fn addresses(frames: usize) -> Vec<u64> {
    (0..frames).map(|frame| address(frame) as u64).collect()
}

#[test]
fn frames_whose_slots_have_not_changed_are_found() {
    let (ends, words) = remembered();
    let (known, outer) = confirm(&ends, &words, THREAD, 80);
    let known = known.unwrap();
    assert_eq!((known.is_whole, known.is_joined, outer), (true, false, addresses(OUTER_FRAMES)));
    assert!(known.has(slot(0)) && known.has(slot(FRAMES)) && !known.has(slot(FRAMES) - 1) && !known.has(slot(0) + 1));
    let (known, outer) = confirm(&ends, &words, THREAD, 10);
    assert_eq!((known.unwrap().is_joined, outer), (true, addresses(11)), "no frame is missing");
    assert_eq!(confirm(&ends, &words, THREAD + 64, 80), (None, vec![]), "another thread");
    assert_eq!(confirm(&ends, &words, 0, 80), (None, vec![]));
}

#[test]
fn frames_count_up_to_the_first_difference() {
    let (ends, mut words) = remembered();
    words.insert(slot(5), (address(5) + 16) | SIGN);
    let (known, outer) = confirm(&ends, &words, THREAD, 80);
    let expected = [&addresses(5)[..], &[address(5) as u64 + 16]].concat();
    assert_eq!((known.unwrap().is_whole, outer), (false, expected), "another call of the same function");
    for other in [None, Some(0), Some(address(6))] {
        match other {
            Some(other) => words.insert(slot(5), other),
            None => words.remove(&slot(5)),
        };
        let (known, outer) = confirm(&ends, &words, THREAD, 80);
        assert_eq!((known.unwrap().is_whole, outer), (false, addresses(5)), "{other:x?}");
    }
}

#[test]
fn a_stack_grows_downward_and_another_one_replaces_it() {
    let (ends, words) = remembered();
    let low = || confirm(&ends, &words, THREAD, 80).0.unwrap().low;
    let known = confirm(&ends, &words, THREAD, 80).0.unwrap();
    extend(&ends, THREAD, &known, 0x8_0000);
    assert_eq!(low(), 0x8_0000);
    let mut trail = trail();
    let mut remember = |slot, bottom| {
        trail.clear();
        trail.push(Position { address: address(0), slot, ..Position::default() });
        remember(&ends, THREAD, bottom, &trail);
    };
    remember(slot(0), 0x9_0000);
    assert_eq!(low(), 0x8_0000, "the same stack");
    remember(0, 0x9_0000);
    assert_eq!(low(), 0x8_0000, "the end is not known");
    remember(slot(1), 0x9_0000);
    assert_eq!(low(), 0x9_0000);
}

#[test]
fn few_frames_that_were_passed_leave_no_gap() {
    let mut trail = trail();
    for (passed, expected) in [(0, 0), (3, 3), (OUTER_FRAMES, OUTER_FRAMES), (1000, OUTER_FRAMES)] {
        trail.clear();
        for frame in (0..passed + 40).rev() {
            trail.push(Position { address: address(frame), slot: slot(frame), ..Position::default() });
        }
        assert_eq!(trail.end(passed), passed <= OUTER_FRAMES);
        assert_eq!(trail.outer(), addresses(expected));
    }
}

/// Remembers a stack of one frame for a thread.
fn remember_one(ends: &impl OuterEnds, thread: usize) {
    let mut trail = trail();
    trail.clear();
    trail.push(Position { address: address(0), slot: slot(0), ..Position::default() });
    remember(ends, thread, slot(1), &trail);
}

/// Room that nobody may ask for.
struct Unasked;

impl OuterEnds for Unasked {
    fn list(&self) -> Option<&[OuterEnd]> {
        panic!("no thread is known")
    }

    fn list_or_new(&self) -> Option<&[OuterEnd]> {
        self.list()
    }
}

#[test]
fn no_room_is_made_for_a_thread_that_is_not_known() {
    remember_one(&Unasked, 0);
}

#[test]
fn a_trail_forgets_an_earlier_walk() {
    let ends = Room::<4>::new();
    let mut trail = trail();
    let push = |trail: &mut Trail, frame: usize| {
        trail.push(Position { address: address(frame), slot: slot(frame), ..Position::default() });
    };
    (0..40).rev().for_each(|frame| push(&mut trail, frame));
    trail.clear();
    push(&mut trail, 0);
    remember(&ends, THREAD, slot(1), &trail);
    let words = (0..40).map(|frame| (slot(frame), address(frame))).collect();
    assert_eq!(confirm(&ends, &words, THREAD, 39).1, addresses(1));
    trail.end(1);
    trail.outer_mut().iter_mut().for_each(|address| *address += 1);
    assert_eq!(trail.outer(), [address(0) as u64 + 1]);
}

#[test]
fn frames_inside_of_the_walks_place_do_not_count() {
    let (ends, words) = remembered();
    let with = Confirming { memory: &words, address_bits: (1 << 48) - 1, is_same_function: |_, _| false };
    let mut trail = trail();
    for (sp, frames) in [(slot(10) + 8, 10), (slot(10), 11), (slot(11) + 8, 11)] {
        let here = Position { address: 1, slot: 0, sp, bottom: slot(FRAMES) };
        let known = super::confirm(&ends, THREAD, here, &with, &mut trail).unwrap();
        assert_eq!((known.is_whole, known.is_joined, trail.outer()), (true, false, &*addresses(frames)));
    }
}

#[test]
fn threads_have_entries_of_their_own() {
    const THREADS: usize = 128;
    let ends = Room::<4096>::new();
    let threads = || (1..=THREADS).map(|number| 0x7f00_0000_0000 + number * 0x10_0000);
    threads().for_each(|thread| remember_one(&ends, thread));
    let owners = || threads().filter_map(|thread| Some(of_thread(ends.list()?, thread)?.thread.load(Relaxed)));
    assert!(owners().zip(threads()).filter(|(owner, thread)| owner == thread).count() > THREADS * 3 / 4);
}

#[test]
fn an_entry_is_changed_by_its_thread_and_nobody_else_is_changing_it() {
    let ends = Room::<1>::new();
    remember_one(&ends, THREAD);
    let entry = of_thread(ends.list().unwrap(), THREAD).unwrap();
    let known = Confirmed { low: slot(1), base: slot(0), is_whole: true, is_joined: false };
    let low = || entry.low.load(Relaxed);
    extend(&ends, THREAD + 8, &known, slot(2));
    assert_eq!(low(), slot(1), "another thread");
    extend(&ends, THREAD, &Confirmed { base: slot(3), ..known }, slot(2));
    assert_eq!(low(), slot(1), "another stack");
    entry.version.fetch_add(1, Relaxed);
    let version = entry.version.load(Relaxed);
    extend(&ends, THREAD, &known, slot(2));
    assert_eq!((low(), entry.version.load(Relaxed)), (slot(1), version), "another thread is changing the entry");
    entry.version.fetch_add(1, Relaxed);
    extend(&ends, THREAD, &known, slot(2));
    assert_eq!((low(), entry.version.load(Relaxed)), (slot(2), version + 3));
}
