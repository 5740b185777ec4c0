//! Writes profiles to the bytes of files.

mod bsd;
mod gnu;
pub(crate) mod output;
mod pieces;

use alloc::vec::Vec;

use crate::{Encoding, Form, Profile, Result};

/// The maximum size of records that [`write()`] repeats because a count does not fit its field: 1 GiB. A histogram of
/// a million 16-bit bins reaches that with 35 million samples in one bin; FreeBSD's form with wider counters holds
/// more.
pub const REPEAT_LIMIT: u64 = 1 << 30;

/// Writes a profile.
///
/// All counts are written exactly. GNU's form has 16-bit bins and 32-bit counts of arcs; higher counts are written as
/// more records of the same range or arc, which every reader of the form adds up. In the other forms, arcs are
/// repeated in the same way, but bins are not: a count of an arc has at most 31 bits with 32-bit words, and 63 bits
/// with 64-bit words. Reading returns the same profile, except for repeated arcs and for properties that the form
/// does not store: whether bins are signed, and histograms without bins, which are left out.
///
/// A GNU file gets version 1. A file of OpenBSD's form gets the size of its arcs, a file of FreeBSD's form gets the
/// type of its counters, and all spare bytes are zero.
///
/// # Errors
///
/// When the form cannot hold the profile: addresses that exceed the word size, bins that exceed the counter or are
/// negative without a signed counter; in all forms except GNU's, more than one histogram, a dimension other than
/// seconds, or basic-block counts. When repeated records exceed [`REPEAT_LIMIT`], or a size exceeds its field. When a
/// histogram has a reversed range, bins without a range, or a range without bins.
pub fn write(profile: &Profile, encoding: Encoding) -> Result<Vec<u8>> {
    write_within(profile, encoding, REPEAT_LIMIT)
}

/// Writes a profile as [`write()`] does, with another limit than [`REPEAT_LIMIT`]. Use this for profiles of unknown
/// origin, to keep the size of the file in proportion to the input.
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
