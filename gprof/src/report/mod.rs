//! Renderers: one file for each report or format.
//!
//! A renderer gets a complete [`Analysis`](crate::analysis::Analysis) and only writes: it computes nothing and reads no
//! files. Programs read these reports, so every blank counts.

pub mod annotate;
mod bounds;
pub mod bsd;
mod columns;
mod contexts;
mod counts;
mod errors;
mod explanations;
mod flat;
mod graph;
mod index;
mod info;
mod json;
mod json_value;
mod linker_order;
mod names;
mod number;
mod numbered_names;
mod order;
mod render;
mod source;
mod stacks;
mod stats;
mod table;
mod threads;
mod writer;

pub use render::render;
