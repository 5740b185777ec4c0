//! The records that the kernel writes to a ring (`perf_event_open(2)`).
//!
//! The size of each record is a multiple of a word, so no word is split; a record may wrap around the end of the
//! ring.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const LOST: u32 = 2;
const THROTTLE: u32 = 5;
const SAMPLE: u32 = 9;

const WORD: u64 = size_of::<u64>() as u64;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// The pc of a sample.
    Sample(usize),
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
            // The ABI of the registers, which is 0 if there are none, and the one register.
            SAMPLE if size >= 3 * WORD => each(Record::Sample(at(position + 2 * WORD) as usize)),
            // The event and the number of lost records.
            LOST if size >= 3 * WORD => each(Record::Lost(at(position + 2 * WORD))),
            THROTTLE => each(Record::Throttled),
            _ => {}
        }
        position += size;
    }
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
            self.write(SAMPLE, &[2, pc]);
        }
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
        ring.write(3, &[1, 2, 3, 4, 5]); // the name of a process
        ring.write(THROTTLE, &[1, 2, 3]);
        ring.write(6, &[1, 2, 3]); // THROTTLE's counterpart: the kernel goes on
        ring.write(SAMPLE, &[0]); // a kernel thread: no registers
        ring.sample(0x2000);
        let expected = [Record::Sample(0x1000), Record::Lost(5), Record::Throttled, Record::Sample(0x2000)];
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
                for pc in 0..10 {
                    ring.sample(pc);
                    ring.write(LOST, &[0, pc]);
                    expected.extend([Record::Sample(pc as usize), Record::Lost(pc)]);
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
            assert_eq!(all(&ring, 0), [Record::Sample(1)], "{header:#x}");
        }
        assert_eq!(all(&MadeUp::new(0, 800), 0), [], "no ring");
        assert_eq!(all(&MadeUp::new(16, 0), 800), [], "a head before the tail");
    }
}
