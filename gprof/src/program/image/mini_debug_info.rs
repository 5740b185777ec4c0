//! MiniDebugInfo: the symbols of a stripped program, in a section of the program itself.
//!
//! Fedora and its relatives keep the symbols of functions that a program does not export in the section
//! `.gnu_debugdata`: an ELF file that has only these symbols, compressed with xz.

use std::io::Read;

use lzma_rust2::XzReader;

use super::sections::{SLACK, TOTAL_GAIN};

/// Decompresses the section. `length` is the length of the whole file, which limits the size of the result.
///
/// # Errors
///
/// Why the section cannot be decompressed.
pub(super) fn unpack(packed: &[u8], length: usize) -> Result<Vec<u8>, String> {
    unpack_at_most(packed, (length as u64).saturating_mul(TOTAL_GAIN).saturating_add(SLACK))
}

fn unpack_at_most(packed: &[u8], most: u64) -> Result<Vec<u8>, String> {
    // The decompressor's window grows with the result, whatever size the section claims.
    let mut unpacked = Vec::new();
    let read = XzReader::new(packed, false).take(most.saturating_add(1)).read_to_end(&mut unpacked);
    match read {
        Ok(read) if read as u64 > most => Err(format!("it has more than {most} bytes when decompressed")),
        Ok(_) => Ok(unpacked),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text `mini` and a line end, compressed by `xz -9 --check=sha256`.
    const PACKED: [u8; 88] = [
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x0a, 0xe1, 0xfb, 0x0c, 0xa1, 0x02, 0x00, 0x21, 0x01, 0x1c, 0x00,
        0x00, 0x00, 0x10, 0xcf, 0x58, 0xcc, 0x01, 0x00, 0x04, 0x6d, 0x69, 0x6e, 0x69, 0x0a, 0x00, 0x00, 0x00, 0x00,
        0xd5, 0xa9, 0x50, 0xe7, 0x4e, 0xee, 0x87, 0xf4, 0x8a, 0x10, 0x7f, 0x54, 0xc9, 0x24, 0xc9, 0xe4, 0x01, 0x68,
        0xed, 0x7f, 0x68, 0x28, 0x18, 0x5a, 0x3c, 0xb8, 0x2e, 0x4c, 0x3e, 0x74, 0xb2, 0xb3, 0x00, 0x01, 0x35, 0x05,
        0x12, 0x83, 0xdd, 0xf2, 0x18, 0x9b, 0x4b, 0x9a, 0x01, 0x00, 0x00, 0x00, 0x00, 0x0a, 0x59, 0x5a,
    ];

    #[test]
    fn the_result_is_limited() {
        assert_eq!(unpack(&PACKED, 0).unwrap(), b"mini\n");
        assert_eq!(unpack_at_most(&PACKED, 5).unwrap(), b"mini\n");
        assert!(unpack_at_most(&PACKED, 4).unwrap_err().contains("more than 4 bytes"));
    }

    #[test]
    fn damage_is_an_error() {
        for length in 0..PACKED.len() {
            assert!(unpack(&PACKED[..length], 0).is_err(), "{length}");
        }
        for at in 0..PACKED.len() {
            let mut damaged = PACKED;
            damaged[at] ^= 0x10;
            assert!(unpack(&damaged, 0).is_err(), "{at}");
        }
    }
}
