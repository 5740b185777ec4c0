//! The parts from which the rows of reports are made.

use gmon::Profile;

use super::division::Innermost;
use super::flat::Flat;
use super::graph::Graph;
use super::input::StackInput;
use super::on_demand::OnDemandCounts;
use super::selection::Selections;
use crate::program::image::address_space::Images;
use crate::program::symbols::functions::Functions;
use crate::program::symbols::inlines::Inlined;
use crate::program::symbols::sources::Sources;
use crate::question::options::Options;
use crate::question::reports::Wanted;

/// The parts of an analysis from which the rows of reports are made.
pub(super) struct Intermediate<'a, 'data> {
    pub(super) functions: &'a Functions<'data>,
    pub(super) flat: &'a Flat,
    pub(super) graph: &'a Graph,
    /// What was counted on demand, unless calls were counted during the whole time.
    pub(super) on_demand_counts: Option<&'a OnDemandCounts>,
    pub(super) innermost: &'a Innermost,
    /// The number of samples for each unit of time.
    pub(super) rate: f64,
    pub(super) profile: &'data Profile,
    pub(super) images: &'data Images<'data>,
    /// The stacks of the samples, if there are any.
    pub(super) stacks: Option<&'a StackInput<'data>>,
    /// Whether the times of called functions are those that stacks show.
    pub(super) is_measured: bool,
    pub(super) sources: &'a Sources,
    pub(super) inlined: Option<&'a Inlined<'data>>,
    pub(super) selections: &'a Selections,
    pub(super) options: &'data Options,
    pub(super) wanted: &'a Wanted,
}
