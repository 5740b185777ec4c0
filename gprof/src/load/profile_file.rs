//! Reads one profile.

use std::ffi::OsStr;
use std::io;

use gmon::{Counter, Encoding, Form, Hints, Histogram, Profile, RecordCounts};

use crate::cli::options::{Contents, ProfilePath};
use crate::error::Error;
use crate::image::files;

/// The rate of the clock that samples where nothing else is known: that of a file which says zero.
const HOST_RATE: u32 = 100;

/// What the file of a profile consists of.
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
    /// Whether the profile is of a shared object, and lies beside that of the program.
    pub is_shared_object: bool,
    /// How many bins have the greatest count that their form has room for: more samples may have been lost.
    pub saturated: usize,
}

/// A profile, with what is known of its file.
pub(super) struct ProfileFile {
    pub(super) profile: Profile,
    /// What the form of the file has room for.
    pub(super) contents: Contents,
    pub(super) info: FileInfo,
}

/// Reads the bytes of a profile.
///
/// # Errors
///
/// When the file cannot be read.
pub(super) fn bytes(path: &ProfilePath) -> Result<Vec<u8>, Error> {
    match path {
        ProfilePath::Stdin => files::standard_input().map_err(|why| unread(path.to_string(), why)),
        ProfilePath::File(file) => files::regular_or_pipe(file).map_err(|why| match why.kind() {
            io::ErrorKind::NotFound if file.file_name() == Some(OsStr::new("gmon.out")) => {
                Error::NoProfile { file: path.to_string() }
            }
            _ => unread(path.to_string(), why),
        }),
    }
}

/// The error of a file that cannot be read.
pub(super) fn unread(file: String, source: io::Error) -> Error {
    Error::Read { file, source }
}

/// Makes a profile of the bytes that `path` has.
///
/// # Errors
///
/// When the bytes are no profile.
pub(super) fn parse(path: &ProfilePath, bytes: &[u8], hints: &Hints) -> Result<ProfileFile, Error> {
    let fail = |error| Error::Profile { file: path.to_string(), source: error };
    let encoding = gmon::detect(bytes, hints).map_err(fail)?;
    let mut profile = gmon::read_as(bytes, encoding).map_err(fail)?;
    let info = FileInfo {
        file: if *path == ProfilePath::Stdin { "-".to_owned() } else { path.to_string() },
        length: bytes.len() as u64,
        version: u32::from(encoding.form == Form::Gnu),
        records: records(&profile, bytes, encoding).map_err(fail)?,
        is_shared_object: false,
        saturated: saturated(&profile, encoding.form),
    };
    if encoding.form == Form::Gnu {
        let contents = Contents { samples: !profile.histograms.is_empty(), calls: !profile.arcs.is_empty() };
        return Ok(ProfileFile { profile, contents, info });
    }
    // The other forms have room for both, and a header that some writers do not fill in.
    for histogram in &mut profile.histograms {
        if histogram.profrate == 0 {
            histogram.profrate = HOST_RATE;
        }
    }
    Ok(ProfileFile { profile, contents: Contents { samples: true, calls: true }, info })
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
