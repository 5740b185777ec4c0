//! The loaded objects with functions whose calls can be counted on demand.

use core::ffi::CStr;

use super::changes::Piece;
use super::object_file::ObjectFile;
use super::region::Region;
use super::sites::{Missing, Sites};
use crate::objects::{ADDRESS_BITS, ELSEWHERE, PROGRAM, for_each_code, is_object, number, place};
use crate::os::Mapping;
use crate::os::{MapsRoom, OwnMemory, VDSO_PATH, path_of_file};
use crate::text::Text;

/// The largest number of objects.
const MOST_MODULES: usize = 256;

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
    path: Text<1024>,
}

/// The objects that were ever seen, one entry for each. Memory of zeros has none.
pub(super) struct Modules {
    number: usize,
    all: [Module; MOST_MODULES],
}

/// What a look has found.
#[derive(Clone, Copy, Default)]
pub(super) struct Look {
    /// Whether an object has room of another form.
    pub(super) has_other_room: bool,
    /// Whether there was no memory for sites or thunks, or no permission to make code.
    pub(super) lacks_memory: bool,
}

impl Modules {
    pub(super) fn loaded(&mut self) -> impl Iterator<Item = &mut Module> {
        self.all.iter_mut().take(self.number).filter(|module| module.is_loaded)
    }

    /// Passes the functions in the selection `bit` to `each`, as the number of the object and the link-time address, in
    /// ascending order.
    pub(super) fn each_selected(&self, bit: u32, mut each: impl FnMut(usize, usize)) {
        let all = || self.all.iter().take(self.number);
        let mut last = None;
        // There are few objects. One that is loaded twice has one number.
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
            let Some(module) = self.all.get_mut(self.number) else { return };
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
                path: Text::new(),
            };
            module.path.push(path_of_file(mapping));
        });
        if list != Ok(true) {
            // The list is not this process's.
            self.number = first_new;
            return look;
        }
        for module in self.all.iter_mut().take(first_new).filter(|module| module.is_loaded) {
            if module.is_seen {
                module.sites.look_again(memory, module.bias);
            } else {
                module.unload();
            }
        }
        // Objects without room are forgotten, so that objects that are loaded later have entries.
        let mut kept = first_new;
        for index in first_new..self.number {
            let Some(module) = self.all.get_mut(index) else { break };
            match module.examine(piece, memory) {
                Ok(()) => {}
                Err(Missing::Room) => continue,
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
                    look.lacks_memory = true;
                    continue;
                }
            }
            kept = self.keep(index, kept);
        }
        self.number = kept;
        look
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
        if place != index
            && let Ok([to, from]) = self.all.get_disjoint_mut([place, index])
        {
            if earlier.is_some() {
                // The functions stay in the selections that had them.
                let selections = to.sites.all().iter().map(|site| site.selections);
                from.sites.all_mut().iter_mut().zip(selections).for_each(|(site, earlier)| site.selections = earlier);
                from.known = to.known;
            }
            core::mem::swap(to, from);
        }
        if earlier.is_some() { kept } else { kept + 1 }
    }
}

impl Module {
    /// Finds the sites of a new object.
    #[inline(never)]
    fn examine(&mut self, piece: &mut Piece, memory: &OwnMemory) -> Result<(), Missing> {
        let file = self.open(memory).ok_or(Missing::Room)?;
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

    fn unload(&mut self) {
        self.is_loaded = false;
        self.thunks.free();
        self.sites.forget_changes();
    }
}
