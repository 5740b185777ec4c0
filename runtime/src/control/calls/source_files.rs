//! The source files of the functions of an object, for patterns that name files.

use core::cell::Cell;
use core::slice;

use super::lines::{LONGEST_PATH, Located, Name, Sections};
use super::object_file::{Content, ObjectFile};
use crate::os::{map, unmap};
use crate::text::Text;

/// What is known of the line information of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lines {
    /// Nobody has asked.
    Unknown,
    /// The object has none, or it cannot be read.
    Missing,
    Read,
    /// The sections are compressed, and were not read.
    Compressed,
}

/// The sections of an object with lines, and the files of functions.
pub(super) struct SourceFiles {
    /// `.debug_line`, `.debug_line_str`, and `.debug_str`.
    contents: [Option<Content>; 3],
    functions: Table<Located>,
}

impl SourceFiles {
    /// Finds the source files of functions with code at these link-time addresses, which are sorted.
    #[inline(never)]
    pub(super) fn find(
        file: &ObjectFile,
        addresses: impl ExactSizeIterator<Item = usize>,
    ) -> Result<SourceFiles, Lines> {
        let is_compressed = Cell::new(false);
        let read = |name: &[u8]| {
            let mut content = None;
            file.named(name, |section| {
                is_compressed.set(is_compressed.get() || section.is_compressed);
                if !section.is_compressed && content.is_none() {
                    content = file.content(section);
                }
            });
            content
        };
        let contents = [read(b".debug_line"), read(b".debug_line_str"), None];
        if is_compressed.get() {
            return Err(Lines::Compressed);
        }
        if contents.first().is_none_or(Option::is_none) {
            return Err(Lines::Missing);
        }
        // SAFETY: zeros are valid.
        let functions = unsafe { Table::<Located>::new(addresses.len()) }.ok_or(Lines::Missing)?;
        let mut found = SourceFiles { contents, functions };
        found.functions.all_mut().iter_mut().zip(addresses).for_each(|(place, address)| place.address = address);
        let sections = sections(&found.contents);
        // SAFETY: zeros are valid.
        let mut names = unsafe { Table::<Name>::new(sections.most_names()) }.ok_or(Lines::Missing)?;
        sections.locate(names.all_mut(), found.functions.all_mut());
        // This section is large, and few compilers put the names of files there.
        if let [_, _, strings] = &mut found.contents
            && found.functions.all().iter().any(Located::needs_strings)
        {
            *strings = read(b".debug_str");
        }
        if is_compressed.get() { Err(Lines::Compressed) } else { Ok(found) }
    }

    /// The path of the source file of the function with this index; empty if the file is unknown.
    pub(super) fn path(&self, index: usize) -> Option<Text<LONGEST_PATH>> {
        self.functions.all().get(index).map(|function| sections(&self.contents).path(function))
    }
}

fn sections(contents: &[Option<Content>; 3]) -> Sections<'_> {
    let [lines, line_strings, strings] =
        contents.each_ref().map(|content| content.as_ref().map_or(&[][..], Content::bytes));
    Sections { lines, line_strings, strings }
}

/// Values in memory of their own.
struct Table<T> {
    start: *mut T,
    number: usize,
}

impl<T> Table<T> {
    /// A table of zeros; `None` if there is no memory.
    ///
    /// # Safety
    ///
    /// Zeros must be valid.
    unsafe fn new(number: usize) -> Option<Table<T>> {
        let start = map(number.max(1).checked_mul(size_of::<T>())?).cast::<T>();
        let table = Table { start, number };
        if start.is_null() {
            core::mem::forget(table);
            return None;
        }
        Some(table)
    }

    fn all(&self) -> &[T] {
        // SAFETY: there are that many values.
        unsafe { slice::from_raw_parts(self.start, self.number) }
    }

    fn all_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; this is the only reference.
        unsafe { slice::from_raw_parts_mut(self.start, self.number) }
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this size.
        unsafe { unmap(self.start.cast(), self.number.max(1) * size_of::<T>()) };
    }
}
