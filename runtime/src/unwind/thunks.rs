//! The thunks that count calls on demand: which code belongs to which function, and how walks leave a thunk.
//!
//! The thunks of an object are in a *region* of anonymous memory near the object: an island, the thunks, and the
//! [`Tables`] by which walks find the callers. A sample in a thunk, or at the jump to a thunk, belongs to the function
//! whose call is being counted.

use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use core::{ptr, slice};

use gmon_unwind::{Memory, Object, Section};

use crate::arch::entry_room::{
    DATA_ALIGNMENT, ISLAND_SIZE, JUMP_IN_THUNK, RETURN_ADDRESS_COLUMN, THUNK_RULE, THUNK_SIZE, jump_at, target_of_jump,
};
use crate::os::CHANGES_CODE;
use crate::state::Inherited;

/// The largest number of regions at a time.
pub(crate) const MOST_REGIONS: usize = 256;

/// A region. One without thunks has the start 0.
struct Region {
    start: AtomicUsize,
    /// The address behind the thunks, where the tables are.
    end: AtomicUsize,
    /// The addresses of the code whose calls the thunks count.
    code_start: AtomicUsize,
    code_end: AtomicUsize,
}

impl Region {
    /// A region without thunks.
    const fn none() -> Region {
        Region {
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            code_start: AtomicUsize::new(0),
            code_end: AtomicUsize::new(0),
        }
    }
}

/// The regions of this process.
struct Regions {
    /// The number of regions that have ever been used.
    used: AtomicUsize,
    all: [Region; MOST_REGIONS],
}

static REGIONS: Inherited<Regions> = Inherited::new(
    "the child has the same code",
    Regions { used: AtomicUsize::new(0), all: [const { Region::none() }; MOST_REGIONS] },
);

/// The tables of a region: the index that linkers write as `.eh_frame_hdr`, and `.eh_frame`.
///
/// The one rule is that of the thunks. The rule holds for all addresses in reach, because the jumps to the thunks are
/// before functions, where no other table has a rule.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Tables {
    /// Version 1; no pointer to `.eh_frame`; a number of four bytes; pairs of distances from this address.
    index: [u8; 4],
    number: u32,
    /// The distances of the first address with the rule, and of the entry.
    first: i32,
    entry: i32,
    common_length: u32,
    common_id: u32,
    /// Version 1; the augmentation `zR`, a string; a code alignment of 1; the data alignment; the column of the return
    /// address; one byte of augmentation: addresses are absolute.
    common: [u8; 8],
    augmentation: u8,
    rule: [u8; 7],
    entry_length: u32,
    /// The distance back to the common part.
    to_common: u32,
    start: [u8; 8],
    length: [u8; 8],
    no_augmentation: [u8; 8],
    end: u32,
}

/// How far before the tables, and how far behind, the rule holds.
const HALF_OF_RANGE: usize = 1 << 31;

impl Tables {
    /// The tables at an address.
    pub(crate) fn at(address: usize) -> Tables {
        const NO_POINTER: u8 = 0xff;
        const UNSIGNED_32: u8 = 0x03;
        const DATA_RELATIVE_32: u8 = 0x3b;
        const ABSOLUTE: u8 = 0x00;
        let [a, b, c, d, e, f, ..] = THUNK_RULE;
        let start = address.saturating_sub(HALF_OF_RANGE);
        Tables {
            index: [1, NO_POINTER, UNSIGNED_32, DATA_RELATIVE_32],
            number: 1,
            first: start.wrapping_sub(address) as i32,
            entry: 40,
            common_length: 20,
            common_id: 0,
            common: [1, b'z', b'R', 0, 1, DATA_ALIGNMENT, RETURN_ADDRESS_COLUMN, 1],
            augmentation: ABSOLUTE,
            rule: [a, b, c, d, e, f, 0],
            entry_length: 28,
            to_common: 28,
            start: start.to_ne_bytes(),
            length: (2 * HALF_OF_RANGE).to_ne_bytes(),
            no_augmentation: [0; 8],
            end: 0,
        }
    }
}

/// Makes the region whose thunks end at `end` known to walks; false if there are too many regions. The thunks count
/// calls of functions in `code`.
///
/// # Safety
///
/// The region must be complete, with [`Tables`] at `end`, and stay so until [`forget`]. One thread at a time may call
/// this.
pub(crate) unsafe fn publish(start: usize, end: usize, code: (usize, usize)) -> bool {
    let regions: &Regions = &REGIONS;
    let free = regions.all.iter().position(|region| region.start.load(Relaxed) == 0);
    let Some((number, region)) = free.and_then(|number| Some((number, regions.all.get(number)?))) else { return false };
    region.end.store(end, SeqCst);
    region.code_start.store(code.0, SeqCst);
    region.code_end.store(code.1, SeqCst);
    region.start.store(start, SeqCst);
    regions.used.fetch_max(number + 1, SeqCst);
    true
}

/// Makes a region unknown. Walks that have begun may still use its tables.
pub(crate) fn forget(start: usize) {
    let regions: &Regions = &REGIONS;
    let is_this = |region: &&Region| region.start.load(Relaxed) == start;
    if let Some(region) = regions.all.iter().find(is_this) {
        region.start.store(0, SeqCst);
    }
}

