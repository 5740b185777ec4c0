//! The symbols that GNU's tools make for the code behind function descriptors (64-bit PowerPC, ELFv1).
//!
//! The symbol `f` has the address of a descriptor in the section `.opd`. GNU's tools name the code itself `.f`. GNU gprof knows
//! only these names, and drops local ones because they contain a dot.

use std::collections::HashSet;

use object::Endianness;
use object::elf;
use object::read::elf::{FileHeader, Sym, SymbolTable};

use super::addresses::Addresses;
use super::elf::File;
use super::symbols::{NamePlace, NameTable};
use super::synthetic_symbols::SyntheticSymbols;

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
pub(super) fn add<'data, Elf>(
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
