//! Reads PE files: programs and libraries of Windows, as MinGW's tools write them.
//!
//! Symbols are in the COFF symbol table and debug information is in DWARF sections. A program of Microsoft's tools has
//! both in a PDB file, which this crate does not read.

use std::ops::Range;

use object::pe::{self, ImageNtHeaders32, ImageNtHeaders64};
use object::read::Object as _;
use object::read::coff::{self, CoffHeader, SectionTable, Symbol as _};
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader, PeFile};
use object::{Endianness, LittleEndian as LE, elf};

use super::elf::{DebugLinks, debug_link};
use super::foreign_file::{ForeignFile, ForeignSection, ForeignSymbol, SectionNames, SymbolTable};
use super::machine_code::Machine;
use super::symbols::NamePlace;

/// The first bytes of a PE file, and of an MS-DOS file.
pub(super) const MAGIC: &[u8] = b"MZ";

/// The length of the longest name of a section: a million sections may share one name of a million bytes.
const LONGEST: usize = 64;

/// The maximum length of the path of a PDB file in bytes; a longer path is cut. Messages have the path, and no system
/// has longer paths.
const LONGEST_PATH: usize = 4096;

/// Libraries of systems on Windows whose `long` has eight bytes on 64-bit machines: Cygwin and MSYS. Everywhere else on
/// Windows, a `long` has four bytes.
const WIDE_LONG: [&[u8]; 2] = [b"cygwin1.dll\0", b"msys-2.0.dll\0"];

/// The number of imported libraries that are looked at.
const MOST_IMPORTS: usize = 256;

/// Where the PE header begins.
fn header_offset(data: &[u8]) -> Option<usize> {
    let offset = data.starts_with(MAGIC).then(|| data.get(0x3c..)?.first_chunk().copied())??;
    usize::try_from(u32::from_le_bytes(offset)).ok()
}

/// Whether a file is a PE file.
pub(super) fn is_pe(data: &[u8]) -> bool {
    header_offset(data).and_then(|offset| data.get(offset..)).is_some_and(|header| header.starts_with(b"PE\0\0"))
}

/// Reads a PE file.
///
/// # Errors
///
/// When the file is damaged.
pub(super) fn open(data: &[u8]) -> object::Result<ForeignFile<'_>> {
    const MAGIC_OFFSET: usize = 24;
    let header = header_offset(data).unwrap_or_default();
    let magic = data.get(header.saturating_add(MAGIC_OFFSET)..).and_then(|magic| magic.first_chunk().copied());
    match magic.map(u16::from_le_bytes) {
        Some(magic) if magic == pe::IMAGE_NT_OPTIONAL_HDR64_MAGIC => read::<ImageNtHeaders64>(data, gmon::Word::W64),
        _ => read::<ImageNtHeaders32>(data, gmon::Word::W32),
    }
}

fn read<Pe: ImageNtHeaders>(data: &[u8], word: gmon::Word) -> object::Result<ForeignFile<'_>> {
    let mut offset = header_offset(data).unwrap_or_default() as u64;
    let (headers, directories) = Pe::parse(data, &mut offset)?;
    let table: SectionTable<'_> = headers.sections(data, offset)?;
    let symbol_table: coff::SymbolTable<'_> = headers.symbols(data)?;
    let header = headers.file_header();
    let strings = strings(data, header);
    let base = headers.optional_header().image_base();
    let sections: Vec<ForeignSection<'_>> =
        table.iter().map(|section| read_section(data, strings, base, section)).collect();
    let imports = directories.get(pe::IMAGE_DIRECTORY_ENTRY_IMPORT);
    let imports = imports.map(|imports| base.wrapping_add(imports.virtual_address.get(LE).into()));
    let has_wide_long = imports.is_some_and(|imports| imports_wide_long(&sections, imports, base));
    let link = sections.iter().find(|section| section.name == b".gnu_debuglink");
    let machine = header.machine.get(LE);
    Ok(ForeignFile {
        length: data.len(),
        word,
        order: gmon::Order::Little,
        model: Some(match word {
            gmon::Word::W32 => gmon::DataModel::Ilp32,
            gmon::Word::W64 if has_wide_long => gmon::DataModel::Lp64,
            gmon::Word::W64 => gmon::DataModel::Llp64,
        }),
        machine: match machine {
            pe::IMAGE_FILE_MACHINE_I386 => Machine::X86,
            pe::IMAGE_FILE_MACHINE_AMD64 => Machine::X86_64,
            pe::IMAGE_FILE_MACHINE_ARM64 => Machine::Aarch64,
            _ => Machine::Other,
        },
        base,
        section_names: SectionNames::Pe,
        symbol_table: Box::new(symbol_table),
        strings,
        has_underscores: machine == pe::IMAGE_FILE_MACHINE_I386,
        links: DebugLinks {
            link: link.and_then(|section| debug_link(section.bytes, Endianness::Little)),
            ..DebugLinks::default()
        },
        pdb: PeFile::<Pe>::parse(data).and_then(|file| pdb(&file)).unwrap_or_default(),
        sections,
    })
}

impl<'data> SymbolTable<'data> for coff::SymbolTable<'data> {
    fn most(&self) -> usize {
        self.len()
    }

    fn symbols<'a>(
        &'a self,
        sections: &'a [ForeignSection<'data>],
    ) -> Box<dyn Iterator<Item = ForeignSymbol<'data>> + 'a> {
        Box::new(self.iter().filter_map(|(_, symbol)| read_symbol(sections, symbol)))
    }

    /// The addresses that a program of MinGW samples: from the symbol `__eprol` to the symbol `etext`.
    fn sampled(&self, sections: &[ForeignSection<'data>]) -> Option<Range<u64>> {
        let find = |wanted: &[u8]| {
            let is_wanted =
                |symbol: &ForeignSymbol<'_>| matches!(symbol.name, NamePlace::Entry(name) if name == wanted);
            self.symbols(sections).find(is_wanted).map(|symbol| symbol.address)
        };
        Some(find(b"__eprol")?..find(b"etext")?)
    }
}

