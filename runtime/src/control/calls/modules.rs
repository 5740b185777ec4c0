//! The loaded objects with functions whose calls can be counted on demand.

use core::ffi::CStr;

use super::changes::Piece;
use super::object_file::ObjectFile;
use super::region::Region;
use super::sites::{Missing, Sites};
use super::source_files::Lines;
use crate::objects::{ADDRESS_BITS, ELSEWHERE, PROGRAM, for_each_code, is_object, number, place};
use crate::os::{Errno, Mapping};
use crate::os::{MapsRoom, OwnMemory, VDSO_PATH, path_of_file};
use crate::text::Text;

/// The largest number of objects with room.
const MOST_MODULES: usize = 256;
/// The number of objects without room that are remembered, so that they need not be read again.
const MOST_IGNORED: usize = 1024;
/// The number of regions that are kept until the next look.
const MOST_RETIRED: usize = 64;

/// An object.
pub(super) struct Module {
    /// The object as the side file knows it.
    object: usize,
    device: u64,
    inode: u64,
    /// The address where the file's first byte is mapped.
    base: usize,
    pub(super) bias: usize,
    /// The run-time addresses of the code.
    pub(super) code: (usize, usize),
    pub(super) sites: Sites,
    pub(super) thunks: Region,
    pub(super) is_loaded: bool,
    /// Whether the current look has found the object.
    is_seen: bool,
    /// The selections that have been looked up in the object, a bit for each.
    pub(super) known: u32,
    /// What is known of the object's lines.
    pub(super) lines: Lines,
    path: Text<1024>,
}

/// The objects that were ever seen, one entry for each. Memory of zeros has none.
pub(super) struct Modules {
    number: usize,
    /// The number of entries that are complete: stored at the end of a look.
    complete: usize,
    /// The entry that is being replaced and 1; 0 for none.
    replaced: usize,
    all: [Module; MOST_MODULES],
    /// Objects without room, and where the next one is stored.
    ignored: [File; MOST_IGNORED],
    next_ignored: usize,
    /// Thunks of objects that were unloaded. A handler may have found them before they were made unknown.
    retired: [Region; MOST_RETIRED],
}

/// A mapped file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct File {
    device: u64,
    inode: u64,
    base: usize,
}

/// What a look has found.
#[derive(Clone, Copy, Default)]
pub(super) struct Look {
    /// Why the list of objects could not be read.
    pub(super) error: Option<Errno>,
    /// Whether there are more objects with room than entries.
    pub(super) is_full: bool,
    /// Whether an object has room of another form.
    pub(super) has_other_room: bool,
    /// Whether there was no memory for sites or thunks, or no permission to make code.
    pub(super) lacks_memory: bool,
}

impl Modules {
    pub(super) fn loaded(&mut self) -> impl Iterator<Item = &mut Module> {
        self.all.iter_mut().take(self.number).filter(|module| module.is_loaded)
    }

    /// Whether a loaded object has a function with room whose calls have this run-time address.
    pub(super) fn has_site(&self, pc: usize) -> bool {
        let loaded = self.all.iter().take(self.number).filter(|module| module.is_loaded);
        let mut there = loaded.filter(|module| (module.code.0..module.code.1).contains(&pc));
        there.any(|module| {
            let address = pc.wrapping_sub(module.bias);
            module.sites.all().binary_search_by_key(&address, |site| site.room.body(site.record)).is_ok()
        })
    }

    /// Passes the functions in the selection `bit` to `each`, as the number of the object and the link-time address, in
    /// ascending order.
    pub(super) fn each_selected(&self, bit: u32, mut each: impl FnMut(usize, usize)) {
        let all = || self.all.iter().take(self.number);
        let mut last = None;
        // There are few objects. An object that is loaded twice has one number.
        while let Some(object) =
            all().map(|module| module.object).filter(|object| last.is_none_or(|last| *object > last)).min()
            && object != ELSEWHERE
        {
            last = Some(object);
            if let Some(module) = all().find(|module| module.object == object) {
                for site in module.sites.all().iter().filter(|site| site.selections & bit != 0) {
                    each(object, site.room.body(site.record));
                }
            }
        }
    }

