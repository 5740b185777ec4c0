//! The result of a comparison, as renderers see it.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::change::{Change, ComparedCalls};
use super::judge::{Evidence, Judgement};
use super::row_runs::{CallsJudged, RowRuns};
use super::side::{Elsewhere, Side, Subjects};
use crate::model::analysis::Analysis;
use crate::model::flame::FlameSubject;
use crate::program::symbols::functions::FunctionId;

/// On which sides a function exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// On both.
    Both,
    /// Only in the images of the other profiles.
    Added,
    /// Only in the images of the base.
    Removed,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowSubject {
    /// Joined functions: their number.
    Functions(usize),
    Elsewhere(Elsewhere),
}

/// The changes of a function. Times are in the unit of the samples, normally seconds, and are means a run, as calls
/// are.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DifferenceRow {
    pub(super) subject: RowSubject,
    /// On which sides the function exists.
    pub presence: Presence,
    /// The self time.
    pub own: Change,
    /// The inclusive time.
    pub inclusive: Change,
    /// The calls by other functions. NaN where they cannot be compared, as [`Difference::calls`] tells. Estimates have
    /// an error, and are noise if the change is not more than 95 of 100 changes by chance.
    pub calls: Change,
    /// What the runs say of these changes.
    pub runs: RowRuns,
}

/// The calls of one function by another.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ArcChange {
    /// The numbers of the joined functions: the caller, and the called function.
    pub(super) ends: (usize, usize),
    /// The calls.
    pub calls: CallsJudged,
    /// Whether the caller made another number of calls each time that it was called. Otherwise the change comes from
    /// the caller's callers.
    pub is_origin: bool,
}

/// Why the self time of a function changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// No calls tell.
    Unknown,
    /// Each call takes another time.
    EachCall,
    /// The function was called more or less often, and the time of each call is as before.
    Calls,
    /// Both.
    Both,
}

/// A row whose self time changed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The row.
    pub row: DifferenceRow,
    /// Why the time changed.
    pub cause: Cause,
    /// Where the number of calls changed, if the calls are the cause.
    pub origin: Option<ArcChange>,
    /// The callers through which most of the function's time comes, the outermost first, without the function. They are
    /// functions of the other profiles, or of the base if only the base has the function.
    pub(super) path: Vec<FunctionId>,
}

/// The comparison of the runs of both sides.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Runs {
    /// The numbers of runs: of the base, and of the other profiles.
    pub counts: [usize; 2],
    /// By what the sides are compared.
    pub evidence: Evidence,
    /// The number of changes that are tested together.
    pub tests: usize,
    /// The level at which the change with the lowest p-value is tested. Visible changes are those of this level.
    pub level: f64,
    /// The time of everything.
    pub total: Judgement,
    /// The functions whose self time changed: the largest changes first.
    pub findings: Vec<Finding>,
    /// The calls that changed for certain, where they changed: the largest changes first.
    pub calls: Vec<ArcChange>,
    /// All rows, also those that the options leave out: the largest changes of self time first.
    pub rows: Vec<DifferenceRow>,
}

impl Runs {
    /// Returns how many runs a side show a growth of a time by a percentage of the base. `None` if a side has only one
    /// run, whose spread is not known, and if no number up to 10,000 does.
    #[must_use]
    pub fn runs_for(&self, time: &Judgement, percent: f64) -> Option<usize> {
        let is_known = self.evidence != Evidence::Sampling;
        if is_known { time.runs_for(percent / 100.0, self.counts, self.evidence, self.level) } else { None }
    }
}

/// What changed between a base and other profiles.
#[derive(Debug)]
#[non_exhaustive]
pub struct Difference<'a, 'data> {
    pub(super) sides: [Side<'a, 'data>; 2],
    pub(super) subjects: Subjects,
    /// The rows, the largest change of self time first.
    pub rows: Vec<DifferenceRow>,
    /// The number of rows that the options leave out.
    pub left_out: usize,
    /// The time of all functions and of all other code.
    pub total: Change,
    /// What the calls of both sides are.
    pub calls: ComparedCalls,
    /// By what the means of the base were multiplied, so that both totals are the same.
    pub factor: Option<f64>,
    /// Whether inclusive times are measured on both sides.
    pub is_measured: bool,
    /// A change of a row is noise if it is smaller than this number of its standard errors. Of 1,000 comparisons of a
    /// program with itself, one has a row with a larger change.
    pub noise_errors: f64,
    /// The comparison of the runs of both sides.
    pub runs: Runs,
    pub(super) flame: OnceLock<DifferenceFlame>,
}

