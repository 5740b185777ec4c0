//! The checked options, and the options of the BSDs' command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use gmon_demangle::Style;

use super::files::{Comparison, KnownForm, Named, Output, ProfiledImage};
use super::format::Format;
use super::pattern::{Pattern, Spec, What};
use super::reports::{Asked, GRAPH, Reports, SOURCE, STATS, Wanted};
use super::rules::{Compat, Dialect, Rules};
use crate::terminal::pager;

/// How to show a running program again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The time between two readings of the profile.
    pub period: Duration,
    /// The number of the process whose program and profile to show.
    pub process: Option<u32>,
}

/// How to make the profile of a running program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attach {
    /// The number of the process.
    pub process: u32,
    /// The time that the profile is of.
    pub time: Duration,
    /// The functions whose calls to count on demand meanwhile, as a list of patterns; empty for all functions. `None`
    /// leaves the counting of calls as it is.
    pub calls: Option<Vec<u8>>,
}

/// How to run programs again and again, and to collect their profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeat {
    /// The least number of runs of each program; not 0.
    pub runs: usize,
    /// The directory for the profiles.
    pub directory: PathBuf,
    /// The program.
    pub program: PathBuf,
    /// The arguments of the programs.
    pub arguments: Vec<OsString>,
    /// The program to compare with.
    pub against: Option<PathBuf>,
    /// The growth of the total that must be visible, as a percentage; above 0 and not NaN.
    pub until: Option<f64>,
    /// The time after which no run begins.
    pub longest: Option<Duration>,
    /// The options of the command line that are about the report.
    pub report: Vec<OsString>,
}

// The percentage is never NaN, so equality is reflexive.
impl Eq for Repeat {}

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
    /// Functions of the stacks that count; no other stacks count.
    Focus,
    /// Functions whose stacks do not count.
    Ignored,
    /// Functions whose frames are left out of stacks.
    Hidden,
    /// Functions above which stacks are cut off.
    Start,
}

impl Subject {
    /// What is chosen in stacks, before anything is analyzed.
    pub const OF_STACKS: [Subject; 4] = [Subject::Focus, Subject::Ignored, Subject::Hidden, Subject::Start];

    /// All subjects of reports.
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
pub(crate) const ROWS_OF_TABLES: usize = 200;

/// The same for Markdown: a comment on a change shows what matters.
pub(crate) const ROWS_OF_MARKDOWN: usize = 30;

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

/// Whether servers of debug files may be asked for the files that this machine does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DebugServers {
    /// This run asks no servers, whatever the user has set.
    #[default]
    Unused,
    /// The user has set no servers.
    None,
    /// The user has set servers, but `--no-debuginfod` forbids gprof to ask them.
    Forbidden,
    /// The user has set servers.
    Asked,
}

