//! The calls of snapshots in the live side file.
//!
//! A snapshot writes its calls into one of two slots, while the other slot has the calls of the snapshot before. A
//! filler stands before both slots, and its length alone decides what readers find:
//!
//! * both slots: no calls;
//! * 0: the calls in the first slot, behind which another filler leads to the end of the second slot;
//! * the first slot: the calls in the second slot.
//!
//! So a snapshot replaces the calls in one step, whenever the program is killed or the file is read.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gmon::encode::side_file::{LARGEST_CALL, LARGEST_HEAD, part};
use gmon::layout::side_file::{FILLER, PART_HEADER_SIZE};

use super::counts;
use crate::file::writer::Writer;
use crate::objects::Tally;
use crate::os::{Errno, Fd};
use crate::state::Inherited;

/// The size of a slot. The second one is shorter, by the header before both slots.
const SLOT: usize = 512 << 10;
const BOTH: usize = 2 * SLOT - PART_HEADER_SIZE;

/// The offset of the filler before the slots.
static START: Inherited<AtomicUsize> =
    Inherited::new("say something only while there is a live side file", AtomicUsize::new(0));
/// The number of snapshots.
static SNAPSHOTS: Inherited<AtomicUsize> =
    Inherited::new("say something only while there is a live side file", AtomicUsize::new(0));

/// Makes the slots, a hole of the file at first.
pub(super) fn put(out: &mut Writer) {
    START.store(out.position(), Relaxed);
    out.part(FILLER, |out| out.zeros(BOTH));
}

/// Whether a slot has room for so many calls.
pub(super) fn has_room(calls: usize) -> bool {
    calls * LARGEST_CALL + LARGEST_HEAD + 4 * PART_HEADER_SIZE <= SLOT
}

/// Replaces the calls, for which there must be room.
pub(super) fn replace(file: Fd, counts: &[Tally], described: usize) -> Result<(), Errno> {
    let (start, turn) = (START.load(Relaxed), SNAPSHOTS.load(Relaxed));
    let (slots, before) = (start + PART_HEADER_SIZE, turn % 2 * SLOT);
    let mut out = Writer::at(file, slots + before);
    counts::put_calls(&mut out, counts, described);
    let left = slots + BOTH - PART_HEADER_SIZE - out.position();
    part(&mut out, FILLER, 0, left as u64);
    out.finish()?;
    file.write_all_at(&(before as u64).to_ne_bytes(), slots - size_of::<u64>())?;
    SNAPSHOTS.store(turn + 1, Relaxed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::fd::AsRawFd;

    use gmon::side_file::{Calls, SideFile};

    use super::super::header::{self, Of};
    use super::super::{objects, tests::ONE_AT_A_TIME};
    use super::*;
    use crate::file::writer::Written;
    use crate::objects::NOWHERE;

    /// The counts of the calls that a reader finds.
    fn calls(bytes: &[u8]) -> Vec<u64> {
        let side = SideFile::parse(bytes).unwrap();
        side.calls().iter().flat_map(Calls::calls).map(|call| call.count).collect()
    }

    #[test]
    fn one_word_replaces_the_calls_of_a_snapshot() {
        let _alone = ONE_AT_A_TIME.lock();
        let path = std::env::temp_dir().join(format!("gmon-slots-{}", std::process::id()));
        let opened = File::create(&path).unwrap();
        let file = Fd(opened.as_raw_fd());
        let mut out = Writer::new(file);
        header::put(&mut out, Of::Growing(Written { length: 7, sum: 9 }));
        objects::put(&mut out);
        let start = out.position();
        put(&mut out);
        assert_eq!(out.finish().unwrap().length, start + 2 * SLOT);
        let mut before = fs::read(&path).unwrap();
        let mut expected = vec![];
        assert_eq!(calls(&before), expected);
        for turn in 1..6 {
            let counts: Vec<_> = (1..=turn).map(|call| Tally::calls(0x10 * call, NOWHERE, 1 << turn)).collect();
            replace(file, &counts, usize::MAX).unwrap();
            let after = fs::read(&path).unwrap();
            let mut without = after.clone();
            without[start + 8..start + 16].copy_from_slice(&before[start + 8..start + 16]);
            assert_eq!(calls(&without), expected, "{turn}: before the last write");
            expected = vec![1 << turn; turn];
            assert_eq!((calls(&after), after.len()), (expected.clone(), before.len()), "{turn}");
            before = after;
        }
        fs::remove_file(&path).unwrap();
    }
}
