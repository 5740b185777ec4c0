//! The program that was profiled: its symbols, where its code lies, and what its debug information says of files.
//!
//! Nothing outside this module knows the object file format, the debug information or how names are mangled. Everything
//! read here comes from a file that may be damaged or made to harm: sizes are checked before memory is asked for, and
//! nothing panics.

pub mod address_space;
mod addresses;
mod demangle;
mod elf;
pub(crate) mod files;
mod foreign;
pub mod frames;
mod identity;
mod limits;
mod line_tables;
pub mod lines;
mod listing;
mod nearest;
mod partial;
mod sections;
mod separate;
mod split;
mod symbols;
mod synthetic_symbols;
mod units;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use demangle::{LONGEST as LONGEST_READABLE, Style, demangle, demangle_as, looks_mangled};
pub use lines::SourceFiles;
pub use nearest::Nearest;
pub use partial::read;
pub use separate::DEFAULT_DIRECTORY;
use synthetic_symbols as made;
pub use synthetic_symbols::Names;

/// Code is measured in units of two bytes: what falls within one unit is not told apart.
pub const UNIT: u64 = 2;

/// An executable file, as far as a profile needs it.
pub struct Image<'data> {
    /// The symbols that may stand for functions, in the order of the file's symbol table.
    pub symbols: Vec<Symbol<'data>>,
    /// What tells of them.
    pub origin: Origin,
    /// The addresses of the section `.text`.
    pub text: Range<u64>,
    /// The addresses from the lowest byte that is loaded to the end of the last executable segment.
    pub code: Range<u64>,
    /// What `.text` holds.
    pub machine_code: Code<'data>,
    /// The size of an address.
    pub word: gmon::Word,
    /// The byte order.
    pub order: gmon::Order,
    /// The source files of functions.
    pub files: SourceFiles<'data>,
    /// What leads to debug information in another file.
    marks: separate::Marks<'data>,
    /// The file.
    data: &'data [u8],
}

/// Machine code.
#[derive(Clone, Copy, Debug)]
pub struct Code<'data> {
    /// Whose it is.
    pub machine: Machine,
    /// The address of the first byte.
    pub start: u64,
    /// The bytes.
    pub bytes: &'data [u8],
}

/// What runs machine code, as far as its calls can be recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// 32-bit x86.
    X86,
    /// 64-bit x86.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
    /// Any other.
    Other,
}

/// A symbol that stands for a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'data> {
    /// The address it names.
    pub address: u64,
    /// The name as it stands in the file, mangled.
    pub name: &'data [u8],
    /// Whether it is visible in its own source file only.
    pub is_static: bool,
    /// Whether the file says that it is a function.
    pub is_func: bool,
}

/// Which symbols stand for functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Those that do for GNU gprof, and nothing else.
    Compat,
    /// All that are known: also functions that are chosen at run time, copies that compilers make, and stubs that lead to
    /// other files. Of a file that was stripped, those it exports and those its unwind tables know.
    Full,
    /// Those that do for the BSDs' gprof: what is marked as a function, and be it in another file.
    Bsd {
        /// Also those that only their own source file sees.
        statics: bool,
        /// Also those that have a dot in their names.
        dots: bool,
    },
}

/// For the address of a function that only its own source file sees, which of the program's source files that is. Only
/// whether two are the same means anything.
pub type LocalFiles = HashMap<u64, u32>;

/// What tells of the functions of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Its symbol table.
    Symbols,
    /// What remains when that was stripped: symbols for the dynamic linker, and unwind tables.
    Remains,
}

