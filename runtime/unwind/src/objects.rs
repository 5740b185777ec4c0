//! The loaded objects and their unwind tables.

use core::ops::Range;

use super::architecture::Architecture;
use super::bytes::Section;
use super::index::{Found, Index};
use super::memory::Memory;

/// A loaded object.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    code: Addresses,
    section: Section<'a>,
    /// The offset of the index in the section; `None` if the object has no index. The index is read when a rule is
    /// wanted: most processes that end soon want none, and need no page of the tables.
    header: Option<usize>,
}

/// A range of addresses that can be copied.
#[derive(Clone, Copy)]
struct Addresses {
    start: usize,
    end: usize,
}

impl<'a> Object<'a> {
    /// An object with code at these run-time addresses.
    ///
    /// `section` is the segment with `.eh_frame_hdr`, which starts `header` bytes behind the segment's start, and
    /// `.eh_frame`. Both are in one segment in what linkers write. An object without the index can be found too, but
    /// its functions have no rules.
    #[must_use]
    pub fn new(code: Range<usize>, section: Section<'a>, header: Option<usize>) -> Object<'a> {
        Object { code: Addresses { start: code.start, end: code.end }, section, header }
    }

    /// The first address of the object's code.
    #[must_use]
    pub fn start(&self) -> usize {
        self.code.start
    }

    /// The address behind the object's code.
    #[must_use]
    pub fn end(&self) -> usize {
        self.code.end
    }

    /// Whether an address lies in the object's code.
    #[must_use]
    pub fn contains(&self, address: usize) -> bool {
        self.code.start <= address && address < self.code.end
    }

    /// The address of the function with a program counter, if the object has an index of its functions.
    pub(super) fn function(&self, pc: usize) -> Option<usize> {
        self.index()?.function(self.section, pc)
    }

    /// The rule at a program counter.
    #[must_use]
    pub fn rule<A: Architecture>(&self, pc: usize) -> Option<Found<'a>> {
        self.index()?.find::<A>(self.section, pc)
    }

    /// The index; `None` if there is none, or one of an unknown form.
    fn index(&self) -> Option<Index> {
        Index::read(self.section, self.header?)
    }
}

/// The objects that a walk asks for.
pub trait Loaded<'a> {
    /// Whether walks follow chains of frame records through code that no object has, and to other stacks.
    const FOLLOWS_RECORDS: bool;

    /// What a function returns for the object with code at an address; `None` if there is no such object. The function
    /// gets a reference, because a move of an object can be a call of memcpy.
    ///
    /// An implementation may search for the object, and may read the memory of the walk to find the object.
    fn with<R>(
        &self,
        memory: &impl Memory,
        address: usize,
        function: impl FnOnce(&Object<'a>) -> Option<R>,
    ) -> Option<R>;

    /// Another number than that of any other objects that lay at the same addresses: see [`Cache`](super::Cache).
    fn generation(&self) -> u64;

    /// Whether the rule at an address may be remembered for this generation.
    fn may_remember(&self, address: usize) -> bool;
}

/// A list of objects that stay loaded.
#[derive(Clone, Copy)]
pub struct Objects<'a> {
    list: &'a [Object<'a>],
    generation: u64,
}

impl<'a> Objects<'a> {
    /// Objects in the order of their addresses. `generation` grows each time an object is closed: see
    /// [`Loaded::generation`].
    #[must_use]
    pub fn new(list: &'a [Object<'a>], generation: u64) -> Objects<'a> {
        Objects { list, generation }
    }

    /// The object with code at an address.
    #[must_use]
    pub fn find(&self, address: usize) -> Option<&'a Object<'a>> {
        let behind = self.list.partition_point(|object| object.code.start <= address);
        let object = self.list.get(behind.checked_sub(1)?)?;
        object.contains(address).then_some(object)
    }
}

impl<'a> Loaded<'a> for Objects<'a> {
    const FOLLOWS_RECORDS: bool = true;

    fn with<R>(&self, _: &impl Memory, address: usize, function: impl FnOnce(&Object<'a>) -> Option<R>) -> Option<R> {
        self.find(address).and_then(function)
    }

    fn generation(&self) -> u64 {
        self.generation
    }

    fn may_remember(&self, _: usize) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_by_address() {
        let empty = Section { address: 0, bytes: &[] };
        let list = [(10..20), (20..30), (40..50)].map(|range| Object::new(range, empty, None));
        let objects = Objects::new(&list, 0);
        let found = [9, 10, 19, 20, 30, 39, 49, 50].map(|address| objects.find(address));
        let ranges = found.map(|object| object.map(|object| (object.start(), object.end())));
        let [first, second, third] = [(10, 20), (20, 30), (40, 50)].map(Some);
        assert_eq!(ranges, [None, first, first, second, None, None, third, None]);
        assert!(found[1].unwrap().function(10).is_none(), "there is no index");
    }
}
