//! Renderers: one file for each report or format.
//!
//! A renderer gets a complete [`Analysis`](crate::analysis::Analysis) and only writes: it computes nothing and reads no
//! files. Programs read these reports, so every blank counts.

pub mod annotate;
mod bounds;
pub mod bsd;
mod callgrind;
mod colors;
mod columns;
mod contexts;
mod counts;
mod csv;
mod cut_stacks;
mod difference;
mod dot;
mod doubts;
mod drawing;
mod errors;
mod explanations;
mod firefox;
mod flame;
mod flat;
mod folded;
mod graph;
mod html;
mod index;
mod info;
mod json;
mod json_value;
mod layered;
mod linker_order;
mod markup;
mod names;
mod number;
mod numbered_names;
mod order;
mod page_head;
mod place;
mod pprof;
mod render;
mod scripts;
mod source;
mod speedscope;
mod stacks;
mod stats;
mod table;
mod threads;
mod warnings;
mod writer;

pub use render::{render, render_difference};
pub(crate) use render::{render_contents, render_formats};
