//! The errors of files that are not images.

use std::fmt;

/// The reason why a file cannot be read as the profiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageError {
    /// The file does not start with the magic number of ELF. Contains the first bytes, up to four.
    NotElf(Vec<u8>),
    /// The file is a profile.
    Profile,
    /// The file has this other format.
    OtherFormat(&'static str),
    /// The ELF file is shorter than its header requires.
    Cut {
        /// The size in bytes that the header requires.
        needed: u64,
        /// The size of the file in bytes.
        size: u64,
    },
    /// The ELF file is damaged.
    Malformed(object::Error),
    /// The file has no section `.text`.
    NoText,
    /// The file has no symbols of functions: it was stripped.
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
                write!(f, "{format} files are not supported: name an ELF program")
            }
            ImageError::Cut { needed, size } => {
                write!(f, "damaged ELF file: cut short ({size} bytes; the header requires {needed})")
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
