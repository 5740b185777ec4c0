//! Opens an image of any supported format: ELF, PE (Windows), or Mach-O (Darwin, NeXT).
//!
//! The readers of PE and Mach-O turn a file into a [`ForeignFile`], which answers all questions about the file.

use std::ops::Range;

use object::Endianness;
use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader};

use super::elf::{self, DebugLinks, File};
use super::error::{self, ImageError};
use super::foreign_file::ForeignFile;
use super::listing::{self, LocalFiles, Origin};
use super::machine_code::Code;
use super::sections::Sections;
use super::symbols::{Policy, SizedSymbol, Symbol};
use super::synthetic_symbols::ImageStorage;
use super::{macho, pe};

/// The code of an image.
pub(super) struct Text<'data> {
    /// The addresses of the section with the code.
    pub(super) range: Range<u64>,
    /// The machine code in that section.
    pub(super) code: Code<'data>,
    /// The offset of that section in the file.
    pub(super) offset: u64,
    /// The addresses from the lowest loaded byte to the end of all code.
    pub(super) loaded: Range<u64>,
}

/// An image, or a file with the debug information of an image, of one format.
pub(super) trait Format<'data> {
    /// The size of an address.
    fn word(&self) -> gmon::Word;

    /// The byte order.
    fn order(&self) -> gmon::Order;

    /// What the image tells about its profiles.
    fn hints(&self) -> gmon::Hints {
        gmon::Hints::new().with_word(self.word()).with_order(self.order())
    }

    /// The addresses that the program's own runtime samples, if symbols tell.
    fn sampled(&self) -> Option<Range<u64>> {
        None
    }

    /// Whether the runtime finds no unwind tables, because the linker has not made their index.
    fn lacks_unwind_index(&self) -> bool {
        false
    }

    /// The code; `None` without a section of code.
    fn text(&self) -> Option<Text<'data>>;

    /// The debug information.
    fn debug_sections(&self) -> Sections<'data>;

    /// The debug information of a file with split units.
    fn split_sections(&self) -> Sections<'data>;

    /// The links to the separate debug file.
    fn links(&self) -> DebugLinks<'data>;

    /// The compressed image with the symbols that are left of a stripped file.
    fn mini_debug_info(&self) -> Option<&'data [u8]> {
        None
    }

    /// The identity by which files beside a profile name the program.
    fn identity(&self) -> Option<String>;

    /// The functions, and the source from which they are known.
    fn functions(
        &self,
        policy: Policy,
        storage: &'data ImageStorage,
    ) -> Result<(Vec<Symbol<'data>>, Origin), ImageError>;

    /// The functions in the symbol table.
    fn named(&self, policy: Policy) -> Result<Vec<Symbol<'data>>, ImageError>;

    /// All symbols that may be functions, in the order of the symbol table.
    fn sized_symbols(&self) -> Result<Vec<SizedSymbol<'data>>, ImageError>;

    /// The source files of local functions.
    fn local_files(&self) -> Result<LocalFiles, ImageError>;
}

/// Opens a file.
///
/// # Errors
///
/// When the file has no supported format, or is damaged.
pub(super) fn open<'data>(data: &'data [u8]) -> Result<Box<dyn Format<'data> + 'data>, ImageError> {
    if elf::is_elf(data) {
        return Ok(match elf::word(data) {
            word @ gmon::Word::W32 => Box::new(File::<FileHeader32<Endianness>>::new(data, word)?),
            word @ gmon::Word::W64 => Box::new(File::<FileHeader64<Endianness>>::new(data, word)?),
        });
    }
    match open_foreign(data)? {
        Some(file) => Ok(Box::new(file)),
        None => Err(error::other_format(data)),
    }
}

