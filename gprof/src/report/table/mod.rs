//! Reports as tables.

mod bounds;
mod cells;
mod difference;
mod drawing;
mod flat;
mod graph;
mod index;

pub(super) use bounds::render as bounds;
pub(super) use difference::render as difference;
pub(super) use drawing::Frame;
pub(super) use flat::render as flat;
pub(super) use graph::render as graph;
pub(super) use index::render as index;
