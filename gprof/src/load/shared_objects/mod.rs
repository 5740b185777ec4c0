//! The files that a run left beside its profile: profiles of the shared objects that the program used, and a list of
//! these objects.
//!
//! docs/format.md has the layout of the list. Files of an earlier run may lie there, so the list counts only if its
//! checksum matches the profile, and a profile of an object only if its checksum is in the list.

mod batch;
mod calls;
mod candidate;
mod list;
mod objects;
mod reading;
mod run_list;

pub(crate) use calls::CallsBetween;
pub(crate) use objects::{SharedObject, SharedObjects};
pub(crate) use reading::ObjectReading;
pub(crate) use run_list::{Program, RunList};
