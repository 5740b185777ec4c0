//! Encodes the parts of a side file without an allocator.
//!
//! docs/side-file.md describes the file. A writer writes the [`header`], then parts, then the [`end`]. The header of a
//! part has the length of its content, which a writer without an allocator learns in one of two ways:
//!
//! * A [`Piece`] collects items in a small buffer and writes a part each time the buffer is full. Lists may be split
//!   into any number of parts. This suits long lists, which other threads may be changing.
//! * [`Measure`] counts the bytes of a content. The writer then writes the part's header and encodes the content
//!   again. This suits single items that are longer than any buffer, such as paths.
//!
//! # Example
//!
//! A profiling runtime writes what it counted:
//!
//! ```
#![doc = include_str!("../../examples/side_file_writer.rs")]
//! ```

mod estimate;
mod items;
mod numbers;
mod parts;
mod piece;
mod place;
mod selection;

pub use estimate::{EstimateEncoder, LARGEST_ESTIMATE, LARGEST_WINDOWS};
pub use items::{
    BinEncoder, CallEncoder, IdentityBytes, LARGEST_BIN, LARGEST_CALL, LARGEST_CONTEXT, LARGEST_HEAD, ObjectItem,
    ThreadItem, context, cut, mapping, object, property, thread, thread_of,
};
pub use numbers::{LARGEST_NUMBER, number, padded_number, read_number, string, unzigzag, zigzag};
pub use parts::{Header, end, header, padding, padding_size, part};
pub use piece::{Measure, Piece};
pub use place::{Call, CutReason, Place};
pub use selection::{LARGEST_FUNCTION, LARGEST_INTERVAL, SelectionEncoder};
