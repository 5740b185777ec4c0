//! Why a file is no image.

use std::fmt;

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
