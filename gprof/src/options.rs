//! What the user asked for, checked and frozen.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::Error;

/// Where a profile is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl From<OsString> for Source {
    fn from(operand: OsString) -> Source {
        if operand == "-" { Source::Stdin } else { Source::File(operand.into()) }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Stdin => f.write_str("standard input"),
            Source::File(path) => path.display().fmt(f),
        }
    }
}

/// What the user said of one report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    /// Nothing.
    #[default]
    Nothing,
    /// To write it.
    For,
    /// Not to write it.
    Against,
}

/// All options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The profiled program.
    pub image: PathBuf,
    /// The profiles to sum; never none.
    pub profiles: Vec<Source>,
    /// Whether the flat profile is wanted.
    pub flat: Asked,
    /// Whether the call graph is wanted.
    pub graph: Asked,
    /// Whether the sum of the profiles is to be stored.
    pub sum: bool,
    /// Whether to leave out the texts that explain the columns.
    pub brief: bool,
    /// Whether to show functions that were never called and took no time.
    pub unused: bool,
    /// Whether to show names as programmers wrote them.
    pub demangle: bool,
    /// The width of the index, in characters.
    pub width: usize,
}

/// The reports that are to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The flat profile.
    pub flat: bool,
    /// The call graph, and the index behind it.
    pub graph: bool,
}

/// What the profiles hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Whether any of them is of a kind that has samples.
    pub samples: bool,
    /// Whether any of them is of a kind that has calls.
    pub calls: bool,
}

impl Options {
    /// The reports to write: those asked for; when none was, all that the profiles have something for, less those asked
    /// against.
    ///
    /// # Errors
    ///
    /// When a report was asked for that the profiles have nothing for.
    pub fn wanted(&self, contents: Contents) -> Result<Wanted, Error> {
        let (flat, graph) = (self.flat == Asked::For, self.graph == Asked::For);
        if flat && !contents.samples {
            return Err(Error::NoSamples);
        }
        if graph && !contents.calls {
            return Err(Error::NoCalls);
        }
        if flat || graph || self.sum {
            return Ok(Wanted { flat, graph });
        }
        Ok(Wanted {
            flat: contents.samples && self.flat != Asked::Against,
            graph: contents.calls && self.graph != Asked::Against,
        })
    }
}
