//! The check of side files.

use gmon::layout::side_file::END;
use gmon::side_file::{Accumulator, Calls, Checksum, Samples, SideFile, Windows};

use crate::Limits;

const LIMITS: Limits = Limits { bytes_per_byte: 32, bytes: 4 << 10, steps_per_byte: 100, steps: 10_000 };

/// The input is a side file, with or without its end. What was read is written and read again, and sums lose no ticks,
/// no calls, and no time in which calls were counted, of all threads together and of single threads. Nor do sums lose
/// estimates.
pub fn side_file(input: &[u8]) {
    LIMITS.hold(input.len(), || drop(SideFile::parse(input)));
    let bytes = ended(input);
    let Ok(side) = LIMITS.hold(bytes.len(), || SideFile::parse(&bytes)) else { return };
    assert_eq!(SideFile::parse(&side.write()), Ok(side.clone()));
    let sum = LIMITS.hold(bytes.len(), || {
        let mut sum = Accumulator::new();
        sum.add(&side).map(|()| sum.finish())
    });
    if let Ok(sum) = sum {
        assert_eq!(sum.contexts().total(), side.contexts().total());
        assert_eq!(calls(&sum), calls(&side));
        assert_eq!(sum.counted_time(), side.counted_time());
        assert_eq!(counted_samples(&sum), counted_samples(&side));
        assert_eq!(estimates(&sum), estimates(&side));
    }
}

/// The input with a correct end: a fuzzer cannot guess the checksum.
fn ended(input: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let sum = Checksum::of(&bytes).sum;
    bytes.extend(END);
    bytes.extend([0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// The samples that were taken while calls were counted on demand, of all threads together, and of single threads.
fn counted_samples(side: &SideFile) -> [u64; 2] {
    [false, true].map(|is_of_thread| {
        let parts = side.counted_samples().iter().filter(|samples| samples.thread().is_some() == is_of_thread);
        parts.map(Samples::total).sum()
    })
}

/// The windows, and the sums of all estimates and of their variances.
fn estimates(side: &SideFile) -> Option<(Windows, u64, u128)> {
    let estimates = side.estimates()?;
    let rows = estimates.rows().iter();
    let sums = rows.fold((0, 0), |(calls, variance), row| (calls + row.calls, variance + row.variance));
    Some((estimates.windows(), sums.0, sums.1))
}

/// The calls of all threads together, and of single threads.
fn calls(side: &SideFile) -> [u64; 2] {
    [false, true].map(|is_of_thread| {
        let parts = side.calls().iter().filter(|calls| calls.thread().is_some() == is_of_thread);
        parts.flat_map(Calls::calls).map(|call| call.count).sum()
    })
}
