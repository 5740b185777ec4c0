//! Reads the files that the command line names.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use gmon::{Counter, Encoding, Form, Hints, Histogram, Profile, RecordCounts};

use crate::cli::options::{Contents, ProfilePath};
use crate::error::Error;
use crate::image;
use crate::image::files;

/// The rate of the clock that samples where nothing else is known: that of a file which says zero.
const HOST_RATE: u32 = 100;

/// Reads the executable, its machine code only `with_code`.
///
/// # Errors
///
/// When it is no regular file or cannot be read.
pub(crate) fn image(path: &Path, with_code: bool) -> Result<Vec<u8>, Error> {
    image::read(path, with_code).map_err(|source| unread(path.display().to_string(), source))
}

/// What a profile consists of.
#[derive(Clone, Debug)]
pub struct FileInfo {
    /// The file.
    pub file: String,
    /// The length of the file in bytes.
    pub length: u64,
    /// The version of its form, 0 when that has none.
    pub version: u32,
    /// How many records of each kind.
    pub records: RecordCounts,
    /// Whether it is of a shared object, beside that of the program.
    pub is_shared_object: bool,
    /// How many bins have the greatest count that their form has room for: more samples may have been lost.
    pub saturated: usize,
}

/// Reads a file of symbols.
///
/// # Errors
///
/// When it cannot be read.
pub(crate) fn text(path: &Path) -> Result<Vec<u8>, Error> {
    bytes(&ProfilePath::File(path.to_owned()))
}

/// Reads one profile, and tells what its form has room for and what is in it.
///
/// # Errors
///
/// When it cannot be read or is no profile.
pub(crate) fn profile(source: &ProfilePath, hints: &Hints) -> Result<(Profile, Contents, FileInfo), Error> {
    let fail = |error| Error::Profile { file: source.to_string(), source: error };
    let bytes = bytes(source)?;
    let encoding = gmon::detect(&bytes, hints).map_err(fail)?;
    let mut profile = gmon::read_as(&bytes, encoding).map_err(fail)?;
    let parts = FileInfo {
        file: if *source == ProfilePath::Stdin { "-".to_owned() } else { source.to_string() },
        length: bytes.len() as u64,
        version: u32::from(encoding.form == Form::Gnu),
        records: records(&profile, &bytes, encoding).map_err(fail)?,
        is_shared_object: false,
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

/// What a profile consists of. Only of GNU's form the file has to be looked at again.
fn records(profile: &Profile, bytes: &[u8], encoding: Encoding) -> gmon::Result<RecordCounts> {
    match encoding.form {
        Form::Gnu => gmon::count_records(bytes, encoding),
        _ => Ok(RecordCounts { histograms: profile.histograms.len(), arcs: profile.arcs.len(), blocks: 0 }),
    }
}

fn saturated(profile: &Profile, form: Form) -> usize {
    let counter = if let Form::FreeBsd(counter) = form { counter } else { Counter::U16 };
    let bits = 8 * counter.width.size() - usize::from(counter.signed);
    let greatest = u64::MAX >> (64 - bits);
    profile.histograms.iter().flat_map(Histogram::hit).filter(|(_, bin)| *bin == greatest).count()
}

fn bytes(source: &ProfilePath) -> Result<Vec<u8>, Error> {
    match source {
        ProfilePath::Stdin => files::standard_input().map_err(|why| unread(source.to_string(), why)),
        ProfilePath::File(path) => files::regular_or_pipe(path).map_err(|why| match why.kind() {
            io::ErrorKind::NotFound if path.file_name() == Some(OsStr::new("gmon.out")) => {
                Error::NoProfile { file: source.to_string() }
            }
            _ => unread(source.to_string(), why),
        }),
    }
}

fn unread(file: String, source: io::Error) -> Error {
    Error::Read { file, source }
}
