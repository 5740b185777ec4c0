//! The reports that the user asks for, and the reports to write.
//!
//! A report is known by its name, which is the long option that asks for the report. [`crate::reports`] has the list of
//! all reports. The names here are those of reports for which the model computes something, or for which the library
//! has a method.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::question::files::Extract;

/// The flat profile.
pub const FLAT: &str = "flat-profile";
/// The call graph and its index.
pub const GRAPH: &str = "graph";
/// The bounds of inclusive times.
pub const BOUNDS: &str = "bounds";
/// The tree of calling contexts. The argument is the greatest depth.
pub const CONTEXTS: &str = "contexts";
/// The callers of chosen functions.
pub const CALLERS: &str = "callers";
/// The number of calls of each function.
pub const COUNTS: &str = "exec-counts";
/// Annotated source files.
pub const SOURCE: &str = "annotated-source";
/// An order of functions.
pub const FUNCTION_ORDER: &str = "function-ordering";
/// An order of the functions that ran. The argument is the program that reads the order.
pub const LINKER_ORDER: &str = "order";
/// An order of object files. The argument is the map of the object files.
pub const FILE_ORDER: &str = "file-ordering";
/// The contents of the profiles' files.
pub const INFO: &str = "file-info";
/// The threads with their times.
pub const THREADS: &str = "threads";
/// How much of the profiles the reports account for.
pub const STATS: &str = "stats";

/// The user's request for one report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    /// No request.
    #[default]
    Nothing,
    /// Write the report.
    For,
    /// Do not write the report.
    Against,
}

/// The argument of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// No argument.
    None,
    /// A number.
    Number(usize),
    /// One of the words that the report lists.
    Word(&'static str),
    /// A file.
    File(PathBuf),
}

/// The user's requests for all reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    /// The requests by the name of the report: an argument asks for the report, `None` suppresses the report.
    requests: BTreeMap<&'static str, Option<Argument>>,
    /// Whether the profiles are named, and not the default.
    pub names_profiles: bool,
    /// The profile of one shared object, in a file.
    pub extract: Option<Extract>,
    /// The file with the sum of the profiles.
    pub sum: bool,
}

impl Reports {
    /// No requests. `names_profiles`: whether the profiles are named, and not the default.
    #[must_use]
    pub fn new(names_profiles: bool) -> Reports {
        Reports { names_profiles, ..Reports::default() }
    }

    /// Asks for a report. The last request for a report counts.
    pub fn ask(&mut self, name: &'static str, argument: Argument) {
        self.requests.insert(name, Some(argument));
    }

    /// Suppresses a report that would be written if the user asks for nothing.
    pub fn suppress(&mut self, name: &'static str) {
        self.requests.insert(name, None);
    }

    /// Forgets the request for a report.
    pub fn forget(&mut self, name: &'static str) {
        self.requests.remove(name);
    }

    /// Returns the user's request for a report.
    #[must_use]
    pub fn asked(&self, name: &str) -> Asked {
        match self.requests.get(name) {
            None => Asked::Nothing,
            Some(None) => Asked::Against,
            Some(Some(_)) => Asked::For,
        }
    }

    /// Whether the user asks only for files of profiles: a sum, or the profile of a shared object.
    #[must_use]
    pub fn are_files_alone(&self) -> bool {
        (self.sum || self.extract.is_some()) && self.requests.values().all(Option::is_none)
    }

    fn argument(&self, name: &str) -> Option<&Argument> {
        self.requests.get(name)?.as_ref()
    }

    /// Returns the number in the request for a report.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<usize> {
        match self.argument(name)? {
            Argument::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the word in the request for a report.
    #[must_use]
    pub fn word(&self, name: &str) -> Option<&'static str> {
        match self.argument(name)? {
            Argument::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Returns the file in the request for a report.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&Path> {
        match self.argument(name)? {
            Argument::File(file) => Some(file),
            _ => None,
        }
    }
}

/// What a report shows, as far as the model must know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shows {
    /// Anything that must be computed of the profiles.
    pub analysis: bool,
    /// Text for people, and not for linkers.
    pub text: bool,
    /// Functions without samples and calls, or the numbers of entries in the call graph.
    pub all_functions: bool,
    /// Times of functions, so that a footer tells what the times account for.
    pub times: bool,
    /// Source lines.
    pub lines: bool,
    /// Stacks.
    pub stacks: bool,
}

/// The reports to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    names: Vec<&'static str>,
    /// What the reports show together.
    shows: Shows,
    /// Whether functions call each other in the profiles, so that functions have numbers.
    pub calls: bool,
    /// Whether an output is for other programs and needs all functions and arcs.
    pub exports: bool,
}

impl Wanted {
    /// No reports. `calls`: whether functions have numbers; `exports`: whether an output is for other programs.
    #[must_use]
    pub fn new(calls: bool, exports: bool) -> Wanted {
        Wanted { calls, exports, ..Wanted::default() }
    }

    /// Adds a report.
    pub fn add(&mut self, name: &'static str, shows: Shows) {
        self.names.push(name);
        let Shows { analysis, text, all_functions, times, lines, stacks } = shows;
        self.shows.analysis |= analysis;
        self.shows.text |= text;
        self.shows.all_functions |= all_functions;
        self.shows.times |= times;
        self.shows.lines |= lines;
        self.shows.stacks |= stacks;
    }

    /// Whether a report is wanted.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// Whether no report is wanted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// What the reports show together.
    #[must_use]
    pub fn shows(&self) -> Shows {
        self.shows
    }

    /// Whether anything is wanted that needs an analysis.
    #[must_use]
    pub fn analysis(&self) -> bool {
        self.shows.analysis || self.exports
    }

    /// Whether the flat profile is the only report that needs an analysis. The numbers of entries and the order of
    /// arcs are then not shown.
    #[must_use]
    pub fn is_flat_alone(&self) -> bool {
        self.has(FLAT) && !(self.shows.all_functions || self.exports)
    }
}

/// The kinds of data in the profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Whether any of the profiles has samples.
    pub samples: bool,
    /// Whether any of the profiles has calls.
    pub calls: bool,
    /// Whether stacks show who called whom, though calls are missing.
    pub callers: bool,
    /// Whether any calls were estimated.
    pub estimates: bool,
}

impl Contents {
    /// Adds the kinds of data in other profiles.
    pub(crate) fn join(&mut self, more: Contents) {
        self.samples |= more.samples;
        self.calls |= more.calls;
        self.callers |= more.callers;
        self.estimates |= more.estimates;
    }
}
