//! Reads profiles from the bytes of files.

mod bins;
pub(crate) mod bsd;
pub(crate) mod cursor;
pub(crate) mod gnu;

use crate::{Encoding, Form, Profile, Result};

/// The number of records of each kind in a file. Several histogram records of one address range become one histogram
/// of a [`Profile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Histograms.
    pub histograms: usize,
    /// Arcs.
    pub arcs: usize,
    /// Lists of basic-block counts.
    pub blocks: usize,
}

/// Counts the records of a file with a known encoding. In the 4.4BSD family the samples are one record, and each arc
/// is one.
///
/// # Errors
///
/// As for [`read_as`], except errors inside records.
pub fn count_records(bytes: &[u8], encoding: Encoding) -> Result<RecordCounts> {
    let Encoding { form: Form::Gnu, word, order } = encoding else {
        let profile = read_as(bytes, encoding)?;
        return Ok(RecordCounts { histograms: profile.histograms.len(), arcs: profile.arcs.len(), blocks: 0 });
    };
    let mut counts = RecordCounts::default();
    let mut records = gnu::Records::new(bytes, word, order)?;
    loop {
        counts.arcs = counts.arcs.saturating_add(records.skip_arcs());
        let Some(record) = records.next()? else { break };
        let count = match record {
            gnu::Record::Histogram(_) => &mut counts.histograms,
            gnu::Record::Arc(_) => &mut counts.arcs,
            gnu::Record::Blocks(_) => &mut counts.blocks,
        };
        *count = count.saturating_add(1);
    }
    Ok(counts)
}

/// Reads a profile with a known encoding.
///
/// The encoding is trusted: the counters are those of the encoding, whatever the spare words of a 4.4BSD header
/// contain.
///
/// # Errors
///
/// When the file is not a complete, valid profile of this encoding: a wrong magic or version, sizes that exceed the
/// file, a partial arc at the end, an address range that is reversed or has no bins, histograms that overlap or are
/// not compatible, or a wrong OpenBSD `totarc`.
pub fn read_as(bytes: &[u8], encoding: Encoding) -> Result<Profile> {
    let Encoding { form, word, order } = encoding;
    match form {
        Form::Gnu => gnu::read(bytes, word, order),
        Form::Bsd | Form::FreeBsd(_) | Form::OpenBsd => bsd::read(bytes, form, word, order),
    }
}
