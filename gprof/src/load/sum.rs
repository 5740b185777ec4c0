//! The sum of profiles as a file.

use std::fs;

use gmon::{Encoding, Form, Profile};

use super::Loaded;
use crate::error::Error;

/// The file's name, which stands in the current directory.
pub(crate) const NAME: &str = "gmon.sum";

/// How many times the length of what was summed the records may take that are repeated because a count is too wide for
/// the form, and what they may always take. Sums of GNU's form need no more than was read; a count of 64 bits of another
/// form may ask for anything, but that of a program that calls a function each nanosecond for ten days is within this, and so
/// are 30 million samples in one bin: an hour and a half of 64 threads in one loop.
const FACTOR: u64 = 256;
const SLACK: u64 = 16 << 20;

/// Stores a sum of the profiles that were read, in GNU's form. Nothing of it is lost: counts too wide for the form are spread
/// over several records.
///
/// # Errors
///
/// When the file cannot be written, or a number is too great to be spread.
pub(crate) fn write(sum: &Profile, loaded: &Loaded) -> Result<(), Error> {
    let Some(image) = loaded.images().iter().next() else { return Ok(()) };
    let limit = loaded.length().saturating_mul(FACTOR).saturating_add(SLACK).min(gmon::REPEAT_LIMIT);
    let encoding = Encoding { form: Form::Gnu, word: image.word, order: image.order };
    let bytes =
        gmon::write_within(sum, encoding, limit).map_err(|source| Error::Profile { file: NAME.to_owned(), source })?;
    fs::write(NAME, bytes).map_err(|source| Error::Write { file: NAME.to_owned(), source })
}
