//! Reports as tables.

mod bounds;
mod cells;
mod difference;
mod drawing;
mod flat;
mod formats;
mod graph;
mod index;
mod info;
mod more;
mod stats;
mod threads;
mod widths;

pub(super) use bounds::render as bounds;
pub(super) use difference::render as difference;
pub(super) use drawing::Frame;
pub(super) use flat::render as flat;
pub(super) use formats::render as formats;
pub(super) use graph::render as graph;
pub(super) use index::render as index;
pub(super) use info::{alone as contents, profiles, side};
pub(super) use stats::render as stats;
pub(super) use threads::render as threads;
