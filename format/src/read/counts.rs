//! How many records a file has.

use crate::{Profile, Record};

/// The number of records of each kind in a file. Several histogram records of one address range become one histogram
/// of a [`Profile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RecordCounts {
    /// Histograms that are not empty.
    pub histograms: usize,
    /// Arcs.
    pub arcs: usize,
    /// Lists of basic-block counts.
    pub blocks: usize,
    /// Executables and shared objects.
    pub images: usize,
}

impl RecordCounts {
    /// The numbers of items of a profile: those of the records of its file, except in GNU's form.
    #[must_use]
    pub fn of(profile: &Profile) -> RecordCounts {
        RecordCounts {
            histograms: profile.histograms().len(),
            arcs: profile.arcs().len(),
            blocks: usize::from(!profile.blocks().is_empty()),
            images: profile.images().len(),
        }
    }
}

impl RecordCounts {
    /// Counts a record.
    pub(super) fn count(&mut self, record: &Record) {
        let count = match record {
            Record::Histogram(_) => &mut self.histograms,
            Record::Arc(_) | Record::OrderedArc { .. } => &mut self.arcs,
            Record::Image(_) => &mut self.images,
            // The decoder counts the lists of blocks.
            Record::Block(_) => return,
        };
        *count = count.saturating_add(1);
    }
}
