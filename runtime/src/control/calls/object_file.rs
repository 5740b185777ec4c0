//! Reads the file of a loaded object: its sections and symbols, which are not in memory.
//!
//! The file is read and not mapped, because a file that becomes shorter would end a process that has mapped it.

use core::ffi::CStr;
use core::slice;

use crate::os::{Errno, Fd, OwnMemory, map, open_object_file, unmap};

/// The sizes of `Elf64_Ehdr`, `Elf64_Shdr`, and `Elf64_Sym`.
const HEADER_SIZE: usize = 64;
const SECTION_SIZE: usize = 64;
const SYMBOL_SIZE: usize = 24;
/// An upper bound of the number of sections.
const MOST_SECTIONS: usize = 1 << 16;
/// An upper bound of the size of a section that is read.
const LARGEST_SECTION: usize = 1 << 31;
/// The largest size of the program headers that are compared.
const LARGEST_HEADERS: usize = 1024;
const SYMBOLS: u32 = 2;
const DYNAMIC_SYMBOLS: u32 = 11;
/// A flag of sections.
const COMPRESSED: usize = 1 << 11;
/// The type of symbols of source files.
const SOURCE_FILE: u8 = 4;
/// The types of symbols of functions.
const FUNCTION: u8 = 2;
const INDIRECT_FUNCTION: u8 = 10;

/// An open file of an object.
pub(super) struct ObjectFile {
    file: Fd,
    header: [u8; HEADER_SIZE],
}

/// A section.
#[derive(Clone, Copy)]
pub(super) struct Section {
    name: u32,
    kind: u32,
    link: u32,
    /// The link-time address.
    pub(super) address: usize,
    offset: usize,
    pub(super) size: usize,
    pub(super) is_compressed: bool,
}

/// The symbol of a function.
pub(super) struct Function<'a> {
    /// The link-time address.
    pub(super) address: usize,
    pub(super) name: &'a [u8],
    /// The source file of a function with a local symbol.
    pub(super) file: Option<&'a [u8]>,
}

/// The content of a section, in memory of its own.
pub(super) struct Content {
    start: *mut u8,
    size: usize,
}

impl Content {
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the memory has that many bytes.
        unsafe { slice::from_raw_parts(self.start, self.size) }
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped with this size.
        unsafe { unmap(self.start.cast(), self.size) };
    }
}

impl ObjectFile {
    /// Opens the file at a path, or the file of the program, if it is that of the object whose first byte is mapped at
    /// `base`. The result is `None` if the file cannot be opened, or is another file.
    pub(super) fn open(path: Option<&CStr>, memory: &OwnMemory, base: usize) -> Option<ObjectFile> {
        let file = open_object_file(path).ok()?;
        let mut header = [0; HEADER_SIZE];
        let found = ObjectFile { file, header: [0; HEADER_SIZE] };
        if found.read(&mut header, 0).is_err() || !header.starts_with(b"\x7fELF\x02") {
            found.close();
            return None;
        }
        let found = ObjectFile { file, header };
        if !found.is_loaded_at(memory, base) {
            found.close();
            return None;
        }
        Some(found)
    }

    pub(super) fn close(self) {
        let _ = self.file.close();
    }

    /// Whether the headers of the file are the headers in memory.
    fn is_loaded_at(&self, memory: &OwnMemory, base: usize) -> bool {
        let segments = word_at(&self.header, 32).unwrap_or(0);
        let size =
            usize::from(u16_at(&self.header, 54).unwrap_or(0)) * usize::from(u16_at(&self.header, 56).unwrap_or(0));
        let (mut in_file, mut in_memory) = ([0; LARGEST_HEADERS], [0; LARGEST_HEADERS]);
        let size = size.min(LARGEST_HEADERS);
        let (Some(in_file), Some(in_memory)) = (in_file.get_mut(..size), in_memory.get_mut(..size)) else {
            return false;
        };
        self.read(in_file, segments).is_ok()
            && memory.fill(base.wrapping_add(segments), in_memory)
            && in_file == in_memory
    }

