//! What the user asked for, checked and frozen.

use std::ffi::OsString;
use std::path::PathBuf;

use gmon_demangle::Style;

pub use crate::cli::compat::Compat;
use crate::cli::rules::Rules;
use crate::cli::symspec::{Pattern, Spec, What};
use crate::error::Error;
use crate::terminal::pager;

/// Where a profile is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfilePath {
    /// The standard input.
    Stdin,
    /// A file.
    File(PathBuf),
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

/// An image and the profiles of its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfiledImage {
    /// The program or shared object.
    pub image: PathBuf,
    /// The profiles to sum; never none.
    pub profiles: Vec<ProfilePath>,
}

/// What reports are written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// Text for people.
    #[default]
    Text,
    /// JSON for programs.
    Json,
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

/// What the user said of all reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    /// The flat profile.
    pub flat: Asked,
    /// The call graph and its index.
    pub graph: Asked,
    /// How often functions ran.
    pub counts: Asked,
    /// Annotated source files.
    pub source: Asked,
    /// What the profiles consist of.
    pub info: bool,
    /// How much of the profiles the reports account for.
    pub stats: bool,
    /// An order of functions.
    pub function_order: bool,
    /// A file with the sum of the profiles.
    pub sum: bool,
}

/// What a choice of functions is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// The flat profile.
    Flat,
    /// Entries in the call graph.
    Graph,
    /// The time that counts in the call graph.
    Time,
    /// How often functions ran.
    Counts,
    /// Annotated source files.
    Source,
    /// Arcs of the call graph.
    Arcs,
}

/// A choice of functions or arcs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What it is for.
    pub subject: Subject,
    /// Whether only what is chosen is wanted, or all but that.
    pub only: bool,
    /// What is chosen.
    pub pattern: Pattern,
    /// The option and what was given to it, for messages.
    pub given: String,
}

/// How much of the flat profile and of the call graph is shown; all when nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit {
    /// How many rows of the one, and entries of the other.
    pub top: Option<usize>,
    /// What part of the whole time they have at least, in percent.
    pub min_percent: Option<f64>,
}

// A limit is made of numbers that are compared with themselves.
impl Eq for Limit {}

/// How source files are found and annotated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// Where they are looked for.
    pub directories: Vec<PathBuf>,
    /// Lines with fewer calls are marked.
    pub min_count: u64,
    /// How many of the lines with most calls are listed.
    pub table_length: usize,
    /// Whether all lines are annotated.
    pub all_lines: bool,
    /// Whether the self time of each line stands beside its calls.
    pub times: bool,
    /// Whether each goes to a file of its own.
    pub separate: bool,
}

/// What a report is about, and which reports to write.
///
/// [`Options::new`] starts without a command line, [`Options::parse`] reads the words of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The profiled images, each with its profiles; never none.
    pub(crate) images: Vec<ProfiledImage>,
    /// The form of the profiles, if it is not to be detected.
    pub(crate) form: Option<gmon::Form>,
    /// A text file that gives the symbols instead of the program.
    pub(crate) symbols: Option<PathBuf>,
    /// A text file that tells the object file of each function, if an order of those is wanted.
    pub(crate) file_map: Option<PathBuf>,
    /// Where files with what was stripped from programs are looked for, before the system's directory.
    pub(crate) debug_directories: Vec<PathBuf>,
    /// Whether shared objects are told of that a run left profiles of.
    pub(crate) objects: bool,
    /// Whose faults are wanted.
    pub(crate) compat: Compat,
    /// What follows from that for analyses and reports.
    pub(crate) rules: Rules,
    /// The reports that are wanted or not.
    pub(crate) reports: Reports,
    /// The functions and arcs chosen, in the order of the command line.
    pub(crate) choices: Vec<Choice>,
    /// Whether functions that only their source file sees are left out.
    pub(crate) no_static: bool,
    /// Whether local symbols that are not marked as functions are left out.
    pub(crate) functions_only: bool,
    /// Whether copies that compilers make of functions count for the function.
    pub(crate) merge_clones: bool,
    /// Whether calls are added that stand in the program and never happened.
    pub(crate) static_calls: bool,
    /// Whether to leave out the texts that explain the columns.
    pub(crate) brief: bool,
    /// How much is shown of the flat profile and of the call graph.
    pub(crate) limit: Limit,
    /// Whether to show functions that were never called and took no time.
    pub(crate) unused: bool,
    /// Whether to show names as programmers wrote them.
    pub(crate) demangle: bool,
    /// How names are mangled.
    pub(crate) style: Style,
    /// Whether to use the layout of the BSDs.
    pub(crate) traditional: bool,
    /// Whether to tell of lines and not of functions.
    pub(crate) by_line: bool,
    /// Whether to tell of functions that were inlined into others.
    pub(crate) inlines: bool,
    /// Whether to add file and line to names.
    pub(crate) file_names: bool,
    /// Whether to show whole paths.
    pub(crate) paths: bool,
    /// Whether to show how far self times may be off by chance.
    pub(crate) errors: bool,
    /// What reports are written as.
    pub(crate) format: OutputFormat,
    /// Whether to draw tables.
    pub(crate) table: bool,
    /// The width of the index and of tables in characters, if the user says so.
    pub(crate) width: Option<usize>,
    /// How source files are found and annotated.
    pub(crate) annotation: Annotation,
    /// What reports go through on their way to a terminal, if they shall go through anything.
    pub(crate) pager: Option<pager::PagerCommand>,
}

