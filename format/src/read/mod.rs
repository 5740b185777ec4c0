//! From the bytes of a file to a profile.

mod bins;
pub(crate) mod bsd;
pub(crate) mod cursor;
pub(crate) mod gnu;

use crate::{Encoding, Form, Profile, Result};

/// How many records a file has of each kind. Records of one address range are one histogram of a [`Profile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Histograms.
    pub histograms: usize,
    /// Arcs.
    pub arcs: usize,
    /// Lists of counts of basic blocks.
    pub blocks: usize,
}

/// Counts the records of a file whose layout is known. In the 4.4BSD family the samples are one, and so is each arc.
///
/// # Errors
///
/// As for [`read_as`], as far as they do not concern what stands in a record.
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

/// Reads a profile whose layout is known.
///
/// The encoding is believed where the file can not say better: the counters are those of the encoding, whatever the
/// spare words of a 4.4BSD header hold.
///
/// # Errors
///
/// Anything that keeps the file from being such a profile as a whole: a wrong magic or version, sizes that reach past
/// its end, a tail that is no whole arc, an address range that is reversed or that has no bins, histograms that overlap
/// or otherwise do not go together, and an OpenBSD `totarc` that is neither 0 nor right.
pub fn read_as(bytes: &[u8], encoding: Encoding) -> Result<Profile> {
    let Encoding { form, word, order } = encoding;
    match form {
        Form::Gnu => gnu::read(bytes, word, order),
        Form::Bsd | Form::FreeBsd(_) | Form::OpenBsd => bsd::read(bytes, form, word, order),
    }
}
