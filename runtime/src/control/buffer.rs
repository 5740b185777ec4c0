//! *The* buffer: header, samples and arcs, in memory as in the file.

use core::ffi::c_void;
use core::{mem, ptr};

use gmon::layout::{GMONVERSION, GmonHdr, HISTFRACTION, MAXARCS, RawArc};

use crate::os::{LARGEST_PAGE, clear, map, replace};

/// The grain of the sampled range: with it bins stand for whole words of code and the arcs behind them are aligned.
const GRAIN: usize = 16;

/// A range of addresses in whole grains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) lowpc: usize,
    pub(crate) highpc: usize,
}

impl Range {
    /// The range from `lowpc`, rounded down, to `highpc`, rounded up; `None` if that is empty or too large for the
    /// header to say.
    pub(crate) fn around(lowpc: usize, highpc: usize) -> Option<Range> {
        let range = Range { lowpc: lowpc & !(GRAIN - 1), highpc: highpc.checked_next_multiple_of(GRAIN)? };
        let size = range.highpc.checked_sub(range.lowpc)?;
        let ncnt = size / HISTFRACTION + size_of::<GmonHdr>();
        (size > 0 && i32::try_from(ncnt).is_ok()).then_some(range)
    }

    /// Bytes of a header and the samples of this range.
    pub(crate) fn ncnt(&self) -> usize {
        size_of::<GmonHdr>() + (self.highpc - self.lowpc) / HISTFRACTION
    }

    /// The range with a higher end, such that header and samples are whole pages.
    pub(crate) fn in_whole_pages(self) -> Range {
        let more = self.ncnt().next_multiple_of(LARGEST_PAGE) - self.ncnt();
        Range { highpc: self.highpc + more * HISTFRACTION, ..self }
    }
}

/// The buffer; a handle, the memory is never freed.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    start: *mut c_void,
    length: usize,
}

impl Buffer {
    /// A buffer for samples over `range` and [`MAXARCS`] arcs, whose header says all but the arcs and has the addresses of
    /// the executable file, `bias` below those of the run.
    pub(crate) fn allocate(range: Range, bias: usize, profrate: u32) -> Option<Buffer> {
        let length = (MAXARCS * size_of::<RawArc>()).checked_add(range.ncnt())?;
        // SAFETY: fresh memory of that length, page-aligned.
        unsafe { Buffer::place(map(length), length, range, bias, profrate) }
    }

    /// A buffer without room for arcs in `memory`; `None` where that is null.
    ///
    /// # Safety
    ///
    /// The memory must be aligned as a header, all zero and never freed, and its length at least the range's
    /// [`Range::ncnt`].
    pub(crate) unsafe fn place(
        memory: *mut c_void,
        length: usize,
        range: Range,
        bias: usize,
        profrate: u32,
    ) -> Option<Buffer> {
        if memory.is_null() {
            return None;
        }
        let header = GmonHdr {
            lpc: range.lowpc.wrapping_sub(bias),
            hpc: range.highpc.wrapping_sub(bias),
            ncnt: range.ncnt() as i32,
            version: GMONVERSION,
            profrate: profrate as i32,
            totarc: 0,
            spare: [0; 2],
        };
        // SAFETY: the caller's promise; it is longer than a header.
        unsafe { memory.cast::<GmonHdr>().write(header) };
        Some(Buffer { start: memory, length })
    }

    /// The buffer that [`Buffer::parts`] came from.
    ///
    /// # Safety
    ///
    /// The parts must be those of a buffer.
    pub(crate) unsafe fn from_parts(start: *mut c_void, length: usize) -> Buffer {
        Buffer { start, length }
    }

    /// Where the buffer is and how many bytes it has.
    pub(crate) fn parts(&self) -> (*mut c_void, usize) {
        (self.start, self.length)
    }

    fn header_place(&self) -> *mut GmonHdr {
        self.start.cast()
    }

    /// The header.
    pub(super) fn header(&self) -> GmonHdr {
        // SAFETY: every buffer begins with a header.
        unsafe { *self.header_place() }
    }

    fn ncnt(&self) -> usize {
        self.header().ncnt as usize
    }

    /// Bytes of samples.
    pub(crate) fn samples_size(&self) -> usize {
        self.ncnt() - size_of::<GmonHdr>()
    }

