//! Where to read a profile: a file, or the standard input.

use std::ffi::OsString;
use std::path::PathBuf;

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
