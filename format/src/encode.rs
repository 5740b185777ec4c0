//! Encodes the records of the files without an allocator.
//!
//! [`crate::write()`] and the profiling runtime write their files with these functions, each into its own [`Sink`].
//! The sink determines the size and the byte order of an address. The functions determine the layout, and how to
//! write a count that does not fit its field.
//!
//! The module is for writers inside this project: docs/versions.md promises nothing for the module, except for what
//! other modules export again ([`Arc`], and in [`crate::side_file`] `Call`, `CutReason`, and `Place`).
//!
//! License: 0BSD, besides that of the crate, because the runtime links this module into programs.

pub mod side_file;

use core::iter;

use crate::layout::{
    GMONVERSION, GNU_DIMENSION_SIZE, GNU_HEADER_SIZE, GNU_MAGIC, GNU_TAG_ARC, GNU_TAG_HISTOGRAM, GNU_VERSION,
};

/// The maximum count of a bin in one GNU histogram.
pub const GNU_BIN_MOST: u64 = u16::MAX as u64;
/// The maximum count of one GNU arc.
pub const GNU_ARC_MOST: u64 = u32::MAX as u64;

/// The calls from one call site to one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Arc {
    /// An address in the caller: the return address of the call, which some systems round down.
    pub frompc: u64,
    /// An address in the called function.
    pub selfpc: u64,
    /// The number of calls.
    pub count: u64,
}

impl Arc {
    /// Makes a count of the calls from `frompc` to `selfpc`.
    #[must_use]
    pub const fn new(frompc: u64, selfpc: u64, count: u64) -> Arc {
        Arc { frompc, selfpc, count }
    }
}

/// Receives the bytes of a file in order.
///
/// The methods for numbers write them as this machine stores them. A sink for another machine has methods of its own.
pub trait Sink {
    /// The error for a number that cannot be written.
    type Error;

    /// Writes bytes unchanged.
    fn bytes(&mut self, bytes: &[u8]);

    /// Writes a 32-bit number.
    fn u32(&mut self, value: u32) {
        self.bytes(&value.to_ne_bytes());
    }

    /// Writes a 64-bit number.
    fn u64(&mut self, value: u64) {
        self.bytes(&value.to_ne_bytes());
    }

    /// Writes an address, or a count of the same size. An address of this process always fits the native size.
    ///
    /// # Errors
    ///
    /// When the value does not fit. The provided method has no error: it keeps the low bits, as many as an address of
    /// this machine has.
    fn word(&mut self, value: u64) -> Result<(), Self::Error> {
        self.bytes(&(value as usize).to_ne_bytes());
        Ok(())
    }
}

/// The header of a 4.4BSD file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BsdHeader {
    /// The lowest sampled address.
    pub lowpc: u64,
    /// The address after the highest sampled address.
    pub highpc: u64,
    /// The size in bytes of the header and the samples together.
    pub ncnt: i32,
    /// Samples per second.
    pub profrate: u32,
    /// The first spare word: OpenBSD's size of the arcs in bytes, FreeBSD's type of counters, otherwise 0.
    pub spare: i32,
}

/// The header of a GNU histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GnuHistogram<'a> {
    /// The lowest sampled address.
    pub lowpc: u64,
    /// The address after the highest sampled address.
    pub highpc: u64,
    /// The number of bins.
    pub bins: u32,
    /// Samples per second.
    pub profrate: u32,
    /// The name of the sampled quantity, padded with NULs.
    pub dimension: &'a [u8; GNU_DIMENSION_SIZE],
    /// The abbreviation of that name.
    pub abbrev: u8,
}

/// Writes the header of a 4.4BSD file. The other spare words are 0.
///
/// # Errors
///
/// The errors of the sink.
pub fn bsd_header<S: Sink>(out: &mut S, header: &BsdHeader) -> Result<(), S::Error> {
    out.word(header.lowpc)?;
    out.word(header.highpc)?;
    for number in [header.ncnt, GMONVERSION, header.profrate as i32, header.spare, 0, 0] {
        out.u32(number as u32);
    }
    Ok(())
}

/// Writes the arcs of a 4.4BSD file. Repeats an arc as often as its count requires, if a record counts `most` calls
/// at most; 0 is no limit. With `apart`, one call of the first arc becomes a record of its own: see [`looks_padded`].
///
/// # Errors
///
/// The errors of the sink.
pub fn bsd_arcs<S: Sink>(
    out: &mut S,
    arcs: impl Iterator<Item = Arc>,
    most: u64,
    mut apart: bool,
) -> Result<(), S::Error> {
    for mut arc in arcs {
        if apart {
            bsd_arc(out, &Arc { count: 1, ..arc })?;
            arc.count = arc.count.saturating_sub(1);
            apart = false;
        }
        for count in pieces(arc.count, most) {
            bsd_arc(out, &Arc { count, ..arc })?;
        }
    }
    Ok(())
}

fn bsd_arc<S: Sink>(out: &mut S, arc: &Arc) -> Result<(), S::Error> {
    out.word(arc.frompc)?;
    out.word(arc.selfpc)?;
    out.word(arc.count)
}

/// Whether the upper halves of all counts are equal and not 0. Readers of a little-endian file mistake such counts
/// for those of a 32-bit `long` with padding.
#[must_use]
pub fn looks_padded(counts: impl Iterator<Item = u64>) -> bool {
    let mut uppers = counts.map(|count| count >> 32);
    uppers.next().is_some_and(|first| first != 0 && uppers.all(|upper| upper == first))
}

