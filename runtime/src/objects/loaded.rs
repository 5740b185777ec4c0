//! Finds the object of an address, and the link-time address there.
//!
//! The mappings are read when the file is written, and the dynamic linker's list before and after an object is closed
//! ([`super::loader`]): not while the program runs. Counts in an object are settled before another object can be
//! taken for it.
//!
//! A [`place`] is one word: the number of the object in the upper bits, the link-time address in the lower bits. The
//! program is number 0, so its places are its link-time addresses.

use core::cell::{Cell, UnsafeCell};
use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use gmon::layout::side_file;

use super::headers::{self, Headers};
use super::linker_list::List;
use crate::closures::closure_trait;
use crate::os::{
    Errno, HEARS_OF_LOSSES, Identity, Mapping, MapsRoom, OwnMemory, VDSO_PATH, clear, effective_user, for_each_mapping,
    map, path_of_file,
};
use crate::samples::bins;
use crate::state::Inherited;
use crate::text::Text;

closure_trait! {
    /// Gets executable mappings, with the address of the object's first byte.
    pub(crate) EachCode(mapping: &Mapping<'_>, base: usize)
}

closure_trait! {
    /// Says whether a range of addresses is wanted.
    pub(crate) IsWanted(start: usize, end: usize) -> bool
}

/// The number of address bits of a place.
pub(crate) const ADDRESS_BITS: u32 = 48;
/// The number of the program.
pub(crate) const PROGRAM: usize = 0;
/// The number of the vDSO, which has no file.
pub(crate) const VDSO: usize = side_file::FIRST_RESERVED as usize - 1;
/// The numbers of places in no object: the kernel, and anything else. They are those of a side file.
pub(crate) const KERNEL: usize = side_file::KERNEL as usize;
pub(crate) const ELSEWHERE: usize = side_file::ELSEWHERE as usize;

/// The number of objects, and of executable mappings at one time, that are known; anything else is elsewhere.
const MOST_OBJECTS: usize = 1024;
const MOST_LOADED: usize = 4096;

/// A file that is or was loaded.
pub(crate) struct Object {
    pub(super) device: u64,
    pub(super) inode: u64,
    /// The file to which the object's name in the dynamic linker's list leads; zeros if not known.
    pub(super) named: Cell<Identity>,
    /// The link-time addresses of the code, in multiples of 16.
    pub(crate) lowpc: usize,
    pub(crate) highpc: usize,
    /// The bytes of the build ID, padded with zeros to whole words of four bytes; empty if there is none.
    pub(crate) build_id: Text<64>,
    pub(crate) path: Text<4096>,
}

/// An executable mapping of a loaded object.
#[derive(Clone, Copy)]
pub(super) struct Loaded {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) device: u64,
    pub(super) inode: u64,
    /// The address where the file's first byte is mapped.
    pub(super) base: usize,
    pub(super) bias: usize,
    pub(super) object: usize,
    /// The position in the dynamic linker's list, from 1 on; 0 if the object was not in the list.
    pub(super) listed: usize,
}

/// The mappings at one time, sorted by address.
pub(super) struct Loads {
    pub(super) number: usize,
    pub(super) all: [Loaded; MOST_LOADED],
}

/// All objects that were ever seen, by number, from 1 on. An object with a number does not change.
pub(super) struct Objects {
    number: Cell<usize>,
    all: [UnsafeCell<Object>; MOST_OBJECTS],
}

/// All that is known; zeros if nothing is known. There may be several references at a time, all in one thread.
pub(super) struct Known {
    pub(super) objects: Objects,
    /// The known mappings and the mappings of the latest look, which exchange roles. No reference to them outlives a
    /// function of this module.
    loads: [UnsafeCell<Loads>; 2],
    pub(super) is_second_known: Cell<bool>,
    pub(super) room: UnsafeCell<MapsRoom>,
    pub(super) list: List,
}

static KNOWN: Inherited<AtomicPtr<Known>> = Inherited::new(
    "the child has the same objects; what another thread was changing is cleared",
    AtomicPtr::new(ptr::null_mut()),
);
/// The address of the program's first byte, and the program's load bias.
static PROGRAM_BASE: Inherited<AtomicUsize> =
    Inherited::new("the child has the same objects; what another thread was changing is cleared", AtomicUsize::new(0));
pub(super) static PROGRAM_BIAS: Inherited<AtomicUsize> =
    Inherited::new("the child has the same objects; what another thread was changing is cleared", AtomicUsize::new(0));

/// Sets the address and the load bias of the program. Called at start-up.
pub(crate) fn set_program(base: usize, bias: usize) {
    PROGRAM_BASE.store(base, Relaxed);
    PROGRAM_BIAS.store(bias, Relaxed);
}

