//! Reads the parts of an ELF file: headers, sections, the symbol table.

use std::ops::Range;

use object::Endianness;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{CompressionHeader, FileHeader, ProgramHeader, SectionHeader, SectionTable};
use object::read::{CompressedData, CompressedFileRange, CompressionFormat};

use super::debug_file::DebugLinks;
use super::lines::SourceFiles;
use super::nearest::SizedSymbol;
use super::sections::{Owned, Sections};
use super::synthetic_symbols::ImageStorage;
use super::{Code, Headers, Image, ImageError, LocalFiles, Machine, Policy, Symbol, identity, listing, other_formats};

/// Reads an ELF file of either word size and byte order.
pub(super) fn parse<'data>(
    data: &'data [u8],
    policy: Policy,
    storage: &'data ImageStorage,
) -> Result<Image<'data>, ImageError> {
    match word(data)? {
        word @ gmon::Word::W32 => File::<FileHeader32<Endianness>>::new(data, word)?.image(policy, storage),
        word @ gmon::Word::W64 => File::<FileHeader64<Endianness>>::new(data, word)?.image(policy, storage),
    }
}

/// Reads the debug information of an ELF file, which need not be a program.
pub(super) fn debug_information(data: &[u8]) -> Result<(Sections<'_>, DebugLinks<'_>), ImageError> {
    Ok(match word(data)? {
        word @ gmon::Word::W32 => {
            let file = File::<FileHeader32<Endianness>>::new(data, word)?;
            (file.debug_sections(), file.links())
        }
        word @ gmon::Word::W64 => {
            let file = File::<FileHeader64<Endianness>>::new(data, word)?;
            (file.debug_sections(), file.links())
        }
    })
}

/// Reads the split units of an ELF file, which is no program.
pub(super) fn split_information(data: &[u8]) -> Result<Owned, ImageError> {
    Ok(Owned::new(&match word(data)? {
        word @ gmon::Word::W32 => File::<FileHeader32<Endianness>>::new(data, word)?.sections_of(true),
        word @ gmon::Word::W64 => File::<FileHeader64<Endianness>>::new(data, word)?.sections_of(true),
    }))
}

/// The functions that the symbol table of an ELF file names, which need not be a program.
pub(super) fn symbols(data: &[u8], policy: Policy) -> Result<Vec<Symbol<'_>>, ImageError> {
    match word(data)? {
        word @ gmon::Word::W32 => listing::named(&File::<FileHeader32<Endianness>>::new(data, word)?, policy),
        word @ gmon::Word::W64 => listing::named(&File::<FileHeader64<Endianness>>::new(data, word)?, policy),
    }
}

/// All symbols of an ELF file that may be functions', in the order of its symbol table.
pub(super) fn sized_symbols(data: &[u8]) -> Result<Vec<SizedSymbol<'_>>, ImageError> {
    match word(data)? {
        word @ gmon::Word::W32 => listing::sized_symbols(&File::<FileHeader32<Endianness>>::new(data, word)?),
        word @ gmon::Word::W64 => listing::sized_symbols(&File::<FileHeader64<Endianness>>::new(data, word)?),
    }
}

/// The source files of the functions of an ELF file that only these see.
pub(super) fn local_files(data: &[u8]) -> Result<LocalFiles, ImageError> {
    match word(data)? {
        word @ gmon::Word::W32 => listing::local_files(&File::<FileHeader32<Endianness>>::new(data, word)?),
        word @ gmon::Word::W64 => listing::local_files(&File::<FileHeader64<Endianness>>::new(data, word)?),
    }
}

/// Which build of which program an ELF file is, if that can be told.
pub(super) fn program_identity(data: &[u8]) -> Result<Option<String>, ImageError> {
    Ok(match word(data)? {
        word @ gmon::Word::W32 => {
            let file = File::<FileHeader32<Endianness>>::new(data, word)?;
            identity::of(&file, file.links().build_id)
        }
        word @ gmon::Word::W64 => {
            let file = File::<FileHeader64<Endianness>>::new(data, word)?;
            identity::of(&file, file.links().build_id)
        }
    })
}

