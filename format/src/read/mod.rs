//! From the bytes of a file to a profile.

mod bins;
pub(crate) mod bsd;
pub(crate) mod cursor;
pub(crate) mod gnu;

use crate::{Encoding, Form, Profile, Result};

/// Reads a profile whose layout is known.
///
/// The encoding is believed where the file can not say better: the counters are those of the encoding, whatever the
/// spare words of a 4.4BSD header hold.
///
/// # Errors
///
/// Anything that keeps the file from being such a profile as a whole: a wrong magic or version, sizes that reach past
/// its end, a tail that is no whole arc, an address range that is reversed or that has no bins, histograms that overlap
/// or otherwise do not go together, and an OpenBSD `totarc` that is neither 0 nor right.
pub fn read_as(bytes: &[u8], encoding: Encoding) -> Result<Profile> {
    let Encoding { form, word, order } = encoding;
    match form {
        Form::Gnu => gnu::read(bytes, word, order),
        Form::Bsd | Form::FreeBsd(_) | Form::OpenBsd => bsd::read(bytes, form, word, order),
    }
}
