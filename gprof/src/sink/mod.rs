//! How outputs spell texts and numbers, and how much of an output there is room for: one file for each format's rules,
//! and the limits. Exports and reports write rows; they neither escape names nor set limits.

pub mod callgrind;
pub mod csv;
pub mod dot;
pub mod folded;
pub mod json;
pub mod limits;
pub mod markdown;
pub mod markup;
pub mod text;
