//! Reads Mach-O files: programs and libraries of Darwin and NeXTSTEP, the debug files in their bundles, and universal
//! files, which hold an image for each of several architectures.

use object::macho::{self, FatArch32, FatArch64, MachHeader32, MachHeader64};
use object::read::macho::{FatArch, MachHeader, MachOFatFile, MachOFile, Nlist, Section as _, Segment as _};
use object::read::{Object as _, ObjectSection as _};
use object::{Architecture, Endianness, elf};

use super::elf::DebugLinks;
use super::error::ImageError;
use super::foreign_file::{ForeignFile, ForeignSection, ForeignSymbol, SectionNames, SymbolTable};
use super::machine_code::Machine;
use super::symbols::NamePlace;

/// The magic number, if a file begins as a Mach-O file.
fn magic(data: &[u8]) -> Option<u32> {
    let magic = u32::from_be_bytes(*data.first_chunk()?);
    matches!(magic, macho::MH_MAGIC | macho::MH_CIGAM | macho::MH_MAGIC_64 | macho::MH_CIGAM_64).then_some(magic)
}

/// Whether a file is a Mach-O file.
pub(super) fn is_macho(data: &[u8]) -> bool {
    magic(data).is_some()
}

/// Reads a Mach-O file.
///
/// # Errors
///
/// When the file is damaged.
pub(super) fn open(data: &[u8]) -> object::Result<ForeignFile<'_>> {
    match magic(data) {
        Some(macho::MH_MAGIC_64 | macho::MH_CIGAM_64) => read::<MachHeader64<Endianness>>(data, gmon::Word::W64),
        _ => read::<MachHeader32<Endianness>>(data, gmon::Word::W32),
    }
}

fn read<Mach: MachHeader<Endian = Endianness>>(data: &[u8], word: gmon::Word) -> object::Result<ForeignFile<'_>> {
    let file = MachOFile::<Mach>::parse(data)?;
    let endian = file.endian();
    let sections: Vec<ForeignSection<'_>> = file
        .sections()
        .map(|section| {
            let stored = section.macho_section();
            let flags = stored.flags(endian);
            ForeignSection {
                name: section.name_bytes().unwrap_or_default(),
                address: section.address(),
                size: section.size(),
                bytes: section.data().unwrap_or_default(),
                offset: stored.offset(endian).into(),
                is_code: flags.contains(macho::S_ATTR_PURE_INSTRUCTIONS)
                    || flags.contains(macho::S_ATTR_SOME_INSTRUCTIONS),
            }
        })
        .collect();
    let commands = read_commands::<Mach>(data, endian, &file)?;
    Ok(ForeignFile {
        length: data.len(),
        word,
        order: match endian {
            Endianness::Little => gmon::Order::Little,
            Endianness::Big => gmon::Order::Big,
        },
        model: None,
        machine: match file.architecture() {
            Architecture::I386 => Machine::X86,
            Architecture::X86_64 => Machine::X86_64,
            Architecture::Aarch64 => Machine::Aarch64,
            _ => Machine::Other,
        },
        base: commands.base,
        section_names: SectionNames::MachO,
        symbol_table: Box::new(Entries { endian, entries: file.macho_symbol_table().symbols() }),
        strings: commands.strings,
        has_underscores: true,
        links: DebugLinks { build_id: commands.uuid, has_bundle: true, ..DebugLinks::default() },
        pdb: None,
        sections,
    })
}

/// What the load commands say.
struct Commands<'data> {
    /// The lowest address with content in the file.
    base: u64,
    strings: &'data [u8],
    uuid: Option<&'data [u8]>,
}

fn read_commands<'data, Mach: MachHeader<Endian = Endianness>>(
    data: &'data [u8],
    endian: Endianness,
    file: &MachOFile<'data, Mach>,
) -> object::Result<Commands<'data>> {
    let mut found = Commands { base: u64::MAX, strings: &[], uuid: None };
    let mut commands = file.macho_load_commands()?;
    while let Ok(Some(command)) = commands.next() {
        if let Some((segment, _)) = Mach::Segment::from_command(command)? {
            // The segment __PAGEZERO has addresses that nothing may use.
            if segment.initprot(endian).contains(macho::VM_PROT_READ) {
                found.base = found.base.min(segment.vmaddr(endian).into());
            }
        } else if let Some(table) = command.symtab()? {
            let rest = data.get(table.stroff.get(endian) as usize..).unwrap_or_default();
            found.strings = rest.get(..table.strsize.get(endian) as usize).unwrap_or(rest);
        } else if let Some(uuid) = command.uuid()? {
            found.uuid = Some(&uuid.uuid);
        }
    }
    Ok(found)
}

