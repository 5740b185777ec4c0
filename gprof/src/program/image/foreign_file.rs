//! An image that is not an ELF file, in the terms that all formats share.

use std::collections::HashSet;
use std::ops::Range;

use object::Endianness;
use object::elf::{self, SymbolBind, SymbolType};
use object::read::CompressedData;

use super::elf::DebugLinks;
use super::listing::LocalFiles;
use super::machine_code::Machine;
use super::sections::Sections;
use super::symbols::{self, Candidate, NamePlace, NameTable, Policy, SizedSymbol, Symbol};

/// The length of the longest name of a section in Mach-O.
const MACHO_NAME: usize = 16;

/// How a format names the section `.text`, and all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SectionNames {
    /// `.text`
    Pe,
    /// `__text`, and at most 16 bytes.
    MachO,
}

/// A section.
#[derive(Clone, Debug)]
pub(super) struct ForeignSection<'data> {
    pub(super) name: &'data [u8],
    pub(super) address: u64,
    /// The size in memory in bytes.
    pub(super) size: u64,
    /// The content in the file, which may be shorter than the section.
    pub(super) bytes: &'data [u8],
    /// The offset in the file.
    pub(super) offset: u64,
    pub(super) is_code: bool,
}

impl ForeignSection<'_> {
    /// The addresses of the section.
    pub(super) fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.size)
    }
}

/// A symbol, with the binding and the type that ELF has for such a symbol.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForeignSymbol<'data> {
    pub(super) name: NamePlace<'data>,
    pub(super) address: u64,
    /// The index in the sections; `None` for a symbol in no section.
    pub(super) section: Option<usize>,
    pub(super) binding: SymbolBind,
    pub(super) kind: SymbolType,
}

/// The symbol table of one format. A file may have millions of symbols, so symbols are decoded while they are used, and
/// a caller that only needs headers decodes none.
pub(super) trait SymbolTable<'data> {
    /// The maximum number of symbols. The length of the file limits this number.
    fn most(&self) -> usize;

    /// The symbols in the order of the table, except entries that are only for debuggers.
    fn symbols<'a>(
        &'a self,
        sections: &'a [ForeignSection<'data>],
    ) -> Box<dyn Iterator<Item = ForeignSymbol<'data>> + 'a>;

    /// The addresses that the program's own runtime samples, if symbols tell.
    fn sampled(&self, _sections: &[ForeignSection<'data>]) -> Option<Range<u64>> {
        None
    }
}

/// An image that is not an ELF file.
pub(super) struct ForeignFile<'data> {
    pub(super) length: usize,
    pub(super) word: gmon::Word,
    pub(super) order: gmon::Order,
    /// The sizes of an address and of a C `long`, if the format tells.
    pub(super) model: Option<gmon::DataModel>,
    pub(super) machine: Machine,
    /// The lowest loaded address.
    pub(super) base: u64,
    pub(super) section_names: SectionNames,
    pub(super) sections: Vec<ForeignSection<'data>>,
    pub(super) symbol_table: Box<dyn SymbolTable<'data> + 'data>,
    /// The string table of the symbols.
    pub(super) strings: &'data [u8],
    /// Whether compilers put an underscore before each name.
    pub(super) has_underscores: bool,
    pub(super) links: DebugLinks<'data>,
    /// The path of the PDB file that has the symbols.
    pub(super) pdb: Option<String>,
}