/// What the headers of an ELF file say.
pub(super) fn headers(data: &[u8]) -> Result<Headers, ImageError> {
    Ok(match word(data)? {
        word @ gmon::Word::W32 => File::<FileHeader32<Endianness>>::new(data, word)?.headers(),
        word @ gmon::Word::W64 => File::<FileHeader64<Endianness>>::new(data, word)?.headers(),
    })
}

/// The size of the words of an ELF file.
fn word(data: &[u8]) -> Result<gmon::Word, ImageError> {
    let start = data.get(..4).unwrap_or(data);
    if start != elf::ELFMAG {
        return Err(other_formats::name(data));
    }
    let is_narrow = data.get(4).is_some_and(|class| elf::FileClass(*class) == elf::ELFCLASS32);
    Ok(if is_narrow { gmon::Word::W32 } else { gmon::Word::W64 })
}

/// An ELF file of one word size, as far as everything in here needs it.
pub(super) struct File<'data, Elf: FileHeader> {
    pub(super) data: &'data [u8],
    pub(super) endian: Endianness,
    pub(super) word: gmon::Word,
    pub(super) header: &'data Elf,
    pub(super) sections: SectionTable<'data, Elf>,
}

impl<'data, Elf> File<'data, Elf>
where
    Elf: FileHeader<Endian = Endianness>,
{
    fn new(data: &'data [u8], word: gmon::Word) -> Result<File<'data, Elf>, ImageError> {
        let parse = || {
            let header = Elf::parse(data)?;
            let endian = header.endian()?;
            Ok(File { data, endian, word, header, sections: header.sections(endian, data)? })
        };
        // Where the file is too short, that is the reason for whatever does not fit.
        parse().map_err(|error: object::Error| match other_formats::missing(data) {
            Some(needed) => ImageError::Cut { needed, size: data.len() as u64 },
            None => ImageError::Malformed(error),
        })
    }

    /// What a section holds, to be run.
    fn machine_code(&self, section: &'data Elf::SectionHeader) -> Code<'data> {
        Code {
            machine: match self.header.e_machine(self.endian) {
                elf::EM_386 => Machine::X86,
                elf::EM_X86_64 => Machine::X86_64,
                elf::EM_AARCH64 => Machine::Aarch64,
                _ => Machine::Other,
            },
            start: section.sh_addr(self.endian).into(),
            bytes: section.data(self.endian, self.data).unwrap_or_default(),
        }
    }

    fn image(self, policy: Policy, storage: &'data ImageStorage) -> Result<Image<'data>, ImageError> {
        let (section, text) = self.text().ok_or(ImageError::NoText)?;
        let machine_code = self.machine_code(section);
        let (symbols, origin) = listing::functions(&self, policy, storage)?;
        if symbols.is_empty() {
            return Err(ImageError::NoSymbols);
        }
        Ok(Image {
            symbols,
            origin,
            machine_code,
            code: code_range(self.header, self.endian, self.data, &text),
            text,
            word: self.word,
            order: self.order(),
            files: SourceFiles::new(self.debug_sections(), policy == Policy::Compat),
            links: self.links(),
            data: self.data,
        })
    }

    fn headers(&self) -> Headers {
        let text = self.text().map(|(_, text)| text);
        Headers {
            word: self.word,
            order: self.order(),
            code: text.map(|text| code_range(self.header, self.endian, self.data, &text)),
            build_id: self.links().build_id.map(hexadecimal),
        }
    }

    /// The section `.text`, and its addresses.
    fn text(&self) -> Option<(&'data Elf::SectionHeader, Range<u64>)> {
        let (_, text) = self.sections.section_by_name(self.endian, b".text")?;
        let start: u64 = text.sh_addr(self.endian).into();
        let size: u64 = text.sh_size(self.endian).into();
        Some((text, start..start.saturating_add(size)))
    }

    fn order(&self) -> gmon::Order {
        match self.endian {
            Endianness::Little => gmon::Order::Little,
            Endianness::Big => gmon::Order::Big,
        }
    }

    fn debug_sections(&self) -> Sections<'data> {
        let mut sections = self.sections_of(false);
        sections.code = self.code();
        sections
    }

    /// Where the sections with code lie, ascending and apart.
    fn code(&self) -> Vec<Range<u64>> {
        let range = |section: &Elf::SectionHeader| {
            let (start, size): (u64, u64) = (section.sh_addr(self.endian).into(), section.sh_size(self.endian).into());
            let is_code = section.sh_flags(self.endian).contains(elf::SHF_ALLOC | elf::SHF_EXECINSTR);
            Some(start..start.saturating_add(size)).filter(|range| is_code && !range.is_empty())
        };
        let mut code: Vec<Range<u64>> = self.sections.iter().filter_map(range).collect();
        code.sort_unstable_by_key(|range| range.start);
        code.dedup_by(|next, kept| {
            let joins = next.start <= kept.end;
            if joins {
                kept.end = kept.end.max(next.end);
            }
            joins
        });
        code
    }

    fn sections_of(&self, is_split: bool) -> Sections<'data> {
        Sections::new(self.endian, self.word, is_split, self.data.len(), |name| self.stored_section(name))
    }

    /// What leads to the file with the debug information.
    fn links(&self) -> DebugLinks<'data> {
        let build_id = self.sections.iter().find_map(|section| {
            let mut notes = section.notes(self.endian, self.data).ok()??;
            while let Ok(Some(note)) = notes.next() {
                if note.name() == elf::ELF_NOTE_GNU && note.n_type(self.endian) == elf::NT_GNU_BUILD_ID {
                    return Some(note.desc());
                }
            }
            None
        });
        let link = self.section(b".gnu_debuglink").and_then(|(_, bytes)| {
            let name = bytes.split(|byte| *byte == 0).next()?;
            let sum = *bytes.get((name.len() + 1).next_multiple_of(4)..)?.first_chunk()?;
            let is_little = self.endian == Endianness::Little;
            Some((name, if is_little { u32::from_le_bytes(sum) } else { u32::from_be_bytes(sum) }))
        });
        DebugLinks { build_id, link }
    }

    /// A section and its bytes, unless it is absent, damaged or packed.
    pub(super) fn section(&self, name: &[u8]) -> Option<(&'data Elf::SectionHeader, &'data [u8])> {
        let (_, section) = self.sections.section_by_name(self.endian, name)?;
        Some((section, section.data(self.endian, self.data).ok()?))
    }

    /// A section as it is stored, or nothing when it is absent or damaged.
    fn stored_section(&self, name: &str) -> Option<CompressedData<'data>> {
        let (_, section) = self.sections.section_by_name(self.endian, name.as_bytes())?;
        let Some((header, offset, compressed_size)) = section.compression(self.endian, self.data).ok()? else {
            return section.data(self.endian, self.data).ok().map(CompressedData::none);
        };
        let format = match header.ch_type(self.endian) {
            elf::ELFCOMPRESS_ZLIB => CompressionFormat::Zlib,
            elf::ELFCOMPRESS_ZSTD => CompressionFormat::Zstandard,
            _ => return None,
        };
        let uncompressed_size = header.ch_size(self.endian).into();
        CompressedFileRange { format, offset, compressed_size, uncompressed_size }.data(self.data).ok()
    }
}

/// A build identifier as text.
pub(super) fn hexadecimal(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
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
            let storage = ImageStorage::default();
            let image = parse(&bytes, Policy::Compat, &storage).unwrap();
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
                assert!(parse(&bytes[..length], Policy::Full, &ImageStorage::default()).is_err(), "{length}");
            }
        }
    }
}
