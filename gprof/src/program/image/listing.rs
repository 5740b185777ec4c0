//! Lists the functions of an ELF file, from symbols, stubs and unwind tables.

use std::collections::HashMap;

use gimli::RunTimeEndian;
use object::elf::{self, SymbolType};
use object::read::elf::{FileHeader, Rel, Rela, SectionHeader, SectionTable, Sym, SymbolTable};
use object::{Endianness, SymbolIndex};

use super::addresses::{self, Addresses};
use super::elf::File;
use super::error::ImageError;
use super::start_code;
use super::symbols::{self, Candidate, NamePlace, NameTable, Policy, SizedSymbol, Symbol};
use super::synthetic_symbols::{ImageStorage, Stubs, SyntheticSymbols};

/// Maps the address of a local function to a number that stands for its source file. Equal numbers mean the same
/// file; the numbers have no other meaning.
pub type LocalFiles = HashMap<u64, u32>;

/// The source from which the functions of a file are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The symbol table.
    Symbols,
    /// Dynamic symbols, unwind tables, and the symbols in a section for programs that were stripped (MiniDebugInfo).
    MiniDebugInfo,
    /// What remains after stripping: dynamic symbols and unwind tables.
    Stripped,
    /// The side files of runs: the program generated the code, and there is no file.
    Generated,
}

/// The functions of a file, and the source from which they are known.
pub(super) fn functions<'data, Elf>(
    file: &File<'data, Elf>,
    policy: Policy,
    storage: &'data ImageStorage,
) -> Result<(Vec<Symbol<'data>>, Origin), ImageError>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let mut symbols = named(file, policy)?;
    let mut synthetic = SyntheticSymbols::default();
    if policy == Policy::Compat {
        add_code_of_descriptors(file, &mut synthetic)?;
        symbols.extend(synthetic.into_symbols(storage));
        return Ok((symbols, Origin::Symbols));
    }
    if policy != Policy::Full {
        return Ok((symbols, Origin::Symbols));
    }
    let is_stripped = symbols.is_empty();
    if is_stripped {
        symbols = symbols_of(file, elf::SHT_DYNSYM, policy)?;
        add_unwound(file, &mut synthetic);
    }
    add_stubs(file, &mut synthetic);
    symbols.extend(synthetic.into_symbols(storage));
    Ok((symbols, if is_stripped { Origin::Stripped } else { Origin::Symbols }))
}

/// The functions in the symbol table of a file.
pub(super) fn named<'data, Elf>(file: &File<'data, Elf>, policy: Policy) -> Result<Vec<Symbol<'data>>, ImageError>
where
    Elf: FileHeader<Endian = Endianness>,
{
    symbols_of(file, elf::SHT_SYMTAB, policy)
}

/// The symbols of functions in a symbol table.
fn symbols_of<'data, Elf>(
    file: &File<'data, Elf>,
    kind: elf::SectionType,
    policy: Policy,
) -> Result<Vec<Symbol<'data>>, ImageError>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let (endian, data, sections) = (file.endian, file.data, &file.sections);
    let table = sections.symbols(endian, data, kind)?;
    if table.is_empty() {
        return Ok(Vec::new());
    }
    let strings = sections.section(table.string_section())?.data(endian, data)?;
    let code: Vec<bool> = sections.iter().map(|section| holds_code(endian, sections, section)).collect();
    let addresses = Addresses::of(file, &code);
    let mut names = NameTable::new(strings);
    let mut kept = Vec::new();
    for (index, symbol) in table.enumerate() {
        let section = table.symbol_section(endian, symbol, index).ok().flatten();
        let value = symbol.st_value(endian).into();
        let is_gnu_descriptor = policy == Policy::Compat && addresses.are_descriptors();
        let led_to = addresses.code(section.map(|at| at.0), symbol.st_type(), value).filter(|_| !is_gnu_descriptor);
        let candidate = Candidate {
            address: led_to.unwrap_or(value),
            name: NamePlace::Table(symbol.st_name(endian)),
            binding: symbol.st_bind(),
            kind: symbol.st_type(),
            in_code: led_to.is_some() && addresses.are_descriptors()
                || section.is_some_and(|at| code.get(at.0) == Some(&true)),
            defined: !matches!(symbol.st_shndx(endian), elf::SHN_UNDEF | elf::SHN_COMMON),
        };
        kept.extend(symbols::function(&candidate, &mut names, policy));
    }
    Ok(kept)
}