/// Whether a program imports one of the libraries of [`WIDE_LONG`]. The list of imports begins at an address; it has an
/// entry for each library, and ends with an entry of zeros.
fn imports_wide_long(sections: &[ForeignSection<'_>], start: u64, base: u64) -> bool {
    const ENTRY: usize = 20;
    const NAME: usize = 12;
    let at = |address: u64| {
        let section = sections.iter().find(|section| section.range().contains(&address))?;
        section.bytes.get(usize::try_from(address - section.address).ok()?..)
    };
    let is_wide = |entry: &[u8]| {
        let name = entry.get(NAME..).and_then(|entry| entry.first_chunk()).map(|name| u32::from_le_bytes(*name));
        let name = name.and_then(|name| at(base.wrapping_add(name.into()))).unwrap_or_default();
        let is_it = |library: &&[u8]| name.get(..library.len()).is_some_and(|name| name.eq_ignore_ascii_case(library));
        WIDE_LONG.iter().any(is_it)
    };
    let entries = at(start).unwrap_or_default().chunks_exact(ENTRY);
    entries.take(MOST_IMPORTS).take_while(|entry| entry.iter().any(|byte| *byte != 0)).any(is_wide)
}

/// The path of the PDB file that has the symbols of the program, if the program names one. MinGW's linker writes an
/// empty path.
fn pdb<Pe: ImageNtHeaders>(file: &PeFile<'_, Pe>) -> object::Result<Option<String>> {
    let Some(information) = file.pdb_info()? else { return Ok(None) };
    let path = information.path();
    let path = String::from_utf8_lossy(path.get(..LONGEST_PATH).unwrap_or(path)).into_owned();
    Ok(Some(path).filter(|path| !path.is_empty()))
}

/// The string table, which follows the symbol table. Offsets count from its beginning, where its length is.
fn strings<'data>(data: &'data [u8], header: &pe::ImageFileHeader) -> &'data [u8] {
    let start = u64::from(header.pointer_to_symbol_table());
    let symbols = u64::from(header.number_of_symbols()) * pe::IMAGE_SIZEOF_SYMBOL as u64;
    let find = || {
        let rest = data.get(usize::try_from(start + symbols).ok()?..).filter(|_| start != 0)?;
        let length = u32::from_le_bytes(*rest.first_chunk()?);
        Some(rest.get(..usize::try_from(length).ok()?).unwrap_or(rest))
    };
    find().unwrap_or_default()
}

fn read_section<'data>(
    data: &'data [u8],
    strings: &'data [u8],
    base: u64,
    section: &'data pe::ImageSectionHeader,
) -> ForeignSection<'data> {
    let long = section.name_offset().ok().flatten();
    let stored = long.map_or(section.raw_name(), |offset| strings.get(offset as usize..).unwrap_or_default());
    let stored = stored.get(..LONGEST).unwrap_or(stored);
    let (offset, length) = section.pe_file_range();
    let bytes = data.get(offset as usize..).unwrap_or_default();
    ForeignSection {
        name: stored.split(|byte| *byte == 0).next().unwrap_or_default(),
        address: base.wrapping_add(section.virtual_address.get(LE).into()),
        size: section.virtual_size.get(LE).into(),
        bytes: bytes.get(..length as usize).unwrap_or(bytes),
        offset: offset.into(),
        is_code: section.characteristics.get(LE).contains(pe::IMAGE_SCN_MEM_EXECUTE),
    }
}

/// Reads a symbol; `None` for an entry that describes a section or is only for debuggers.
fn read_symbol<'data>(
    sections: &[ForeignSection<'data>],
    symbol: &'data pe::ImageSymbol,
) -> Option<ForeignSymbol<'data>> {
    let is_function = symbol.derived_type() == pe::IMAGE_SYM_DTYPE_FUNCTION;
    let kind = if is_function { elf::STT_FUNC } else { elf::STT_NOTYPE };
    let (binding, kind) = match symbol.storage_class() {
        pe::IMAGE_SYM_CLASS_FILE => (elf::STB_LOCAL, elf::STT_FILE),
        pe::IMAGE_SYM_CLASS_STATIC if symbol.has_aux_section() => return None,
        pe::IMAGE_SYM_CLASS_STATIC | pe::IMAGE_SYM_CLASS_LABEL => (elf::STB_LOCAL, kind),
        pe::IMAGE_SYM_CLASS_EXTERNAL => (elf::STB_GLOBAL, kind),
        pe::IMAGE_SYM_CLASS_WEAK_EXTERNAL => (elf::STB_WEAK, kind),
        _ => return None,
    };
    let at = symbol.section().map(|index| index.0.wrapping_sub(1)).filter(|at| *at < sections.len());
    let start = at.and_then(|at| sections.get(at)).map_or(0, |section| section.address);
    let name = match symbol.name {
        [0, 0, 0, 0, offset @ ..] => NamePlace::Table(u32::from_le_bytes(offset)),
        _ => NamePlace::Entry(symbol.raw_name().split(|byte| *byte == 0).next().unwrap_or_default()),
    };
    Some(ForeignSymbol { name, address: start.wrapping_add(symbol.value().into()), section: at, binding, kind })
}
