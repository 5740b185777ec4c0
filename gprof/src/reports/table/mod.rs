//! How tables are drawn.

pub mod cells;
pub mod drawing;
pub mod formats;
pub mod more;
pub mod widths;

pub(crate) use drawing::Frame;
