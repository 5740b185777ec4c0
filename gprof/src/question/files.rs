//! The files of a run: what to read, and what to write.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::question::format::Format;

/// Where to read a profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProfilePath {
    /// The standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl ProfilePath {
    /// Whether the profile can be read only once, as from a pipe. A path that names nothing counts as a file: its reader reports it.
    pub(crate) fn is_read_once(&self) -> bool {
        match self {
            ProfilePath::Stdin => true,
            ProfilePath::File(path) => path.metadata().is_ok_and(|kind| !kind.is_file() && !kind.is_dir()),
        }
    }
}

impl From<OsString> for ProfilePath {
    fn from(operand: OsString) -> ProfilePath {
        if operand == "-" { ProfilePath::Stdin } else { ProfilePath::File(operand.into()) }
    }
}

impl std::fmt::Display for ProfilePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ProfilePath::Stdin => f.write_str("standard input"),
            ProfilePath::File(path) => path.display().fmt(f),
        }
    }
}

/// An image and the profiles of its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfiledImage {
    /// The program or shared object.
    pub image: PathBuf,
    /// The profiles to add up; never empty.
    pub profiles: Vec<ProfilePath>,
}

/// The base that a report compares with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The files of the base: profiles, and images in front of the profiles of their runs.
    pub base: Vec<ProfilePath>,
    /// Whether to scale the times and calls of the base, so that the base has the same total time.
    pub normalizes: bool,
}

/// What is known about the form of profiles before they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownForm {
    /// The form, the data model, and the byte order, as far as they are known.
    pub(crate) hints: gmon::Hints,
    /// Whether a profile with neither GNU's magic nor 4.4BSD's version has the packed header of 4.2BSD (`-O bsd`, and
    /// GNU gprof's own rule).
    pub(crate) or_old: bool,
}

impl KnownForm {
    /// What is known about the profiles of an image: what the command line says, and otherwise what the image says.
    pub(crate) fn hints(&self, image: gmon::Hints) -> gmon::Hints {
        self.hints.or(image)
    }
}

/// One output of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The file to write; `None` for the standard output.
    pub file: Option<PathBuf>,
    /// The format.
    pub format: Format,
}

/// The shared object whose profile to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extract {
    /// The path, the last component of the path, or the number of the object in the side file.
    pub object: String,
    /// The file to write; if `None`, the name of the profile, a dot, and the last component of the object's path.
    pub output: Option<PathBuf>,
}
