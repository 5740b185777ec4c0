//! Objects that were loaded after the start.
//!
//! A program gives no sign when it loads an object: a replacement of `dlopen` would change what `dlopen` finds, which
//! depends on its caller, and would break `dlopen` in static programs. So a walk that meets unknown code looks into the
//! dynamic linker's list. The list may be changing at that moment, also by the interrupted thread. So the list is only
//! a hint, and each word of it is read as memory that may be gone: the object must have ELF headers at the address, and
//! its code must contain the program counter. An object that is not found cuts the chain.
//!
//! The code of a frame cannot be unloaded while the frame is on a stack. Only a wrong frame can lead to an object that
//! is being unloaded: see [`super::published`].

use gmon_unwind::{Image, Memory, Object, copy};

use super::in_place;
use super::searches::Searches;
use super::table_copies::TableCopies;

/// The offsets of `l_name` and `l_next` in `struct link_map`. `l_addr` is at its start.
const NAME: usize = 8;
const NEXT: usize = 24;
/// The most objects of the list that are looked at.
const MOST_LISTED: u32 = 4096;

/// How a walk finds these objects.
#[derive(Clone, Copy)]
pub(super) struct Later<'a> {
    /// The list of the objects.
    pub(super) list: LaterObjects,
    /// Copies of their tables, for walks that do not keep the objects from being unloaded.
    pub(super) copies: Option<&'a TableCopies>,
    /// The searches of this walk for objects whose tables are not copied yet.
    pub(super) searches: &'a Searches,
}

/// The dynamic linker's list (`struct link_map`, which debuggers read too).
#[derive(Clone, Copy)]
pub struct LaterObjects {
    /// The address of the last entry at the start. New entries follow.
    pub last: usize,
    /// Whether rules of these objects may be remembered, because the runtime hears when an object is closed.
    pub may_remember: bool,
}

/// An object that was loaded after the start, without its code.
pub(crate) struct Description {
    pub(crate) bias: usize,
    /// The run-time addresses of the code.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The bytes of the build ID and of the path that were stored; 0 if there is none, or no room.
    pub(crate) build_id: usize,
    pub(crate) path: usize,
}

impl Later<'_> {
    /// What a function returns for the object with code at an address.
    ///
    /// # Safety
    ///
    /// The object must not be unloaded as long as the result is used. If there are copies, they must not be dropped
    /// instead.
    pub(super) unsafe fn with<'a, R>(
        self,
        memory: &impl Memory,
        pc: usize,
        function: impl FnOnce(&Object<'a>) -> Option<R>,
    ) -> Option<R> {
        let Some(copies) = self.copies else {
            // SAFETY: the caller's promise.
            let object = unsafe { self.list.find(memory, pc) };
            return object.as_ref().filter(|object| object.contains(pc)).and_then(function);
        };
        let search = || {
            if !self.searches.are_allowed() || !copies.has_room() || copies.is_unknown(pc) {
                return None;
            }
            // SAFETY: the caller's promise.
            let find = |base| unsafe { copies.find_or_add(memory, base, pc) };
            let found = self.searches.run(|| self.list.base(memory, pc).and_then(find));
            if found.is_none() {
                copies.remember_unknown(pc);
            }
            found
        };
        // SAFETY: the caller's promise.
        unsafe { copies.find(pc) }.or_else(search).and_then(function)
    }
}

impl LaterObjects {
    /// The only object that can have code at an address.
    ///
    /// # Safety
    ///
    /// The object must not be unloaded as long as the result is used.
    #[inline(never)]
    unsafe fn find(self, memory: &impl Memory, pc: usize) -> Option<Object<'static>> {
        // SAFETY: the caller's promise.
        unsafe { in_place::object(Image::at(memory, self.base(memory, pc)?)?, memory, false) }
    }

    /// The address of the first byte of the last object that begins at or before an address; 0 if there is none.
    fn base(self, memory: &impl Memory, pc: usize) -> Option<usize> {
        self.entry(memory, pc).map(|(_, base)| base)
    }

    /// The last entry of the list whose object begins at or below an address, and the load bias; zeros for none.
    fn entry(self, memory: &impl Memory, pc: usize) -> Option<(usize, usize)> {
        let (mut found, mut base) = (0, 0);
        let mut entry = memory.read(self.last.checked_add(NEXT)?)?;
        for _ in 0..MOST_LISTED {
            if entry == 0 {
                break;
            }
            let bias = memory.read(entry)?;
            if base < bias && bias <= pc {
                (found, base) = (entry, bias);
            }
            entry = memory.read(entry.checked_add(NEXT)?)?;
        }
        Some((found, base))
    }

    /// Describes the object with code at an address: stores its build ID, and the path that it has in the list.
    pub(super) fn describe(
        self,
        memory: &impl Memory,
        pc: usize,
        build_id: &mut [u8],
        path: &mut [u8],
    ) -> Option<Description> {
        let (entry, bias) = self.entry(memory, pc)?;
        let image = Image::at(memory, bias)?;
        let code = image.parts(memory, false)?.code;
        if !code.contains(&pc) {
            return None;
        }
        Some(Description {
            bias,
            start: code.start,
            end: code.end,
            build_id: image.build_id(memory, build_id),
            path: path_at(memory, memory.read(entry.checked_add(NAME)?)?, path).unwrap_or(0),
        })
    }
}

