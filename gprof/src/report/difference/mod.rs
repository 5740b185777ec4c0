//! What changed between a base and other profiles: renderers of [`Difference`](crate::analysis::Difference).

pub(super) mod cells;
mod csv;
mod fields;
mod frames;
mod json;
mod page;
pub(super) mod text;

pub(super) use csv::render as csv;
pub(super) use json::render as json;
pub(super) use page::render as page;
pub(super) use text::render as text;
