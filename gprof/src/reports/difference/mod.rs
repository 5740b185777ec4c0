//! What changed between a base and other profiles, as text: a report of [`Difference`](crate::model::Difference).

pub mod cells;
pub(crate) mod runs;
pub mod table;
pub mod text;
pub mod verdict;