/// A frame of either side, or of both. Times are in the unit of the samples.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ChangedFrame {
    /// The index of the caller's frame; `None` for the first frame, which is the whole program.
    pub parent: Option<usize>,
    /// The time of the frame and of all frames that it called. For estimated times, the error is an upper bound of the
    /// error of sampling.
    pub inclusive: Change,
    /// The time of the frame alone, without an error.
    pub own: Change,
    /// What the frame is about, on the side that has the frame.
    pub(super) subject: (usize, FlameSubject),
}

/// The flame graphs of both sides as one tree.
#[derive(Debug)]
#[non_exhaustive]
pub struct DifferenceFlame {
    /// The frames: each behind its caller's frame, and the callees of a frame with the longest time of both sides
    /// first.
    pub frames: Vec<ChangedFrame>,
    /// [`Difference::noise_errors`] for frames.
    pub noise_errors: f64,
}

impl ChangedFrame {
    /// Returns the time of the frame on both sides together: its width in a picture that has the frames of both.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.inclusive.old + self.inclusive.new
    }
}

impl<'a, 'data> Difference<'a, 'data> {
    /// Returns the analysis of the base.
    #[must_use]
    pub fn base_analysis(&self) -> &'a Analysis<'data> {
        self.sides[0].analysis
    }

    /// Returns the analysis of the other profiles.
    #[must_use]
    pub fn new_analysis(&self) -> &'a Analysis<'data> {
        self.sides[1].analysis
    }

    /// Returns by what the counts of the base are multiplied, so that they can be compared with those of the other
    /// profiles: both sides may have different numbers of runs.
    #[must_use]
    pub fn base_scale(&self) -> f64 {
        self.sides[0].factor / self.sides[1].factor
    }

    /// Returns the functions of a row in the base and in the other profiles. Several functions are in one row if their
    /// names do not tell which of them are the same; time in the kernel or in no function has none.
    #[must_use]
    pub fn row_functions(&self, row: &DifferenceRow) -> [&[FunctionId]; 2] {
        match row.subject {
            RowSubject::Functions(at) => [0, 1].map(|side: usize| self.subjects.joined[at][side].as_slice()),
            RowSubject::Elsewhere(_) => [&[], &[]],
        }
    }

    /// The first function of a row, and the analysis that has the function: that of the other profiles if possible.
    pub(super) fn row_function(&self, row: &DifferenceRow) -> Option<(&'a Analysis<'data>, FunctionId)> {
        let [base, new] = self.row_functions(row).map(<[FunctionId]>::first);
        new.map(|id| (self.new_analysis(), *id)).or_else(|| base.map(|id| (self.base_analysis(), *id)))
    }

    /// Returns the name of a row. Code in no function has a name in angle brackets.
    #[must_use]
    pub fn row_name(&self, row: &DifferenceRow) -> Cow<'_, [u8]> {
        match row.subject {
            RowSubject::Functions(at) => self.joined_name(at),
            RowSubject::Elsewhere(Elsewhere::Kernel) => Cow::Borrowed(b"<kernel>"),
            RowSubject::Elsewhere(Elsewhere::Outside) => Cow::Borrowed(b"<outside>"),
        }
    }

    /// The name of joined functions, with their number if there are several.
    pub(super) fn joined_name(&self, at: usize) -> Cow<'_, [u8]> {
        let [base, new] = &self.subjects.joined[at];
        let name = match (new.first(), base.first()) {
            (Some(id), _) => self.new_analysis().name_with_location(*id),
            (None, Some(id)) => self.base_analysis().name_with_location(*id),
            (None, None) => Cow::default(),
        };
        match (base.len(), new.len()) {
            (0 | 1, 0 | 1) => name,
            (old, new) if old == new => Cow::Owned([&name, format!(" ({new} functions)").as_bytes()].concat()),
            (old, new) => {
                let count = counted(new);
                Cow::Owned([&name, format!(" ({count}, {old} in the base)").as_bytes()].concat())
            }
        }
    }

    /// Returns the function of the other profiles that a function of the base is compared with, if there is one.
    #[must_use]
    pub fn counterpart(&self, of_base: FunctionId) -> Option<FunctionId> {
        self.subjects.joined[self.subjects.number(0, of_base)][1].first().copied()
    }
}

fn counted(functions: usize) -> String {
    format!("{functions} function{}", if functions == 1 { "" } else { "s" })
}
