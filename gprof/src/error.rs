//! What ends a run without its reports.

use std::fmt;
use std::io;

use crate::image::ImageError;
use crate::symbols::file_map::MapError;
use crate::terminal::system;

/// Why there is no report. The text is one line.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The command line asks for something that does not exist.
    Usage(String),
    /// Nobody read the reports, because the pager could not be run.
    Pager(String),
    /// A file cannot be read.
    Read {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// There is no file of the name that profiles have by default.
    NoProfile {
        /// The file.
        file: String,
    },
    /// A file cannot be written.
    Write {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The program cannot be made sense of.
    Image {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: ImageError,
    },
    /// A profile cannot be made sense of, or does not go with those before.
    Profile {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: gmon::Error,
    },
    /// The map of object files cannot be made sense of.
    Map {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: MapError,
    },
    /// An image has more addresses than are left beside the others.
    TooLarge {
        /// The file.
        file: String,
    },
    /// The flat profile was asked for, and no profile has samples.
    NoSamples,
    /// The call graph was asked for, and no profile has calls.
    NoCalls,
    /// The report cannot be written.
    Output(io::Error),
}

impl Error {
    /// Whether the reader of the report went away before its end, which is nobody's fault.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(what) => write!(f, "{what} (try 'gprof --help')"),
            Error::Pager(what) => f.write_str(what),
            Error::Read { file, source } | Error::Write { file, source } => write!(f, "{file}: {}", system(source)),
            Error::NoProfile { file } => {
                write!(f, "{file}: No such file or directory: was the program built with -pg, and run here to its end?")
            }
            Error::Image { file, source } => write!(f, "{file}: {source}"),
            Error::Profile { file, source } => write!(f, "{file}: {source}"),
            Error::Map { file, source } => write!(f, "{file}: {source}"),
            Error::TooLarge { file } => {
                write!(
                    f,
                    "{file}: with its profile it covers more addresses than the other images leave: read it alone"
                )
            }
            Error::NoSamples => f.write_str("no flat profile: the profile has no samples"),
            Error::NoCalls => f.write_str("no call graph: the profile has no calls"),
            Error::Output(source) => write!(f, "standard output: {}", system(source)),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Read { source, .. } | Error::Write { source, .. } | Error::Output(source) => Some(source),
            Error::Image { source, .. } => Some(source),
            Error::Profile { source, .. } => Some(source),
            Error::Map { source, .. } => Some(source),
            Error::Usage(_)
            | Error::Pager(_)
            | Error::NoProfile { .. }
            | Error::TooLarge { .. }
            | Error::NoSamples
            | Error::NoCalls => None,
        }
    }
}
