//! Reads the parts of an ELF file: headers, sections, the symbol table.

use std::ops::Range;

use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{CompressionHeader, FileHeader, ProgramHeader, SectionHeader, SectionTable, Sym};
use object::read::{CompressedData, CompressedFileRange, CompressionFormat};
use object::{Endianness, SectionIndex, SymbolIndex};

use super::lines::SourceFiles;
use super::sections::Sections;
use super::separate::Marks;
use super::symbols::{self, Candidate, NameTable};
use super::{Image, ImageError, Symbol};

/// Reads an ELF file of either word size and byte order.
pub(super) fn parse(data: &[u8]) -> Result<Image<'_>, ImageError> {
    match word(data)? {
        gmon::Word::W32 => parse_class::<FileHeader32<Endianness>>(data, gmon::Word::W32),
        gmon::Word::W64 => parse_class::<FileHeader64<Endianness>>(data, gmon::Word::W64),
    }
}

/// Reads the debug information of an ELF file, which need not be a program.
pub(super) fn debug_information(data: &[u8]) -> Result<(Sections<'_>, Marks<'_>), ImageError> {
    match word(data)? {
        gmon::Word::W32 => debug_information_class::<FileHeader32<Endianness>>(data, gmon::Word::W32),
        gmon::Word::W64 => debug_information_class::<FileHeader64<Endianness>>(data, gmon::Word::W64),
    }
}

/// The size of the words of an ELF file.
fn word(data: &[u8]) -> Result<gmon::Word, ImageError> {
    let start = data.get(..4).unwrap_or(data);
    if start != elf::ELFMAG {
        return Err(ImageError::NotElf(start.to_vec()));
    }
    let is_narrow = data.get(4).is_some_and(|class| elf::FileClass(*class) == elf::ELFCLASS32);
    Ok(if is_narrow { gmon::Word::W32 } else { gmon::Word::W64 })
}

fn debug_information_class<Elf>(data: &[u8], word: gmon::Word) -> Result<(Sections<'_>, Marks<'_>), ImageError>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let found = Sections::new(endian, word, |name| stored_section(endian, &sections, data, name));
    Ok((found, marks(endian, &sections, data)))
}

fn parse_class<'data, Elf>(data: &'data [u8], word: gmon::Word) -> Result<Image<'data>, ImageError>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let (_, text) = sections.section_by_name(endian, b".text").ok_or(ImageError::NoText)?;
    let text_start: u64 = text.sh_addr(endian).into();
    let text_size: u64 = text.sh_size(endian).into();
    let text = text_start..text_start.saturating_add(text_size);
    let symbols = functions(endian, &sections, data)?;
    if symbols.is_empty() {
        return Err(ImageError::NoSymbols);
    }
    Ok(Image {
        symbols,
        code: code_range(header, endian, data, &text),
        text,
        word,
        order: match endian {
            Endianness::Little => gmon::Order::Little,
            Endianness::Big => gmon::Order::Big,
        },
        files: SourceFiles {
            sections: Sections::new(endian, word, |name| stored_section(endian, &sections, data, name)),
        },
        marks: marks(endian, &sections, data),
    })
}

/// The symbols of functions among those of the symbol table.
fn functions<'data, Elf>(
    endian: Endianness,
    sections: &SectionTable<'data, Elf>,
    data: &'data [u8],
) -> Result<Vec<Symbol<'data>>, ImageError>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let table = sections.symbols(endian, data, elf::SHT_SYMTAB)?;
    if table.is_empty() {
        return Err(ImageError::NoSymbols);
    }
    let strings = sections.section(table.string_section())?.data(endian, data)?;
    let code: Vec<bool> = sections.iter().map(|section| holds_code(endian, sections, section)).collect();
    let mut names = NameTable::new(strings);
    let mut kept = Vec::new();
    for (index, symbol) in table.enumerate() {
        let candidate = Candidate {
            address: symbol.st_value(endian).into(),
            name_offset: symbol.st_name(endian),
            binding: symbol.st_bind(),
            kind: symbol.st_type(),
            in_code: section_of(endian, &table, symbol, index).is_some_and(|at| code.get(at.0) == Some(&true)),
            defined: !matches!(symbol.st_shndx(endian), elf::SHN_UNDEF | elf::SHN_COMMON),
        };
        kept.extend(symbols::function(&candidate, &mut names));
    }
    Ok(kept)
}