/// Adds the symbols that GNU's tools make for the code behind function descriptors.
fn add_code_of_descriptors<Elf>(file: &File<'_, Elf>, synthetic: &mut SyntheticSymbols) -> Result<(), ImageError>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let table = file.sections.symbols(file.endian, file.data, elf::SHT_SYMTAB)?;
    if table.is_empty() {
        return Ok(());
    }
    let strings = file.sections.section(table.string_section())?.data(file.endian, file.data)?;
    let code: Vec<bool> =
        file.sections.iter().map(|section| holds_code(file.endian, &file.sections, section)).collect();
    addresses::add_descriptor_symbols(file, (&table, strings), (&Addresses::of(file, &code), &code), synthetic);
    Ok(())
}

/// Every symbol in code, except those of a type other than function.
pub(super) fn sized_symbols<'data, Elf>(file: &File<'data, Elf>) -> Result<Vec<SizedSymbol<'data>>, ImageError>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let (endian, sections) = (file.endian, &file.sections);
    let table = sections.symbols(endian, file.data, elf::SHT_SYMTAB)?;
    if table.is_empty() {
        return Ok(Vec::new());
    }
    let strings = sections.section(table.string_section())?.data(endian, file.data)?;
    let code: Vec<bool> = sections.iter().map(|section| holds_code(endian, sections, section)).collect();
    let names = NameTable::new(strings);
    let place = |(index, symbol): (SymbolIndex, &'data Elf::Sym)| {
        let kind = symbol.st_type();
        let section = table.symbol_section(endian, symbol, index).ok().flatten()?;
        let may_be = matches!(kind, elf::STT_NOTYPE | elf::STT_FUNC | elf::STT_GNU_IFUNC);
        (may_be && code.get(section.0) == Some(&true)).then_some(SizedSymbol {
            address: symbol.st_value(endian).into(),
            size: symbol.st_size(endian).into().max(1),
            name: names.get(NamePlace::Table(symbol.st_name(endian)))?,
            is_func: kind == elf::STT_FUNC,
            is_typed: kind != elf::STT_NOTYPE,
        })
    };
    Ok(table.enumerate().filter_map(place).collect())
}

/// The source files of local functions: in a symbol table, the symbol of a file comes before the symbols of its
/// functions.
pub(super) fn local_files<Elf>(file: &File<'_, Elf>) -> Result<LocalFiles, ImageError>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let table = file.sections.symbols(file.endian, file.data, elf::SHT_SYMTAB)?;
    let (mut found, mut number) = (LocalFiles::new(), 0);
    for symbol in table.iter().filter(|symbol| symbol.st_bind() == elf::STB_LOCAL) {
        match symbol.st_type() {
            elf::STT_FILE => number += 1,
            elf::STT_FUNC | elf::STT_GNU_IFUNC if number > 0 => {
                found.entry(symbol.st_value(file.endian).into()).or_insert(number);
            }
            _ => {}
        }
    }
    Ok(found)
}