/// The build identifier of an ELF file in hexadecimal, if it has one.
///
/// # Errors
///
/// When the bytes are no ELF file, or are damaged.
pub fn build_id(data: &[u8]) -> Result<Option<String>, ImageError> {
    let (_, marks) = elf::debug_information(data)?;
    Ok(marks.build_id.map(hexadecimal))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Which build of which program an ELF file is, in the words of a list beside a profile, if that can be told.
///
/// # Errors
///
/// When the bytes are no ELF file, or are damaged.
pub fn identity(data: &[u8]) -> Result<Option<String>, ImageError> {
    elf::program_identity(data)
}

impl<'data> Image<'data> {
    /// Reads an executable or a shared object from its bytes. Names that it has no text for are put into `room`.
    ///
    /// # Errors
    ///
    /// When the bytes are no ELF file, are damaged, or tell of no function.
    pub fn parse(data: &'data [u8], policy: Policy, room: &'data Names) -> Result<Image<'data>, ImageError> {
        elf::parse(data, policy, room)
    }

    /// The build identifier of the file in hexadecimal, if it has one.
    #[must_use]
    pub fn build_id(&self) -> Option<String> {
        self.marks.build_id.map(hexadecimal)
    }

    /// All symbols that may stand for functions, also those that do not for GNU or the BSDs.
    #[must_use]
    pub fn every_symbol(&self) -> Vec<Symbol<'data>> {
        match elf::symbols(self.data, Policy::Full) {
            Ok(symbols) if !symbols.is_empty() => symbols,
            _ => self.symbols.clone(),
        }
    }

    /// Whose code addresses are by the symbol table alone, for GNU's reports.
    #[must_use]
    pub fn nearest(&self) -> Nearest<'data> {
        Nearest::new(elf::places(self.data).unwrap_or_default())
    }

    /// Which source file each function is from that only its own file sees, as far as the symbol table says.
    #[must_use]
    pub fn local_files(&self) -> LocalFiles {
        elf::local_files(self.data).unwrap_or_default()
    }

    /// What is to be said of the names of functions, if anything.
    #[must_use]
    pub fn doubt(&self) -> Option<&'static str> {
        (self.origin == Origin::Remains)
            .then_some("the file was stripped: names are known of exported functions only, and others may be missing")
    }

    /// Takes what was stripped from the program from a file of its own, and says from which: debug information if the
    /// program has none, symbols if it has none.
    ///
    /// `path` is where the program lies. The file is looked for beside it and in `directories`, of which the system's
    /// is [`DEFAULT_DIRECTORY`]. A file that belongs to another build is not taken. Its bytes are put into `room`.
    ///
    /// From then on it is also known where to look for debug information that the compiler left in files of its own.
    pub fn find_debug_file(
        &mut self,
        path: &Path,
        directories: &[PathBuf],
        policy: Policy,
        room: &'data Names,
    ) -> Option<PathBuf> {
        // GNU knows nothing of units in other files.
        self.files.image = (policy != Policy::Compat).then(|| path.to_owned());
        let is_stripped = self.origin == Origin::Remains;
        if self.files.sections.has_lines() && !is_stripped {
            return None;
        }
        let (path, bytes) = separate::find(&self.marks, path, directories)?;
        let bytes = room.separate.get_or_init(|| bytes);
        if !self.files.sections.has_lines() {
            let image = self.files.image.take();
            self.files = SourceFiles::new(elf::debug_information(bytes).ok()?.0, policy == Policy::Compat);
            self.files.image = image;
        }
        let named = if is_stripped { elf::symbols(bytes, policy).ok()? } else { Vec::new() };
        if !named.is_empty() {
            self.origin = Origin::Symbols;
            // The other file has no code, so that stubs are known from this one.
            self.symbols.retain(|symbol| symbol.name.ends_with(synthetic_symbols::STUB));
            self.symbols.extend(named);
        }
        Some(path)
    }
}

/// Why a file cannot serve as the profiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageError {
    /// The first bytes are not those of an ELF file; here they are, up to four.
    NotElf(Vec<u8>),
    /// The file is a profile.
    Profile,
    /// The file has this format and not ELF.
    OtherFormat(&'static str),
    /// The ELF file ends before what its header tells of.
    Cut {
        /// How many bytes it must have.
        needed: u64,
        /// How many it has.
        size: u64,
    },
    /// The ELF file contradicts itself.
    Malformed(object::Error),
    /// No section `.text` is there.
    NoText,
    /// No symbol table is there, or no symbol in it is a function: the file was stripped.
    NoSymbols,
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::NotElf(start) if start.is_empty() => f.write_str("empty file, not an ELF executable"),
            ImageError::NotElf(start) => {
                write!(f, "not an ELF executable (magic {} at offset 0)", start.escape_ascii())
            }
            ImageError::Profile => f.write_str("this is a profile; name the program first"),
            ImageError::OtherFormat(format) => {
                write!(f, "{format} file, which is not supported: only ELF programs are")
            }
            ImageError::Cut { needed, size } => {
                write!(f, "damaged ELF file: cut short ({size} bytes, {needed} by its header)")
            }
            ImageError::Malformed(error) => write!(f, "damaged ELF file: {error}"),
            ImageError::NoText => f.write_str("no section .text: there is no code to report on"),
            ImageError::NoSymbols => f.write_str("no symbols of functions: the file was stripped"),
        }
    }
}

impl std::error::Error for ImageError {}

impl From<object::Error> for ImageError {
    fn from(error: object::Error) -> ImageError {
        ImageError::Malformed(error)
    }
}
