//! Checks that the C structures have the layout of the file format.

use core::mem::{offset_of, size_of};

use gmon::layout::{GmonHdr, RawArc};

#[test]
fn structures_have_the_sizes_and_offsets_of_the_files() {
    let word = size_of::<usize>();
    assert_eq!(size_of::<GmonHdr>(), 2 * word + 24);
    assert_eq!(offset_of!(GmonHdr, hpc), word);
    assert_eq!(offset_of!(GmonHdr, ncnt), 2 * word);
    assert_eq!(offset_of!(GmonHdr, version), 2 * word + 4);
    assert_eq!(offset_of!(GmonHdr, profrate), 2 * word + 8);
    assert_eq!(offset_of!(GmonHdr, totarc), 2 * word + 12);
    assert_eq!(offset_of!(GmonHdr, spare), 2 * word + 16);
    assert_eq!(size_of::<RawArc>(), 3 * word);
    assert_eq!(offset_of!(RawArc, raw_selfpc), word);
    assert_eq!(offset_of!(RawArc, raw_count), 2 * word);
}
