//! The result of a comparison, as renderers see it.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::change::Change;
use super::runs::{RowRuns, Runs};
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
    /// The calls by other functions.
    pub calls: Change,
    /// What the runs say of these changes.
    pub runs: RowRuns,
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
