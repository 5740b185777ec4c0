//! Reads one profile.

use std::ffi::OsStr;
use std::io;

use gmon::{Counter, Encoding, Form, Hints, Histogram, Profile, RecordCounts};

use crate::cli::options::{Contents, ProfilePath};
use crate::error::Error;
use crate::image::files;

/// The sampling rate of a profile whose header says zero.
pub(super) const HOST_RATE: u32 = 100;

/// The contents of a profile's file, in numbers.
#[derive(Clone, Debug)]
pub struct FileInfo {
    /// The path of the file; `-` for the standard input.
    pub file: String,
    /// The length of the file in bytes.
    pub length: u64,
    /// The version of the file's form; 0 if the form has no versions.
    pub version: u32,
    /// The number of records of each kind.
    pub records: RecordCounts,
    /// Whether this is the profile of a shared object, which lies beside the program's profile.
    pub is_shared_object: bool,
    /// The number of bins at the maximum count of the form: more samples may have been lost.
    pub saturated: usize,
    /// The rank of the process in its parallel job, if the side file of the profile has it.
    pub rank: Option<u64>,
    /// The name of the machine, if the side file of the profile has it.
    pub host: Option<String>,
}

/// A profile, and what is known about its file.
pub(super) struct ProfileFile {
    pub(super) profile: Profile,
    /// What kinds of data the file contains.
    pub(super) contents: Contents,
    pub(super) info: FileInfo,
}

impl ProfileFile {
    /// The number of samples; 0 if their sum is negative.
    pub(super) fn samples(&self) -> u64 {
        let totals = self.profile.histograms.iter().map(|histogram| u64::try_from(histogram.total()).unwrap_or(0));
        totals.fold(0, u64::saturating_add)
    }
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

/// The error for a file that cannot be read.
pub(super) fn unread(file: String, source: io::Error) -> Error {
    Error::Read { file, source }
}

/// Parses the bytes of the profile at `path`.
///
/// # Errors
///
/// When the bytes are not a profile.
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
        rank: None,
        host: None,
    };
    if encoding.form == Form::Gnu {
        let contents =
            Contents { samples: !profile.histograms.is_empty(), calls: !profile.arcs.is_empty(), callers: false };
        return Ok(ProfileFile { profile, contents, info });
    }
    // The other forms always have samples and calls, and a header that some writers leave at zero.
    for histogram in &mut profile.histograms {
        if histogram.profrate == 0 {
            histogram.profrate = HOST_RATE;
        }
    }
    Ok(ProfileFile { profile, contents: Contents { samples: true, calls: true, callers: false }, info })
}

/// Counts the records of a profile. Only GNU's form requires another pass over the file.
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
