//! Reads and writes `gmon.out`, the profile that a program built with `cc -pg` leaves behind.
//!
//! A dozen forms of such files exist: the tagged records of GNU systems; the header, samples, and raw arcs of 4.4BSD
//! and its descendants; the forms of 4.2BSD, Darwin, NeXT, and illumos; and those of dynamic linkers. docs/format.md
//! describes each byte. Few files contain their own word size or byte order. [`detect`] finds form, word size, and byte
//! order, [`read`] turns any of these files into one [`Profile`], [`write()`] turns a profile into any of them, and
//! [`Accumulator`] adds up profiles exactly. [`Profile::since`] takes an earlier snapshot of a run away from a later
//! one. [`side_file`] does the same for the file beside a profile that has the calling contexts, the shared objects,
//! and the threads.
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
//! More examples are in the directory `examples`: `sum` adds up any number of files, `convert` turns a file of the BSDs
//! into GNU's form and prints the evidence for the form, and `watch` prints the counts of a running program.
//!
//! # Features
//!
//! * `alloc` enables everything except [`layout`] and [`encode`]. Without it, the crate has a few constants, three C
//!   structures, and the functions that encode records, which is what a profiling runtime needs.
//! * `std`, on by default, adds reading and writing in pieces: [`Records::from_reader`], [`detect_reader`],
//!   [`write_to`].
//! * `serde` adds `Serialize` and `Deserialize` to profiles, records, and encodings.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations, clippy::missing_errors_doc)]
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
#[cfg(feature = "std")]
extern crate std;

pub mod encode;
#[cfg(feature = "alloc")]
#[doc(hidden)]
pub mod internals;
pub mod layout;

#[cfg(feature = "alloc")]
mod accumulate;
#[cfg(feature = "alloc")]
mod bins;
#[cfg(feature = "alloc")]
mod decode;
#[cfg(feature = "alloc")]
mod detect;
#[cfg(feature = "alloc")]
mod detection;
#[cfg(feature = "alloc")]
mod distinct;
#[cfg(feature = "alloc")]
mod encoding;
#[cfg(feature = "alloc")]
mod error;
#[cfg(feature = "alloc")]
mod families;
#[cfg(feature = "alloc")]
mod hints;
#[cfg(feature = "alloc")]
mod histogram;
#[cfg(feature = "alloc")]
mod histograms;
#[cfg(feature = "alloc")]
mod names;
#[cfg(feature = "alloc")]
pub mod object_list;
#[cfg(feature = "alloc")]
mod older_rust;
#[cfg(feature = "alloc")]
mod output;
#[cfg(feature = "alloc")]
pub mod perf_map;
#[cfg(feature = "alloc")]
mod profile;
#[cfg(feature = "alloc")]
mod read;
#[cfg(feature = "alloc")]
mod record;
#[cfg(feature = "alloc")]
pub mod side_file;
#[cfg(feature = "alloc")]
mod since;
#[cfg(feature = "alloc")]
mod unit;
#[cfg(feature = "alloc")]
mod write;

#[cfg(feature = "alloc")]
pub use accumulate::Accumulator;
#[cfg(feature = "alloc")]
pub use bins::{Bins, Hit};
#[cfg(feature = "alloc")]
pub use decode::input::Input;
#[cfg(feature = "std")]
pub use decode::input::stream::Stream;
#[cfg(feature = "std")]
pub use detect::detect_reader;
#[cfg(feature = "alloc")]
pub use detect::{detect, read};
#[cfg(feature = "alloc")]
pub use detection::{Detection, evidence::Evidence};
pub use encode::Arc;
#[cfg(feature = "alloc")]
pub use encoding::{Counter, CounterWidth, DataModel, Encoding, Form, OldHeader, Order, Word};
#[cfg(feature = "std")]
pub use error::IoError;
#[cfg(feature = "alloc")]
pub use error::{Error, ErrorKind, Foreign, Part};
#[cfg(feature = "alloc")]
pub use hints::{HintKind, Hints};
#[cfg(feature = "alloc")]
pub use histogram::Histogram;
#[cfg(feature = "alloc")]
pub use names::UnknownName;
#[cfg(feature = "alloc")]
pub use profile::{Orders, Profile};
#[cfg(feature = "alloc")]
pub use read::{RecordCounts, Records, count_records, read_as};
#[cfg(feature = "alloc")]
pub use record::{Block, Image, Record};
#[cfg(feature = "alloc")]
pub use unit::{Dimension, Unit};
#[cfg(feature = "alloc")]
pub use write::{REPEAT_LIMIT, write, write_within};
#[cfg(feature = "std")]
pub use write::{write_to, write_to_within};
