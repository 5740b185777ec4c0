//! How reports spell the names of functions.

use crate::question::options::Options;

/// How reports spell the names of functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameStyle {
    /// Demangle names.
    pub(super) demangle: bool,
    /// Append file and line to a name.
    pub(super) locations: bool,
    /// Append the address as well, and the functions into which the compiler inlined a line.
    pub(super) by_line: bool,
    /// Show the directories of files.
    pub(super) paths: bool,
}

impl NameStyle {
    pub(super) fn new(options: &Options) -> NameStyle {
        NameStyle {
            demangle: options.demangle,
            locations: options.file_names || options.by_line,
            by_line: options.by_line,
            paths: options.paths,
        }
    }
}
