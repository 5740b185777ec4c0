//! The records that the kernel writes to a ring (`perf_event_open(2)`).
//!
//! The size of each record is a multiple of a word, so no word is split; a record may wrap around the end of the
//! ring.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::os::{PERF_PROGRAM_COUNTER, PERF_REGISTERS, PERF_STACK_POINTER};

const LOST: u32 = 2;
const NAME: u32 = 3;
const THROTTLE: u32 = 5;
const SAMPLE: u32 = 9;

const WORD: u64 = size_of::<u64>() as u64;

/// Where a record has a copy of a stack. All positions are bytes since the first record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copied {
    /// The position of the registers.
    pub(super) registers: u64,
    /// The stack pointer.
    pub(super) sp: usize,
    /// The position of the bytes from the stack pointer on.
    pub(super) stack: u64,
    /// The number of these bytes.
    pub(super) length: usize,
    /// The number of bytes that the kernel was asked for. The kernel copies only pages that are in memory, up to the
    /// first other page.
    pub(super) wanted: usize,
}

/// The number of registers with a copy of a stack.
const REGISTERS: u64 = PERF_REGISTERS.count_ones() as u64;

/// The words before the registers: the header, the process and the thread, and the ABI of the registers.
const HEAD: u64 = 3;

/// The size of a sample with `stack` bytes of the stack, or without a copy if `stack` is 0: what is before the
/// registers, and the registers; the number of bytes, the bytes, and the number of those that are valid.
pub(super) const fn sample_size(stack: u32) -> u32 {
    if stack == 0 { ((HEAD + 1) * WORD) as u32 } else { ((HEAD + REGISTERS + 2) * WORD) as u32 + stack }
}

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// The pc of a sample, the number of the thread, and the copy of the stack, if there is one.
    Sample(usize, i32, Option<Copied>),
    /// The number of a thread and its new name, padded with zeros.
    Name(i32, [u64; 2]),
    /// The number of records for which there was no room.
    Lost(u64),
    /// The kernel paused, because the samples took too much time.
    Throttled,
}

/// Passes the records from `tail` to `head`, in bytes since the first record, to `each`. The ring has a power of two
/// of `words`.
///
/// An invalid record, which no kernel writes, ends the iteration.
pub(super) fn for_each(words: &[AtomicU64], tail: u64, head: u64, mut each: impl FnMut(Record)) {
    let at = |position: u64| {
        let index = (position / WORD) as usize & words.len().wrapping_sub(1);
        words.get(index).map_or(0, |word| word.load(Relaxed))
    };
    let mut position = tail;
    while let Some(left) = head.checked_sub(position).filter(|left| *left >= WORD) {
        // struct perf_event_header: the kind, two bytes of flags, the size in bytes.
        let header = at(position);
        let (kind, size) = (header as u32, header >> 48);
        if size < WORD || size > left || !size.is_multiple_of(WORD) {
            return;
        }
        match kind {
            // The ABI of the registers is 0 if there are none.
            SAMPLE if size > HEAD * WORD && at(position + (HEAD - 1) * WORD) != 0 => each(sample(&at, position, size)),
            // The process and the thread, and a string with a NUL, padded with zeros to whole words.
            NAME if size >= 3 * WORD => {
                let second = if size >= 4 * WORD { at(position + 3 * WORD) } else { 0 };
                each(Record::Name(thread(at(position + WORD)), [at(position + 2 * WORD), second]));
            }
            // The event and the number of lost records.
            LOST if size >= 3 * WORD => each(Record::Lost(at(position + 2 * WORD))),
            THROTTLE => each(Record::Throttled),
            _ => {}
        }
        position += size;
    }
}

/// The thread of a word with the process in its lower half and the thread in its upper half.
fn thread(word: u64) -> i32 {
    (word >> 32) as i32
}