impl<'data> ForeignFile<'data> {
    /// The section with this name in ELF.
    pub(super) fn section(&self, name: &str) -> Option<&ForeignSection<'data>> {
        let macho;
        let stored = match self.section_names {
            SectionNames::Pe => name.as_bytes(),
            SectionNames::MachO => {
                macho = format!("__{}", name.strip_prefix('.').unwrap_or(name)).into_bytes();
                macho.get(..MACHO_NAME).unwrap_or(&macho)
            }
        };
        self.sections.iter().find(|section| section.name == stored)
    }

    /// The symbols, in the order of the symbol table.
    fn symbols(&self) -> impl Iterator<Item = ForeignSymbol<'data>> {
        self.symbol_table.symbols(&self.sections)
    }

    /// The addresses that the program's own runtime samples, if symbols tell.
    pub(super) fn sampled(&self) -> Option<Range<u64>> {
        self.symbol_table.sampled(&self.sections)
    }

    /// The addresses from the lowest loaded byte to the end of all code.
    pub(super) fn loaded(&self, text: &Range<u64>) -> Range<u64> {
        let ends = self.sections.iter().filter(|section| section.is_code).map(|section| section.range().end);
        self.base.min(text.start)..ends.fold(text.end, u64::max)
    }

    /// The debug information, and the addresses of code.
    pub(super) fn debug_sections(&self) -> Sections<'data> {
        let mut sections = self.sections_of(false);
        let ranges = self.sections.iter().filter(|section| section.is_code).map(ForeignSection::range);
        sections.set_code(ranges.collect());
        sections
    }

    /// The sections of the debug information: those of an image, or those of a file with split units.
    pub(super) fn sections_of(&self, is_split: bool) -> Sections<'data> {
        let endian = match self.order {
            gmon::Order::Little => Endianness::Little,
            gmon::Order::Big => Endianness::Big,
        };
        let stored = |name: &str| self.section(name).map(|section| CompressedData::none(section.bytes));
        Sections::new(endian, self.word, is_split, self.length, stored)
    }

    /// The functions in the symbol table. Names are as in the source: without the underscore of compilers.
    pub(super) fn named(&self, policy: Policy) -> Vec<Symbol<'data>> {
        let mut names = NameTable::new(self.strings);
        // MinGW's linker puts marks of its own at the beginning of the code (`___tls_start__`), where a local function
        // may be.
        let typed: HashSet<u64> = match policy {
            // All symbols of Mach-O have types.
            Policy::Full if self.symbols().any(|symbol| symbol.kind == elf::STT_NOTYPE) => {
                let functions = self.symbols().filter(|symbol| symbol.kind == elf::STT_FUNC);
                functions.map(|symbol| symbol.address).collect()
            }
            Policy::Full | Policy::Compat | Policy::Bsd { .. } => HashSet::new(),
        };
        // A vector that grows needs three times the memory of its elements.
        let mut kept = Vec::with_capacity(self.symbol_table.most());
        kept.extend(self.symbols().filter_map(|symbol| {
            if symbol.kind == elf::STT_NOTYPE && typed.contains(&symbol.address) {
                return None;
            }
            let in_code = symbol.section.and_then(|at| self.sections.get(at)).is_some_and(|section| section.is_code);
            let candidate = Candidate {
                address: symbol.address,
                name: symbol.name,
                binding: symbol.binding,
                kind: symbol.kind,
                in_code,
                defined: symbol.section.is_some(),
            };
            let function = symbols::function(&candidate, &mut names, policy)?;
            let plain = function.name.strip_prefix(b"_").filter(|_| self.has_underscores);
            // GNU gprof takes local names without the underscore for labels, and marks no local symbols as functions in
            // PE and Mach-O files.
            let is_gnu_label = self.has_underscores && function.is_static && plain.is_none();
            if policy == Policy::Compat && is_gnu_label {
                return None;
            }
            let is_func = function.is_func && !(policy == Policy::Compat && function.is_static);
            Some(Symbol { name: plain.unwrap_or(function.name), is_func, ..function })
        }));
        kept
    }

    /// Every symbol in code.
    pub(super) fn sized_symbols(&self) -> Vec<SizedSymbol<'data>> {
        let names = NameTable::new(self.strings);
        let place = |symbol: ForeignSymbol<'data>| {
            let section = self.sections.get(symbol.section?)?;
            (section.is_code && matches!(symbol.kind, elf::STT_NOTYPE | elf::STT_FUNC)).then_some(SizedSymbol {
                address: symbol.address,
                size: 1,
                name: names.get(symbol.name)?,
                is_func: symbol.kind == elf::STT_FUNC,
                is_typed: symbol.kind != elf::STT_NOTYPE,
            })
        };
        let mut sized = Vec::with_capacity(self.symbol_table.most());
        sized.extend(self.symbols().filter_map(place));
        sized
    }

    /// The source files of local functions: the symbol of a file comes before the symbols of its functions.
    pub(super) fn local_files(&self) -> LocalFiles {
        let (mut found, mut number) = (LocalFiles::new(), 0);
        for symbol in self.symbols() {
            match symbol.kind {
                elf::STT_FILE => number += 1,
                elf::STT_FUNC if number > 0 && symbol.binding == elf::STB_LOCAL => {
                    found.entry(symbol.address).or_insert(number);
                }
                _ => {}
            }
        }
        found
    }
}
