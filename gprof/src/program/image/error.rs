//! The errors of files that are not images, and the recognition of such files: other formats, and profiles.

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
    /// The universal Mach-O file has several slices, and no profile chooses one of them. Contains the names of the
    /// slices.
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

/// The error for a file that is not an image that this crate reads.
pub(super) fn other_format(data: &[u8]) -> ImageError {
    if gmon::detect(data, &gmon::Hints::default()).is_ok() {
        return ImageError::Profile;
    }
    let format = match data {
        [b'M', b'Z', ..] => Some("MS-DOS"),
        [0x01, 0xdf | 0xf7, ..] => Some("XCOFF (AIX)"),
        _ if data.starts_with(b"!<arch>\n") => Some("archive"),
        _ if data.starts_with(b"Microsoft C/C++ ") => Some("PDB (debug information of Microsoft's tools)"),
        _ if is_a_out(data) => Some("a.out format"),
        _ => None,
    };
    match format {
        Some(format) => ImageError::OtherFormat(format),
        None => ImageError::Unknown(data.get(..4).unwrap_or(data).to_vec()),
    }
}

/// Whether a file is in the format of the programs of early Unix and BSD systems: a magic number of 16 bits, and sizes
/// of code, data, and symbols that fit into the file.
fn is_a_out(data: &[u8]) -> bool {
    const MAGIC: [u16; 4] = [0o407, 0o410, 0o413, 0o314];
    let Some(head) = data.first_chunk::<32>() else {
        return false;
    };
    let fits = |number: fn([u8; 4]) -> u32| {
        let word = |at: usize| head.get(at..).and_then(|rest| rest.first_chunk().copied()).map_or(u32::MAX, number);
        let size = [4, 8, 16].iter().map(|at| u64::from(word(*at))).sum::<u64>();
        MAGIC.contains(&(word(0) as u16)) && word(4) != 0 && size <= data.len() as u64
    };
    // NetBSD stores the first word in big-endian order on every machine, with the machine in its high half.
    let is_netbsd = MAGIC.contains(&u16::from_be_bytes([head[2], head[3]])) && head[0] == 0 && head[1] != 0;
    fits(u32::from_le_bytes) || fits(u32::from_be_bytes) || is_netbsd
}

/// The size that an ELF file must have according to its header, if the file is shorter.
pub(super) fn size_by_header(data: &[u8]) -> Option<u64> {
    let is_wide = data.get(4) == Some(&2);
    let is_big = data.get(5) == Some(&2);
    let number = |at: usize, size: usize| {
        let bytes = data.get(at..at + size)?.iter();
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if is_big { bytes.fold(0, add) } else { bytes.rev().fold(0, add) })
    };
    let sections = if is_wide {
        number(40, 8).zip(number(58, 2)).zip(number(60, 2))
    } else {
        number(32, 4).zip(number(46, 2)).zip(number(48, 2))
    };
    let Some(((start, size), count)) = sections else { return Some(if is_wide { 64 } else { 52 }) };
    start.checked_add(size * count).filter(|end| *end > data.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let is = |data: &[u8], format| assert_eq!(other_format(data), ImageError::OtherFormat(format));
        is(b"MZ", "MS-DOS");
        is(b"\x01\xdf\0\x03", "XCOFF (AIX)");
        is(b"Microsoft C/C++ MSF 7.00\r\n\x1aDS", "PDB (debug information of Microsoft's tools)");
        is(b"!<arch>\nx", "archive");
        let mut old = vec![0; 0x60];
        old[..8].copy_from_slice(&[0x0b, 1, 0x64, 0, 0x20, 0, 0, 0]);
        is(&old, "a.out format");
        old[5] = 1;
        assert!(matches!(other_format(&old), ImageError::Unknown(_)), "the code does not fit into the file");
        for other in [&b"\xca\xfe\xba\xbe\0\0\0\x34"[..], b"\xca\xfe\xba\xbe", b"#!/bin/sh\n", b"M", b""] {
            assert!(matches!(other_format(other), ImageError::Unknown(_)), "{other:?}");
        }
        assert_eq!(other_format(b"gmon\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), ImageError::Profile);
    }
}