    /// Where the arcs are, and how many there is room for.
    pub(crate) fn room_for_arcs(&self) -> (*mut RawArc, usize) {
        // SAFETY: the header's ncnt is inside the buffer, and a multiple of an arc's alignment: see GRAIN.
        let arcs = unsafe { self.start.byte_add(self.ncnt()).cast() };
        (arcs, (self.length - self.ncnt()) / size_of::<RawArc>())
    }

    /// Says in the header how many arcs there are, not more than there is room for.
    pub(crate) fn set_arcs(&self, arcs: usize) {
        // SAFETY: every buffer begins with a header; only the end of the program writes it.
        unsafe { (*self.header_place()).totarc = (arcs * size_of::<RawArc>()) as i32 };
    }

    /// Makes all samples zero, and forgets the arcs. If the buffer is `shared` with another process, it becomes this
    /// one's own at the same address; false if there is no memory for that.
    ///
    /// # Safety
    ///
    /// Nobody else may use the buffer in this process.
    pub(crate) unsafe fn clear(&self, shared: bool) -> bool {
        let first_page = LARGEST_PAGE.min(self.length);
        // SAFETY: inside the buffer, which begins at a page, and is whole pages where it is shared; by the caller's
        // promise it is only ours.
        unsafe {
            let header = self.header();
            if shared {
                if !replace(self.start, self.length) {
                    return false;
                }
            } else {
                ptr::write_bytes(self.start.cast::<u8>(), 0, first_page);
                clear(self.start.byte_add(first_page), self.length - first_page);
            }
            self.header_place().write(GmonHdr { totarc: 0, ..header });
        }
        true
    }
}

/// Sorts arcs by selfpc and frompc, and makes one of those that agree in both; returns how many are left.
///
/// Sorted, because the order of the tables depends on where the program was loaded: the same run gives the same file.
pub(crate) fn combine(arcs: &mut [RawArc]) -> usize {
    sort(arcs);
    let mut kept = 0_usize;
    for index in 0..arcs.len() {
        let Some(arc) = arcs.get(index).copied() else { break };
        match kept.checked_sub(1).and_then(|last| arcs.get_mut(last)) {
            Some(last) if key(last) == key(&arc) => last.raw_count = last.raw_count.saturating_add(arc.raw_count),
            _ => {
                if let Some(place) = arcs.get_mut(kept) {
                    *place = arc;
                }
                kept += 1;
            }
        }
    }
    kept
}

fn key(arc: &RawArc) -> (usize, usize) {
    (arc.raw_selfpc, arc.raw_frompc)
}

/// Sorts in place, n log n at worst: quick sort, and heap sort for a part that it splits badly too often. (The library's
/// sorts keep code that can panic.)
fn sort(arcs: &mut [RawArc]) {
    quick_sort(arcs, 2 * (usize::BITS - arcs.len().leading_zeros()));
}

fn quick_sort(mut arcs: &mut [RawArc], mut splits_left: u32) {
    while arcs.len() > 1 {
        if splits_left == 0 {
            heap_sort(arcs);
            return;
        }
        splits_left -= 1;
        let (low, high) = split(arcs);
        // The shorter part is sorted in a call, so that calls are never nested deeply.
        let (short, long) = if low.len() < high.len() { (low, high) } else { (high, low) };
        quick_sort(short, splits_left);
        arcs = long;
    }
}

/// Puts what is less than some arc before what is not; neither part is the whole.
fn split(arcs: &mut [RawArc]) -> (&mut [RawArc], &mut [RawArc]) {
    let at = |index: usize| arcs.get(index).map(key);
    let mut ends = [at(0), at(arcs.len() / 2), at(arcs.len().saturating_sub(1))];
    // The middle one of the three.
    if ends[0] > ends[1] {
        ends.swap(0, 1);
    }
    if ends[1] > ends[2] {
        ends.swap(1, 2);
    }
    let pivot = ends[0].max(ends[1]);
    let (mut low, mut high) = (0, arcs.len());
    // Hoare's way: all before `low` are at most the pivot, all from `high` on at least.
    loop {
        while arcs.get(low).map(key) < pivot {
            low += 1;
        }
        high = high.saturating_sub(1);
        while arcs.get(high).map(key) > pivot {
            high = high.saturating_sub(1);
        }
        if low >= high {
            break;
        }
        if let Ok([left, right]) = arcs.get_disjoint_mut([low, high]) {
            mem::swap(left, right);
        }
        low += 1;
    }
    let length = arcs.len();
    arcs.split_at_mut_checked(low.clamp(1, length - 1)).unwrap_or_default()
}

