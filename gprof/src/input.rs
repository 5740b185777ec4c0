//! Reads the files that the command line names.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use gmon::{Counter, Form, Hints, Profile, RecordCounts};

use crate::error::Error;
use crate::options::{Contents, Source};

/// The rate of the clock that samples where nothing else is known: that of a file which says zero.
const HOST_RATE: u32 = 100;

/// Reads the executable.
///
/// # Errors
///
/// When it is no regular file or cannot be read.
pub(crate) fn image(path: &Path) -> Result<Vec<u8>, Error> {
    let fail = |source| Error::Read { file: path.display().to_string(), source };
    let kind = fs::metadata(path).map_err(fail)?.file_type();
    if kind.is_dir() || kind.is_file() { fs::read(path).map_err(fail) } else { Err(no_file(path)) }
}

/// What a profile consists of.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The file.
    pub file: String,
    /// The version of its form, 0 when that has none.
    pub version: u32,
    /// How many records of each kind.
    pub records: RecordCounts,
    /// Whether it is of a shared object, beside that of the program.
    pub is_beside: bool,
    /// How many bins have the greatest count that their form has room for: more samples may have been lost.
    pub saturated: usize,
}

/// Reads a file of symbols.
///
/// # Errors
///
/// When it cannot be read.
pub(crate) fn text(path: &Path) -> Result<Vec<u8>, Error> {
    bytes(&Source::File(path.to_owned()))
}

/// Reads one profile, and tells what its form has room for and what is in it.
///
/// # Errors
///
/// When it cannot be read or is no profile.
pub(crate) fn profile(source: &Source, hints: &Hints) -> Result<(Profile, Contents, Parts), Error> {
    let fail = |error| Error::Profile { file: source.to_string(), source: error };
    let bytes = bytes(source)?;
    let encoding = gmon::detect(&bytes, hints).map_err(fail)?;
    let mut profile = gmon::read_as(&bytes, encoding).map_err(fail)?;
    let parts = Parts {
        file: if *source == Source::Stdin { "-".to_owned() } else { source.to_string() },
        version: u32::from(encoding.form == Form::Gnu),
        records: gmon::count_records(&bytes, encoding).map_err(fail)?,
        is_beside: false,
        saturated: saturated(&profile, encoding.form),
    };
    if encoding.form == Form::Gnu {
        let contents = Contents { samples: !profile.histograms.is_empty(), calls: !profile.arcs.is_empty() };
        return Ok((profile, contents, parts));
    }
    // The other forms have room for both, and a header that some writers do not fill in.
    for histogram in &mut profile.histograms {
        if histogram.profrate == 0 {
            histogram.profrate = HOST_RATE;
        }
    }
    Ok((profile, Contents { samples: true, calls: true }, parts))
}

fn saturated(profile: &Profile, form: Form) -> usize {
    let counter = if let Form::FreeBsd(counter) = form { counter } else { Counter::U16 };
    let bits = 8 * counter.width.size() - usize::from(counter.signed);
    let greatest = u64::MAX >> (64 - bits);
    profile.histograms.iter().flat_map(|histogram| &histogram.bins).filter(|bin| **bin == greatest).count()
}

fn bytes(source: &Source) -> Result<Vec<u8>, Error> {
    let fail = |error| Error::Read { file: source.to_string(), source: error };
    match source {
        Source::Stdin => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map_err(fail)?;
            Ok(bytes)
        }
        Source::File(path) => {
            let missing = |error: io::Error| match error.kind() {
                io::ErrorKind::NotFound if path.file_name() == Some(OsStr::new("gmon.out")) => {
                    Error::NoProfile { file: source.to_string() }
                }
                _ => fail(error),
            };
            let kind = fs::metadata(path).map_err(missing)?.file_type();
            if is_endless(kind) { Err(no_file(path)) } else { fs::read(path).map_err(fail) }
        }
    }
}

/// Whether reading to the end may never come to an end: devices. Pipes are fine, shells make them.
#[cfg(unix)]
fn is_endless(kind: fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_endless(_: fs::FileType) -> bool {
    false
}

fn no_file(path: &Path) -> Error {
    Error::NoFile { file: path.display().to_string() }
}
