//! What a report says about itself. The list of reports yields options, help, contradictions, and the order of writing.

use std::io;

use super::writer::Writer;
use crate::error::Error;
use crate::model::Analysis;
use crate::program::symbols::functions::FunctionId;
use crate::question::options::Subject;
use crate::question::reports::Shows;

/// Writes a report.
type Write = fn(&Analysis<'_>, &mut Writer<'_>) -> Result<(), Error>;
/// Writes the fields of a report in JSON.
type WriteFields = fn(&Analysis<'_>, &mut dyn io::Write) -> io::Result<()>;
/// Passes functions.
type Mention = fn(&Analysis<'_>, &mut dyn FnMut(FunctionId));

/// A report.
pub struct Report {
    /// The long option that asks for the report, without dashes. The name of the report.
    pub name: &'static str,
    /// The short option.
    pub short: Option<char>,
    /// What the option does, in the words of the help.
    pub help: &'static str,
    /// The value of the option.
    pub value: Value,
    /// The option that suppresses the report: its short option, its long option, and its help.
    pub opposite: Option<(char, &'static str, &'static str)>,
    /// The part of the output for which the functions in the option's value are chosen.
    pub subject: Option<Subject>,
    /// What the profiles must have.
    pub needs: &'static [Need],
    /// What the report shows.
    pub shows: Shows,
    /// Whether the report is written if the user asks for no report.
    pub is_default: fn(&Data) -> bool,
    /// Whether the report stands in front of all reports of functions.
    pub is_first: bool,
    /// What keeps the option from standing beside others.
    pub traits: &'static [Trait],
    /// Writes the report: as a table, if the writer writes tables and the report has one.
    pub write: Write,
    /// Writes the fields of the report in JSON.
    pub json: Option<WriteFields>,
    /// Passes the functions that the fields in JSON mention.
    pub mentions: Mention,
}

impl Report {
    /// A report of functions and their times, which needs an analysis of any profile.
    pub const OF_FUNCTIONS: Report = Report {
        name: "",
        short: None,
        help: "",
        value: Value::None,
        opposite: None,
        subject: None,
        needs: &[],
        shows: Shows { analysis: true, text: true, all_functions: false, times: true, lines: false, stacks: false },
        is_default: |_| false,
        is_first: false,
        traits: &[],
        write: |_, _| Ok(()),
        json: None,
        mentions: |_, _| {},
    };
    /// A report of what the files contain, which needs no analysis.
    pub const OF_FILES: Report = Report {
        shows: Shows { analysis: false, text: true, all_functions: false, times: false, lines: false, stacks: false },
        is_first: true,
        ..Report::OF_FUNCTIONS
    };
    /// A list for linkers.
    pub const FOR_LINKERS: Report = Report {
        shows: Shows { analysis: true, text: false, all_functions: true, times: false, lines: false, stacks: false },
        ..Report::OF_FUNCTIONS
    };
}

/// The value of a report's option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// No value.
    None,
    /// Optional functions (SPEC).
    OptionalSpec,
    /// Functions (SPEC). The option may be repeated.
    Spec,
    /// An optional number of at least 1, with its name. Without a value, the greatest number counts.
    OptionalNumber(&'static str),
    /// One of these words, each with its help; the name of the value comes first.
    OneOf(&'static str, &'static [(&'static str, &'static str)]),
    /// The name of a file, with the name of the value.
    File(&'static str),
}

/// What the profiles must have for a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Samples.
    Samples,
    /// Calls, or stacks that show who called whom.
    Graph,
    /// Samples and counted calls.
    SamplesAndCalls,
    /// Threads that are told apart.
    Threads,
    /// Stacks.
    Stacks,
}

/// The kinds of data that the profiles have.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// Samples.
    pub samples: bool,
    /// Counted calls.
    pub calls: bool,
    /// Calls, or stacks that show who called whom.
    pub graph: bool,
}

/// What keeps an option or an output from standing beside others. [`CONTRADICTIONS`] has the pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// Does not exist in other gprofs' layouts.
    Ours,
    /// Must match another gprof byte by byte.
    OtherLayout,
    /// An output for programs alone.
    Data,
    /// Exists as text only.
    TextOnly,
    /// Is about one thread.
    OneThread,
    /// Is about all threads.
    AllThreads,
    /// Is about inlined functions.
    Inlined,
    /// Knows no inlined functions.
    NotInlined,
    /// Needs functions whose calls are counted one by one.
    CallsOneByOne,
    /// Counts calls of several functions together, or divides functions.
    CallsTogether,
    /// Leads from function to function.
    Functions,
    /// Has lines or object files in place of functions.
    NoFunctions,
    /// Is an order of functions.
    OrderOfFunctions,
    /// Is an order of object files.
    OrderOfFiles,
    /// Divides functions into lines that have no object files.
    LinesAlone,
    /// Chooses among stacks.
    OfStacks,
    /// Is about runs as a whole.
    WholeRuns,
}

/// The pairs of traits that contradict each other.
pub const CONTRADICTIONS: [(Trait, Trait); 9] = [
    (Trait::Ours, Trait::OtherLayout),
    (Trait::Data, Trait::TextOnly),
    (Trait::OneThread, Trait::AllThreads),
    (Trait::Inlined, Trait::NotInlined),
    (Trait::OrderOfFunctions, Trait::OrderOfFiles),
    (Trait::CallsOneByOne, Trait::CallsTogether),
    (Trait::Functions, Trait::NoFunctions),
    (Trait::LinesAlone, Trait::OrderOfFiles),
    (Trait::OfStacks, Trait::WholeRuns),
];
