//! Reads the counters of a histogram.

use alloc::vec;
use alloc::vec::Vec;

use super::cursor::{u16_of, u32_of, u64_of};
use crate::{Counter, CounterWidth, Error, Order, Result};

/// All whole counters in the bytes. Signed counters become 64-bit numbers in two's complement.
pub(super) fn read(bytes: &[u8], counter: Counter, order: Order) -> Vec<u64> {
    let signed = counter.signed;
    match counter.width {
        CounterWidth::Bits8 => chunks(bytes, |[byte]| widen(u64::from(byte), 8, signed)),
        CounterWidth::Bits16 => chunks(bytes, |chunk| widen(u64::from(u16_of(chunk, order)), 16, signed)),
        CounterWidth::Bits32 => chunks(bytes, |chunk| widen(u64::from(u32_of(chunk, order)), 32, signed)),
        CounterWidth::Bits64 => chunks(bytes, |chunk| u64_of(chunk, order)),
    }
}

/// The number of bytes that are tested at once. Every counter width divides this.
const STRIDE: usize = 64;

/// Most bins of most profiles are 0. Memory from the system is also 0, and costs nothing until it is written.
fn chunks<const N: usize>(bytes: &[u8], count: impl Fn([u8; N]) -> u64) -> Vec<u64> {
    let (chunks, _) = bytes.as_chunks();
    let mut bins = vec![0; chunks.len()];
    let in_stride = STRIDE.checked_div(N).unwrap_or(1).max(1);
    for (bins, chunks) in bins.chunks_mut(in_stride).zip(chunks.chunks(in_stride)) {
        if chunks.as_flattened().iter().fold(0, |all, byte| all | byte) == 0 {
            continue;
        }
        for (bin, chunk) in bins.iter_mut().zip(chunks) {
            *bin = count(*chunk);
        }
    }
    bins
}

/// Extends the sign of a number with this many bits.
fn widen(count: u64, bits: u32, signed: bool) -> u64 {
    let unused = u64::BITS.saturating_sub(bits);
    if signed { (count << unused).cast_signed().wrapping_shr(unused).cast_unsigned() } else { count }
}

/// Checks that an address range fits a number of bins. The range is at this offset.
pub(super) fn check_range(lowpc: u64, highpc: u64, bins: u64, offset: u64) -> Result<()> {
    if highpc < lowpc {
        return Err(Error::BadRange { lowpc, highpc, offset });
    }
    match (highpc == lowpc, bins == 0) {
        (true, false) => Err(Error::NoRange { bins, lowpc, offset }),
        (false, true) => Err(Error::NoBins { range: lowpc..highpc, offset }),
        _ => Ok(()),
    }
}
