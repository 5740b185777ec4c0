//! Changes the live side file: describes objects, says where they are, and adds parts.

use core::convert::Infallible;
use core::ptr;
use core::slice;
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, Release, SeqCst},
    fence,
};

use gmon::encode::Sink;
use gmon::encode::side_file::{LARGEST_NUMBER, ObjectItem, object, padding_size};
use gmon::layout::mark;
use gmon::layout::side_file::{FILLER, OBJECTS, PART_HEADER_SIZE, Tag};

use super::live_parts::{Changing, LiveMapping, PartHeader};

/// A key of an object: objects with different keys are different, or one of them was opened by another path. Different
/// files may have the same build ID.
pub(crate) fn key_of(item: &ObjectItem<'_>, identity: &[u8]) -> u64 {
    let range = item.lowpc.to_ne_bytes().into_iter().chain(item.highpc.to_ne_bytes());
    let marks =
        (0..).zip(range.chain(identity.iter().chain(item.path).copied())).map(|(position, byte)| mark(position, byte));
    marks.fold(1 << 16, u64::wrapping_add)
}

/// Encodes an object. The result is the number of bytes; `None` if there is no room.
pub(crate) fn encode_object(room: &mut [u8], item: &ObjectItem<'_>, identity: &[u8]) -> Option<usize> {
    if room.len() < 8 * LARGEST_NUMBER + identity.len() + item.path.len() {
        return None;
    }
    let mut out = Room { room, used: 0 };
    object(&mut out, item);
    Some(out.used)
}

/// Stores bytes one by one: a copy of several bytes would be a call of the C library's `memcpy`.
struct Room<'r> {
    room: &'r mut [u8],
    used: usize,
}

impl Sink for Room<'_> {
    type Error = Infallible;

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if let Some(place) = self.room.get_mut(self.used) {
                // SAFETY: a byte of the room.
                unsafe { ptr::from_mut(place).write_volatile(*byte) };
                self.used += 1;
            }
        }
    }
}

