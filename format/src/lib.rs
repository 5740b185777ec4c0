//! Reads and writes `gmon.out`, the profile that a program built with `cc -pg` leaves behind.
//!
//! Two families of files have that name: the tagged records of GNU systems, and the header, samples and raw arcs of
//! 4.4BSD and its descendants. No file contains its own word size or byte order. [`detect`] finds both, [`read`]
//! turns any of these files into one [`Profile`], [`write()`] turns a profile into any of them, and [`Accumulator`]
//! adds up profiles exactly. [`side_file`] does the same for the file beside a profile that has the calling contexts,
//! the shared objects, and the threads.
//!
//! The crate is `no_std` and forbids unsafe code. Any input may be hostile: the crate never panics, and never
//! allocates more than a small multiple of the input's length.
//!
//! # Example
//!
//! The ten bins of a profile with the most samples:
//!
//! ```
#![doc = include_str!("../examples/hottest.rs")]
//! ```
//!
//! # Features
//!
//! `alloc`, on by default, enables everything except [`layout`] and [`encode`]. Without it, the crate has a few
//! constants, three C structures, and the functions that encode records, which is what a profiling runtime needs.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod encode;
pub mod layout;

#[cfg(feature = "alloc")]
mod accumulate;
#[cfg(feature = "alloc")]
mod detect;
#[cfg(feature = "alloc")]
mod distinct;
#[cfg(feature = "alloc")]
mod encoding;
#[cfg(feature = "alloc")]
mod error;
#[cfg(feature = "alloc")]
mod histogram;
#[cfg(feature = "alloc")]
mod profile;
#[cfg(feature = "alloc")]
mod read;
#[cfg(feature = "alloc")]
pub mod side_file;
#[cfg(feature = "alloc")]
mod write;

#[cfg(feature = "alloc")]
pub use accumulate::Accumulator;
#[cfg(feature = "alloc")]
pub use detect::{detect, read};
#[cfg(feature = "alloc")]
pub use distinct::{Crowded, Distinct};
pub use encode::Arc;
#[cfg(feature = "alloc")]
pub use encoding::{Counter, CounterWidth, Encoding, Form, Hints, Order, Word};
#[cfg(feature = "alloc")]
pub use error::{Error, Field, Foreign, Part, Result, SideFileError};
#[cfg(feature = "alloc")]
pub use profile::{Block, Dimension, Histogram, Profile};
#[cfg(feature = "alloc")]
pub use read::{RecordCounts, count_records, read_as};
#[cfg(feature = "alloc")]
pub use write::{REPEAT_LIMIT, write, write_within};