/// Stores the bytes before the NUL at the end of a path. The result is their number.
fn path_at(memory: &impl Memory, address: usize, room: &mut [u8]) -> Option<usize> {
    for (length, place) in room.iter_mut().enumerate() {
        let mut byte = [0];
        copy(memory, address.checked_add(length)?, &mut byte)?;
        [*place] = byte;
        if *place == 0 {
            return Some(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::Words;
    use super::super::table_copies::{CopiedByKernel, LOOK_UPS};
    use super::*;

    /// Makes an entry of the list.
    fn entry(words: &mut Words, at: usize, bias: usize, next: usize) {
        words.extend([(at, bias), (at + NEXT, next)]);
    }

    /// Makes ELF headers: one executable segment of 0x1000 bytes, 0x1000 bytes behind the start, and no tables.
    fn object(words: &mut Words, base: usize) {
        let numbers = 1 << 16 | 56;
        let word = usize::from_le_bytes(*b"\x7fELF\x02\x01\x01\0");
        words.extend([(base, word), (base + 32, 64), (base + 54, numbers)]);
        words.extend([(base + 64, 1 | 5 << 32), (base + 64 + 16, 0x1000), (base + 64 + 32, 0x1000)]);
    }

    fn find(words: &Words, pc: usize) -> Option<usize> {
        let later = LaterObjects { last: 0x100, may_remember: true };
        let later = Later { list: later, copies: None, searches: &Searches::new(true) };
        // SAFETY: the objects have no tables.
        unsafe { later.with(words, pc, |object| Some(object.start())) }
    }

    #[test]
    fn an_object_is_found_behind_the_last_entry_if_its_headers_are_there() {
        let mut words = Words::default();
        assert_eq!(find(&words, 0x71000), None, "there is no list");
        entry(&mut words, 0x100, 0x50000, 0x200);
        entry(&mut words, 0x200, 0x70000, 0x300);
        assert_eq!(find(&words, 0x71000), None, "the next entry is gone");
        entry(&mut words, 0x300, 0x80000, 0);
        assert_eq!(find(&words, 0x71000), None, "the object is gone");
        for base in [0x50000, 0x70000, 0x80000] {
            object(&mut words, base);
        }
        for (pc, found) in [
            (0x71000, Some(0x71000)),
            (0x71fff, Some(0x71000)),
            (0x81000, Some(0x81000)),
            (0x70fff, None),
            (0x72000, None),
            (0x51000, None),
            (0, None),
            (usize::MAX, None),
        ] {
            assert_eq!(find(&words, pc), found, "{pc:#x}");
        }
    }

    #[test]
    fn a_list_that_leads_back_to_itself_is_left() {
        let mut words = Words::default();
        entry(&mut words, 0x100, 0, 0x200);
        entry(&mut words, 0x200, 0x70000, 0x200);
        object(&mut words, 0x70000);
        assert_eq!(find(&words, 0x71000), Some(0x71000));
        assert_eq!(find(&words, 0x60000), None);
    }

    /// The memory of a walk, which can read nothing but what searches read.
    struct OfSearches<'a>(&'a Searches);

    impl Memory for OfSearches<'_> {
        fn read(&self, address: usize) -> Option<usize> {
            if self.0.counts_word() { CopiedByKernel.read(address) } else { None }
        }
    }

    /// The words that a walk reads to look an address up, which no object of the list has.
    fn words_for_unknown_code(list: LaterObjects, copies: &TableCopies, pc: usize, are_allowed: bool) -> usize {
        let searches = Searches::new(are_allowed);
        let later = Later { list, copies: Some(copies), searches: &searches };
        // SAFETY: no object is found.
        assert_eq!(unsafe { later.with(&OfSearches(&searches), pc, |_| Some(())) }, None);
        assert!(!searches.counts_word(), "the search is over");
        searches.words()
    }

    #[test]
    fn unknown_code_is_searched_for_once_in_many_look_ups_and_the_words_are_counted() {
        // Entries of the list as the kernel reads them: each has four words, the last of which leads to the next entry.
        let last = [0x7000_usize, 0, 0, 0];
        let entries: [usize; 4] = [0x5000, 0, 0, last.as_ptr().expose_provenance()];
        let start = [0, 0, 0, entries.as_ptr().expose_provenance()];
        let list = LaterObjects { last: start.as_ptr().expose_provenance(), may_remember: true };
        let copies = TableCopies::new();
        let words = |pc, are_allowed| words_for_unknown_code(list, &copies, pc, are_allowed);
        assert_eq!(words(0x8123, false), 0, "no search");
        // Two words of each entry, one of the start, and the first bytes of the object.
        assert_eq!(words(0x8123, true), 6);
        assert!((1..LOOK_UPS).all(|look_up| words(0x8000 + usize::from(look_up), true) == 0));
        assert_eq!([words(0x9000, true), words(0x8123, true), words(0x8123, true)], [6, 6, 0]);
        // SAFETY: nothing uses the copies.
        unsafe { copies.drop_all() };
        assert_eq!(words(0x8123, true), 6, "an object may be there now");
    }
}