/// Forgets everything in the child of a fork if another thread may have been changing it. Otherwise the child keeps
/// what is known, which is also true of the child, because the child may have lost the means to look again.
pub(crate) fn after_fork_in_child(was_changing: bool) {
    if !was_changing {
        return;
    }
    let known = KNOWN.load(SeqCst);
    if !known.is_null() {
        // SAFETY: all of the memory that `known` mapped; there is no other thread, and zeros are valid.
        unsafe { clear(known.cast(), size_of::<Known>()) };
    }
}

/// All that is known; `None` if there is no memory for it.
///
/// # Safety
///
/// Call this in one thread at a time.
#[inline(never)]
pub(super) unsafe fn known_or_new() -> Option<&'static Known> {
    if KNOWN.load(SeqCst).is_null() {
        KNOWN.store(map(size_of::<Known>()).cast(), SeqCst);
    }
    // SAFETY: the caller's promise.
    unsafe { known() }
}

/// All that is known; `None` if nobody has looked at the objects yet.
///
/// # Safety
///
/// Call this in one thread at a time.
pub(super) unsafe fn known() -> Option<&'static Known> {
    // SAFETY: null, or memory of that size, which is never freed and for which zeros are valid; the caller excludes
    // other threads.
    unsafe { KNOWN.load(SeqCst).as_ref() }
}

/// Reads the current mappings. [`accept_look`] makes them the known ones. Of new objects, only those whose addresses
/// are wanted by `is_wanted` are examined.
///
/// # Errors
///
/// The error of reading the list.
///
/// # Safety
///
/// Call this only in the thread that may write the file.
pub(crate) unsafe fn look(is_wanted: &mut dyn IsWanted) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    let known = unsafe { known_or_new() }.ok_or(Errno::ENOMEM)?;
    known.list.discard_prepared();
    let memory = OwnMemory::open()?;
    // SAFETY: nobody else has a reference to the room or to the result of the previous look.
    let (now, next, room) = unsafe { (known.now(), known.next_to_fill(), &mut *known.room.get()) };
    next.number = 0;
    let result = for_each_code(room, &mut |mapping: &Mapping<'_>, base| {
        let new = Loaded::of(mapping, base);
        if mapping.path == VDSO_PATH {
            next.push(Loaded { object: VDSO, ..new });
        } else if let Some(before) = now.at(new.start).filter(|before| before.is_same_file(&new)) {
            next.push(Loaded { bias: before.bias, object: before.object, listed: before.listed, ..new });
        } else if is_wanted.call(new.start, new.end)
            && let Some((object, bias)) = known.objects.number_at(&memory, mapping, base)
        {
            next.push(Loaded { bias, object, ..new });
        }
    });
    memory.close();
    if result == Ok(false) {
        // If the first thread of the process has ended, and threads have no list of their own, there is nothing to
        // see: the known mappings stay.
        next.number = 0;
        now.all.iter().take(now.number).for_each(|loaded| next.push(*loaded));
    }
    result.map(|_| ())
}

/// Reads the list at the start if the process is the superuser's, because the process may give up the right or the
/// means to read it later, unless the runtime hears of that moment. A failure is reported at the end.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn look_ahead() {
    if !HEARS_OF_LOSSES && effective_user() == 0 {
        // SAFETY: the caller's promise.
        unsafe { look_at_all() };
    }
}

/// Reads all current mappings, and makes them the known ones if no object has gone since the last look.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn look_at_all() {
    // SAFETY: the caller's promise.
    if unsafe { look(&mut |_, _| true) }.is_ok() {
        // SAFETY: as above.
        unsafe { accept_look() };
    }
}

/// Passes each executable mapping of an object to `each`, with the address where the object's first byte is mapped.
/// The result says whether the list is that of this process.
pub(crate) fn for_each_code(room: &mut MapsRoom, each: &mut dyn EachCode) -> Result<bool, Errno> {
    // The address of code of this process. If the list says that it is not executable, the list is another process's:
    // emulators show their own.
    let here = (set_program as fn(usize, usize)) as usize;
    let mut has_program = false;
    // The latest mapping that begins a file.
    let (mut base, mut file) = (0, (0, 0));
    for_each_mapping(room, |mapping| {
        has_program |= mapping.is_executable && (mapping.start..mapping.end).contains(&here);
        if mapping.offset == 0 {
            (base, file) = (mapping.start, (mapping.device, mapping.inode));
        }
        let is_object = mapping.inode != 0 || mapping.path == VDSO_PATH;
        if mapping.is_executable && is_object && file == (mapping.device, mapping.inode) {
            each.call(mapping, base);
        }
    })?;
    Ok(has_program)
}

