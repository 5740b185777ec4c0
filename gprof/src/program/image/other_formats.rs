//! Recognizes files that were given in place of the program and are not images that this crate reads.

use super::error::ImageError;

/// The error for a file that is not an image that this crate reads.
pub(super) fn name(data: &[u8]) -> ImageError {
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

/// Whether a file is in the format of the programs of early Unix and BSD systems: a magic number of 16 bits, and sizes of
/// code, data, and symbols that fit into the file.
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
        let is = |data: &[u8], format| assert_eq!(name(data), ImageError::OtherFormat(format));
        is(b"MZ", "MS-DOS");
        is(b"\x01\xdf\0\x03", "XCOFF (AIX)");
        is(b"Microsoft C/C++ MSF 7.00\r\n\x1aDS", "PDB (debug information of Microsoft's tools)");
        is(b"!<arch>\nx", "archive");
        let mut old = vec![0; 0x60];
        old[..8].copy_from_slice(&[0x0b, 1, 0x64, 0, 0x20, 0, 0, 0]);
        is(&old, "a.out format");
        old[5] = 1;
        assert!(matches!(name(&old), ImageError::Unknown(_)), "the code does not fit into the file");
        for other in [&b"\xca\xfe\xba\xbe\0\0\0\x34"[..], b"\xca\xfe\xba\xbe", b"#!/bin/sh\n", b"M", b""] {
            assert!(matches!(name(other), ImageError::Unknown(_)), "{other:?}");
        }
        assert_eq!(name(b"gmon\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), ImageError::Profile);
    }
}
