//! Reads, writes and adds up side files: what stands beside a profile and no profile can hold.
//!
//! A side file, `gmon.out.side` beside `gmon.out`, has the calling contexts of the samples, the identities of the
//! program and of its shared objects, the samples and calls outside the program, the threads, and properties of the
//! run. docs/side-file.md describes the bytes. [`SideFile::parse`] reads a file, [`SideFile::write`] writes one, and
//! [`Accumulator`] adds up the files of several runs. [`SideFile::since`] takes an earlier snapshot of a run away from
//! a later one.
//!
//! A runtime that may not allocate writes side files with [`crate::encode::side_file`].
//!
//! # Example
//!
//! The functions in which a program spent its time, with their callees:
//!
//! ```
#![doc = include_str!("../../examples/side_file_reader.rs")]
//! ```

mod access;
mod additions;
mod content;
mod contexts;
mod counts;
mod estimates;
mod functions;
mod generated;
mod object;
mod read;
mod refused;
mod selections;
mod since;
mod sum;
mod totals;
mod write;

pub use content::{Checksum, SideFile};
pub use contexts::{ContextTree, Node};
pub use counts::{Calls, Samples, Thread};
pub use estimates::{EstimatedCalls, Estimates, Windows};
pub use functions::function_addresses;
pub use object::{Identity, Kind, Mapping, Object};
pub use selections::Selection;
pub use sum::Accumulator;
pub use totals::Outside;

pub use crate::encode::side_file::{Call, CutReason, Place};
pub use crate::layout::side_file::{CUT, ELSEWHERE, GENERATED, KERNEL, PROGRAM, THREAD, property};
