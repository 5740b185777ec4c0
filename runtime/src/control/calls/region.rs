//! The memory of an object's thunks, near the object: see [`crate::unwind::thunks`].

use core::ptr;

use super::sites::Sites;
use crate::arch::LARGEST_PAGE;
use crate::arch::entry_room::{ISLAND_SIZE, REACH, THUNK_SIZE, island, make_visible, thunk};
use crate::os::{MapsRoom, for_each_mapping, make_executable, map_at, unmap};
use crate::samples::contexts;
use crate::unwind::thunks::{Tables, forget, publish};

/// The lowest address that is used: the kernel reserves the addresses below.
const LOWEST: usize = 1 << 16;
/// The space that stays free above and below other mappings, where stacks and the heap grow.
const DISTANCE: usize = 1 << 20;

/// The thunks of an object.
#[derive(Clone, Copy)]
pub(super) struct Region {
    start: usize,
    size: usize,
}

impl Region {
    /// No thunks.
    pub(super) const NONE: Region = Region { start: 0, size: 0 };

    /// Makes the thunks of sites in an object with code at these run-time addresses, which call `counter`. The result
    /// is `None` if there is no memory in reach, or code may not be made.
    pub(super) fn make(
        room: &mut MapsRoom,
        sites: &Sites,
        bias: usize,
        (start, end): (usize, usize),
        counter: usize,
    ) -> Option<Region> {
        let thunks = ISLAND_SIZE + sites.len() * THUNK_SIZE;
        let size = (thunks + size_of::<Tables>()).next_multiple_of(LARGEST_PAGE);
        // Another thread may map memory at the same place.
        const TRIES: usize = 3;
        let at = (0..TRIES).find_map(|_| free_space(room, (start, end), size).filter(|at| map_at(*at, size)))?;
        let region = Region { start: at, size };
        let write = |address: usize, bytes: &[u8]| {
            let place: *mut u8 = ptr::with_exposed_provenance_mut(address);
            for (index, byte) in bytes.iter().enumerate() {
                // SAFETY: the memory of the region, which nobody else knows.
                unsafe { place.add(index).write_volatile(*byte) };
            }
        };
        write(at, &island(counter));
        for (number, site) in sites.all().iter().enumerate() {
            let place = region.thunk(number);
            match thunk(place, at, counter, site.room.body(site.record.wrapping_add(bias))) {
                Some(code) => write(place, &code),
                None => return region.give_up(),
            }
        }
        let tables = at + thunks;
        // SAFETY: as above; the thunks and the island leave the address aligned.
        unsafe { ptr::with_exposed_provenance_mut::<Tables>(tables).write_volatile(Tables::at(tables)) };
        make_visible(at, size);
        // SAFETY: nobody else knows the memory; the tables are complete.
        if unsafe { make_executable(at, size).is_err() || !publish(at, tables, (start, end)) } {
            return region.give_up();
        }
        Some(region)
    }

    /// The thunk of a site.
    pub(super) fn thunk(&self, number: usize) -> usize {
        self.start + ISLAND_SIZE + number * THUNK_SIZE
    }

    fn give_up(mut self) -> Option<Region> {
        self.unmap();
        None
    }

    /// Whether there are no thunks.
    pub(super) fn is_none(&self) -> bool {
        self.size == 0
    }

    /// Makes the thunks of an object that was unloaded unknown to new walks.
    pub(super) fn retire(&self) {
        if self.size > 0 {
            forget(self.start);
        }
    }

    /// Frees the thunks, after walks that may have found them.
    pub(super) fn unmap(&mut self) {
        if self.size > 0 {
            contexts::wait_for_walks();
            // SAFETY: mapped by `make`, and nobody uses the memory any more.
            unsafe { unmap(ptr::with_exposed_provenance_mut(self.start), self.size) };
        }
        *self = Region::NONE;
    }
}

/// Free address space of a size, in reach of all addresses of an object: the highest below the object, because heaps
/// grow upwards behind programs; otherwise above the object.
fn free_space(room: &mut MapsRoom, (start, end): (usize, usize), size: usize) -> Option<usize> {
    let lowest = end.saturating_sub(REACH).max(LOWEST);
    let highest = start.saturating_add(REACH);
    let (mut below, mut above, mut behind) = (None, None, 0_usize);
    let mut look = |free_start: usize, free_end: usize| {
        let first = free_start.max(lowest).checked_next_multiple_of(LARGEST_PAGE)?;
        let last = free_end.min(highest).checked_sub(size)? & !(LARGEST_PAGE - 1);
        if first > last {
            return None;
        }
        if last < start {
            // Near the object, but not next to the mapping above.
            below = Some(if last.saturating_sub(first) > 2 * DISTANCE { last - DISTANCE } else { last });
        } else if above.is_none() && first > end {
            above = Some(if last - first > 2 * DISTANCE { last - DISTANCE } else { first });
        }
        Some(())
    };
    for_each_mapping(room, |mapping| {
        // The stack grows downwards.
        if mapping.path != b"[stack]" {
            look(behind, mapping.start);
        }
        behind = mapping.end;
    })
    .ok()?;
    look(behind, usize::MAX >> 17);
    below.or(above)
}
