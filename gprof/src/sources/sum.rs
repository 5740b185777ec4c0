//! Writes the sum of profiles, and the sum of their side files.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use gmon::side_file::Checksum;
use gmon::{Encoding, Form, Profile};

use super::Loaded;
use crate::error::Error;
use crate::output;

/// The name of the file, in the current directory.
pub(crate) const NAME: &str = "gmon.sum";
/// The name of the side file of the sum.
const SIDE_NAME: &str = "gmon.sum.side";

/// How many times the length of its input the sum may have, and the length that the sum may always have. A count that
/// is too wide for the form is repeated in several records. Sums of profiles in GNU's form are never longer than
/// their input; a 64-bit count of another form could require any number of records. The calls of a program that calls
/// a function each nanosecond for ten days fit into these limits, and so do 30 million samples in one bin: an hour
/// and a half of 64 threads in one loop.
const FACTOR: u64 = 256;
const SLACK: u64 = 16 << 20;

/// Writes the sum of the profiles in GNU's form, and the sum of their side files. The sum is exact: a count that is too
/// wide for the form is spread over several records.
///
/// # Errors
///
/// When a file cannot be written, a count is too large to be spread over records, or side files are of different
/// programs.
pub(crate) fn write(sum: &Profile, loaded: &Loaded, warnings: &mut dyn Write) -> Result<(), Error> {
    let Some(image) = loaded.images().iter().next() else { return Ok(()) };
    let limit = loaded.length().saturating_mul(FACTOR).saturating_add(SLACK).min(gmon::REPEAT_LIMIT);
    let encoding = Encoding::new(Form::Gnu, image.word.into(), image.order);
    let bytes =
        gmon::write_within(sum, encoding, limit).map_err(|source| Error::Profile { file: NAME.to_owned(), source })?;
    store(NAME, &bytes)?;
    write_side(&bytes, loaded, warnings)
}

/// Writes the sum of the side files for the sum of profiles with these bytes. Without side files, removes the side file
/// of an earlier sum.
fn write_side(sum: &[u8], loaded: &Loaded, warnings: &mut dyn Write) -> Result<(), Error> {
    let written = match loaded.sides.files.as_slice() {
        [side] => {
            let mut side = side.clone();
            side.set_live(false);
            side.set_profile(Some(Checksum::of(sum)));
            store(SIDE_NAME, &side.write())
        }
        several => {
            if !several.is_empty() {
                return Err(Error::SideFilesDiffer { what: SIDE_NAME });
            }
            match fs::remove_file(SIDE_NAME) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed.map_err(|source| Error::Write { file: SIDE_NAME.to_owned(), source }),
            }
        }
    };
    if !loaded.sides.files.is_empty() {
        loaded.sides.warn_without(SIDE_NAME, "counts in shared objects", warnings);
    }
    written
}

fn store(name: &str, bytes: &[u8]) -> Result<(), Error> {
    output::write(Path::new(name), |out| out.write_all(bytes).map_err(Error::Output))
}
