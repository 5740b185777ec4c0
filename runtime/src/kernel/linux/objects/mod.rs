//! What is loaded: which object an address is in, and what its link-time address there is.
//!
//! What is mapped is looked at when the file is written, and before and after an object is closed: not while the program
//! runs. What was counted at addresses whose object is gone by the second look is settled before the first is forgotten.
//!
//! A [`place`] is one word: the number of the object in the upper bits, the link-time address in the lower ones. The program
//! itself is number 0, so that its places are its link-time addresses.

mod headers;

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use super::beside::Told;
use super::bins;
use crate::system::{Errno, Mapping, MapsRoom, OwnMemory, for_each_mapping, map};
use crate::text::Text;

/// The bits of a place that are an address.
pub(super) const ADDRESS_BITS: u32 = 48;
/// The number of the program.
pub(crate) const PROGRAM: usize = 0;
/// Numbers for what is no object: what the kernel lends to every process, the kernel, and anything else.
pub(super) const VDSO: usize = 0xfffd;
pub(super) const KERNEL: usize = 0xfffe;
pub(super) const ELSEWHERE: usize = 0xffff;

/// How many objects, and how many executable stretches of them at one time, are known; what is more is elsewhere.
const MOST_OBJECTS: usize = 1024;
const MOST_LOADED: usize = 4096;

/// A file that is or was loaded.
pub(super) struct Object {
    device: u64,
    inode: u64,
    /// The link-time addresses of its code, in whole sixteens of bytes.
    pub(super) lowpc: usize,
    pub(super) highpc: usize,
    pub(super) build_id: Text<128>,
    pub(super) path: Text<4096>,
    /// What the files say of it that are being written.
    pub(super) told: Cell<Told>,
}

/// An executable stretch of a loaded object.
#[derive(Clone, Copy)]
struct Loaded {
    start: usize,
    end: usize,
    device: u64,
    inode: u64,
    /// Where the file's first byte is mapped.
    base: usize,
    bias: usize,
    object: usize,
}

/// What is loaded at one time, by address.
struct Loads {
    number: usize,
    all: [Loaded; MOST_LOADED],
}

/// All objects that were ever seen, by number, from 1 on.
struct Objects {
    number: usize,
    all: [Object; MOST_OBJECTS],
}

/// All that is known. All zero, that is nothing.
struct Known {
    objects: Objects,
    /// What is known to be loaded, and what the latest look found: which is which changes.
    loads: [Loads; 2],
    is_second_known: bool,
    room: MapsRoom,
}

static KNOWN: AtomicPtr<Known> = AtomicPtr::new(ptr::null_mut());
/// Where the program's first byte is, and what must be taken from its addresses.
static PROGRAM_BASE: AtomicUsize = AtomicUsize::new(0);
static PROGRAM_BIAS: AtomicUsize = AtomicUsize::new(0);

/// Says where the program is. At start-up.
pub(crate) fn know_program(base: usize, bias: usize) {
    PROGRAM_BASE.store(base, Relaxed);
    PROGRAM_BIAS.store(bias, Relaxed);
}

/// What is known; `None` where there is no memory for it.
///
/// # Safety
///
/// Only for one thread at a time, and what was given before must not be in use any more.
#[inline(never)]
unsafe fn known() -> Option<&'static mut Known> {
    if KNOWN.load(SeqCst).is_null() {
        KNOWN.store(map(size_of::<Known>()).cast(), SeqCst);
    }
    // SAFETY: null, or memory of that size, which zeros are valid for; the caller keeps others away.
    unsafe { KNOWN.load(SeqCst).as_mut() }
}

/// Looks at what is mapped now. It becomes what is known by [`adopt`].
///
/// # Errors
///
/// What reading says.
///
/// # Safety
///
/// Only for the one thread that may write the file.
pub(crate) unsafe fn look() -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    let known = unsafe { known() }.ok_or(Errno::ENOMEM)?;
    let memory = OwnMemory::open()?;
    let Known { objects, loads: [first, second], is_second_known, room } = known;
    let (now, next) = if *is_second_known { (second, first) } else { (first, second) };
    next.number = 0;
    // The stretch that was last seen to begin a file.
    let (mut base, mut file) = (0, (0, 0));
    let result = for_each_mapping(room, |mapping| {
        if mapping.offset == 0 {
            (base, file) = (mapping.start, (mapping.device, mapping.inode));
        }
        let is_vdso = mapping.path == b"[vdso]";
        if !mapping.is_executable || (mapping.inode == 0 && !is_vdso) || file != (mapping.device, mapping.inode) {
            return;
        }
        let new = Loaded {
            start: mapping.start,
            end: mapping.end,
            device: mapping.device,
            inode: mapping.inode,
            base,
            bias: 0,
            object: VDSO,
        };
        if is_vdso {
            next.push(new);
        } else if let Some(before) = now.at(new.start).filter(|before| before.is_same_file(&new)) {
            next.push(Loaded { bias: before.bias, object: before.object, ..new });
        } else if let Some((object, bias)) = objects.number_of(&memory, mapping, base) {
            next.push(Loaded { bias, object, ..new });
        }
    });
    memory.close();
    result
}