    /// Looks for objects that were loaded or unloaded since the last look. The thunks call `counter`.
    pub(super) fn look(&mut self, room: &mut MapsRoom, piece: &mut Piece, memory: &OwnMemory, counter: usize) -> Look {
        let mut look = Look::default();
        self.retired.iter_mut().for_each(Region::unmap);
        self.all.iter_mut().for_each(|module| module.is_seen = false);
        let first_new = self.number;
        let list = for_each_code(room, &mut |mapping: &Mapping<'_>, base: usize| {
            if mapping.path == VDSO_PATH {
                return;
            }
            let is_this = |module: &&mut Module| {
                module.is_loaded && (module.base, module.device, module.inode) == (base, mapping.device, mapping.inode)
            };
            if let Some(module) = self.all.iter_mut().take(self.number).find(is_this) {
                module.is_seen = true;
                if self.number > first_new {
                    // One of several mappings of a new object.
                    module.code.1 = module.code.1.max(mapping.end);
                }
                return;
            }
            let file = File { device: mapping.device, inode: mapping.inode, base };
            if self.ignored.contains(&file) {
                return;
            }
            let Some(module) = self.all.get_mut(self.number) else {
                look.is_full = true;
                return;
            };
            self.number += 1;
            *module = Module {
                object: ELSEWHERE,
                device: mapping.device,
                inode: mapping.inode,
                base,
                bias: 0,
                code: (mapping.start, mapping.end),
                sites: Sites::NONE,
                thunks: Region::NONE,
                is_loaded: true,
                is_seen: true,
                known: 0,
                lines: Lines::Unknown,
                path: Text::new(),
            };
            module.path.push(path_of_file(mapping));
        });
        if list != Ok(true) {
            // The list is not this process's.
            self.number = first_new;
            look.error = list.err();
            return look;
        }
        for module in self.all.iter_mut().take(first_new).filter(|module| module.is_loaded) {
            if module.is_seen {
                module.sites.look_again(memory, module.bias);
            } else if module.sites.are_changed(memory, module.bias) != Some(true) {
                // Otherwise the program has moved its code to other memory, and goes on executing the changes.
                let retired = self.retired.iter_mut().find(|region| region.is_none());
                module.unload(retired);
            }
        }
        // Objects without room are forgotten, so that objects that are loaded later have entries.
        let mut kept = first_new;
        for index in first_new..self.number {
            let Some(module) = self.all.get_mut(index) else { break };
            match module.examine(piece, memory) {
                Ok(()) => {}
                // The next look sees the object again.
                Err(Missing::Relocation | Missing::File) => continue,
                Err(Missing::Room) => {
                    let file = File { device: module.device, inode: module.inode, base: module.base };
                    if let Some(place) = self.ignored.get_mut(self.next_ignored % MOST_IGNORED) {
                        *place = file;
                        self.next_ignored += 1;
                    }
                    continue;
                }
                Err(Missing::RoomBeforeFunctions) => {
                    look.has_other_room = true;
                    continue;
                }
                Err(Missing::Memory) => {
                    look.lacks_memory = true;
                    continue;
                }
            }
            match Region::make(room, &module.sites, module.bias, module.code, counter) {
                Some(thunks) => module.thunks = thunks,
                None => {
                    module.sites.free();
                    look.lacks_memory = true;
                    continue;
                }
            }
            kept = self.keep(index, kept);
        }
        for module in self.all.iter_mut().take(self.number).skip(kept) {
            module.is_loaded = false;
            module.sites = Sites::NONE;
        }
        self.number = kept;
        self.complete = kept;
        look
    }

    /// Forgets the entries on which another thread was working, in the child of a fork.
    pub(super) fn forget_unfinished(&mut self) {
        self.number = self.complete;
        if let Some(module) = self.replaced.checked_sub(1).and_then(|index| self.all.get_mut(index)) {
            module.is_loaded = false;
            module.sites = Sites::NONE;
        }
        self.replaced = 0;
    }

    /// Whether two selections have the same functions.
    pub(super) fn are_equal(&self, bit: u32, other: u32) -> bool {
        let are_both_known =
            |module: &&Module| module.is_loaded && module.known & bit != 0 && module.known & other != 0;
        let is_equal = |module: &Module| {
            let mut sites = module.sites.all().iter();
            sites.all(|site| (site.selections & bit != 0) == (site.selections & other != 0))
        };
        let all = || self.all.iter().take(self.number).filter(|module| module.is_loaded);
        all().all(|module| are_both_known(&module) && is_equal(module))
    }

    /// Forgets a selection.
    pub(super) fn forget(&mut self, bit: u32) {
        for module in self.all.iter_mut().take(self.number) {
            module.known &= !bit;
            module.sites.all_mut().iter_mut().for_each(|site| site.selections &= !bit);
        }
    }

    /// Keeps the new object at `index`: in the entry of an object that was loaded before, or at `kept`. The result is
    /// the number of entries then.
    fn keep(&mut self, index: usize, kept: usize) -> usize {
        let Some(new) = self.all.get(index) else { return kept };
        let (object, sites) = (new.object, new.sites.len());
        let is_same = |module: &Module| {
            !module.is_loaded && object != ELSEWHERE && (module.object, module.sites.len()) == (object, sites)
        };
        let earlier = self.all.iter().take(kept).position(is_same);
        let place = earlier.unwrap_or(kept);
        self.replaced = place + 1;
        if place != index
            && let Ok([to, from]) = self.all.get_disjoint_mut([place, index])
        {
            if earlier.is_some() {
                // The functions stay in the selections that had them.
                let selections = to.sites.all().iter().map(|site| site.selections);
                from.sites.all_mut().iter_mut().zip(selections).for_each(|(site, earlier)| site.selections = earlier);
                from.known = to.known;
                from.lines = to.lines;
            }
            core::mem::swap(to, from);
            from.sites.free();
            from.is_loaded = false;
        }
        self.replaced = 0;
        if earlier.is_some() { kept } else { kept + 1 }
    }
}