/// The symbol table: entries with the symbols' addresses.
struct Entries<'data, Entry> {
    endian: Endianness,
    entries: &'data [Entry],
}

impl<'data, Entry: Nlist<Endian = Endianness>> SymbolTable<'data> for Entries<'data, Entry> {
    fn most(&self) -> usize {
        self.entries.len()
    }

    fn symbols<'a>(
        &'a self,
        sections: &'a [ForeignSection<'data>],
    ) -> Box<dyn Iterator<Item = ForeignSymbol<'data>> + 'a> {
        Box::new(self.entries.iter().filter_map(|entry| read_symbol(sections, self.endian, entry)))
    }
}

/// Reads a symbol; `None` for an entry that is only for debuggers, and for one that defines nothing.
fn read_symbol<'data, Symbol: Nlist<Endian = Endianness>>(
    sections: &[ForeignSection<'data>],
    endian: Endianness,
    symbol: &Symbol,
) -> Option<ForeignSymbol<'data>> {
    let kind = symbol.n_type();
    if symbol.is_stab() || kind.typ() != macho::N_SECT {
        return None;
    }
    let at = usize::from(symbol.n_sect()).checked_sub(1)?;
    let address = symbol.n_value(endian).into();
    // The symbol of the header claims to be in the first section.
    let section = sections.get(at).filter(|section| section.range().contains(&address))?;
    let is_global = kind.contains(macho::N_EXT) && !kind.contains(macho::N_PEXT);
    let is_weak = symbol.n_desc(endian).contains(macho::N_WEAK_DEF);
    Some(ForeignSymbol {
        name: NamePlace::Table(symbol.n_strx(endian)),
        address,
        section: Some(at),
        binding: match (is_global, is_weak) {
            (false, _) => elf::STB_LOCAL,
            (true, true) => elf::STB_WEAK,
            (true, false) => elf::STB_GLOBAL,
        },
        kind: if section.is_code { elf::STT_FUNC } else { elf::STT_OBJECT },
    })
}

/// The largest number of slices: Java class files start with the same four bytes, and a larger number.
const MOST: u32 = 40;

/// The image for one architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice<'data> {
    /// The name of the architecture, as `lipo` spells it.
    pub(crate) name: &'static str,
    /// The bytes of the image.
    pub(crate) data: &'data [u8],
}

/// Whether a file begins as a universal file.
pub(super) fn is_universal(data: &[u8]) -> bool {
    let word = |at: usize| data.get(at..)?.first_chunk().copied().map(u32::from_be_bytes);
    matches!(word(0), Some(macho::FAT_MAGIC | macho::FAT_MAGIC_64)) && word(4).is_some_and(|count| count <= MOST)
}

/// The slices of a universal file; `None` for a file of another format.
///
/// # Errors
///
/// When the file is damaged.
pub(crate) fn slices(data: &[u8]) -> Result<Option<Vec<Slice<'_>>>, ImageError> {
    if !is_universal(data) {
        return Ok(None);
    }
    let is_wide = data.get(3) == Some(&(macho::FAT_MAGIC_64 as u8));
    let slices = if is_wide { read_slices::<FatArch64>(data) } else { read_slices::<FatArch32>(data) };
    slices.map(Some).map_err(|source| ImageError::Damaged { format: "Mach-O", source })
}

/// The names of slices, for messages.
pub(crate) fn slice_names(slices: &[Slice<'_>]) -> String {
    slices.iter().map(|slice| slice.name).collect::<Vec<_>>().join(", ")
}

fn read_slices<Fat: FatArch>(data: &[u8]) -> object::Result<Vec<Slice<'_>>> {
    let file = MachOFatFile::<Fat>::parse(data)?;
    let slice = |part: &Fat| Ok(Slice { name: machine_name(part.cputype()), data: part.data(data)? });
    file.arches().iter().map(slice).collect()
}

fn machine_name(machine: macho::CpuType) -> &'static str {
    match machine {
        macho::CPU_TYPE_X86 => "i386",
        macho::CPU_TYPE_X86_64 => "x86_64",
        macho::CPU_TYPE_ARM => "arm",
        macho::CPU_TYPE_ARM64 => "arm64",
        macho::CPU_TYPE_POWERPC => "ppc",
        macho::CPU_TYPE_POWERPC64 => "ppc64",
        macho::CPU_TYPE_MC680X0 => "m68k",
        _ => "another architecture",
    }
}
