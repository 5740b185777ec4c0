//! ELF files as the unwinder sees them when they are loaded.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon_unwind::{Object, Section};
use object::read::elf::ElfFile64;
use object::read::elf::ProgramHeader;
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind, elf};

/// A part of a file, at its link-time address.
pub(crate) struct Part {
    pub(crate) address: usize,
    pub(crate) bytes: Vec<u8>,
}

/// What matters of an ELF file.
pub(crate) struct Elf {
    pub(crate) name: String,
    /// The address of the first segment.
    pub(crate) first: usize,
    pub(crate) code: Range<usize>,
    /// The symbols by address, for messages.
    pub(crate) symbols: Vec<(u64, String)>,
    /// The segment with the tables, and the offset of `.eh_frame_hdr` in it. An object without this index has code
    /// without tables.
    pub(crate) tables: Part,
    pub(crate) header: Option<usize>,
    /// The section `.eh_frame`.
    pub(crate) frames: Part,
}

impl Elf {
    /// Reads a file; `None` if the file has no index of unwind tables.
    pub(crate) fn read(path: &Path) -> Option<Elf> {
        Elf::parse(path.display().to_string(), &std::fs::read(path).unwrap()).filter(|elf| elf.header.is_some())
    }

    /// Reads the bytes of a file; `None` if they are none of an ELF file.
    pub(crate) fn parse(name: String, bytes: &[u8]) -> Option<Elf> {
        if !bytes.starts_with(&elf::ELFMAG) {
            return None;
        }
        let file = ElfFile64::<Endianness>::parse(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let endian = file.endian();
        let find = |kind| file.elf_program_headers().iter().find(move |header| header.p_type(endian) == kind);
        let header = find(elf::PT_GNU_EH_FRAME).map(|header| header.p_vaddr(endian) as usize);
        let loads = || file.elf_program_headers().iter().filter(|header| header.p_type(endian) == elf::PT_LOAD);
        let range = |header: &elf::ProgramHeader64<Endianness>| {
            let start = header.p_vaddr(endian) as usize;
            start..start + header.p_filesz(endian) as usize
        };
        let code = loads().filter(|load| load.p_flags(endian).contains(elf::PF_X)).map(range);
        let code = code.reduce(|all, next| all.start..next.end).unwrap();
        let nothing = || Part { address: 0, bytes: Vec::new() };
        let (mut tables, mut frames) = (nothing(), nothing());
        if let Some(header) = header {
            let segment = loads().find(|load| range(load).contains(&header)).unwrap();
            tables = Part { address: range(segment).start, bytes: segment.data(endian, bytes).unwrap().to_vec() };
            let section = file.section_by_name(".eh_frame").unwrap();
            frames = Part { address: section.address() as usize, bytes: section.data().unwrap().to_vec() };
        }
        let first = loads().map(range).next().unwrap().start;
        let symbols = file.symbols().chain(file.dynamic_symbols()).filter(|symbol| symbol.kind() == SymbolKind::Text);
        let mut symbols: Vec<_> = symbols.map(|symbol| (symbol.address(), symbol.name().unwrap().to_owned())).collect();
        symbols.sort();
        let header = header.map(|header| header - tables.address);
        Some(Elf { name, first, symbols, code, tables, header, frames })
    }

    /// The object as the unwinder has it, loaded at its link-time address.
    pub(crate) fn object(&self) -> Object<'_> {
        Object::new(self.code.clone(), self.section(), self.header)
    }

    pub(crate) fn section(&self) -> Section<'_> {
        Section { address: self.tables.address, bytes: &self.tables.bytes }
    }
}

/// The file that a compiler links for a library; `None` if there is no such compiler or library.
pub(crate) fn library(compiler: &str, name: &str) -> Option<PathBuf> {
    let output = Command::new(compiler).arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
    path.is_absolute().then_some(path)
}
