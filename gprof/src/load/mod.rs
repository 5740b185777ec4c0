//! Reads what the command line names and what a run left beside that: images, profiles, and lists of shared objects.

pub(crate) mod address_mismatch;
pub(crate) mod bsd;
pub(crate) mod build_mismatch;
pub mod outside;
pub mod profile_file;
pub(crate) mod profiles;
pub(crate) mod shared_objects;
pub(crate) mod sum;