impl Changing<'_> {
    /// Sets the mapping of an object, and removes those that it overlaps.
    pub(crate) fn map(&self, start: usize, end: usize, bias: usize, object: usize) {
        let [start, end, bias, object] = [start, end, bias, object].map(|value| value as u64);
        let same = |mapping: &LiveMapping| {
            let range = (mapping.start.load(Relaxed), mapping.end.load(Relaxed));
            range == (start, end) && mapping.object.load(Relaxed) == object
        };
        if self.0.mappings().iter().any(same) {
            return;
        }
        self.keep(|(first, behind, _)| behind <= start || end <= first);
        let free = self.0.mappings().iter().find(|mapping| mapping.end.load(Relaxed) == 0);
        self.0.is_full.store(free.is_none(), Relaxed);
        if let Some(mapping) = free {
            // No reader may find the new start with the old end.
            fence(Release);
            mapping.start.store(start, Relaxed);
            mapping.bias.store(bias, Relaxed);
            mapping.object.store(object, Relaxed);
            mapping.end.store(end, Release);
        }
    }

    /// Removes all mappings but those that `is_kept` wants, as (first address, address behind, object).
    pub(crate) fn keep(&self, is_kept: impl Fn((u64, u64, u64)) -> bool) {
        for mapping in self.0.mappings() {
            let end = mapping.end.load(Relaxed);
            if end != 0 && !is_kept((mapping.start.load(Relaxed), end, mapping.object.load(Relaxed))) {
                mapping.end.store(0, Release);
                self.0.is_full.store(false, Relaxed);
            }
        }
    }

    /// The number of the object in the file with a key.
    pub(crate) fn number(&self, key: u64) -> Option<usize> {
        let numbers = self.0.numbers.iter().map(|number| number.load(Relaxed));
        let found = numbers.take_while(|number| *number != 0).find(|number| number >> 16 == key >> 16)?;
        Some((found & 0xffff) as usize)
    }

    /// Remembers the number of the object with a key, while there is room.
    pub(crate) fn set_number(&self, key: u64, number: usize) {
        let of_key = |place: &&AtomicU64| {
            let found = place.load(Relaxed);
            found == 0 || found >> 16 == key >> 16
        };
        if let Some(place) = self.0.numbers.iter().find(of_key) {
            place.store(key & !0xffff | number as u64 & 0xffff, Relaxed);
        }
    }

    /// Describes an object with this build ID, if it has one. The result is false if there is no room.
    pub(crate) fn add_object(&self, item: &ObjectItem<'_>, identity: &[u8]) -> bool {
        let is_added = self.append(OBJECTS, |room| encode_object(room, item, identity));
        if is_added {
            self.set_number(key_of(item, identity), item.number as usize);
        }
        is_added
    }

    /// Adds a part with the content that `fill` writes, if there is room. `fill` gets the room and returns the number
    /// of bytes that it has used, or `None` to add nothing. The result says whether the part was added.
    pub(crate) fn append(&self, tag: Tag, fill: impl FnOnce(&mut [u8]) -> Option<usize>) -> bool {
        let (filler, end) = (self.0.filler.load(Relaxed), self.0.end.load(Relaxed));
        let start = filler.addr() + PART_HEADER_SIZE;
        let room = end.saturating_sub(start);
        if filler.is_null() || room < PART_HEADER_SIZE {
            return false;
        }
        // SAFETY: the filler's content, which only the thread with this right uses. Behind it is room for another
        // header.
        let content = unsafe { slice::from_raw_parts_mut(filler.add(1).cast::<u8>(), room - PART_HEADER_SIZE) };
        let Some(length) = fill(content) else { return false };
        let padded = length + padding_size(length as u64);
        // SAFETY: inside the filler; its header and its end are multiples of 8, and the content is not longer than the
        // room.
        let next: *mut PartHeader = unsafe { filler.add(1).byte_add(padded) };
        // SAFETY: as above. The bytes are the filler's, or those of the header that the filler gets.
        unsafe { (*next).set(FILLER, end - next.addr() - PART_HEADER_SIZE) };
        self.0.filler.store(next, Relaxed);
        // SAFETY: the header of the filler.
        unsafe { (*filler).set(tag, length) };
        true
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.is_changing.store(false, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use gmon::layout::side_file::{END, REASONS};

    use super::super::live_parts::{LiveParts, MOST_MAPPINGS, size_of_parts};
    use super::*;
    use crate::os::map;

    /// The tags and the contents of the parts in memory, which must fill it.
    fn parts(mut left: &[u8]) -> Vec<(Tag, &[u8])> {
        let mut parts = Vec::new();
        while let Some((header, rest)) = left.split_at_checked(PART_HEADER_SIZE) {
            let length = u64::from_ne_bytes(header[8..].try_into().unwrap()) as usize;
            parts.push((header[..4].try_into().unwrap(), &rest[..length]));
            left = &rest[length + padding_size(length as u64)..];
        }
        assert!(left.is_empty());
        parts
    }

    #[test]
    fn the_file_is_a_row_of_parts_after_each_change() {
        let live = LiveParts::new();
        assert!(live.change().is_none(), "there is no file");
        let length = size_of_parts(3) + 200;
        let memory = map(length);
        // SAFETY: fresh memory of that length, which stays mapped.
        let bytes = unsafe {
            live.begin(memory, length, 3, 0x1000..0x2000);
            slice::from_raw_parts(memory.cast::<u8>(), length)
        };
        let tags = || parts(bytes).iter().map(|(tag, _)| *tag).collect::<Vec<_>>();
        assert_eq!(tags(), [*b"SUMS", *b"AREA", *b"TIDS", FILLER]);
        assert_eq!(parts(bytes)[0].1.len(), 8 * (3 + REASONS));
        let changing = live.change().unwrap();
        assert!(live.change().is_none(), "one thread at a time");
        let fill =
            |size: usize| changing.append(END, |room| room.get_mut(..size).map(|room| room.fill(7)).map(|()| size));
        assert!(!fill(1000) && fill(13) && fill(0));
        assert_eq!(tags(), [*b"SUMS", *b"AREA", *b"TIDS", END, END, FILLER]);
        assert_eq!(parts(bytes)[3].1, [7; 13]);
        while fill(13) {}
        assert!(parts(bytes).last().unwrap().1.len() < 13 + 3 + PART_HEADER_SIZE);
        changing.map(0x7000, 0x8000, 0x6000, 5);
        changing.map(0x9000, 0xa000, 0x6000, 6);
        changing.map(0x7800, 0x8800, 0x7000, 7);
        assert_eq!([0x7400, 0x7800, 0x8400, 0x9000].map(|address| live.is_mapped(address)), [false, true, true, true]);
        changing.keep(|(_, _, object)| object == 6);
        assert!(!live.is_mapped(0x7800) && live.is_mapped(0x9000));
        for start in 0..=MOST_MAPPINGS {
            assert!(!live.is_full.load(Relaxed));
            changing.map(start * 0x1000, (start + 1) * 0x1000, 0, 8);
        }
        assert!(live.is_full.load(Relaxed));
        changing.keep(|(start, ..)| start != 0);
        assert!(!live.is_full.load(Relaxed) && live.is_mapped(0x1000));
        assert_eq!(changing.number(1 << 16), None);
        for (key, number) in [(1 << 16, 3), (2 << 16, 4), (1 << 16, 9)] {
            changing.set_number(key | 77, number);
        }
        assert_eq!([1, 2, 3].map(|key| changing.number(key << 16)), [Some(9), Some(4), None]);
        drop(changing);
        assert!(live.change().is_some());
        live.forget();
        assert!(live.change().is_none() && !live.is_mapped(0x9000));
    }
}
