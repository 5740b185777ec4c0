//! The reports that the user asks for, and the reports to write.

use crate::question::files::Extract;
use crate::question::orderer::Orderer;

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

/// The user's requests for all reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    /// The flat profile.
    pub flat: Asked,
    /// The call graph and its index.
    pub graph: Asked,
    /// The number of calls of each function.
    pub counts: Asked,
    /// Annotated source files.
    pub source: Asked,
    /// The contents of the profiles' files.
    pub info: bool,
    /// Whether the profiles are named, and not the default.
    pub names_profiles: bool,
    /// How much of the profiles the reports account for.
    pub stats: bool,
    /// The bounds of inclusive times.
    pub bounds: bool,
    /// The threads with their times.
    pub threads: bool,
    /// The tree of calling contexts, down to this number of frames.
    pub contexts: Option<usize>,
    /// The callers of chosen functions.
    pub callers: bool,
    /// An order of functions.
    pub function_order: bool,
    /// The program that an order of the functions that ran is for.
    pub linker_order: Option<Orderer>,
    /// The profile of one shared object, in a file.
    pub extract: Option<Extract>,
    /// The file with the sum of the profiles.
    pub sum: bool,
}

/// The reports to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The contents of the profiles' files.
    pub info: bool,
    /// The threads with their times.
    pub threads: bool,
    /// How much of the profiles the reports account for.
    pub stats: bool,
    /// The flat profile.
    pub flat: bool,
    /// The call graph and its index.
    pub graph: bool,
    /// The bounds of inclusive times.
    pub bounds: bool,
    /// The tree of calling contexts.
    pub contexts: bool,
    /// The callers of chosen functions.
    pub callers: bool,
    /// The number of calls of each function.
    pub counts: bool,
    /// Annotated source files.
    pub source: bool,
    /// An order of functions.
    pub function_order: bool,
    /// The program that an order of the functions that ran is for.
    pub linker_order: Option<Orderer>,
    /// Whether the profiles contain calls, so that functions have numbers.
    pub calls: bool,
    /// An order of object files.
    pub file_order: bool,
    /// Whether an output is for other programs and needs all functions and arcs.
    pub exports: bool,
}

impl Wanted {
    /// Whether anything is wanted that needs an analysis: any report except `info` and `threads`.
    #[must_use]
    pub fn analysis(&self) -> bool {
        let orders = self.function_order || self.linker_order.is_some() || self.file_order;
        self.shows_reports() || orders || self.exports
    }

    /// Whether any report for people is wanted that needs an analysis.
    #[must_use]
    pub fn shows_reports(&self) -> bool {
        let tables = self.flat || self.graph || self.bounds || self.counts;
        self.stats || tables || self.source || self.stacks()
    }

    /// Whether any report is wanted that needs stacks.
    #[must_use]
    pub fn stacks(&self) -> bool {
        self.contexts || self.callers
    }

    /// Whether the flat profile is the only report that needs an analysis. The numbers of entries and the order of
    /// arcs are then not shown.
    #[must_use]
    pub fn is_flat_alone(&self) -> bool {
        let orders = self.function_order || self.linker_order.is_some() || self.file_order;
        self.flat && !(self.graph || self.counts || self.source || orders || self.exports)
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
}

impl Contents {
    /// Adds the kinds of data in other profiles.
    pub(crate) fn join(&mut self, more: Contents) {
        self.samples |= more.samples;
        self.calls |= more.calls;
        self.callers |= more.callers;
    }
}
