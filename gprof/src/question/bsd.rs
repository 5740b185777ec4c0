//! What the command line of the BSDs' gprof asks for.

use std::ffi::OsString;

use crate::question::rules::Dialect;

/// The parsed command line of the BSDs' gprof.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The BSD whose gprof to reproduce.
    pub dialect: Dialect,
    /// `-a`: leave out static functions.
    pub without_statics: bool,
    /// `-u`: leave out functions whose names contain dots.
    pub without_dots: bool,
    /// `-b`: leave out the explanations of the columns.
    pub brief: bool,
    /// `-c`: add calls that are in the machine code but never happened.
    pub static_calls: bool,
    /// `-C`: the size above which cycles are broken up.
    pub cycle_limit: Option<usize>,
    /// `-e`: functions without call graph entries.
    pub unlisted: Vec<OsString>,
    /// `-E`: functions without entries whose time does not count.
    pub uncounted: Vec<OsString>,
    /// `-f`: the only functions with entries, together with what they call.
    pub listed: Vec<OsString>,
    /// `-F`: the only functions with entries, and the only ones whose time counts.
    pub counted: Vec<OsString>,
    /// `-k`: the callers of the arcs to leave out.
    pub cut_from: Vec<OsString>,
    /// `-k`: the callees of the arcs to leave out.
    pub cut_to: Vec<OsString>,
    /// `-l`: leave out the call graph.
    pub without_graph: bool,
    /// `-L`: leave out the flat profile.
    pub without_flat: bool,
    /// `-s`: write the sum of the profiles.
    pub sum: bool,
    /// `-z`: show functions that were never called and took no time.
    pub unused: bool,
    /// The program and its profiles.
    pub files: Vec<OsString>,
}
