//! An executable file or a shared object.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gmon::side_file::function_addresses;

use super::elf::DebugLinks;
use super::error::ImageError;
use super::listing::{LocalFiles, Origin};
use super::machine_code::{Code, Machine};
use super::sections::Sections;
use super::source_files::SourceFiles;
use super::supplements::Search;
use super::symbols::{Nearest, Policy, Symbol};
use super::synthetic_symbols::{self, ImageStorage};
use super::{debug_files, format, headers, mini_debug_info};

/// An executable file or a shared object, with everything that reports need from it.
pub struct Image<'data> {
    /// The symbols of functions, in the order of the file's symbol table.
    pub symbols: Vec<Symbol<'data>>,
    /// The source of these symbols.
    pub origin: Origin,
    /// The addresses of the section `.text`.
    pub text: Range<u64>,
    /// The addresses from the lowest loaded byte to the end of the last executable segment.
    pub code: Range<u64>,
    /// The machine code in `.text`.
    pub machine_code: Code<'data>,
    /// The size of an address.
    pub word: gmon::Word,
    /// The byte order.
    pub order: gmon::Order,
    /// What the image tells about its profiles: word size, byte order, and for Windows the size of a C `long`.
    pub hints: gmon::Hints,
    /// The addresses that the program's own runtime samples, at the addresses of the linker, if symbols tell (MinGW).
    pub sampled: Option<Range<u64>>,
    /// Whether the linker has not made the index of unwind tables, without which the runtime does not find these
    /// tables.
    pub lacks_unwind_index: bool,
    /// The debug information, which has the source files of functions.
    pub files: SourceFiles<'data>,
    /// The warning about MiniDebugInfo that cannot be read.
    pub damage: Option<String>,
    /// The offset of `.text` in the file.
    pub(super) text_offset: u64,
    /// The links to the separate debug file.
    links: DebugLinks<'data>,
    /// The content of the file.
    data: &'data [u8],
}

/// The identity of an image, as in the list beside a profile, if the file has one.
///
/// # Errors
///
/// When the bytes are not an image, or are damaged.
pub fn identity(data: &[u8]) -> Result<Option<String>, ImageError> {
    Ok(format::open(data)?.identity())
}