/// The start and the end of the region with a thunk at an address.
#[inline]
fn region(address: usize) -> Option<(usize, usize)> {
    let regions: &Regions = &REGIONS;
    let known = regions.all.get(..regions.used.load(SeqCst)).unwrap_or(&[]);
    known.iter().find_map(|region| {
        let (start, end) = (region.start.load(SeqCst), region.end.load(SeqCst));
        (start != 0 && start <= address && address < end).then_some((start, end))
    })
}

/// Whether the code at an address is a thunk.
#[inline]
pub(super) fn have(address: usize) -> bool {
    are_there() && region(address).is_some()
}

/// The thunk at an address, or the thunk to which the code at the address jumps, with its region. `code` reads the
/// code at the address.
#[inline(always)]
fn thunk(address: usize, code: impl FnOnce() -> Option<u64>) -> Option<(usize, usize, usize)> {
    let of_target = |target| region(target).map(|(start, end)| (target, start, end));
    of_target(address).or_else(|| of_target(target_of_jump(address, code()?)?))
}

/// Whether calls are or were counted on demand.
#[inline(always)]
fn are_there() -> bool {
    CHANGES_CODE && REGIONS.used.load(Relaxed) != 0
}

/// The address to which ticks at an interrupted instruction belong: for a thunk and the jump to a thunk, an address in
/// the function whose call is being counted. `is_there` says whether the code at the address is certainly there;
/// otherwise the code is not read. Async-signal-safe.
#[inline]
pub(crate) fn owner_of_interrupted(pc: usize, is_there: impl FnOnce() -> bool) -> usize {
    if are_there() { owner(pc, is_there()) } else { pc }
}

/// Whether an address is in code in which calls are counted.
fn is_in_code(pc: usize) -> bool {
    let regions: &Regions = &REGIONS;
    let known = regions.all.get(..regions.used.load(SeqCst)).unwrap_or(&[]);
    known.iter().any(|region| {
        region.start.load(SeqCst) != 0 && (region.code_start.load(SeqCst)..region.code_end.load(SeqCst)).contains(&pc)
    })
}

#[inline(never)]
fn owner(pc: usize, is_there: bool) -> usize {
    // Other code may be executable and not readable, and a program may call an address where no code is.
    // SAFETY: the code is there, as the caller says, and was read before.
    let code = || if is_there && is_in_code(pc) { unsafe { jump_at(pc) } } else { None };
    thunk(pc, code).map_or(pc, |(thunk, start, _)| body(thunk, start))
}

/// As [`owner_of_interrupted`], for a return address.
#[inline]
pub(crate) fn owner_of_call(pc: usize) -> usize {
    if are_there() { region(pc).map_or(pc, |(start, _)| body(pc, start)) } else { pc }
}

/// The address behind the gate of the function to which a thunk belongs.
#[inline(never)]
fn body(in_thunk: usize, start: usize) -> usize {
    let first = start.wrapping_add(ISLAND_SIZE);
    let thunk = in_thunk.wrapping_sub(in_thunk.wrapping_sub(first) % THUNK_SIZE);
    let jump = thunk.wrapping_add(JUMP_IN_THUNK);
    // SAFETY: there are only thunks in the region, which stay as long as their object; a jump is within a thunk.
    let code = unsafe { ptr::with_exposed_provenance::<u64>(jump).read_unaligned() };
    target_of_jump(jump, code).unwrap_or(thunk)
}

/// The tables for an address in a thunk or at the jump to a thunk. Async-signal-safe.
#[inline]
pub(super) fn object(memory: &impl Memory, address: usize) -> Option<Object<'static>> {
    if !are_there() {
        return None;
    }
    // Only code in which calls are counted has jumps to thunks; other code need not be read.
    let code = || if is_in_code(address) { memory.read(address).map(|code| code as u64) } else { None };
    let (_, start, end) = thunk(address, code)?;
    // SAFETY: the tables of a region are behind its thunks, and stay as long as its object.
    let bytes = unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(end), size_of::<Tables>()) };
    Some(Object::new(start..end, Section { address: end, bytes }, Some(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gmon_unwind::Native;

    #[test]
    fn the_tables_have_the_rule_of_thunks_for_all_addresses_in_reach() {
        let memory: &'static mut [u64; 64] = Box::leak(Box::new([0; 64]));
        let address = memory.as_ptr().expose_provenance();
        // SAFETY: the memory is large enough and aligned.
        unsafe { memory.as_mut_ptr().cast::<Tables>().write(Tables::at(address)) };
        // SAFETY: as above.
        let bytes = unsafe { slice::from_raw_parts(memory.as_ptr().cast(), size_of::<Tables>()) };
        let object = Object::new(0..1, Section { address, bytes }, Some(0));
        for pc in [address - 8, address - (1 << 30), address + (1 << 30)] {
            let found = object.rule::<Native>(pc).unwrap();
            assert!(!found.is_signal);
            let [_, stack_pointer, offset, ..] = THUNK_RULE;
            assert_eq!(found.rule.cfa, gmon_unwind::Cfa::Register(stack_pointer, i32::from(offset)));
        }
        assert!(object.rule::<Native>(address.wrapping_add(1 << 33)).is_none());
    }
}
