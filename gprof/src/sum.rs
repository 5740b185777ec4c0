//! The sum of profiles as a file.

use std::fs;

use gmon::{Encoding, Form, Order, Profile, Word};

use crate::error::Error;

/// The file's name, which stands in the current directory.
pub const NAME: &str = "gmon.sum";

/// Stores a sum in GNU's form. Nothing of it is lost: counts too wide for the form are spread over several records.
///
/// # Errors
///
/// When the file cannot be written, or a number is too great to be spread.
pub fn write(profile: &Profile, word: Word, order: Order) -> Result<(), Error> {
    let bytes = gmon::write(profile, Encoding { form: Form::Gnu, word, order })
        .map_err(|source| Error::Profile { file: NAME.to_owned(), source })?;
    fs::write(NAME, bytes).map_err(|source| Error::Write { file: NAME.to_owned(), source })
}
