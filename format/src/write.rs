//! Writes profiles to the bytes of files.

use alloc::vec::Vec;

use crate::families::write as write_form;
use crate::output::Output;
use crate::{Encoding, Error, Profile};

/// The maximum size in bytes of records that [`write()`] repeats because a count does not fit its field, and of the
/// empty bins that a sparse histogram does not store: 1 GiB. A histogram of a million 16-bit bins reaches that with 35
/// million samples in one bin; FreeBSD's form with wider counters holds more.
pub const REPEAT_LIMIT: u64 = 1 << 30;

/// Writes a profile.
///
/// All counts are written exactly. A count that exceeds its field becomes several records of the same arc, block, or
/// range, which every reader adds up:
///
/// * Counts of arcs have 32 bits in the forms of GNU, `LD_PROFILE`, and the run-time linker of illumos, and in Darwin's
///   and NeXT's if the profile has orders, otherwise 31 bits there. In the forms of the BSDs and in `mon.out` they have
///   31 bits with a 32-bit `long`, and 63 bits with a 64-bit `long`. In PROF files they have 64 bits.
/// * Bins have 16 bits and are repeated in the forms of GNU, Darwin, and NeXT. A PROF file has each sample. In the
///   other forms bins are not repeated.
///
/// Reading returns the same profile, except for repeated arcs and for properties that the form does not store. The
/// forms of dynamic linkers do not store arcs with a count of 0.
///
/// A GNU file gets version 1. A file of OpenBSD's form gets the size of its arcs, a file of FreeBSD's form gets the
/// type of its counters, and all spare bytes are zero.
///
/// # Errors
///
/// When no system has files with this encoding. When the form cannot hold the profile:
///
/// * addresses that exceed the word size, bins that exceed the counter or are negative without a signed counter;
/// * in all forms except those of GNU, Darwin, NeXT, and PROF, more than one histogram;
/// * in all forms except GNU's, basic-block counts, or a dimension other than seconds.
///
/// When repeated records, or the empty bins of sparse histograms, exceed [`REPEAT_LIMIT`], or a size exceeds its field.
pub fn write(profile: &Profile, encoding: Encoding) -> Result<Vec<u8>, Error> {
    write_within(profile, encoding, REPEAT_LIMIT)
}

/// Writes a profile as [`write()`] does, with another limit than [`REPEAT_LIMIT`]. Use this for profiles of unknown
/// origin, to keep the size of the file in proportion to the input.
///
/// # Errors
///
/// As for [`write()`].
pub fn write_within(profile: &Profile, encoding: Encoding, repeat_limit: u64) -> Result<Vec<u8>, Error> {
    let mut output = Output::new(encoding.word(), encoding.order);
    write_form(profile, encoding, repeat_limit, &mut output)?;
    output.finish()
}

/// Writes a profile as [`write()`] does, without having the whole file in memory. After an error, the writer may have a
/// part of the file.
///
/// # Errors
///
/// As for [`write()`], and [`Error::Io`] if the writer fails.
#[cfg(feature = "std")]
pub fn write_to(profile: &Profile, encoding: Encoding, writer: impl std::io::Write) -> Result<(), Error> {
    write_to_within(profile, encoding, REPEAT_LIMIT, writer)
}

/// Writes a profile as [`write_to`] does, with another limit than [`REPEAT_LIMIT`], as [`write_within`] has.
///
/// # Errors
///
/// As for [`write_to`].
#[cfg(feature = "std")]
pub fn write_to_within(
    profile: &Profile,
    encoding: Encoding,
    repeat_limit: u64,
    writer: impl std::io::Write,
) -> Result<(), Error> {
    struct Io<W>(W);
    impl<W: std::io::Write> crate::output::Target for Io<W> {
        fn take(&mut self, bytes: &[u8]) -> Result<(), Error> {
            self.0.write_all(bytes).map_err(Error::writing)
        }
    }
    let mut target = Io(writer);
    let mut output = Output::to(&mut target, encoding.word(), encoding.order);
    write_form(profile, encoding, repeat_limit, &mut output)?;
    output.finish()?;
    target.0.flush().map_err(Error::writing)
}