    /// Fills `bytes` with the bytes at an offset of the file.
    fn read(&self, bytes: &mut [u8], offset: usize) -> Result<(), Errno> {
        let mut done = 0;
        while done < bytes.len() {
            let Some(left) = bytes.get_mut(done..) else { break };
            match self.file.read_at(left, offset.wrapping_add(done)) {
                Ok(0) => return Err(Errno::EFAULT),
                Ok(read) => done += read,
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The load bias of the object, whose first byte is mapped at `base`.
    pub(super) fn bias(&self, base: usize) -> Option<usize> {
        const LOAD: u32 = 1;
        const SEGMENT_SIZE: usize = 56;
        let (start, number) = (word_at(&self.header, 32)?, usize::from(u16_at(&self.header, 56)?));
        (0..number).find_map(|number| {
            let mut segment = [0; SEGMENT_SIZE];
            self.read(&mut segment, start.checked_add(number * SEGMENT_SIZE)?).ok()?;
            let (offset, address) = (word_at(&segment, 8)?, word_at(&segment, 16)?);
            (u32_at(&segment, 0)? == LOAD).then(|| base.wrapping_sub(address.wrapping_sub(offset)))
        })
    }

    /// The section with this number.
    fn section(&self, number: usize) -> Option<Section> {
        let (start, size) = (word_at(&self.header, 40)?, u16_at(&self.header, 58)?);
        if usize::from(size) != SECTION_SIZE || start == 0 || number >= MOST_SECTIONS {
            return None;
        }
        let mut bytes = [0; SECTION_SIZE];
        self.read(&mut bytes, start.checked_add(number * SECTION_SIZE)?).ok()?;
        Some(Section {
            name: u32_at(&bytes, 0)?,
            kind: u32_at(&bytes, 4)?,
            link: u32_at(&bytes, 40)?,
            address: word_at(&bytes, 16)?,
            offset: word_at(&bytes, 24)?,
            size: word_at(&bytes, 32)?,
            is_compressed: word_at(&bytes, 8)? & COMPRESSED != 0,
        })
    }

    fn sections(&self) -> impl Iterator<Item = Section> {
        let number = usize::from(u16_at(&self.header, 60).unwrap_or(0));
        (0..number).map_while(|number| self.section(number))
    }

    /// Reads the content of a section.
    pub(super) fn content(&self, section: &Section) -> Option<Content> {
        if section.size == 0 || section.size > LARGEST_SECTION {
            return None;
        }
        let start = map(section.size);
        if start.is_null() {
            return None;
        }
        let content = Content { start: start.cast(), size: section.size };
        // SAFETY: the memory has that many bytes, and nobody else has the address.
        let bytes = unsafe { slice::from_raw_parts_mut(content.start, content.size) };
        self.read(bytes, section.offset).is_ok().then_some(content)
    }

    /// Passes the sections with a name to `each`.
    pub(super) fn named(&self, name: &[u8], mut each: impl FnMut(&Section)) {
        let names = u16_at(&self.header, 62).and_then(|number| self.section(usize::from(number)));
        let Some(names) = names.and_then(|section| self.content(&section)) else { return };
        for section in self.sections() {
            if string_at(names.bytes(), section.name as usize) == Some(name) {
                each(&section);
            }
        }
    }

    /// Passes all functions to `each`. The symbols of the dynamic linker serve if there are no others.
    pub(super) fn functions(&self, mut each: impl FnMut(&Function<'_>)) {
        let of_kind = |kind| self.sections().find(|section| section.kind == kind);
        let Some(symbols) = of_kind(SYMBOLS).or_else(|| of_kind(DYNAMIC_SYMBOLS)) else { return };
        let Some(names) = self.section(symbols.link as usize).and_then(|names| self.content(&names)) else { return };
        let Some(symbols) = self.content(&symbols) else { return };
        // The local symbols of a source file follow the symbol of the file.
        let mut source_file = None;
        for symbol in symbols.bytes().chunks_exact(SYMBOL_SIZE) {
            let (Some(name), Some(info), Some(address)) = (u32_at(symbol, 0), symbol.get(4), word_at(symbol, 8)) else {
                continue;
            };
            let (binding, kind) = (info >> 4, info & 0xf);
            let Some(name) = string_at(names.bytes(), name as usize) else { continue };
            if kind == SOURCE_FILE {
                source_file = Some(name).filter(|name| !name.is_empty());
            } else if [FUNCTION, INDIRECT_FUNCTION].contains(&kind) && address != 0 {
                each(&Function { address, name, file: source_file.filter(|_| binding == 0) });
            }
        }
    }
}

/// The string at an offset of a table of strings.
fn string_at(table: &[u8], offset: usize) -> Option<&[u8]> {
    CStr::from_bytes_until_nul(table.get(offset..)?).ok().map(CStr::to_bytes)
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes.get(offset..)?.first_chunk().map(|field| u16::from_ne_bytes(*field))
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().map(|field| u32::from_ne_bytes(*field))
}

fn word_at(bytes: &[u8], offset: usize) -> Option<usize> {
    bytes.get(offset..)?.first_chunk().map(|field| usize::from_ne_bytes(*field))
}
