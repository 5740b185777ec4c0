//! What changed between a base and other profiles: exports of [`Difference`](crate::model::Difference).

mod csv;
mod fields;
mod frames;
mod json;
mod markdown;
mod page;

pub(super) use csv::render as csv;
pub(super) use json::render as json;
pub(super) use markdown::render as markdown;
pub(super) use page::render as page;
