//! The functions of an object whose calls can be counted on demand: *sites*.

use core::slice;

use super::changes::Piece;
use super::object_file::{Function, ObjectFile};
use super::patterns;
use super::source_files::{Lines, SourceFiles};
use crate::arch::entry_room::{LABELS, ROOM_SIZE, Room, TELLS_ROOM_BY_TABLES};
use crate::os::{OwnMemory, PAGE, map, unmap};
use crate::text::Text;

/// The section in which compilers list the room of functions.
const RECORDS: &[u8] = b"__patchable_function_entries";
/// The section with the index of the unwind tables.
const INDEX: &[u8] = b".eh_frame_hdr";
/// The number of bytes of records that are read at once.
const AT_ONCE: usize = 512;
/// An upper bound of the number of sites of an object.
const MOST_SITES: usize = 1 << 24;

/// A function with room at its entry.
#[derive(Clone, Copy)]
pub(super) struct Site {
    /// The link-time address of the room.
    pub(super) record: usize,
    /// The selections that have the function, a bit for each.
    pub(super) selections: u32,
    pub(super) room: Room,
    pub(super) is_on: bool,
    /// Whether the jump to the thunk is there.
    pub(super) has_jump: bool,
}

/// The sites of an object, by address.
#[derive(Clone, Copy)]
pub(super) struct Sites {
    start: *mut Site,
    number: usize,
    /// The number of sites for which there is memory.
    capacity: usize,
}

/// Why an object has no sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// The compiler made no room.
    Room,
    /// The compiler made room of another form.
    RoomBeforeFunctions,
    /// The file of the object cannot be opened now.
    File,
    /// The dynamic linker has not relocated the object yet.
    Relocation,
    Memory,
}

impl Sites {
    /// No sites.
    pub(super) const NONE: Sites = Sites { start: core::ptr::null_mut(), number: 0, capacity: 0 };

    pub(super) fn len(&self) -> usize {
        self.number
    }

    pub(super) fn all(&self) -> &[Site] {
        // SAFETY: the memory has that many sites, and is never freed. One thread at a time uses sites.
        if self.number == 0 { &[] } else { unsafe { slice::from_raw_parts(self.start, self.number) } }
    }