/// The [`place`] of a run-time address in the latest look.
///
/// # Safety
///
/// As for [`look`].
#[inline(never)]
pub(crate) unsafe fn next_place(pc: usize) -> usize {
    if bins::covers(pc) {
        return pc.wrapping_sub(PROGRAM_BIAS.load(Relaxed));
    }
    // SAFETY: the caller's promise.
    unsafe { known() }.map_or(NOWHERE, |known| known.objects.place(known.next(), pc))
}

/// Passes the number of each known object that the latest look has not found to `each`.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn for_each_gone(mut each: impl FnMut(usize)) {
    // SAFETY: the caller's promise.
    let Some(known) = (unsafe { known() }) else { return };
    let (now, next) = (known.now(), known.next());
    for loaded in now.entries().iter().filter(|loaded| is_object(loaded.object)) {
        if !next.at(loaded.start).is_some_and(|new| new.is_same_file(loaded)) {
            each(loaded.object);
        }
    }
}

/// Makes the mappings of the latest look the known ones.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn accept_look() {
    // SAFETY: the caller's promise.
    if let Some(known) = unsafe { known() } {
        known.is_second_known.set(!known.is_second_known.get());
    }
}

/// The place of a run-time address: the number of the object and the link-time address. An address in no mapping of an
/// object, for example in generated code, keeps its value.
///
/// # Safety
///
/// As for [`look`].
#[inline(never)]
pub(crate) unsafe fn place(pc: usize) -> usize {
    if bins::covers(pc) {
        return pc.wrapping_sub(PROGRAM_BIAS.load(Relaxed));
    }
    // SAFETY: the caller's promise.
    unsafe { known() }.map_or(NOWHERE, |known| known.objects.place(known.now(), pc))
}

/// The place of an unknown address.
pub(crate) const NOWHERE: usize = ELSEWHERE << ADDRESS_BITS;

/// The number of a place.
pub(crate) fn number(place: usize) -> usize {
    place >> ADDRESS_BITS
}

/// Whether a number belongs to an object other than the program.
pub(crate) fn is_object(number: usize) -> bool {
    number != PROGRAM && number < MOST_OBJECTS
}

/// The object with this number.
///
/// # Safety
///
/// As for [`look`].
#[inline(never)]
pub(crate) unsafe fn object(number: usize) -> Option<&'static Object> {
    // SAFETY: the caller's promise.
    unsafe { known() }?.objects.get(number)
}

/// The path of the object with this number.
///
/// # Safety
///
/// As for [`look`].
pub(crate) unsafe fn path(number: usize) -> Option<&'static [u8]> {
    // SAFETY: the caller's promise.
    unsafe { object(number) }.map(|object| object.path.as_bytes())
}

impl Known {
    pub(super) fn now(&self) -> &Loads {
        let [first, second] = &self.loads;
        // SAFETY: only `accept_look` changes the known mappings, and has no reference to them.
        unsafe { &*(if self.is_second_known.get() { second } else { first }).get() }
    }

    fn next(&self) -> &Loads {
        let [first, second] = &self.loads;
        // SAFETY: only a look fills these mappings, and returns no reference to them.
        unsafe { &*(if self.is_second_known.get() { first } else { second }).get() }
    }

    /// The mappings for a look to fill.
    ///
    /// # Safety
    ///
    /// Nobody may have a reference to them.
    #[expect(clippy::mut_from_ref, reason = "the caller's promise")]
    pub(super) unsafe fn next_to_fill(&self) -> &mut Loads {
        let [first, second] = &self.loads;
        // SAFETY: the caller's promise.
        unsafe { &mut *(if self.is_second_known.get() { first } else { second }).get() }
    }
}

impl Loads {
    pub(super) fn entries(&self) -> &[Loaded] {
        self.all.get(..self.number).unwrap_or(&[])
    }

    /// The mapping that contains an address.
    fn at(&self, pc: usize) -> Option<&Loaded> {
        let next = self.entries().partition_point(|loaded| loaded.start <= pc);
        self.entries().get(next.checked_sub(1)?).filter(|loaded| pc < loaded.end)
    }

    pub(super) fn push(&mut self, loaded: Loaded) {
        if let Some(place) = self.all.get_mut(self.number) {
            *place = loaded;
            self.number += 1;
        }
    }

