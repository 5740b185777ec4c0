//! The header of a side file.

use gmon::encode::side_file::{Header, header};
use gmon::layout::side_file::{LIVE, NATIVE};

use crate::file::writer::{Writer, Written};

/// The profile that a side file belongs to.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    /// A profile that is complete.
    Finished(Written),
    /// A profile in which the program counts, by its first bytes, which do not change.
    Growing(Written),
}

impl Of {
    /// Whether the program still counts in the profile.
    pub(super) fn is_growing(self) -> bool {
        matches!(self, Of::Growing(_))
    }
}

/// Writes the header.
pub(super) fn put(out: &mut Writer, of: Of) {
    let (Of::Finished(profile) | Of::Growing(profile)) = of;
    let flags = if of.is_growing() { LIVE } else { 0 };
    let word_size = size_of::<usize>() as u8;
    let (profile_length, profile_sum) = (profile.length as u64, profile.sum);
    header(out, &Header { word_size, order: NATIVE, flags, profile_length, profile_sum });
}