    pub(super) fn all_mut(&mut self) -> &mut [Site] {
        // SAFETY: as above.
        if self.number == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(self.start, self.number) } }
    }

    /// Finds the sites of an object with code at these run-time addresses and with a load bias.
    pub(super) fn find(
        file: &ObjectFile,
        memory: &OwnMemory,
        piece: &mut Piece,
        bias: usize,
        (start, end): (usize, usize),
    ) -> Result<Sites, Missing> {
        let mut number = 0_usize;
        file.named(RECORDS, |section| number = number.saturating_add(section.size / size_of::<usize>()));
        if number == 0 || number > MOST_SITES {
            return Err(Missing::Room);
        }
        let place = map(number * size_of::<Site>());
        if place.is_null() {
            return Err(Missing::Memory);
        }
        let mut sites = Sites { start: place.cast(), number: 0, capacity: number };
        let mut are_relocated = true;
        file.named(RECORDS, |section| {
            for_each_word(memory, bias.wrapping_add(section.address), section.size, |record| {
                if sites.number < number && start <= record && record.wrapping_add(ROOM_SIZE) <= end {
                    let site = Site {
                        record: record.wrapping_sub(bias),
                        selections: 0,
                        room: Room::NONE,
                        is_on: false,
                        has_jump: false,
                    };
                    // SAFETY: there is room for `number` sites.
                    unsafe { sites.start.add(sites.number).write(site) };
                    sites.number += 1;
                } else {
                    are_relocated = false;
                }
            });
        });
        sort(sites.all_mut());
        sites.look_at_code(memory, piece, bias);
        let first = sites.all().first().copied();
        let missing = match first {
            // The records are addresses that another thread may be relocating.
            _ if !are_relocated => Missing::Relocation,
            None => Missing::Room,
            Some(first) if starts_function(file, memory, bias, first.record) => Missing::RoomBeforeFunctions,
            Some(_) => return Ok(sites),
        };
        sites.free();
        Err(missing)
    }

    /// Frees the memory of the sites.
    pub(super) fn free(&mut self) {
        if self.capacity > 0 {
            // SAFETY: mapped by `find` with this size; this is the only reference to the sites.
            unsafe { unmap(self.start.cast(), self.capacity * size_of::<Site>()) };
        }
        *self = Sites::NONE;
    }

    /// Keeps the sites whose code is room of the expected form.
    #[inline(never)]
    fn look_at_code(&mut self, memory: &OwnMemory, piece: &mut Piece, bias: usize) {
        let mut read = Reader { memory, start: 0, bytes: piece, length: 0 };
        let (mut kept, mut last) = (0, None);
        for index in 0..self.number {
            let Some(mut site) = self.all().get(index).copied() else { break };
            let code = read.bytes(bias.wrapping_add(site.record));
            if let Some(room) = code.as_ref().and_then(Room::of).filter(|_| last != Some(site.record)) {
                site.room = room;
                last = Some(site.record);
                if let Some(place) = self.all_mut().get_mut(kept) {
                    *place = site;
                    kept += 1;
                }
            }
        }
        self.number = kept;
    }

    /// Forgets what was changed if the code is as compilers make it: the object was loaded anew at the same address.
    pub(super) fn look_again(&mut self, memory: &OwnMemory, bias: usize) {
        if self.are_changed(memory, bias) == Some(false) {
            self.forget_changes();
        }
    }

    /// Whether code has the changes that were made there; `None` if none were made, or the code cannot be read.
    pub(super) fn are_changed(&self, memory: &OwnMemory, bias: usize) -> Option<bool> {
        let changed = self.all().iter().find(|site| site.is_on || site.has_jump)?;
        let code = memory.read::<ROOM_SIZE>(bias.wrapping_add(changed.record))?;
        Some(Room::of(&code) != Some(changed.room))
    }

    /// Lets the next change write each site, because nobody knows which changes were made. The calls of the selection
    /// `bit` will be counted.
    pub(super) fn doubt(&mut self, bit: u32) {
        for site in self.all_mut() {
            (site.is_on, site.has_jump) = (site.selections & bit == 0, false);
        }
    }

    /// Removes the functions of the selection `bit` from the functions of the selection `from`; the selection `bit`
    /// then has the rest.
    pub(super) fn subtract(&mut self, bit: u32, from: u32) {
        for site in self.all_mut() {
            let is_left = site.selections & from != 0 && site.selections & bit == 0;
            site.selections = if is_left { site.selections | bit } else { site.selections & !bit };
        }
    }

    /// Forgets what was changed, because the code is not there any more.
    pub(super) fn forget_changes(&mut self) {
        self.all_mut().iter_mut().for_each(|site| (site.is_on, site.has_jump) = (false, false));
    }

    /// Adds the functions that a list of patterns selects to the selection `bit`. The result is what is known of the
    /// lines of the object, if the list names source files.
    pub(super) fn select(&mut self, file: Option<&ObjectFile>, list: &[u8], bit: u32) -> Lines {
        let source_files = match file {
            // The last byte of the gate belongs to the function, and not to a function that is inlined behind the gate.
            Some(file) if patterns::names_files(list) => {
                SourceFiles::find(file, self.all().iter().map(|site| site.room.body(site.record).wrapping_sub(1)))
            }
            _ => Err(Lines::Unknown),
        };
        for (index, site) in self.all_mut().iter_mut().enumerate() {
            site.set(bit, selects(&source_files, list, index, None));
        }
        if let Some(file) = file.filter(|_| !list.is_empty()) {
            // Of the names of a function, one suffices for which the patterns decide otherwise than for a function
            // without a name.
            file.functions(|function| {
                if let Some(index) = self.index_of(function.address)
                    && let Some(site) = self.all_mut().get_mut(index)
                {
                    let [named, unnamed] =
                        [Some(function), None].map(|function| selects(&source_files, list, index, function));
                    if named != unnamed {
                        site.set(bit, named);
                    }
                }
            });
        }
        source_files.err().unwrap_or(Lines::Read)
    }

    /// The index of the site of the function at a link-time address.
    fn index_of(&self, address: usize) -> Option<usize> {
        LABELS.iter().find_map(|distance| {
            let record = address.wrapping_sub(*distance);
            let index = self.all().partition_point(|site| site.record < record);
            self.all().get(index).filter(|site| site.record == record).map(|_| index)
        })
    }
}

/// Whether a list of patterns selects the function of a site. The source file is that of the lines, or else that of the
/// symbol.
#[inline(never)]
fn selects(
    source_files: &Result<SourceFiles, Lines>,
    list: &[u8],
    index: usize,
    function: Option<&Function<'_>>,
) -> bool {
    let path = source_files.as_ref().ok().and_then(|files| files.path(index));
    let path = path.as_ref().map(Text::as_bytes).filter(|path| !path.is_empty());
    patterns::selects(
        list,
        function.map(|function| function.name),
        path.or_else(|| function.and_then(|function| function.file)),
    )
}

impl Site {
    /// Adds the function to the selection `bit`, or removes it.
    fn set(&mut self, bit: u32, is_selected: bool) {
        self.selections = if is_selected { self.selections | bit } else { self.selections & !bit };
    }
}

/// Reads code in pieces.
struct Reader<'a> {
    memory: &'a OwnMemory,
    start: usize,
    bytes: &'a mut Piece,
    length: usize,
}

