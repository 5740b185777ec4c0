//! The shared objects of runs: their files, and what the runs counted in them.
//!
//! A run leaves a side file beside its profile, and older runtimes leave a list and a profile for each object;
//! docs/side-file.md describes both. Files of an earlier run may lie there, so a file counts only if it has the checksum of
//! the profile, and a profile of an object only if its checksum is in the list.

mod batch;
mod calls;
mod candidate;
mod counts;
mod list;
mod object_images;
mod objects;
mod reading;
mod run_files;
mod side;

pub(crate) use calls::CallsBetween;
pub(crate) use counts::RunCounts;
pub(crate) use object_images::ObjectImages;
pub(crate) use objects::{SharedObject, SharedObjects};
pub(crate) use reading::ObjectReading;
pub(crate) use run_files::{Program, RunFiles};
pub(crate) use side::{identity, path};
