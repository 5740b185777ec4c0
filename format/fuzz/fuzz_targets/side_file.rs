//! Reads arbitrary bytes as a side file: checks that nothing panics, that what was read is written and read again, and
//! that sums lose no ticks and no calls, of all threads together and of single threads. Run with `cargo fuzz run side_file`.
#![no_main]

use gmon::layout::side_file::END;
use gmon::side_file::{Accumulator, Calls, Checksum, SideFile};
use libfuzzer_sys::fuzz_target;

/// The calls of all threads together, and of single threads.
fn calls(side: &SideFile) -> [u64; 2] {
    [false, true].map(|is_of_thread| {
        let parts = side.calls().iter().filter(|calls| calls.thread().is_some() == is_of_thread);
        parts.flat_map(Calls::calls).map(|call| call.count).sum()
    })
}

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
        let sum = sum.finish();
        assert_eq!(sum.contexts().total(), side.contexts().total());
        assert_eq!(calls(&sum), calls(&side));
    }
});
