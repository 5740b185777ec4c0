//! Formats for programs and browsers, one file for each format, and the choice of the format.
//!
//! An export gets a complete [`Analysis`](crate::model::Analysis) and only writes: it computes nothing and reads no
//! files.

mod callgrind;
mod colors;
mod csv;
mod difference;
mod dot;
mod drawing;
mod firefox;
mod flame;
mod folded;
mod html;
mod json;
mod layered;
mod markdown;
mod page_head;
mod pprof;
mod render;
mod scripts;
mod speedscope;

pub use render::{render, render_difference};
pub(crate) use render::{render_contents, render_formats};