/// The reports that are to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// What the profiles consist of.
    pub info: bool,
    /// How much of the profiles the reports account for.
    pub stats: bool,
    /// The flat profile.
    pub flat: bool,
    /// The call graph, and the index behind it.
    pub graph: bool,
    /// How often functions ran.
    pub counts: bool,
    /// Annotated source files.
    pub source: bool,
    /// An order of functions.
    pub function_order: bool,
    /// Whether there are calls, so that functions have numbers.
    pub calls: bool,
    /// An order of object files.
    pub file_order: bool,
}

impl Wanted {
    /// Whether there is anything but `info`, which needs no analysis.
    #[must_use]
    pub fn analysis(&self) -> bool {
        let orders = self.function_order || self.file_order;
        self.stats || self.flat || self.graph || self.counts || self.source || orders
    }

    /// Whether the flat profile is the only report that needs an analysis: numbers of entries and the order of arcs show
    /// nowhere.
    #[must_use]
    pub fn is_flat_alone(&self) -> bool {
        let others = self.graph || self.counts || self.source || self.function_order || self.file_order;
        self.flat && !others
    }
}

/// What the profiles hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Whether any of them is of a kind that has samples.
    pub samples: bool,
    /// Whether any of them is of a kind that has calls.
    pub calls: bool,
}

impl Contents {
    /// Adds what other profiles hold.
    pub(crate) fn join(&mut self, more: Contents) {
        self.samples |= more.samples;
        self.calls |= more.calls;
    }
}

impl Options {
    /// Whether GNU's faults are wanted.
    #[must_use]
    pub(crate) fn is_gnu(&self) -> bool {
        self.compat == Compat::Gnu
    }

    /// How names are demangled: names that GNU's tools leave mangled stay so where GNU's output is wanted.
    #[must_use]
    pub(crate) fn demangling(&self) -> gmon_demangle::Options {
        let compat = if self.is_gnu() { gmon_demangle::Compat::Gnu } else { gmon_demangle::Compat::None };
        gmon_demangle::Options { style: self.style, compat, ..gmon_demangle::Options::default() }
    }

    /// Whether a footer says how much of the profiles the reports account for.
    #[must_use]
    pub(crate) fn has_footer(&self, wanted: Wanted) -> bool {
        // The originals have none, and with `--stats` and in JSON everything is said.
        let is_fixed = self.is_gnu() || self.traditional || self.format == OutputFormat::Json;
        (wanted.flat || wanted.graph) && !wanted.stats && !self.brief && !is_fixed
    }

    /// Whether choices or reports need to know where functions stand in source files.
    #[must_use]
    pub(crate) fn needs_sources(&self, wanted: Wanted) -> bool {
        let spec_needs = |spec: &Spec| {
            // Without `:`, a name with a dot may be that of a file.
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
            || self.inlines
            || (wanted.graph && self.paths);
        shown || self.choices.iter().any(needs)
    }

    /// Whether nothing is shown of code that the profile has no samples and no calls of: the flat profile alone.
    #[must_use]
    pub(crate) fn shows_only_profiled_code(&self, wanted: Wanted) -> bool {
        let all = wanted.graph || wanted.counts || wanted.source || wanted.function_order || self.sums_lines();
        // GNU keeps what is chosen as ranges of neighbours.
        let by_neighbours = self.is_gnu() && !self.choices.is_empty();
        !(all || by_neighbours || self.unused || self.traditional)
    }

    /// Whether a sum is wanted in which calls are those of lines, as GNU's is.
    #[must_use]
    pub(crate) fn sums_lines(&self) -> bool {
        self.reports.sum && self.is_gnu()
    }

    /// The reports to write: those asked for; when none was, all that the profiles have something for, less those asked
    /// against.
    ///
    /// # Errors
    ///
    /// When a report was asked for that the profiles have nothing for.
    pub(crate) fn wanted(&self, contents: Contents) -> Result<Wanted, Error> {
        let asked = &self.reports;
        let wanted = Wanted {
            info: asked.info,
            stats: asked.stats,
            flat: asked.flat == Asked::For,
            graph: asked.graph == Asked::For,
            counts: asked.counts == Asked::For,
            source: asked.source == Asked::For,
            function_order: asked.function_order,
            calls: contents.calls,
            file_order: self.file_map.is_some(),
        };
        if wanted.flat && !contents.samples {
            return Err(Error::NoSamples);
        }
        if wanted.graph && !contents.calls {
            return Err(Error::NoCalls);
        }
        if wanted.analysis() || wanted.info || asked.sum {
            return Ok(wanted);
        }
        Ok(Wanted {
            flat: contents.samples && asked.flat != Asked::Against,
            graph: contents.calls && asked.graph != Asked::Against,
            counts: !contents.samples && !contents.calls && asked.counts != Asked::Against,
            ..wanted
        })
    }
}
