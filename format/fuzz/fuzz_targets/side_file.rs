//! Reads arbitrary bytes as a side file: checks that nothing panics, that what was read is written and read again, and
//! that sums lose no ticks. Run with `cargo fuzz run side_file`.
#![no_main]

use gmon::layout::side_file::END;
use gmon::side_file::{Accumulator, Checksum, SideFile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = SideFile::parse(bytes);
    // With a correct end, of which a fuzzer cannot guess the checksum.
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let sum = Checksum::of(&bytes).sum;
    bytes.extend(END);
    bytes.extend([0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(sum.to_le_bytes());
    let Ok(side) = SideFile::parse(&bytes) else { return };
    assert_eq!(SideFile::parse(&side.write()), Ok(side.clone()));
    let mut sum = Accumulator::new();
    if sum.add(&side).is_ok() {
        assert_eq!(sum.finish().contexts().total(), side.contexts().total());
    }
});