/// Adds the functions in the unwind tables.
fn add_unwound<Elf>(file: &File<'_, Elf>, synthetic: &mut SyntheticSymbols)
where
    Elf: FileHeader<Endian = Endianness>,
{
    let Some((section, bytes)) = file.section(b".eh_frame") else {
        return;
    };
    let endian = if file.endian == Endianness::Little { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let address_size = if file.word == gmon::Word::W64 { 8 } else { 4 };
    let address = section.sh_addr(file.endian).into();
    synthetic.add_unwound((bytes, address), endian, address_size, &start_code::functions(file));
}

/// A word of memory in which the loader stores the address of a function of another file.
struct Slot<'data> {
    address: u64,
    name: &'data [u8],
}

/// Adds the stubs through which the file calls functions of other files.
fn add_stubs<Elf>(file: &File<'_, Elf>, synthetic: &mut SyntheticSymbols)
where
    Elf: FileHeader<Endian = Endianness>,
{
    let Ok(table) = file.sections.symbols(file.endian, file.data, elf::SHT_DYNSYM) else {
        return;
    };
    let machine = file.header.e_machine(file.endian);
    let is_x86 = matches!(machine, elf::EM_X86_64 | elf::EM_386);
    let calls = [b".rela.plt".as_slice(), b".rel.plt"].into_iter().flat_map(|name| slots(file, &table, name, true));
    let calls: Vec<Slot<'_>> = calls.collect();
    let data = [b".rela.dyn".as_slice(), b".rel.dyn"].into_iter().flat_map(|name| slots(file, &table, name, false));
    let all: Vec<Slot<'_>> = if is_x86 { data.collect() } else { Vec::new() };
    let all: Vec<&Slot<'_>> = calls.iter().chain(&all).collect();
    let by_address: HashMap<u64, usize> = all.iter().enumerate().rev().map(|(at, slot)| (slot.address, at)).collect();
    for name in [b".plt".as_slice(), b".plt.sec", b".plt.got"] {
        let Some((section, bytes)) = file.section(name) else {
            continue;
        };
        // Linkers do not always store the size of a stub.
        let said: u64 = section.sh_entsize(file.endian).into();
        let size = if matches!(said, 8 | 12 | 16 | 24) { said } else { 16 };
        let stubs = Stubs { address: section.sh_addr(file.endian).into(), bytes, size };
        let found = if is_x86 {
            stubs.by_jumps(machine == elf::EM_X86_64, |slot| by_address.get(&slot).copied())
        } else if name == b".plt" {
            stubs.by_order(calls.len())
        } else {
            Vec::new()
        };
        for (address, slot) in found {
            if let Some(slot) = all.get(slot).filter(|slot| !slot.name.is_empty()) {
                synthetic.add_stub(address, slot.name);
            }
        }
    }
}

/// The slots that a section of relocations fills. Slots without a name are included only `with_unnamed`, where the
/// order of slots matters: most relocations are for data and have no name.
fn slots<'data, Elf>(
    file: &File<'data, Elf>,
    table: &SymbolTable<'data, Elf>,
    section: &[u8],
    with_unnamed: bool,
) -> Vec<Slot<'data>>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let endian = file.endian;
    let slot = |address: u64, symbol: u32| {
        let name = function_name(table, endian, SymbolIndex(symbol as usize));
        (with_unnamed || name.is_some()).then(|| Slot { address, name: name.unwrap_or_default() })
    };
    let Some((_, section)) = file.sections.section_by_name(endian, section) else {
        return Vec::new();
    };
    if let Ok(Some((relocations, _))) = section.rela(endian, file.data) {
        relocations.iter().filter_map(|entry| slot(entry.r_offset(endian).into(), entry.r_sym(endian, false))).collect()
    } else if let Ok(Some((relocations, _))) = section.rel(endian, file.data) {
        relocations.iter().filter_map(|entry| slot(entry.r_offset(endian).into(), entry.r_sym(endian))).collect()
    } else {
        Vec::new()
    }
}

/// The name of a symbol that may be a function of another file.
fn function_name<'data, Elf>(
    table: &SymbolTable<'data, Elf>,
    endian: Endianness,
    index: SymbolIndex,
) -> Option<&'data [u8]>
where
    Elf: FileHeader<Endian = Endianness>,
{
    /// The maximum length of a name: a million relocations may share one name of a million bytes.
    const LONGEST: usize = 4096;
    let symbol = table.symbol(index).ok()?;
    let is_function = |kind: SymbolType| matches!(kind, elf::STT_FUNC | elf::STT_NOTYPE | elf::STT_GNU_IFUNC);
    if index.0 == 0 || !is_function(symbol.st_type()) {
        return None;
    }
    let name = symbol.name(endian, table.strings()).ok()?;
    (name.len() < LONGEST).then_some(name)
}

/// Whether the symbols of a section count as code.
///
/// Names decide first, as in GNU gprof: for a few well-known names the flags do not matter. For all other sections
/// the flag for executable code decides.
fn holds_code<Elf>(endian: Endianness, sections: &SectionTable<'_, Elf>, section: &Elf::SectionHeader) -> bool
where
    Elf: FileHeader<Endian = Endianness>,
{
    const CODE: [&[u8]; 4] = [b"code", b".fini", b".init", b".text"];
    const NO_CODE: [&[u8]; 13] = [
        b".bss",
        b".data",
        b"*DEBUG*",
        b".debug",
        b".drectve",
        b".edata",
        b".idata",
        b".pdata",
        b".rdata",
        b".rodata",
        b".sbss",
        b".scommon",
        b".sdata",
    ];
    let name = sections.section_name(endian, section).unwrap_or_default();
    let is = |known: &[u8]| {
        name.strip_prefix(known).is_some_and(|rest| rest.first().is_none_or(|next| b".$0123456789".contains(next)))
    };
    if CODE.iter().any(|known| is(known)) {
        return true;
    }
    !NO_CODE.iter().any(|known| is(known)) && section.sh_flags(endian).contains(elf::SHF_EXECINSTR)
}
