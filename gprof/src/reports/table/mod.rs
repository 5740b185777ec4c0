//! Reports as tables.

mod bounds;
mod cells;
mod difference;
mod drawing;
mod flat;
mod graph;
mod index;

pub(crate) use bounds::render as bounds;
pub(crate) use difference::render as difference;
pub(crate) use drawing::Frame;
pub(crate) use flat::render as flat;
pub(crate) use graph::render as graph;
pub(crate) use index::render as index;
