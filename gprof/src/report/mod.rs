//! Reports: one renderer in each file, all of one shape.
//!
//! A renderer gets the frozen [`Analysis`](crate::analysis::Analysis) and writes text or JSON. It looks nothing up and works
//! nothing out; what is printed by a computer program is read by computer programs, so every blank counts.

pub mod annotate;
mod blurbs;
pub mod bsd;
mod columns;
mod counts;
mod errors;
mod flat;
mod graph;
mod index;
mod info;
mod json;
mod json_value;
mod labels;
mod names;
mod number;
mod order;
mod render;
mod source;
mod stats;
mod table;
mod writer;

pub use render::{Format, render};
