//! The sum of profiles as a file.

use std::fs;

use gmon::{Encoding, Form, Order, Profile, Word};

use crate::error::Error;

/// The file's name, which stands in the current directory.
pub(crate) const NAME: &str = "gmon.sum";

/// How many times the length of what was summed the records may take that are repeated because a count is too wide for
/// the form, and what they may always take. Sums of GNU's form need no more than was read; a count of 64 bits of another
/// form may ask for anything, but that of a program that calls a function each nanosecond for ten days is within this, and so
/// are 30 million samples in one bin: an hour and a half of 64 threads in one loop.
const FACTOR: u64 = 256;
const SLACK: u64 = 16 << 20;

/// Stores a sum in GNU's form. Nothing of it is lost: counts too wide for the form are spread over several records.
/// `summed` is the length of the files that were summed.
///
/// # Errors
///
/// When the file cannot be written, or a number is too great to be spread.
pub(crate) fn write(profile: &Profile, word: Word, order: Order, summed: u64) -> Result<(), Error> {
    let limit = summed.saturating_mul(FACTOR).saturating_add(SLACK).min(gmon::REPEAT_LIMIT);
    let bytes = gmon::write_within(profile, Encoding { form: Form::Gnu, word, order }, limit)
        .map_err(|source| Error::Profile { file: NAME.to_owned(), source })?;
    fs::write(NAME, bytes).map_err(|source| Error::Write { file: NAME.to_owned(), source })
}
