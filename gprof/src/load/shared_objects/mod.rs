//! What a run left beside its profile: profiles of the shared objects that it used, and a list of them.
//!
//! docs/format.md has the layout of the list. It is believed only where it belongs to the profile, and the profiles of
//! objects only where they belong to the list: files of an earlier run may lie there.

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
