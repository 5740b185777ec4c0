//! Puts the records of a file together.

use super::sparse_sum::SparseSum;
use super::{Input, Records, Result};
use crate::{Profile, ReadError, Record};

/// The profile of the records so far.
#[derive(Default)]
pub(super) struct Collector {
    pub(super) profile: Profile,
    sparse: SparseSum,
}

impl Collector {
    /// Adds the record at an offset.
    pub(super) fn add(&mut self, record: Record, offset: u64) -> Result<()> {
        let at = |error| ReadError::Histograms { error, offset };
        let record = match record {
            Record::Histogram(histogram) => match self.sparse.add(histogram).map_err(at)? {
                Some(histogram) => Record::Histogram(histogram),
                None => return Ok(()),
            },
            record => record,
        };
        // Only histograms are refused.
        self.profile.add_record(record).map_err(at)
    }

    /// Returns the profile. The last record is at this offset.
    pub(super) fn finish(mut self, offset: u64) -> Result<Profile> {
        self.sparse.finish(&mut self.profile).map_err(|error| ReadError::Histograms { error, offset })?;
        Ok(self.profile)
    }
}

impl Profile {
    /// Puts the records of a file together, in linear time.
    ///
    /// ```
    /// use gmon::{DataModel, Encoding, Form, Order, Profile, Records};
    ///
    /// let file = b"gmon\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x04\x10\0\0\x08\x10\0\0\x0c\0\0\0";
    /// let encoding = Encoding::new(Form::Gnu, DataModel::Ilp32, Order::Little);
    /// let profile = Profile::from_records(Records::new(file, encoding)?)?;
    /// assert_eq!(profile.arcs()[0].count, 12);
    /// # Ok::<(), gmon::ReadError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first error of a record, and the errors of [`Profile::add_record`] with the offset of the record.
    pub fn from_records<I: Input>(mut records: Records<I>) -> Result<Profile> {
        let mut collector = Collector::default();
        while let Some(record) = records.next() {
            collector.add(record?, records.record())?;
        }
        collector.finish(records.record())
    }

    /// Reads a profile with a known encoding from the current position of `reader` to the end, in pieces. The file itself is
    /// never in memory as a whole.
    ///
    /// # Errors
    ///
    /// As for [`read_as`](crate::read_as), and [`ReadError::Io`](crate::ReadError::Io) if the reader fails.
    #[cfg(feature = "std")]
    pub fn from_reader(reader: impl std::io::Read, encoding: crate::Encoding) -> Result<Profile> {
        Profile::from_records(Records::from_reader(reader, encoding)?)
    }
}