fn heap_sort(arcs: &mut [RawArc]) {
    for root in (0..arcs.len() / 2).rev() {
        sift_down(arcs, root);
    }
    for end in (1..arcs.len()).rev() {
        let Some((last, heap)) = arcs.get_mut(..=end).and_then(<[RawArc]>::split_last_mut) else { return };
        if let Some(greatest) = heap.first_mut() {
            mem::swap(greatest, last);
        }
        sift_down(heap, 0);
    }
}

/// Lets the arc at `root` sink until no arc below it is greater.
fn sift_down(heap: &mut [RawArc], mut root: usize) {
    loop {
        let greatest = [root, 2 * root + 1, 2 * root + 2]
            .into_iter()
            .filter(|index| *index < heap.len())
            .max_by_key(|index| heap.get(*index).map(key));
        match greatest {
            Some(child) if heap.get(child).map(key) > heap.get(root).map(key) => {
                if let Ok([above, below]) = heap.get_disjoint_mut([root, child]) {
                    mem::swap(above, below);
                }
                root = child;
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_that_agree_become_one() {
        let arc = |from, this, count| RawArc { raw_frompc: from, raw_selfpc: this, raw_count: count };
        let mut arcs = [arc(1, 2, 3), arc(9, 1, 1), arc(1, 2, 4), arc(0, 2, 1), arc(9, 1, 2), arc(1, 2, isize::MAX)];
        let kept = combine(&mut arcs);
        assert_eq!(arcs[..kept], [arc(9, 1, 3), arc(0, 2, 1), arc(1, 2, isize::MAX)]);
    }

    #[test]
    fn any_number_of_arcs_is_sorted() {
        for length in 0..200_usize {
            let value = |index: usize| index.wrapping_mul(2_654_435_761) % 1000;
            let mut arcs: Vec<RawArc> = (0..length)
                .map(|index| RawArc { raw_frompc: value(index), raw_selfpc: value(index + 7) % 10, raw_count: 1 })
                .collect();
            let mut expected: Vec<_> = arcs.iter().map(key).collect();
            expected.sort_unstable();
            let mut same = arcs.clone();
            heap_sort(&mut same);
            sort(&mut arcs);
            for sorted in [&arcs, &same] {
                assert_eq!(sorted.iter().map(key).collect::<Vec<_>>(), expected);
            }
            let kept = combine(&mut arcs);
            assert_eq!(arcs[..kept].iter().map(|arc| arc.raw_count).sum::<isize>(), length as isize);
        }
    }

    #[test]
    fn no_order_makes_sorting_slow() {
        // Sorted, backwards, all alike, up and down: each would be a matter of minutes if a split went wrong every time.
        let orders: [fn(usize) -> usize; 4] = [|n| n, |n| 300_000 - n, |_| 7, |n| n.min(300_000 - n)];
        for order in orders {
            let mut arcs: Vec<RawArc> =
                (0..300_000).map(|n| RawArc { raw_frompc: order(n), raw_selfpc: 1, raw_count: 1 }).collect();
            sort(&mut arcs);
            assert!(arcs.is_sorted_by_key(key));
        }
    }

    #[test]
    fn a_range_can_be_made_whole_pages() {
        for size in [16, 4096, 8112, 8128, 100_000] {
            let range = Range::around(0x1000, 0x1000 + size).unwrap();
            let pages = range.in_whole_pages();
            assert!(pages.ncnt().is_multiple_of(LARGEST_PAGE) && pages.ncnt() - range.ncnt() < LARGEST_PAGE);
            assert!(pages.highpc.is_multiple_of(GRAIN) && pages.lowpc == range.lowpc);
        }
    }

    #[test]
    fn a_range_is_rounded_outwards_and_must_not_be_empty() {
        assert_eq!(Range::around(0x1003, 0x2001), Some(Range { lowpc: 0x1000, highpc: 0x2010 }));
        assert_eq!(Range::around(0x1000, 0x1000), None);
        assert_eq!(Range::around(0x2000, 0x1000), None);
        assert_eq!(Range::around(0, usize::MAX), None);
        assert_eq!(Range::around(0, 1 << 33), None, "the header counts its bytes in 31 bits");
    }
}
