//! Symbols whose value is not the address of code, on machines with function descriptors or tagged addresses.
//!
//! [`Addresses`] finds the code of a symbol. [`add_descriptor_symbols`] adds the symbols that GNU's tools make for code
//! behind function descriptors (64-bit PowerPC, ELFv1): the symbol `f` has the address of a descriptor in the section
//! `.opd`, and GNU's tools name the code itself `.f`. GNU gprof knows only these names, and drops local ones because
//! they contain a dot.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use object::Endianness;
use object::elf::{self, SymbolType};
use object::read::elf::{FileHeader, Rela, SectionHeader, Sym, SymbolTable};

use super::elf::File;
use super::symbols::{NamePlace, NameTable};
use super::synthetic_symbols::SyntheticSymbols;

/// How symbol values lead to code on a machine.
pub(super) enum Addresses<'data> {
    /// A value is an address of code.
    Plain,
    /// 32-bit ARM: the lowest bit of a function's value marks Thumb code.
    Thumb,
    /// 64-bit PowerPC, ELFv1: a function's value is the address of a descriptor, which starts with the address of the
    /// code.
    Descriptors(Descriptors<'data>),
}

/// The section `.opd`.
pub(super) struct Descriptors<'data> {
    index: usize,
    start: u64,
    bytes: &'data [u8],
    is_big: bool,
    /// The words that the loader stores in the section, by their offset.
    relocated: HashMap<u64, u64>,
    /// The range from the first to the last address of code.
    code: Range<u64>,
}

/// The bits of `e_flags` with the ABI version on 64-bit PowerPC, and the version that has no descriptors.
const ABI: u32 = 3;
const WITHOUT_DESCRIPTORS: u32 = 2;

impl<'data> Addresses<'data> {
    /// Determines the kind for a file. `is_code` tells which sections hold code.
    pub(super) fn of<Elf>(file: &File<'data, Elf>, is_code: &[bool]) -> Addresses<'data>
    where
        Elf: FileHeader<Endian = Endianness>,
    {
        match file.header.e_machine(file.endian) {
            elf::EM_ARM => Addresses::Thumb,
            elf::EM_PPC64 if file.header.e_flags(file.endian).0 & ABI != WITHOUT_DESCRIPTORS => {
                Descriptors::of(file, is_code).map_or(Addresses::Plain, Addresses::Descriptors)
            }
            _ => Addresses::Plain,
        }
    }

    /// Whether symbols of functions lie in data sections.
    pub(super) fn are_descriptors(&self) -> bool {
        matches!(self, Addresses::Descriptors(_))
    }

    /// The address of a symbol's code; `None` if the symbol's value is the address.
    pub(super) fn code(&self, section: Option<usize>, kind: SymbolType, value: u64) -> Option<u64> {
        match self {
            Addresses::Plain => None,
            Addresses::Thumb => matches!(kind, elf::STT_FUNC | elf::STT_GNU_IFUNC).then_some(value & !1),
            Addresses::Descriptors(descriptors) => descriptors.code(section?, value),
        }
    }
}

impl<'data> Descriptors<'data> {
    fn of<Elf>(file: &File<'data, Elf>, is_code: &[bool]) -> Option<Descriptors<'data>>
    where
        Elf: FileHeader<Endian = Endianness>,
    {
        let endian = file.endian;
        let (index, section) = file.sections.section_by_name(endian, b".opd")?;
        let start: u64 = section.sh_addr(endian).into();
        let bytes = section.data(endian, file.data).ok()?;
        let all = file.sections.iter().zip(is_code).filter(|(_, is_code)| **is_code).map(|(section, _)| section);
        let ranges = all.map(|section| {
            let start: u64 = section.sh_addr(endian).into();
            start..start.saturating_add(section.sh_size(endian).into())
        });
        let code = ranges.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end))?;
        let mut relocated = HashMap::new();
        let relocations = file.sections.section_by_name(endian, b".rela.dyn").map(|(_, section)| section);
        if let Some(Ok(Some((relocations, _)))) = relocations.map(|section| section.rela(endian, file.data)) {
            for entry in relocations {
                let at = Into::<u64>::into(entry.r_offset(endian)).wrapping_sub(start);
                if at < bytes.len() as u64 && entry.r_type(endian, false) == elf::R_PPC64_RELATIVE {
                    relocated.insert(at, Into::<i64>::into(entry.r_addend(endian)).cast_unsigned());
                }
            }
        }
        Some(Descriptors { index: index.0, start, bytes, is_big: endian == Endianness::Big, relocated, code })
    }

    fn code(&self, section: usize, value: u64) -> Option<u64> {
        let at = value.checked_sub(self.start).filter(|_| section == self.index)?;
        let stored = || {
            let word = *self.bytes.get(usize::try_from(at).ok()?..)?.first_chunk()?;
            Some(if self.is_big { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) })
        };
        let address = self.relocated.get(&at).copied().or_else(stored)?;
        self.code.contains(&address).then_some(address)
    }
}

/// A symbol of a descriptor, in the order in which GNU's tools prefer symbols of one address.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Descriptor<'data> {
    value: u64,
    is_local: bool,
    is_untyped: bool,
    is_weak: bool,
    /// The index in the symbol table.
    index: usize,
    code: u64,
    name: &'data [u8],
}

/// The number of bytes of names for each byte of the string table: many symbols may share one long name.
const GAIN: usize = 4;

/// Adds the symbols of code that has a descriptor and no symbol of its own. `is_code` tells which sections hold code.
pub(super) fn add_descriptor_symbols<'data, Elf>(
    file: &File<'data, Elf>,
    (table, strings): (&SymbolTable<'data, Elf>, &'data [u8]),
    (addresses, is_code): (&Addresses<'data>, &[bool]),
    synthetic: &mut SyntheticSymbols,
) where
    Elf: FileHeader<Endian = Endianness>,
{
    if !addresses.are_descriptors() {
        return;
    }
    let names = NameTable::new(strings);
    let (mut descriptors, mut named) = (Vec::new(), HashSet::new());
    for (index, symbol) in table.enumerate() {
        let kind = symbol.st_type();
        let Some(section) = table.symbol_section(file.endian, symbol, index).ok().flatten().map(|section| section.0)
        else {
            continue;
        };
        if matches!(kind, elf::STT_FILE | elf::STT_OBJECT | elf::STT_TLS | elf::STT_SECTION) {
            continue;
        }
        let value = symbol.st_value(file.endian).into();
        if is_code.get(section) == Some(&true) {
            named.insert(value);
        }
        let Some(code) = addresses.code(Some(section), kind, value) else { continue };
        descriptors.push(Descriptor {
            value,
            is_local: symbol.st_bind() == elf::STB_LOCAL,
            is_untyped: kind != elf::STT_FUNC,
            is_weak: symbol.st_bind() == elf::STB_WEAK,
            index: index.0,
            code,
            name: names.get(NamePlace::Table(symbol.st_name(file.endian))).unwrap_or_default(),
        });
    }
    descriptors.sort_unstable();
    descriptors.dedup_by_key(|descriptor| descriptor.value);
    let mut left = strings.len().saturating_mul(GAIN);
    for descriptor in descriptors.iter().filter(|known| !known.is_local && !named.contains(&known.code)) {
        let Some(rest) = left.checked_sub(descriptor.name.len()) else { break };
        left = rest;
        synthetic.add_code(descriptor.code, descriptor.name);
    }
}
