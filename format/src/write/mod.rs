//! From a profile to the bytes of a file.

mod bsd;
mod gnu;
mod output;

use alloc::vec::Vec;

use crate::{Encoding, Form, Histogram, Profile, Result};

/// The most bytes of records that [`write()`] repeats because a count does not fit its field: 1 GiB. A 16-bit bin of a
/// million-bin histogram reaches that with 35 million samples; FreeBSD's form with wider counters holds more.
pub const REPEAT_LIMIT: u64 = 1 << 30;

/// Writes a profile.
///
/// No count is lost. GNU's form has bins of 16 bits and counts of arcs of 32; whatever is more is written as further
/// records of the same range or of the same arc, which every reader of the form adds up. So it is with arcs, but not
/// with bins, in the other forms: there are no more than 31 bits for an arc's count with 32-bit words, and 63 with
/// 64-bit ones. Reading gives the same profile back, apart from such repeated arcs and from what the form itself does
/// not hold: whether bins are signed, and histograms without bins, which are left out.
///
/// A GNU file gets version 1. A file of OpenBSD's form gets the size of its arcs, one of FreeBSD's the kind of its
/// counters, and all spare bytes are zero.
///
/// # Errors
///
/// Whatever the form does not hold: addresses that are too wide for the word, bins that are too high for the counter or
/// below zero without sign; in all forms but GNU's, more than one histogram, another dimension than seconds,
/// basic-block counts. A file whose repeated records exceed [`REPEAT_LIMIT`], or one with a size that exceeds its
/// field. A histogram whose range is reversed, or which has bins without a range or a range without bins.
pub fn write(profile: &Profile, encoding: Encoding) -> Result<Vec<u8>> {
    write_within(profile, encoding, REPEAT_LIMIT)
}

/// Writes a profile as [`write()`] does, with another limit than [`REPEAT_LIMIT`]: whoever does not know where a profile
/// comes from can keep the file in proportion to what was read.
///
/// # Errors
///
/// As for [`write()`].
pub fn write_within(profile: &Profile, encoding: Encoding, repeat_limit: u64) -> Result<Vec<u8>> {
    let Encoding { form, word, order } = encoding;
    match form {
        Form::Gnu => gnu::write(profile, word, order, repeat_limit),
        Form::Bsd | Form::FreeBsd(_) | Form::OpenBsd => bsd::write(profile, encoding, repeat_limit),
    }
}

/// The histograms that have bins. An error for those that can not be.
fn inhabited(profile: &Profile) -> Result<Vec<&Histogram>> {
    let mut histograms = Vec::with_capacity(profile.histograms.len());
    for histogram in &profile.histograms {
        if histogram.is_inhabited()? {
            histograms.push(histogram);
        }
    }
    Ok(histograms)
}

/// How many [`pieces`](crate::encode::pieces) a count has.
fn piece_count(count: u64, most: u64) -> u64 {
    count.div_ceil(most).max(1)
}
