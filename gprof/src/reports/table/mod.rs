//! How tables are drawn.

pub mod cells;
pub mod drawing;

pub(crate) use drawing::Frame;