impl<'data, Elf> Format<'data> for File<'data, Elf>
where
    Elf: FileHeader<Endian = Endianness>,
{
    fn word(&self) -> gmon::Word {
        self.word
    }

    fn order(&self) -> gmon::Order {
        File::order(self)
    }

    fn lacks_unwind_index(&self) -> bool {
        elf::lacks_unwind_index(self.header, self.endian, self.data)
    }

    fn text(&self) -> Option<Text<'data>> {
        let (section, range) = File::text(self)?;
        Some(Text {
            code: self.machine_code(section),
            offset: section.sh_offset(self.endian).into(),
            loaded: elf::code_range(self.header, self.endian, self.data, &range),
            range,
        })
    }

    fn debug_sections(&self) -> Sections<'data> {
        File::debug_sections(self)
    }

    fn split_sections(&self) -> Sections<'data> {
        self.sections_of(true)
    }

    fn links(&self) -> DebugLinks<'data> {
        File::links(self)
    }

    fn mini_debug_info(&self) -> Option<&'data [u8]> {
        self.section(b".gnu_debugdata").map(|(_, bytes)| bytes)
    }

    fn identity(&self) -> Option<String> {
        elf::program_identity(self, File::links(self).build_id)
    }

    fn functions(
        &self,
        policy: Policy,
        storage: &'data ImageStorage,
    ) -> Result<(Vec<Symbol<'data>>, Origin), ImageError> {
        listing::functions(self, policy, storage)
    }

    fn named(&self, policy: Policy) -> Result<Vec<Symbol<'data>>, ImageError> {
        listing::named(self, policy)
    }

    fn sized_symbols(&self) -> Result<Vec<SizedSymbol<'data>>, ImageError> {
        listing::sized_symbols(self)
    }

    fn local_files(&self) -> Result<LocalFiles, ImageError> {
        listing::local_files(self)
    }
}

impl<'data> Format<'data> for ForeignFile<'data> {
    fn word(&self) -> gmon::Word {
        self.word
    }

    fn order(&self) -> gmon::Order {
        self.order
    }

    fn hints(&self) -> gmon::Hints {
        let hints = gmon::Hints::new().with_word(self.word).with_order(self.order);
        self.model.map_or(hints, |model| hints.with_model(model))
    }

    fn sampled(&self) -> Option<Range<u64>> {
        ForeignFile::sampled(self)
    }

    fn text(&self) -> Option<Text<'data>> {
        let section = self.section(".text")?;
        Some(Text {
            range: section.range(),
            code: Code { machine: self.machine, start: section.address, bytes: section.bytes },
            offset: section.offset,
            loaded: self.loaded(&section.range()),
        })
    }

    fn debug_sections(&self) -> Sections<'data> {
        ForeignFile::debug_sections(self)
    }

    fn split_sections(&self) -> Sections<'data> {
        self.sections_of(true)
    }

    fn links(&self) -> DebugLinks<'data> {
        self.links.clone()
    }

    /// Files beside a profile describe ELF programs.
    fn identity(&self) -> Option<String> {
        None
    }

    fn functions(&self, policy: Policy, _: &'data ImageStorage) -> Result<(Vec<Symbol<'data>>, Origin), ImageError> {
        let symbols = ForeignFile::named(self, policy);
        match &self.pdb {
            Some(path) if symbols.is_empty() => Err(ImageError::Pdb(path.clone())),
            _ => Ok((symbols, Origin::Symbols)),
        }
    }

    fn named(&self, policy: Policy) -> Result<Vec<Symbol<'data>>, ImageError> {
        Ok(ForeignFile::named(self, policy))
    }

    fn sized_symbols(&self) -> Result<Vec<SizedSymbol<'data>>, ImageError> {
        Ok(ForeignFile::sized_symbols(self))
    }

    fn local_files(&self) -> Result<LocalFiles, ImageError> {
        Ok(ForeignFile::local_files(self))
    }
}

/// Opens a PE or Mach-O file; `None` for a file of another format. A universal file must have exactly one slice.
///
/// # Errors
///
/// When the file is damaged, or is a universal file of several slices.
fn open_foreign(data: &[u8]) -> Result<Option<ForeignFile<'_>>, ImageError> {
    if let Some(slices) = macho::slices(data)? {
        let [slice] = slices.as_slice() else {
            return Err(ImageError::Universal(macho::slice_names(&slices)));
        };
        return open_slice(slice.data);
    }
    open_slice(data)
}

fn open_slice(data: &[u8]) -> Result<Option<ForeignFile<'_>>, ImageError> {
    let damaged = |format| move |source| ImageError::Damaged { format, source };
    if macho::is_macho(data) {
        macho::open(data).map(Some).map_err(damaged("Mach-O"))
    } else if pe::is_pe(data) {
        pe::open(data).map(Some).map_err(damaged("PE"))
    } else {
        Ok(None)
    }
}

/// Whether a file begins as a PE file, an MS-DOS file, or a Mach-O file.
pub(super) fn begins_as_foreign(start: &[u8]) -> bool {
    start.starts_with(pe::MAGIC) || macho::is_macho(start) || macho::is_universal(start)
}
