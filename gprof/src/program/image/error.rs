//! The errors of files that are not images.

use std::fmt;

/// The reason why a file cannot be read as the profiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageError {
    /// The file does not start as an ELF, PE, or Mach-O file. Contains the first bytes, up to four.
    Unknown(Vec<u8>),
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
    /// The file of another format is damaged.
    Damaged {
        /// The name of the format.
        format: &'static str,
        /// What is damaged.
        source: object::Error,
    },
    /// The universal Mach-O file has several slices, and no profile chooses one of them. Contains the names of the slices.
    Universal(String),
    /// The symbols of the PE file are in a PDB file. Contains the path in the file.
    Pdb(String),
    /// The file has no section `.text`.
    NoText,
    /// The file has no symbols of functions: it was stripped.
    NoSymbols,
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Unknown(start) if start.is_empty() => {
                f.write_str("empty file, not an ELF, PE, or Mach-O executable")
            }
            ImageError::Unknown(start) => {
                write!(f, "not an ELF, PE, or Mach-O executable (magic {} at offset 0)", start.escape_ascii())
            }
            ImageError::Profile => f.write_str("this is a profile; name the program first"),
            ImageError::OtherFormat(format) => {
                write!(f, "{format} files are not supported: name an ELF, PE, or Mach-O program")
            }
            ImageError::Cut { needed, size } => {
                write!(f, "damaged ELF file: cut short ({size} bytes; the header requires {needed})")
            }
            ImageError::Malformed(error) => write!(f, "damaged ELF file: {error}"),
            ImageError::Damaged { format, source } => write!(f, "damaged {format} file: {source}"),
            ImageError::Universal(slices) => {
                write!(f, "universal Mach-O file with the slices {slices}: extract one (lipo -thin ARCHITECTURE)")
            }
            ImageError::Pdb(path) => write!(
                f,
                "no symbols of functions: they are in the PDB file {}, which gprof cannot read: compile with MinGW",
                path.escape_debug()
            ),
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