impl Reader<'_> {
    /// The bytes of the room at an address.
    fn bytes(&mut self, address: usize) -> Option<[u8; ROOM_SIZE]> {
        let find = |reader: &Self| {
            let distance = address.checked_sub(reader.start)?;
            let length = reader.length.checked_sub(distance)?;
            reader.bytes.get(distance..)?.first_chunk().copied().filter(|_| length >= ROOM_SIZE)
        };
        find(self).or_else(|| {
            self.start = address;
            // The rest of the pages may not be code.
            self.length = [self.bytes.len(), PAGE, ROOM_SIZE]
                .into_iter()
                .find(|length| self.bytes.get_mut(..*length).is_some_and(|bytes| self.memory.fill(address, bytes)))?;
            find(self)
        })
    }
}

/// Passes the words of some memory to `each`.
fn for_each_word(memory: &OwnMemory, start: usize, size: usize, mut each: impl FnMut(usize)) {
    let mut bytes = [0; AT_ONCE];
    let mut done = 0;
    while done < size {
        let length = AT_ONCE.min(size - done);
        let Some(piece) = bytes.get_mut(..length).filter(|_| length > 0) else { return };
        if !memory.fill(start.wrapping_add(done), piece) {
            return;
        }
        piece.as_chunks().0.iter().for_each(|word| each(usize::from_ne_bytes(*word)));
        done += length;
    }
}

/// Whether the room at a record is in the function and not before it: the unwind tables have a function at the record,
/// and none at the distance where the function should be.
fn starts_function(file: &ObjectFile, memory: &OwnMemory, bias: usize, record: usize) -> bool {
    if !TELLS_ROOM_BY_TABLES {
        return false;
    }
    let mut index = None;
    file.named(INDEX, |section| index = Some(bias.wrapping_add(section.address)));
    let Some(index) = index else { return false };
    let has = |address: usize| has_function(memory, index, bias.wrapping_add(address));
    has(record) == Some(true) && LABELS.iter().all(|distance| has(record.wrapping_add(*distance)) == Some(false))
}

/// Whether an index of unwind tables has a function at an address; `None` if the index has another form.
fn has_function(memory: &OwnMemory, index: usize, address: usize) -> Option<bool> {
    /// Version 1, `.eh_frame` and the number in four bytes, and pairs of distances in four bytes.
    const FORM: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
    let [form, _, number, _]: [[u8; 4]; 4] = memory.read::<16>(index)?.as_chunks().0.first_chunk().copied()?;
    if form != FORM {
        return None;
    }
    let wanted = i32::try_from(address.wrapping_sub(index).cast_signed()).ok()?;
    let (mut low, mut high) = (0, u32::from_ne_bytes(number) as usize);
    while low < high {
        let middle = low + (high - low) / 2;
        let found = i32::from_ne_bytes(memory.read::<4>(index.wrapping_add(12 + middle * 8))?);
        if found == wanted {
            return Some(true);
        }
        if found < wanted { low = middle + 1 } else { high = middle }
    }
    Some(false)
}

/// Sorts sites by address. Most are sorted already, in a few runs.
fn sort(sites: &mut [Site]) {
    let mut gap = sites.len() / 2;
    if sites.is_sorted_by_key(|site| site.record) {
        return;
    }
    while gap > 0 {
        for start in gap..sites.len() {
            let mut at = start;
            while let Some(before) = at.checked_sub(gap)
                && let Ok([left, right]) = sites.get_disjoint_mut([before, at])
                && left.record > right.record
            {
                core::mem::swap(left, right);
                at = before;
            }
        }
        gap = if gap == 2 { 1 } else { gap * 5 / 11 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_sorted() {
        let site = |record| Site { record, selections: 0, room: Room::NONE, is_on: false, has_jump: false };
        for number in [0, 1, 2, 3, 10, 1000] {
            let mut sites: Vec<_> = (0..number).map(|n| site(n * 7919 % 1009)).collect();
            let mut records: Vec<_> = sites.iter().map(|site| site.record).collect();
            sort(&mut sites);
            records.sort_unstable();
            assert!(sites.iter().map(|site| site.record).eq(records));
        }
    }

    #[test]
    fn a_site_is_found_by_the_address_of_its_function() {
        let site = |record| Site { record, selections: 0, room: Room::NONE, is_on: false, has_jump: false };
        // An empty function of three bytes is between two records.
        let all = Box::leak(Box::new([site(0x100), site(0x108), site(0x140)]));
        let sites = Sites { start: all.as_mut_ptr(), number: 3, capacity: 3 };
        let label = LABELS[0];
        let at = |address| sites.index_of(address);
        let found = [0x100, 0x108, 0x140].map(|record| at(record + label));
        assert_eq!(found, [Some(0), Some(1), Some(2)]);
        assert_eq!([at(0x120 + label), at(0x110 + label)], [None, None]);
    }
}