    /// Inserts a mapping and removes the mappings that it overlaps.
    #[inline(never)]
    pub(super) fn insert(&mut self, loaded: Loaded) {
        let first = self.entries().partition_point(|other| other.end <= loaded.start);
        let behind = self.entries().partition_point(|other| other.start < loaded.end).max(first);
        let number = self.number + 1 - (behind - first);
        if number <= self.all.len() {
            // SAFETY: both ranges are inside the array: there are fewer entries than `number`, or as many as fit.
            unsafe {
                let all = self.all.as_mut_ptr();
                ptr::copy(all.add(behind), all.add(first + 1), self.number - behind);
            }
            self.number = number;
            if let Some(place) = self.all.get_mut(first) {
                *place = loaded;
            }
        }
    }
}

impl Loaded {
    /// Makes an entry for a mapping, without an object.
    pub(super) fn of(mapping: &Mapping<'_>, base: usize) -> Loaded {
        Loaded {
            start: mapping.start,
            end: mapping.end,
            device: mapping.device,
            inode: mapping.inode,
            base,
            bias: 0,
            object: ELSEWHERE,
            listed: 0,
        }
    }

    fn is_same_file(&self, other: &Loaded) -> bool {
        (self.start, self.base, self.device, self.inode) == (other.start, other.base, other.device, other.inode)
    }
}

impl Objects {
    /// The object with this number; `None` for the program and for an unused number.
    pub(super) fn get(&self, number: usize) -> Option<&Object> {
        let object = self.all.get(number).filter(|_| is_object(number) && number <= self.number.get())?;
        // SAFETY: an object with a number does not change.
        Some(unsafe { &*object.get() })
    }

    /// The number of the first object for which `is_this` is true.
    pub(super) fn find(&self, is_this: impl Fn(&Object) -> bool) -> Option<usize> {
        (1..=self.number.get()).find(|number| self.get(*number).is_some_and(&is_this))
    }

    /// The number and the load bias of the object of a mapping; `None` if that cannot be found out.
    fn number_at(&self, memory: &OwnMemory, mapping: &Mapping<'_>, base: usize) -> Option<(usize, usize)> {
        if base == PROGRAM_BASE.load(Relaxed) {
            return Some((PROGRAM, PROGRAM_BIAS.load(Relaxed)));
        }
        let headers = headers::read(memory, base)?;
        self.number_of(&headers, mapping, Identity::NONE).map(|number| (number, headers.bias))
    }

    /// The number of the object with these headers and this mapping, to which its name leads.
    pub(super) fn number_of(&self, headers: &Headers, mapping: &Mapping<'_>, named: Identity) -> Option<usize> {
        let is_this =
            |object: &Object| (object.device, object.inode) == (mapping.device, mapping.inode) && object.has(headers);
        let number = self.find(is_this).or_else(|| {
            let number = self.number.get() + 1;
            // SAFETY: nobody has a reference to an object without a number.
            let object = unsafe { &mut *self.all.get(number)?.get() };
            (object.device, object.inode) = (mapping.device, mapping.inode);
            (object.lowpc, object.highpc) = (headers.lowpc, headers.highpc);
            object.build_id.clear();
            object.build_id.push(headers.build_id.as_bytes());
            object.path.clear();
            object.path.push(path_of_file(mapping));
            self.number.set(number);
            Some(number)
        })?;
        if let Some(object) = self.get(number).filter(|_| named != Identity::NONE) {
            object.named.set(named);
        }
        Some(number)
    }

    /// The [`place`] of an address outside the bins.
    #[inline(never)]
    fn place(&self, loads: &Loads, pc: usize) -> usize {
        let Some(loaded) = loads.at(pc) else {
            // All bits of the number are set, so higher bits of the address do not change the number. Without a list of
            // mappings, nobody knows whether an object is at the address.
            return match pc >> (usize::BITS - 1) {
                1 => KERNEL << ADDRESS_BITS,
                _ if loads.number == 0 => NOWHERE,
                _ => NOWHERE | pc,
            };
        };
        if loaded.object == VDSO {
            return VDSO << ADDRESS_BITS;
        }
        let address = pc.wrapping_sub(loaded.bias);
        let is_code = self.get(loaded.object).is_some_and(|object| object.lowpc <= address && address < object.highpc);
        if address >> ADDRESS_BITS == 0 && (is_code || loaded.object == PROGRAM) {
            loaded.object << ADDRESS_BITS | address
        } else {
            NOWHERE
        }
    }
}

impl Object {
    /// Whether this is an object with these headers.
    pub(super) fn has(&self, headers: &Headers) -> bool {
        (self.lowpc, self.highpc) == (headers.lowpc, headers.highpc)
            && self.build_id.as_bytes() == headers.build_id.as_bytes()
    }
}
