//! What the user wants names to tell.

use crate::cli::options::Options;

/// What the user wants names to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameStyle {
    /// Names as programmers wrote them.
    pub(super) demangle: bool,
    /// File and line behind the name.
    pub(super) places: bool,
    /// The address as well, and the functions into which a line was inlined.
    pub(super) by_line: bool,
    /// Files with their directories.
    pub(super) paths: bool,
}

impl NameStyle {
    pub(super) fn new(options: &Options) -> NameStyle {
        NameStyle {
            demangle: options.demangle,
            places: options.file_names || options.by_line,
            by_line: options.by_line,
            paths: options.paths,
        }
    }
}
