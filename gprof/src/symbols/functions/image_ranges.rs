//! Which functions come from which image.

use super::id::FunctionId;

/// Which functions of a table come from which image.
#[derive(Debug, Default)]
pub(super) struct ImageRanges {
    /// Of each image its first function, how far it was moved, and its label. Nothing when there is only one.
    pub(super) images: Vec<(FunctionId, u64, String)>,
    /// For each function whether another image has one of its name.
    pub(super) is_shared: Vec<bool>,
}

impl ImageRanges {
    pub(super) fn image(&self, id: FunctionId) -> usize {
        self.images.partition_point(|(first, ..)| *first <= id).saturating_sub(1)
    }
}
