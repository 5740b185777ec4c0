//! The checked options.

use std::path::PathBuf;
use std::time::Duration;

use gmon_demangle::Style;

pub use crate::cli::compat::Compat;
use crate::cli::format::Format;
use crate::cli::orderer::Orderer;
pub use crate::cli::profile_path::ProfilePath;
use crate::cli::rules::Rules;
use crate::cli::symspec::{Pattern, Spec, What};
use crate::error::Error;
use crate::terminal::pager;

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

/// One output of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The file to write; `None` for the standard output.
    pub file: Option<PathBuf>,
    /// The format.
    pub format: Format,
}

/// How to show a running program again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The time between two readings of the profile.
    pub period: Duration,
    /// The number of the process whose program and profile to show.
    pub process: Option<u32>,
}

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

/// The shared object whose profile to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extract {
    /// The path, the last component of the path, or the number of the object in the side file.
    pub object: String,
    /// The file to write; if `None`, the name of the profile, a dot, and the last component of the object's path.
    pub output: Option<PathBuf>,
}

/// The part of the output that a choice of functions applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// The flat profile.
    Flat,
    /// Entries in the call graph.
    Graph,
    /// The time in the call graph.
    Time,
    /// The number of calls of each function.
    Counts,
    /// Annotated source files.
    Source,
    /// Arcs of the call graph.
    Arcs,
    /// Functions whose callers are shown.
    Callers,
}

impl Subject {
    /// All subjects.
    pub const ALL: [Subject; 7] = [
        Subject::Flat,
        Subject::Graph,
        Subject::Time,
        Subject::Counts,
        Subject::Source,
        Subject::Arcs,
        Subject::Callers,
    ];
}

/// A choice of functions or arcs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The part of the output that the choice applies to.
    pub subject: Subject,
    /// Whether the choice includes the functions or arcs, or excludes them.
    pub only: bool,
    /// The functions or arcs.
    pub pattern: Pattern,
    /// The option and its value, for messages.
    pub given: String,
}

/// The number of rows and entries that tables show if the user sets no limit: nobody reads more.
pub(super) const ROWS_OF_TABLES: usize = 200;

/// Limits of the flat profile and of the call graph; everything is shown without limits, except in tables.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit {
    /// The maximum number of rows of the flat profile, and of entries of the call graph; `usize::MAX` for all.
    pub top: Option<usize>,
    /// The minimum percentage of the total time of a row or entry.
    pub min_percent: Option<f64>,
}

// The percentage is never NaN, so equality is reflexive.
impl Eq for Limit {}

/// How source files are found and annotated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The directories to search.
    pub directories: Vec<PathBuf>,
    /// Lines with fewer calls than this are marked.
    pub min_count: u64,
    /// The number of lines with the most calls to list.
    pub table_length: usize,
    /// Whether to annotate all lines.
    pub all_lines: bool,
    /// Whether to show the self time of each line.
    pub times: bool,
    /// Whether to write each source file to a separate file.
    pub separate: bool,
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

