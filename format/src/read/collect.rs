//! Puts the records of a file together.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::records::Records;
use crate::decode::Result;
use crate::decode::input::Input;
use crate::{Bins, Error, Histogram, Profile, Record};

/// The profile of the records so far.
#[derive(Default)]
pub(super) struct Collector {
    pub(super) profile: Profile,
    sparse: SparseSum,
}

impl Collector {
    /// Adds the record at an offset.
    pub(super) fn add(&mut self, record: Record, offset: u64) -> Result<()> {
        let at = |error| in_record(error, offset);
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
        self.sparse.finish(&mut self.profile).map_err(|error| in_record(error, offset))?;
        Ok(self.profile)
    }
}

/// The error of a histogram in the record at an offset.
fn in_record(error: Error, offset: u64) -> Error {
    Error::Histograms { error: Box::new(error), offset }
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
    /// # Ok::<(), gmon::Error>(())
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

    /// Reads a profile with a known encoding from the current position of `reader` to the end, in pieces. The file
    /// itself is never in memory as a whole.
    ///
    /// # Errors
    ///
    /// As for [`read_as`](crate::read_as), and [`Error::Io`](crate::Error::Io) if the reader fails.
    #[cfg(feature = "std")]
    pub fn from_reader(reader: impl std::io::Read, encoding: crate::Encoding) -> Result<Profile> {
        Profile::from_records(Records::from_reader(reader, encoding)?)
    }
}

/// Sparse histograms of one range. Adding two of them takes time for both, so each sum in the list has at least twice
/// the counts of the next one: all additions together take little more than linear time.
#[derive(Default)]
struct SparseSum {
    sums: Vec<Histogram>,
}

impl SparseSum {
    /// Adds a histogram. Returns the histogram if it is not sparse, or has another range or another unit.
    fn add(&mut self, histogram: Histogram) -> Result<Option<Histogram>> {
        let is_alike = self.sums.first().is_none_or(|first| {
            (first.range(), first.len(), first.unit()) == (histogram.range(), histogram.len(), histogram.unit())
        });
        if !is_alike || size(&histogram).is_none() {
            return Ok(Some(histogram));
        }
        self.sums.push(histogram);
        while let [.., first, second] = self.sums.as_slice() {
            if size(first) >= size(second).map(|size| size.saturating_mul(2)) {
                break;
            }
            self.join()?;
        }
        Ok(None)
    }

    /// Adds the sum to a profile.
    fn finish(mut self, profile: &mut Profile) -> Result<()> {
        while self.sums.len() > 1 {
            self.join()?;
        }
        self.sums.pop().map_or(Ok(()), |sum| profile.add_record(Record::Histogram(sum)))
    }

    /// Adds the last sum to the one before it.
    fn join(&mut self) -> Result<()> {
        if let (Some(last), Some(sum)) = (self.sums.pop(), self.sums.last_mut()) {
            let overflow = |bin| Error::BinOverflow { range: last.range(), bin };
            sum.add(&last).map_err(overflow)?;
        }
        Ok(())
    }
}

/// The number of counts of a sparse histogram; `None` for others.
fn size(histogram: &Histogram) -> Option<usize> {
    match histogram.bins() {
        Bins::Sparse { counts, .. } => Some(counts.len()),
        _ => None,
    }
}