/// What a report is about, and which reports to write.
///
/// [`Options::new`] starts without a command line, [`Options::parse`] reads the words of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The profiled images, each with its profiles; never empty.
    pub(crate) images: Vec<ProfiledImage>,
    /// Which files the command line names.
    pub(crate) named: Named,
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
    /// The directory below which the files of the profiled machine lie (`--sysroot`).
    pub(crate) sysroot: Option<PathBuf>,
    /// Whether debug files may be fetched.
    pub(crate) debug_servers: DebugServers,
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
    /// The running program whose profile to make, if the user wants this. The images then have no profiles yet.
    pub(crate) attach: Option<Attach>,
    /// Whether to show the page in the user's browser. The output is then the page, without a file.
    pub(crate) opens: bool,
    /// The programs to run, if the user wants this. The images then have no profiles yet.
    pub(crate) repeat: Option<Repeat>,
    /// The pager for reports on a terminal, if one is wanted.
    pub(crate) pager: Option<pager::PagerCommand>,
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

    /// The limits of rows and entries: those that the user set, or the limit of tables and of Markdown.
    #[must_use]
    pub(crate) fn row_limit(&self) -> Limit {
        let is_markdown = self.outputs.iter().all(|output| output.format == Format::Markdown);
        match self.has_limit_of_tables() {
            true => Limit { top: Some(ROWS_OF_TABLES), min_percent: None },
            false if is_markdown && self.limit == Limit::default() => {
                Limit { top: Some(ROWS_OF_MARKDOWN), min_percent: None }
            }
            false => self.limit,
        }
    }

    /// Whether rows and entries have the limit of tables, because the user set no limit.
    #[must_use]
    pub(crate) fn has_limit_of_tables(&self) -> bool {
        self.limit == Limit::default() && self.outputs.iter().all(|output| output.format == Format::Table)
    }

    /// Whether only some stacks or frames count.
    #[must_use]
    pub(crate) fn filters_stacks(&self) -> bool {
        self.choices.iter().any(|choice| Subject::OF_STACKS.contains(&choice.subject))
    }

    /// Makes the index as narrow as a terminal with less than 80 columns, if the index goes only there, and the user
    /// set no width. The layout of GNU's gprof is the same on each terminal. The width does not count the blanks before
    /// numbers, up to three in each column.
    pub(crate) fn fit_index(&mut self, terminal: Option<usize>) {
        let is_alone = self.outputs.iter().all(|output| output.file.is_none() && output.format == Format::Text);
        if is_alone && self.width.is_none() && self.rules.escapes_names {
            self.width = terminal.filter(|width| (24..80).contains(width)).map(|width| width - 9);
        }
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
    pub(crate) fn draws_call_graph(&self) -> bool {
        self.outputs.iter().any(|output| output.format.draws_call_graph())
    }

    /// Whether to write a footer, which says how much of the profiles the reports account for.
    #[must_use]
    pub(crate) fn has_footer(&self, wanted: &Wanted) -> bool {
        // With `--stats`, the reports contain this already.
        self.rules.has_footer && wanted.shows().times && !wanted.has(STATS) && !self.brief
    }

    /// Whether reports show what only debug information tells: lines, source files, and inlined functions. Profiles may
    /// need it in other cases too.
    #[must_use]
    pub(crate) fn needs_debug_information(&self) -> bool {
        let is_annotated = self.reports.asked(SOURCE) == Asked::For || self.annotation.times;
        self.by_line || self.inlines || self.file_names || self.makes_page() || is_annotated
    }

    /// Whether choices or reports need the source lines of functions.
    #[must_use]
    pub(crate) fn needs_sources(&self, wanted: &Wanted) -> bool {
        let spec_needs = |spec: &Spec| {
            // Without `:`, a name with a dot may be the name of a file.
            let may_be_file = matches!(&spec.what, What::Function(name) if name.contains(&b'.'));
            spec.file.is_some() || matches!(spec.what, What::Line(_)) || may_be_file
        };
        let needs = |choice: &Choice| match &choice.pattern {
            Pattern::Functions(spec) => spec_needs(spec),
            Pattern::Arcs(from, to) => spec_needs(from) || spec_needs(to),
        };
        let shown = wanted.shows().lines
            || self.file_names
            || self.by_line
            || self.makes_page()
            || self.inlines
            || (wanted.has(GRAPH) && self.paths);
        shown || self.choices.iter().any(needs)
    }

    /// Whether the reports show only code that has samples or calls: the flat profile alone.
    #[must_use]
    pub(crate) fn shows_only_profiled_code(&self, wanted: &Wanted) -> bool {
        let all = wanted.shows().all_functions || wanted.exports || self.sums_lines();
        let by_neighbors = !self.rules.chooses_sets && !self.choices.is_empty();
        !(all || by_neighbors || self.unused || self.traditional)
    }

    /// Whether to write a sum in which calls are between lines, as in GNU gprof.
    #[must_use]
    pub(crate) fn sums_lines(&self) -> bool {
        self.reports.sum && self.rules.sums_lines
    }
}

/// The parsed command line of the BSDs' gprof.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BsdOptions {
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
