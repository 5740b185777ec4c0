//! Writes the sum of profiles to a file.

use std::fs;

use gmon::{Encoding, Form, Profile};

use super::Loaded;
use crate::error::Error;

/// The name of the file, in the current directory.
pub(crate) const NAME: &str = "gmon.sum";

/// How many times the length of its input the sum may have, and the length that the sum may always have. A count that
/// is too wide for the form is repeated in several records. Sums of profiles in GNU's form are never longer than
/// their input; a 64-bit count of another form could require any number of records. The calls of a program that calls
/// a function each nanosecond for ten days fit into these limits, and so do 30 million samples in one bin: an hour
/// and a half of 64 threads in one loop.
const FACTOR: u64 = 256;
const SLACK: u64 = 16 << 20;

/// Writes the sum of the profiles in GNU's form. The sum is exact: a count that is too wide for the form is spread
/// over several records.
///
/// # Errors
///
/// When the file cannot be written, or a count is too large to be spread over records.
pub(crate) fn write(sum: &Profile, loaded: &Loaded) -> Result<(), Error> {
    let Some(image) = loaded.images().iter().next() else { return Ok(()) };
    let limit = loaded.length().saturating_mul(FACTOR).saturating_add(SLACK).min(gmon::REPEAT_LIMIT);
    let encoding = Encoding { form: Form::Gnu, word: image.word, order: image.order };
    let bytes =
        gmon::write_within(sum, encoding, limit).map_err(|source| Error::Profile { file: NAME.to_owned(), source })?;
    fs::write(NAME, bytes).map_err(|source| Error::Write { file: NAME.to_owned(), source })
}
