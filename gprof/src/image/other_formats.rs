//! Recognizes files that were given in place of the program and are not ELF files.

use super::error::ImageError;

/// The largest number of architectures in a universal Mach-O file: Java class files start with the same four bytes,
/// and a larger number.
const MOST_MACHINES: u32 = 40;

/// The error for a file that is not an ELF file.
pub(super) fn name(data: &[u8]) -> ImageError {
    if gmon::detect(data, &gmon::Hints::default()).is_ok() {
        return ImageError::Profile;
    }
    let word = |at: usize| data.get(at..)?.first_chunk().copied();
    let format = match data.first_chunk().copied().map(u32::from_be_bytes) {
        Some(0xfeed_face | 0xfeed_facf | 0xcefa_edfe | 0xcffa_edfe) => Some("Mach-O"),
        Some(0xcafe_babe) if word(4).is_some_and(|count| u32::from_be_bytes(count) <= MOST_MACHINES) => Some("Mach-O"),
        Some(0x213c_6172) if data.starts_with(b"!<arch>\n") => Some("archive"),
        _ if data.starts_with(b"MZ") => {
            let start = word(0x3c).and_then(|at| usize::try_from(u32::from_le_bytes(at)).ok());
            let is_pe = start.and_then(word).is_some_and(|magic| magic == *b"PE\0\0");
            Some(if is_pe { "PE (Windows)" } else { "MS-DOS" })
        }
        _ => None,
    };
    match format {
        Some(format) => ImageError::OtherFormat(format),
        None => ImageError::NotElf(data.get(..4).unwrap_or(data).to_vec()),
    }
}

/// The size that an ELF file must have according to its header, if the file is shorter.
pub(super) fn missing(data: &[u8]) -> Option<u64> {
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
        let mut pe = vec![0; 0x90];
        pe[..2].copy_from_slice(b"MZ");
        pe[0x3c] = 0x80;
        pe[0x80..0x84].copy_from_slice(b"PE\0\0");
        let is = |data: &[u8], format| assert_eq!(name(data), ImageError::OtherFormat(format));
        is(&pe, "PE (Windows)");
        is(&pe[..0x80], "MS-DOS");
        is(b"MZ", "MS-DOS");
        is(b"\xcf\xfa\xed\xfe\x07\0\0\x01", "Mach-O");
        is(b"\xca\xfe\xba\xbe\0\0\0\x02", "Mach-O");
        is(b"!<arch>\nx", "archive");
        for other in [&b"\xca\xfe\xba\xbe\0\0\0\x34"[..], b"\xca\xfe\xba\xbe", b"#!/bin/sh\n", b"M", b""] {
            assert!(matches!(name(other), ImageError::NotElf(_)), "{other:?}");
        }
        assert_eq!(name(b"gmon\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), ImageError::Profile);
    }
}