impl<'data> Image<'data> {
    /// Parses an executable or a shared object. Names that are not in `data` are stored in `storage`.
    ///
    /// # Errors
    ///
    /// When the bytes are not an image, are damaged, or contain no function.
    pub fn parse(data: &'data [u8], policy: Policy, storage: &'data ImageStorage) -> Result<Image<'data>, ImageError> {
        let file = format::open(data)?;
        let text = file.text().ok_or(ImageError::NoText)?;
        let (symbols, origin) = file.functions(policy, storage)?;
        if symbols.is_empty() {
            return Err(ImageError::NoSymbols);
        }
        Ok(Image {
            symbols,
            origin,
            machine_code: text.code,
            text_offset: text.offset,
            code: text.loaded,
            text: text.range,
            word: file.word(),
            order: file.order(),
            hints: file.hints(),
            sampled: file.sampled(),
            lacks_unwind_index: file.lacks_unwind_index(),
            files: SourceFiles::new(file.debug_sections(), policy.starts_in_first_file()),
            damage: None,
            links: file.links(),
            data,
        })
    }

    /// Makes the image of code that a program generated while it ran: functions with these names, at the addresses that
    /// follow from their order.
    pub(crate) fn generated(names: &'data [Box<[u8]>]) -> Image<'data> {
        let code = 0..function_addresses(names.len()).start;
        let symbol = |(index, name): (usize, &'data [u8])| Symbol {
            address: function_addresses(index).start,
            name,
            is_static: false,
            is_func: true,
        };
        let sections = Sections::new(object::Endianness::Little, gmon::Word::W64, false, 0, |_| None);
        Image {
            symbols: names.iter().map(|name| &**name).enumerate().map(symbol).collect(),
            origin: Origin::Generated,
            text: code.clone(),
            machine_code: Code { machine: Machine::Other, start: 0, bytes: &[] },
            code,
            word: gmon::Word::W64,
            order: gmon::Order::Little,
            hints: gmon::Hints::new(),
            sampled: None,
            lacks_unwind_index: false,
            files: SourceFiles::new(sections, false),
            damage: None,
            text_offset: 0,
            links: DebugLinks::default(),
            data: &[],
        }
    }

    /// The build ID of the file in hexadecimal, if the file has one.
    #[must_use]
    pub fn build_id(&self) -> Option<String> {
        self.links.build_id.map(headers::hexadecimal)
    }

    /// All symbols of functions, including those that GNU's and the BSDs' gprof do not use.
    #[must_use]
    pub fn every_symbol(&self) -> Vec<Symbol<'data>> {
        match format::open(self.data).and_then(|file| file.named(Policy::Full)) {
            Ok(symbols) if !symbols.is_empty() => symbols,
            _ => self.symbols.clone(),
        }
    }

    /// A lookup of functions by the symbol table alone, for GNU's reports.
    #[must_use]
    pub fn nearest(&self) -> Nearest<'data> {
        Nearest::new(format::open(self.data).and_then(|file| file.sized_symbols()).unwrap_or_default())
    }

    /// The source file of each local function, as far as the symbol table has it.
    #[must_use]
    pub fn local_files(&self) -> LocalFiles {
        format::open(self.data).and_then(|file| file.local_files()).unwrap_or_default()
    }

    /// The warning about missing names of functions, if names are missing.
    #[must_use]
    pub fn warning(&self) -> Option<&'static str> {
        self.lacks_symbols()
            .then_some("the file was stripped: only exported functions have names, and other functions may be missing")
    }

    /// Reads stripped debug information and symbols from a separate file, and returns the path of that file. Takes
    /// the debug information if the program has none, and the symbols if the program has none. If no file has symbols,
    /// takes those of MiniDebugInfo.
    ///
    /// `path` is the path of the program. The file is searched for beside the program and in `directories`, which
    /// should contain [`DEFAULT_DIRECTORY`]. A file of another build is skipped. The content of the file is stored in
    /// `storage`.
    ///
    /// After this call, the image also finds debug information in split files.
    pub fn find_debug_file(
        &mut self,
        path: &Path,
        directories: &[PathBuf],
        policy: Policy,
        storage: &'data ImageStorage,
    ) -> Option<PathBuf> {
        self.files.image = policy.reads_split_units().then(|| path.to_owned());
        self.files.search = self.links.shared.map(|link| Search::new(&link, path, directories));
        if self.files.sections.has_lines() && self.origin != Origin::Stripped {
            return None;
        }
        let found = debug_files::find_debug_file(&self.links, path, directories);
        let found = found.and_then(|(path, bytes)| {
            self.take_debug_file(&path, bytes, directories, policy, storage)?;
            Some(path)
        });
        if self.origin == Origin::Stripped {
            self.take_mini_debug_info(policy, storage);
        }
        found
    }

    /// Takes what the program lacks from a separate file that was found elsewhere, as [`Image::find_debug_file`] does.
    /// A file of another build is ignored, and so is a second file.
    pub fn add_debug_file(
        &mut self,
        path: &Path,
        bytes: Vec<u8>,
        directories: &[PathBuf],
        policy: Policy,
        storage: &'data ImageStorage,
    ) {
        let own = self.links.build_id;
        let is_same = own.is_some() && format::open(&bytes).is_ok_and(|file| file.links().build_id == own);
        if is_same && storage.debug_file.get().is_none() {
            let _ = self.take_debug_file(path, bytes, directories, policy, storage);
        }
    }

    /// Whether names of functions are missing, because the file was stripped and no other file has the symbols.
    #[must_use]
    pub fn lacks_symbols(&self) -> bool {
        self.origin == Origin::Stripped
    }

    /// Takes debug information and symbols of the separate file at `path` where the program has none. Returns `None` if
    /// the file has no use.
    fn take_debug_file(
        &mut self,
        path: &Path,
        bytes: Vec<u8>,
        directories: &[PathBuf],
        policy: Policy,
        storage: &'data ImageStorage,
    ) -> Option<()> {
        let debug = format::open(storage.debug_file.get_or_init(|| bytes)).ok()?;
        if !self.files.sections.has_lines() {
            let image = self.files.image.take();
            self.files = SourceFiles::new(debug.debug_sections(), policy.starts_in_first_file());
            self.files.image = image;
            self.files.search = debug.links().shared.map(|link| Search::new(&link, path, directories));
        }
        let named = if self.origin == Origin::Symbols { Vec::new() } else { debug.named(policy).ok()? };
        if !named.is_empty() {
            self.origin = Origin::Symbols;
            // The debug file has no code: stubs come from the program's own file.
            self.symbols.retain(|symbol| symbol.name.ends_with(synthetic_symbols::STUB));
            self.symbols.extend(named);
        }
        Some(())
    }

    /// Adds the symbols in MiniDebugInfo, if there are any.
    fn take_mini_debug_info(&mut self, policy: Policy, storage: &'data ImageStorage) {
        let packed = format::open(self.data).ok().and_then(|file| file.mini_debug_info());
        let Some(packed) = packed else { return };
        let unpacked = mini_debug_info::unpack(packed, self.data.len());
        let symbols = unpacked.and_then(|bytes| {
            let file = format::open(storage.mini_debug_info.get_or_init(|| bytes));
            file.and_then(|file| file.named(policy)).map_err(|error| error.to_string())
        });
        match symbols {
            Ok(symbols) if symbols.is_empty() => {}
            Ok(symbols) => {
                // The section has no weak functions, whose only trace may be in the unwind tables.
                let named: HashSet<u64> = symbols.iter().map(|symbol| symbol.address).collect();
                let is_needless =
                    |symbol: &Symbol<'_>| synthetic_symbols::is_guess(symbol) && named.contains(&symbol.address);
                self.symbols.retain(|symbol| !is_needless(symbol));
                self.symbols.extend(symbols);
                self.origin = Origin::MiniDebugInfo;
            }
            Err(why) => {
                self.damage = Some(format!("the section .gnu_debugdata is damaged ({why}): gprof ignores its symbols"));
            }
        }
    }
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
            let image = Image::parse(&bytes, Policy::Compat, &storage).unwrap();
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
                assert!(Image::parse(&bytes[..length], Policy::Full, &ImageStorage::default()).is_err(), "{length}");
            }
        }
    }
}
