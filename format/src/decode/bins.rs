//! Reads the counters of a histogram.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::Result;
use super::cursor::{Cursor, u16_of, u32_of, u64_of};
use crate::older_rust::arrays;
use crate::{Bins, Counter, CounterWidth, Error, Histogram, Order, Unit};

/// All whole counters in the bytes.
pub(crate) fn read(bytes: &[u8], counter: Counter, order: Order) -> Bins {
    let u16_of = |chunk| u16_of(chunk, order);
    let u32_of = |chunk| u32_of(chunk, order);
    let u64_of = |chunk| u64_of(chunk, order);
    match (counter.width, counter.signed) {
        (CounterWidth::Bits8, false) => Bins::U16(chunks(bytes, |[byte]| byte.into())),
        (CounterWidth::Bits16, false) => Bins::U16(chunks(bytes, u16_of)),
        (CounterWidth::Bits32, false) => Bins::U64(chunks(bytes, |chunk| u32_of(chunk).into())),
        (CounterWidth::Bits64, false) => Bins::U64(chunks(bytes, u64_of)),
        (CounterWidth::Bits8, true) => Bins::I64(chunks(bytes, |[byte]| (byte as i8).into())),
        (CounterWidth::Bits16, true) => Bins::I64(chunks(bytes, |chunk| (u16_of(chunk) as i16).into())),
        (CounterWidth::Bits32, true) => Bins::I64(chunks(bytes, |chunk| (u32_of(chunk) as i32).into())),
        (CounterWidth::Bits64, true) => Bins::I64(chunks(bytes, |chunk| u64_of(chunk) as i64)),
    }
}

/// The number of bytes that are tested at once. Every counter width divides this.
const STRIDE: usize = 64;

/// Most bins of most profiles are 0. Memory from the system is also 0, and costs nothing until it is written.
fn chunks<const N: usize, T: Copy + Default>(bytes: &[u8], count: impl Fn([u8; N]) -> T) -> Vec<T> {
    let mut bins = vec![T::default(); arrays::<N>(bytes).len()];
    let in_stride = STRIDE.checked_div(N).unwrap_or(1).max(1);
    for (bins, chunks) in bins.chunks_mut(in_stride).zip(bytes.chunks(STRIDE)) {
        if chunks.iter().fold(0, |all, byte| all | byte) == 0 {
            continue;
        }
        for (bin, chunk) in bins.iter_mut().zip(arrays(chunks)) {
            *bin = count(chunk);
        }
    }
    bins
}

/// The histogram of 16-bit samples; `None` without samples. The range is at this offset.
pub(crate) fn histogram(range: Range<u64>, offset: u64, unit: Unit, samples: Cursor<'_>) -> Result<Option<Histogram>> {
    let size = samples.left();
    if size % 2 != 0 {
        return Err(Error::PartialBin { size, width: 2, offset: samples.offset() });
    }
    check_range(range.start, range.end, size / 2, offset)?;
    let bins = read(samples.rest(), Counter::U16, samples.order());
    Ok(Histogram::new(range, unit, bins).ok())
}

/// Checks that an address range fits a number of bins. The range is at this offset.
pub(crate) fn check_range(lowpc: u64, highpc: u64, bins: u64, offset: u64) -> Result<()> {
    if highpc < lowpc {
        return Err(Error::BadRange { lowpc, highpc, offset });
    }
    match (highpc == lowpc, bins == 0) {
        (true, false) => Err(Error::NoRange { bins, lowpc, offset }),
        (false, true) => Err(Error::NoBins { range: lowpc..highpc, offset }),
        _ => Ok(()),
    }
}