/// What a report is about, and which reports to write.
///
/// [`Options::new`] starts without a command line, [`Options::parse`] reads the words of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The profiled images, each with its profiles; never empty.
    pub(crate) images: Vec<ProfiledImage>,
    /// The base to compare with, if the report is about changes.
    pub(crate) comparison: Option<Comparison>,
    /// What is known about the form of the profiles.
    pub(crate) known_form: KnownForm,
    /// A text file with the symbols (`-S`).
    pub(crate) symbols: Option<PathBuf>,
    /// A text file that maps functions to object files (`-R`).
    pub(crate) file_map: Option<PathBuf>,
    /// The directories to search for separate debug files, before the system's directory.
    pub(crate) debug_directories: Vec<PathBuf>,
    /// Whether reports include the shared objects whose counts the runs left.
    pub(crate) objects: bool,
    /// The name or number of the only thread to report.
    pub(crate) thread: Option<String>,
    /// The gprof whose output to reproduce.
    pub(crate) compat: Compat,
    /// The rules that follow from the choice of gprof.
    pub(crate) rules: Rules,
    /// The reports that the user requested or suppressed.
    pub(crate) reports: Reports,
    /// The choices of functions and arcs, in the order of the command line.
    pub(crate) choices: Vec<Choice>,
    /// Whether to leave out static functions.
    pub(crate) no_static: bool,
    /// Whether to leave out local symbols whose type is not function.
    pub(crate) functions_only: bool,
    /// Whether to count compilers' copies of a function for the function.
    pub(crate) merge_clones: bool,
    /// Whether to add calls that are in the machine code but never happened.
    pub(crate) static_calls: bool,
    /// Whether to estimate the times of called functions, also if there are stacks.
    pub(crate) propagates: bool,
    /// Whether to leave out the explanations of the columns.
    pub(crate) brief: bool,
    /// Whether a profile that may not belong to its image is an error.
    pub(crate) strict: bool,
    /// The limits of the flat profile and of the call graph.
    pub(crate) limit: Limit,
    /// Whether to show functions that were never called and took no time.
    pub(crate) unused: bool,
    /// Whether to show names as in the source.
    pub(crate) demangle: bool,
    /// The mangling style.
    pub(crate) style: Style,
    /// Whether to use the layout of the BSDs.
    pub(crate) traditional: bool,
    /// Whether to report source lines instead of functions.
    pub(crate) by_line: bool,
    /// Whether to add inlined functions.
    pub(crate) inlines: bool,
    /// Whether to add file and line to names.
    pub(crate) file_names: bool,
    /// Whether to show whole paths.
    pub(crate) paths: bool,
    /// Whether to show the standard errors of self times.
    pub(crate) errors: bool,
    /// The outputs; never empty.
    pub(crate) outputs: Vec<Output>,
    /// The width of the index and of tables in characters, if given.
    pub(crate) width: Option<usize>,
    /// How source files are found and annotated.
    pub(crate) annotation: Annotation,
    /// How to show the profile again and again, if the user wants this.
    pub(crate) watch: Option<Watch>,
    /// The pager for reports on a terminal, if one is wanted.
    pub(crate) pager: Option<pager::PagerCommand>,
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

impl Options {
    /// The options of the demangler.
    #[must_use]
    pub(crate) fn demangling(&self) -> gmon_demangle::Options {
        gmon_demangle::Options { style: self.style, compat: self.rules.demangling, ..gmon_demangle::Options::default() }
    }

    /// Whether the times of called functions are measured if there are stacks.
    #[must_use]
    pub(crate) fn measures_times(&self) -> bool {
        // A stack tells which function called a function, but -l divides functions into lines.
        self.rules.measures_times && !self.propagates && !self.by_line
    }

    /// Returns each output with the options of a run that has only this output. What an output needs of an analysis,
    /// the limits that an output spends, and the spelling of names then change no other output.
    pub(crate) fn each_alone(&self) -> Vec<(&Output, Options)> {
        let alone = |output: &Output| Options { outputs: vec![output.clone()], ..self.clone() };
        self.outputs.iter().map(|output| (output, alone(output))).collect()
    }

    /// The limits of rows and entries: those that the user set, or the limit of tables.
    #[must_use]
    pub(crate) fn row_limit(&self) -> Limit {
        if self.has_limit_of_tables() { Limit { top: Some(ROWS_OF_TABLES), min_percent: None } } else { self.limit }
    }

    /// Whether rows and entries have the limit of tables, because the user set no limit.
    #[must_use]
    pub(crate) fn has_limit_of_tables(&self) -> bool {
        self.limit == Limit::default() && self.outputs.iter().all(|output| output.format == Format::Table)
    }

    /// Whether anything goes to the standard output.
    #[must_use]
    pub(crate) fn writes_to_stdout(&self) -> bool {
        self.outputs.iter().any(|output| output.file.is_none())
    }

    /// Whether an output is a page, which shows everything.
    #[must_use]
    pub(crate) fn makes_page(&self) -> bool {
        self.comparison.is_none() && self.outputs.iter().any(|output| output.format == Format::Html)
    }

    /// Whether to compute standard errors.
    #[must_use]
    pub(crate) fn computes_errors(&self) -> bool {
        self.errors || self.makes_page() || self.comparison.is_some()
    }

