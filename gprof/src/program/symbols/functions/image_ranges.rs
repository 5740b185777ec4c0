//! Maps functions to images.

use super::id::FunctionId;

/// Maps the functions of a table to their images.
#[derive(Debug, Default)]
pub(super) struct ImageRanges {
    /// For each image: its first function, the number added to its addresses, and its label. Empty if there is only
    /// one image.
    pub(super) images: Vec<(FunctionId, u64, String)>,
    /// For each function, whether another image has a function of the same name.
    pub(super) is_shared: Vec<bool>,
}

impl ImageRanges {
    pub(super) fn image(&self, id: FunctionId) -> usize {
        self.images.partition_point(|(first, ..)| *first <= id).saturating_sub(1)
    }
}
