//! Finds the code address of a symbol on machines where the symbol's value is something else.

use std::collections::HashMap;
use std::ops::Range;

use object::Endianness;
use object::elf::{self, SymbolType};
use object::read::elf::{FileHeader, Rela, SectionHeader};

use super::elf::File;

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