/// The section that a symbol lies in, or `None` when it lies in none of the file's.
fn section_of<Elf>(
    endian: Endianness,
    table: &object::read::elf::SymbolTable<'_, Elf>,
    symbol: &Elf::Sym,
    index: SymbolIndex,
) -> Option<SectionIndex>
where
    Elf: FileHeader<Endian = Endianness>,
{
    table.symbol_section(endian, symbol, index).ok().flatten()
}

/// Whether a section's symbols count as code.
///
/// Names decide first, as in the tool whose text this program reproduces: a few well-known ones say what a section
/// holds whatever its flags say. For all the others the flag of executable sections decides.
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

/// From the lowest loaded byte to the end of the executable segments, or `text` when no segment says.
fn code_range<Elf>(header: &Elf, endian: Endianness, data: &[u8], text: &Range<u64>) -> Range<u64>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let mut code = text.clone();
    for segment in header.program_headers(endian, data).unwrap_or_default() {
        if segment.p_type(endian) != elf::PT_LOAD {
            continue;
        }
        let start: u64 = segment.p_vaddr(endian).into();
        let size: u64 = segment.p_memsz(endian).into();
        code.start = code.start.min(start);
        if segment.p_flags(endian).contains(elf::PF_X) {
            code.end = code.end.max(start.saturating_add(size));
        }
    }
    code
}

/// What leads to the file with the debug information.
fn marks<'data, Elf>(endian: Endianness, sections: &SectionTable<'data, Elf>, data: &'data [u8]) -> Marks<'data>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let build_id = sections.iter().find_map(|section| {
        let mut notes = section.notes(endian, data).ok()??;
        while let Ok(Some(note)) = notes.next() {
            if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
                return Some(note.desc());
            }
        }
        None
    });
    let link = sections.section_by_name(endian, b".gnu_debuglink").and_then(|(_, section)| {
        let bytes = section.data(endian, data).ok()?;
        let name = bytes.split(|byte| *byte == 0).next()?;
        let sum = bytes.get((name.len() + 1).next_multiple_of(4)..)?.first_chunk()?;
        let sum = if endian == Endianness::Little { u32::from_le_bytes(*sum) } else { u32::from_be_bytes(*sum) };
        Some((name, sum))
    });
    Marks { build_id, link }
}