/// Whether what is known to be at an address is there no more by the latest look.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn is_gone(pc: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { known() }.is_some_and(|known| {
        let before = known.objects.place(known.now(), pc);
        is_object(number(before)) && known.objects.place(known.next(), pc) != before
    })
}

/// Makes what was found by the latest look what is known.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn adopt() {
    // SAFETY: the caller's promise.
    if let Some(known) = unsafe { known() } {
        known.is_second_known = !known.is_second_known;
    }
}

/// The place of a run-time address: the number of the object and the link-time address. Of what is no object only the
/// number is told.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn place(pc: usize) -> usize {
    if bins::covers(pc) {
        return pc.wrapping_sub(PROGRAM_BIAS.load(Relaxed));
    }
    // SAFETY: the caller's promise.
    unsafe { known() }.map_or(ELSEWHERE << ADDRESS_BITS, |known| known.objects.place(known.now(), pc))
}

/// The place of what is nowhere.
pub(crate) const NOWHERE: usize = ELSEWHERE << ADDRESS_BITS;

/// The number in a place.
pub(crate) fn number(place: usize) -> usize {
    place >> ADDRESS_BITS
}

/// Whether a number is an object's, the program aside.
pub(super) fn is_object(number: usize) -> bool {
    number != PROGRAM && number < MOST_OBJECTS
}

/// The object of that number.
///
/// # Safety
///
/// As for [`look`].
#[inline(never)]
pub(super) unsafe fn object(number: usize) -> Option<&'static Object> {
    // SAFETY: the caller's promise.
    let known: &Known = unsafe { known() }?;
    known.objects.all.get(number).filter(|_| is_object(number) && number <= known.objects.number)
}

/// The path of the object that a place is in.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn path(place: usize) -> Option<&'static [u8]> {
    // SAFETY: the caller's promise.
    unsafe { object(number(place)) }.map(|object| object.path.as_bytes())
}

impl Known {
    fn now(&self) -> &Loads {
        let [first, second] = &self.loads;
        if self.is_second_known { second } else { first }
    }

    fn next(&self) -> &Loads {
        let [first, second] = &self.loads;
        if self.is_second_known { first } else { second }
    }
}

impl Loads {
    /// The stretch that an address is in.
    fn at(&self, pc: usize) -> Option<&Loaded> {
        let all = self.all.get(..self.number)?;
        let next = all.partition_point(|loaded| loaded.start <= pc);
        all.get(next.checked_sub(1)?).filter(|loaded| pc < loaded.end)
    }

    fn push(&mut self, loaded: Loaded) {
        if let Some(place) = self.all.get_mut(self.number) {
            *place = loaded;
            self.number += 1;
        }
    }
}

impl Loaded {
    fn is_same_file(&self, other: &Loaded) -> bool {
        (self.start, self.base, self.device, self.inode) == (other.start, other.base, other.device, other.inode)
    }
}

impl Objects {
    /// The number of the object that a stretch is of, and what must be taken from addresses in it; `None` if it is none that
    /// can be told.
    fn number_of(&mut self, memory: &OwnMemory, mapping: &Mapping<'_>, base: usize) -> Option<(usize, usize)> {
        if base == PROGRAM_BASE.load(Relaxed) {
            return Some((PROGRAM, PROGRAM_BIAS.load(Relaxed)));
        }
        let headers = headers::read(memory, base)?;
        let is_this = |object: &Object| {
            (object.device, object.inode) == (mapping.device, mapping.inode)
                && (object.lowpc, object.highpc) == (headers.lowpc, headers.highpc)
                && object.build_id.as_bytes() == headers.build_id.as_bytes()
        };
        let known = self.all.get(1..=self.number)?.iter().position(is_this).map(|index| index + 1);
        if let Some(number) = known {
            return Some((number, headers.bias));
        }
        let number = self.number + 1;
        let object = self.all.get_mut(number)?;
        (object.device, object.inode) = (mapping.device, mapping.inode);
        (object.lowpc, object.highpc, object.build_id) = (headers.lowpc, headers.highpc, headers.build_id);
        object.path.clear();
        object.path.push(mapping.path.strip_suffix(b" (deleted)").unwrap_or(mapping.path));
        self.number = number;
        Some((number, headers.bias))
    }

    /// The [`place`] of an address outside the bins.
    fn place(&self, loads: &Loads, pc: usize) -> usize {
        let Some(loaded) = loads.at(pc) else {
            return if pc >> (usize::BITS - 1) == 1 { KERNEL << ADDRESS_BITS } else { NOWHERE };
        };
        if loaded.object == VDSO {
            return VDSO << ADDRESS_BITS;
        }
        let address = pc.wrapping_sub(loaded.bias);
        let is_code =
            self.all.get(loaded.object).is_some_and(|object| object.lowpc <= address && address < object.highpc);
        if address >> ADDRESS_BITS == 0 && (is_code || loaded.object == PROGRAM) {
            loaded.object << ADDRESS_BITS | address
        } else {
            NOWHERE
        }
    }
}