impl Module {
    /// Finds the sites of a new object.
    #[inline(never)]
    fn examine(&mut self, piece: &mut Piece, memory: &OwnMemory) -> Result<(), Missing> {
        let file = self.open(memory).ok_or(Missing::File)?;
        let bias = file.bias(self.base).ok_or(Missing::Room);
        let found = bias.and_then(|bias| {
            self.bias = bias;
            Sites::find(&file, memory, piece, bias, self.code)
        });
        file.close();
        self.sites = found?;
        // SAFETY: this is the thread that may write the file.
        let place = unsafe { place(self.code.0) };
        let object = number(place);
        if (is_object(object) || object == PROGRAM) && place & ((1 << ADDRESS_BITS) - 1) == self.code.0 - self.bias {
            self.object = object;
        }
        Ok(())
    }

    /// Opens the file of the object.
    pub(super) fn open(&mut self, memory: &OwnMemory) -> Option<ObjectFile> {
        // The path may lead elsewhere by now; the system still finds the file of the program.
        let program = || ObjectFile::open(None, memory, self.base);
        let mut path = Text::<1025>::new();
        path.push(self.path.as_bytes());
        let of_path = |path: &CStr| ObjectFile::open(Some(path), memory, self.base);
        path.as_c_str().and_then(of_path).or_else(program)
    }

    /// Adds the functions that a list of patterns selects to the selection `bit`.
    pub(super) fn select(&mut self, list: &[u8], bit: u32, memory: &OwnMemory) {
        let file = if list.is_empty() { None } else { self.open(memory) };
        self.lines = self.lines.max(self.sites.select(file.as_ref(), list, bit));
        self.known |= bit;
        if let Some(file) = file {
            file.close();
        }
    }

    /// Makes the object an unloaded one. Its thunks become those of `retired`, if there is room.
    fn unload(&mut self, retired: Option<&mut Region>) {
        self.is_loaded = false;
        self.thunks.retire();
        if let Some(place) = retired {
            *place = self.thunks;
        }
        self.thunks = Region::NONE;
        self.sites.forget_changes();
    }
}