/// Writes the header of a GNU file.
pub fn gnu_header<S: Sink>(out: &mut S) {
    out.bytes(&GNU_MAGIC);
    out.u32(GNU_VERSION);
    out.bytes(&[0; GNU_HEADER_SIZE - 8]);
}

/// Writes the header of a GNU histogram.
///
/// # Errors
///
/// The errors of the sink.
pub fn gnu_histogram<S: Sink>(out: &mut S, histogram: &GnuHistogram<'_>) -> Result<(), S::Error> {
    out.bytes(&[GNU_TAG_HISTOGRAM]);
    out.word(histogram.lowpc)?;
    out.word(histogram.highpc)?;
    out.u32(histogram.bins);
    out.u32(histogram.profrate);
    out.bytes(histogram.dimension);
    out.bytes(&[histogram.abbrev]);
    Ok(())
}

/// The number of GNU histograms of one range that are needed if the highest bin counts `highest`. Readers add them
/// up.
#[must_use]
pub fn gnu_histograms(highest: u64) -> u64 {
    highest.div_ceil(GNU_BIN_MOST).max(1)
}

/// The part of a bin's count in one of these GNU histograms, numbered from 0: what the histograms before it do not
/// contain.
#[must_use]
pub fn gnu_bin(count: u64, histogram: u64) -> u16 {
    count.saturating_sub(histogram.saturating_mul(GNU_BIN_MOST)).min(GNU_BIN_MOST) as u16
}

/// Writes an arc of a GNU file, in as many records as its count requires.
///
/// # Errors
///
/// The errors of the sink.
pub fn gnu_arc<S: Sink>(out: &mut S, arc: &Arc) -> Result<(), S::Error> {
    for count in pieces(arc.count, GNU_ARC_MOST) {
        out.bytes(&[GNU_TAG_ARC]);
        out.word(arc.frompc)?;
        out.word(arc.selfpc)?;
        out.u32(count as u32);
    }
    Ok(())
}

/// Splits a count into numbers that are at most `most`: at least one number. With 0 for `most`, numbers have no limit.
pub(crate) fn pieces(count: u64, most: u64) -> impl Iterator<Item = u64> {
    let most = if most == 0 { u64::MAX } else { most };
    let rests = iter::successors(Some(count), move |rest| rest.checked_sub(most).filter(|rest| *rest != 0));
    rests.map(move |rest| rest.min(most))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    /// A sink for big-endian 32-bit words.
    impl Sink for Vec<u8> {
        type Error = u64;

        fn bytes(&mut self, bytes: &[u8]) {
            self.extend_from_slice(bytes);
        }

        fn u32(&mut self, value: u32) {
            self.extend_from_slice(&value.to_be_bytes());
        }

        fn u64(&mut self, value: u64) {
            self.extend_from_slice(&value.to_be_bytes());
        }

        fn word(&mut self, value: u64) -> Result<(), u64> {
            u32::try_from(value).map(|value| self.u32(value)).map_err(|_| value)
        }
    }

    #[test]
    fn counts_are_split_where_a_record_is_full() {
        let counts = |count, most| pieces(count, most).collect::<Vec<_>>();
        assert_eq!((counts(0, 7), counts(7, 7), counts(15, 7)), (Vec::from([0]), Vec::from([7]), Vec::from([7, 7, 1])));
        assert_eq!((counts(0, 0), counts(u64::MAX, 0)), (Vec::from([0]), Vec::from([u64::MAX])), "0 is no limit");
        assert_eq!((gnu_histograms(0), gnu_histograms(65535), gnu_histograms(65536)), (1, 1, 2));
        assert_eq!([0, 1, 2].map(|record| gnu_bin(65536, record)), [65535, 1, 0]);
        let mut out = Vec::new();
        let arc = Arc { frompc: 0x10, selfpc: 0x20, count: GNU_ARC_MOST + 5 };
        assert_eq!(gnu_arc(&mut out, &arc), Ok(()));
        assert_eq!(out.len(), 2 * 13);
        assert_eq!(out[..13], [1, 0, 0, 0, 0x10, 0, 0, 0, 0x20, 255, 255, 255, 255]);
        assert_eq!(out[22..], [0, 0, 0, 5]);
    }

    #[test]
    fn one_call_of_the_first_arc_is_apart_where_all_counts_look_padded() {
        let arcs = [3 << 32, (3 << 32) + 9].map(|count| Arc { frompc: 1, selfpc: 2, count });
        assert!(looks_padded(arcs.iter().map(|arc| arc.count)));
        assert!(!looks_padded([3 << 32, 4 << 32].into_iter()) && !looks_padded([7].into_iter()));
        assert!(!looks_padded([].into_iter()));
        let mut out = Vec::new();
        let low = arcs.map(|arc| Arc { count: arc.count >> 32, ..arc });
        assert_eq!(bsd_arcs(&mut out, low.into_iter(), 2, true), Ok(()));
        let counts: Vec<_> = out.chunks(12).map(|arc| arc[11]).collect();
        assert_eq!(counts, [1, 2, 2, 1], "3 calls are 1 and 2 where one is apart, 2 and 1 elsewhere");
    }

    #[test]
    fn an_address_that_is_too_wide_is_an_error() {
        let header = BsdHeader { lowpc: 1, highpc: 1 << 32, ncnt: 40, profrate: 100, spare: 0 };
        let mut out = Vec::new();
        assert_eq!(bsd_header(&mut out, &header), Err(1 << 32));
        assert_eq!(out, [0, 0, 0, 1], "what stands before it is written");
    }
}