    /// Whether an output is a drawing of the call graph.
    fn draws_call_graph(&self) -> bool {
        self.outputs.iter().any(|output| output.format.draws_call_graph())
    }

    /// Whether to write a footer, which says how much of the profiles the reports account for.
    #[must_use]
    pub(crate) fn has_footer(&self, wanted: Wanted) -> bool {
        // With `--stats`, the reports contain this already.
        let has_times = wanted.flat || wanted.graph || wanted.bounds || wanted.stacks();
        self.rules.has_footer && has_times && !wanted.stats && !self.brief
    }

    /// Whether choices or reports need the source lines of functions.
    #[must_use]
    pub(crate) fn needs_sources(&self, wanted: Wanted) -> bool {
        let spec_needs = |spec: &Spec| {
            // Without `:`, a name with a dot may be the name of a file.
            let may_be_file = matches!(&spec.what, What::Function(name) if name.contains(&b'.'));
            spec.file.is_some() || matches!(spec.what, What::Line(_)) || may_be_file
        };
        let needs = |choice: &Choice| match &choice.pattern {
            Pattern::Functions(spec) => spec_needs(spec),
            Pattern::Arcs(from, to) => spec_needs(from) || spec_needs(to),
        };
        let shown = wanted.counts
            || wanted.source
            || self.file_names
            || self.by_line
            || self.makes_page()
            || self.inlines
            || (wanted.graph && self.paths);
        shown || self.choices.iter().any(needs)
    }

    /// Whether the reports show only code that has samples or calls: the flat profile alone.
    #[must_use]
    pub(crate) fn shows_only_profiled_code(&self, wanted: Wanted) -> bool {
        let orders = wanted.function_order || wanted.linker_order.is_some();
        let reports = wanted.graph || wanted.counts || wanted.source;
        let all = reports || orders || wanted.exports || self.sums_lines();
        let by_neighbors = !self.rules.chooses_sets && !self.choices.is_empty();
        !(all || by_neighbors || self.unused || self.traditional)
    }

    /// Whether to write a sum in which calls are between lines, as in GNU gprof.
    #[must_use]
    pub(crate) fn sums_lines(&self) -> bool {
        self.reports.sum && self.rules.sums_lines
    }

    /// The reports to write: the requested ones; if there are none, all reports that the profiles have data for,
    /// except the suppressed ones.
    ///
    /// # Errors
    ///
    /// When a requested report has no data in the profiles.
    pub(crate) fn wanted(&self, contents: Contents) -> Result<Wanted, Error> {
        let asked = &self.reports;
        let has_graph = contents.calls || (contents.callers && self.measures_times());
        let wanted = Wanted {
            info: asked.info,
            threads: asked.threads,
            stats: asked.stats,
            bounds: asked.bounds,
            contexts: asked.contexts.is_some(),
            callers: asked.callers,
            flat: asked.flat == Asked::For,
            graph: asked.graph == Asked::For,
            counts: asked.counts == Asked::For,
            source: asked.source == Asked::For,
            function_order: asked.function_order,
            linker_order: asked.linker_order,
            calls: has_graph,
            file_order: self.file_map.is_some(),
            exports: self.comparison.is_some() || self.outputs.iter().any(|output| output.format.is_export()),
        };
        if wanted.flat && !contents.samples {
            return Err(Error::NoSamples);
        }
        if (wanted.graph || self.draws_call_graph()) && !has_graph {
            return Err(if self.thread.is_some() { Error::NoCallsOfThread } else { Error::NoCalls });
        }
        if wanted.linker_order.is_some() && !has_graph {
            return Err(Error::NoCalls);
        }
        if wanted.bounds && !(contents.samples && contents.calls) {
            return Err(Error::NoBounds);
        }
        let chosen = Wanted { exports: false, ..wanted };
        if chosen.analysis() || wanted.info || wanted.threads || asked.sum || asked.extract.is_some() {
            return Ok(wanted);
        }
        Ok(Wanted {
            flat: contents.samples && asked.flat != Asked::Against,
            graph: has_graph && asked.graph != Asked::Against,
            counts: !contents.samples && !contents.calls && asked.counts != Asked::Against,
            ..wanted
        })
    }
}