/// A sample of `size` bytes.
fn sample(at: &impl Fn(u64) -> u64, position: u64, size: u64) -> Record {
    let thread = thread(at(position + WORD));
    let registers = position + HEAD * WORD;
    let stack = registers + (REGISTERS + 1) * WORD;
    if stack > position + size {
        return Record::Sample(at(registers) as usize, thread, None);
    }
    let register = |place: usize| at(registers + place as u64 * WORD) as usize;
    // The number of valid bytes follows the bytes. If nothing could be copied, there are no bytes and no such number.
    let copied = at(stack - WORD);
    let behind = stack.saturating_add(copied);
    let is_inside = copied > 0 && behind.checked_add(WORD).is_some_and(|end| end <= position + size);
    let (length, wanted) = if is_inside { (at(behind).min(copied) as usize, copied as usize) } else { (0, 0) };
    let copied = Copied { registers, sp: register(PERF_STACK_POINTER), stack, length, wanted };
    Record::Sample(register(PERF_PROGRAM_COUNTER), thread, Some(copied))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A ring into which records are written as the kernel does; a record that does not fit is lost.
    pub(in crate::kernel::system::sampler) struct MadeUp {
        pub(in crate::kernel::system::sampler) words: Vec<AtomicU64>,
        pub(in crate::kernel::system::sampler) head: u64,
    }

    impl MadeUp {
        pub(in crate::kernel::system::sampler) fn new(words: usize, head: u64) -> MadeUp {
            // Old contents must not be taken for records.
            MadeUp { words: (0..words).map(|_| AtomicU64::new(u64::MAX)).collect(), head }
        }

        pub(in crate::kernel::system::sampler) fn write(&mut self, kind: u32, payload: &[u64]) {
            let size = (payload.len() as u64 + 1) * WORD;
            for word in [u64::from(kind) | size << 48].iter().chain(payload) {
                let index = (self.head / WORD) as usize % self.words.len();
                self.words[index].store(*word, Relaxed);
                self.head += WORD;
            }
        }

        pub(in crate::kernel::system::sampler) fn sample(&mut self, pc: u64) {
            self.write(SAMPLE, &[THREAD, 2, pc]);
        }
    }

    /// Thread 8 of process 7.
    const THREAD: u64 = 8 << 32 | 7;

    fn only(pc: u64) -> Record {
        Record::Sample(pc as usize, 8, None)
    }

    #[test]
    fn a_sample_can_have_a_part_of_the_stack() {
        let mut ring = MadeUp::new(256, 0);
        let registers: Vec<u64> = (0..REGISTERS).map(|register| 0x1000 + register).collect();
        // 64 bytes, of which 48 are valid; nothing copied; no registers; more bytes than the record has.
        let stack = [64, 0, 1, 2, 3, 4, 5, 6, 7, 48];
        ring.write(SAMPLE, &[&[THREAD, 2], &registers[..], &stack].concat());
        ring.write(SAMPLE, &[&[THREAD, 2], &registers[..], &[0]].concat());
        ring.write(SAMPLE, &[THREAD, 0, 0]);
        ring.write(SAMPLE, &[&[THREAD, 2], &registers[..], &[u64::MAX, 1]].concat());
        let (pc, sp) = (0x1000 + PERF_PROGRAM_COUNTER, 0x1000 + PERF_STACK_POINTER);
        let first = Copied { registers: 24, sp, stack: (4 + REGISTERS) * WORD, length: 48, wanted: 64 };
        let found = all(&ring, 0);
        assert_eq!((found.len(), found[0]), (3, Record::Sample(pc, 8, Some(first))));
        for record in &found[1..] {
            let is_empty = |copied: &Copied| (copied.length, copied.wanted) == (0, 0);
            assert!(
                matches!(record, Record::Sample(at, 8, Some(copied)) if *at == pc && is_empty(copied)),
                "{record:?}"
            );
        }
        assert_eq!(sample_size(64), ((registers.len() + stack.len() + 3) * 8) as u32);
    }

    fn all(ring: &MadeUp, tail: u64) -> Vec<Record> {
        let mut found = Vec::new();
        for_each(&ring.words, tail, ring.head, |record| found.push(record));
        found
    }

    #[test]
    fn records_are_read_in_order_and_unknown_ones_passed_over() {
        let mut ring = MadeUp::new(64, 0);
        ring.sample(0x1000);
        ring.write(LOST, &[77, 5]);
        ring.write(NAME, &[THREAD, u64::from_ne_bytes(*b"a thread"), u64::from_ne_bytes(*b"'s name\0"), 9]);
        ring.write(NAME, &[THREAD, u64::from_ne_bytes(*b"short\0\0\0")]);
        ring.write(THROTTLE, &[1, 2, 3]);
        ring.write(6, &[1, 2, 3]); // THROTTLE's counterpart: the kernel goes on
        ring.write(NAME, &[THREAD]); // no name
        ring.write(10, &[1, 2, 3, 4, 5]); // a mapping
        ring.write(SAMPLE, &[THREAD, 0]); // a kernel thread: no registers
        ring.sample(0x2000);
        let name = |first, second| Record::Name(8, [first, second].map(u64::from_ne_bytes));
        let names = [name(*b"a thread", *b"'s name\0"), name(*b"short\0\0\0", [0; 8])];
        let expected = [&[only(0x1000), Record::Lost(5)], &names[..], &[Record::Throttled, only(0x2000)]].concat();
        assert_eq!(all(&ring, 0), expected);
        assert_eq!(all(&ring, ring.head), []);
    }

    #[test]
    fn a_record_goes_on_at_the_beginning_wherever_it_is_cut() {
        for start in 0..64 {
            // Also after many turns of the ring, when positions have more bits than indexes.
            for turns in [0, 1, 1 << 40] {
                let tail = (turns * 64 + start) * WORD;
                let mut ring = MadeUp::new(64, tail);
                let mut expected = Vec::new();
                for pc in 0..9 {
                    ring.sample(pc);
                    ring.write(LOST, &[0, pc]);
                    expected.extend([only(pc), Record::Lost(pc)]);
                }
                assert_eq!(all(&ring, tail), expected, "{start} {turns}");
            }
        }
    }

    #[test]
    fn what_is_no_record_ends_the_walk() {
        for header in [0, 7 << 48, 12 << 48, 0xfff8 << 48, u64::MAX] {
            let mut ring = MadeUp::new(16, 0);
            ring.sample(1);
            let place = (ring.head / WORD) as usize;
            ring.words[place].store(header | u64::from(SAMPLE), Relaxed);
            ring.head += 5 * WORD;
            assert_eq!(all(&ring, 0), [only(1)], "{header:#x}");
        }
        assert_eq!(all(&MadeUp::new(0, 800), 0), [], "no ring");
        assert_eq!(all(&MadeUp::new(16, 0), 800), [], "a head before the tail");
    }
}