/// A section as it is stored, or nothing when it is absent or damaged.
fn stored_section<'data, Elf>(
    endian: Endianness,
    sections: &SectionTable<'data, Elf>,
    data: &'data [u8],
    name: &str,
) -> Option<CompressedData<'data>>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let (_, section) = sections.section_by_name(endian, name.as_bytes())?;
    let Some((header, offset, compressed_size)) = section.compression(endian, data).ok()? else {
        return section.data(endian, data).ok().map(CompressedData::none);
    };
    let format = match header.ch_type(endian) {
        elf::ELFCOMPRESS_ZLIB => CompressionFormat::Zlib,
        elf::ELFCOMPRESS_ZSTD => CompressionFormat::Zstandard,
        _ => return None,
    };
    let uncompressed_size = header.ch_size(endian).into();
    CompressedFileRange { format, offset, compressed_size, uncompressed_size }.data(data).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of an ELF file, written in one word size and byte order.
    struct Writer {
        bytes: Vec<u8>,
        wide: bool,
        big: bool,
    }

    impl Writer {
        fn number(&mut self, value: u64, size: usize) {
            let bytes = value.to_le_bytes();
            let order: Vec<u8> =
                if self.big { bytes[..size].iter().rev().copied().collect() } else { bytes[..size].to_vec() };
            self.bytes.extend(order);
        }

        fn word(&mut self, value: u64) {
            self.number(value, if self.wide { 8 } else { 4 });
        }

        fn header(&mut self, sections: u64, at: u64) {
            self.bytes.extend(b"\x7fELF");
            self.bytes.extend([if self.wide { 2 } else { 1 }, if self.big { 2 } else { 1 }, 1]);
            self.bytes.resize(16, 0);
            self.number(2, 2);
            self.number(62, 2);
            self.number(1, 4);
            for value in [0, 0, at] {
                self.word(value);
            }
            self.number(0, 4);
            let (size, section) = if self.wide { (64, 64) } else { (52, 40) };
            for value in [size, 0, 0, section, sections, sections - 1] {
                self.number(value, 2);
            }
        }

        fn symbol(&mut self, name: u64, info: u64, section: u64, value: u64) {
            self.number(name, 4);
            if self.wide {
                self.number(info, 1);
                self.number(0, 1);
                self.number(section, 2);
                self.word(value);
                self.word(0);
            } else {
                self.word(value);
                self.word(0);
                self.number(info, 1);
                self.number(0, 1);
                self.number(section, 2);
            }
        }

        /// A section's header: name, type, flags, address, offset, size, link.
        fn section(&mut self, [name, kind, flags, address, offset, size, link]: [u64; 7]) {
            self.number(name, 4);
            self.number(kind, 4);
            for value in [flags, address, offset, size] {
                self.word(value);
            }
            self.number(link, 4);
            self.number(0, 4);
            self.word(1);
            self.word(if kind == 2 && self.wide {
                24
            } else if kind == 2 {
                16
            } else {
                0
            });
        }
    }

    /// A file with the sections `.text` and `.data` and four symbols.
    fn file(wide: bool, big: bool) -> Vec<u8> {
        const NAMES: &[u8] = b"\0.text\0.data\0.symtab\0.strtab\0main\0local\0datum\0x.part.0\0";
        let at = |name: &[u8]| NAMES.windows(name.len()).position(|window| window == name).unwrap() as u64;
        let mut symbols = Writer { bytes: Vec::new(), wide, big };
        symbols.symbol(0, 0, 0, 0);
        symbols.symbol(at(b"local"), 0x02, 1, 0x1010);
        symbols.symbol(at(b"x.part"), 0x02, 1, 0x1018);
        symbols.symbol(at(b"main"), 0x12, 1, 0x1000);
        symbols.symbol(at(b"datum"), 0x11, 2, 0x2000);
        let head = if wide { 64 } else { 52 };
        let (names, table) = (NAMES.len() as u64, symbols.bytes.len() as u64);
        let mut file = Writer { bytes: Vec::new(), wide, big };
        file.header(5, head + names + table);
        assert_eq!(file.bytes.len() as u64, head);
        file.bytes.extend(NAMES);
        file.bytes.extend(&symbols.bytes);
        file.section([0; 7]);
        file.section([at(b".text"), 1, 6, 0x1000, 0, 0x20, 0]);
        file.section([at(b".data"), 1, 3, 0x2000, 0, 0x20, 0]);
        file.section([at(b".symtab"), 2, 0, 0, head + names, table, 4]);
        file.section([at(b".strtab"), 3, 0, 0, head, names, 0]);
        file.bytes
    }

    #[test]
    fn every_word_size_and_byte_order() {
        for (wide, big) in [(false, false), (false, true), (true, false), (true, true)] {
            let bytes = file(wide, big);
            let image = parse(&bytes).unwrap();
            assert_eq!(image.text, 0x1000..0x1020);
            assert_eq!(image.word, if wide { gmon::Word::W64 } else { gmon::Word::W32 });
            assert_eq!(image.order, if big { gmon::Order::Big } else { gmon::Order::Little });
            let names: Vec<_> = image.symbols.iter().map(|s| (s.name, s.address, s.is_static, s.is_func)).collect();
            assert_eq!(names, [(b"local".as_slice(), 0x1010, true, true), (b"main", 0x1000, false, true)]);
        }
    }

    #[test]
    fn every_file_that_is_cut_off_is_refused_or_read() {
        for wide in [false, true] {
            let bytes = file(wide, false);
            for length in 0..bytes.len() {
                assert!(parse(&bytes[..length]).is_err(), "{length}");
            }
        }
    }
}
