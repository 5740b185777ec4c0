//! Word size and byte order of a GNU file.

use core::cmp::Reverse;

use super::candidates::candidates;
use crate::layout::{GNU_VERSION, LD_PROFILE_VERSION};
use crate::read::gnu::{Record, Records};
use crate::{Encoding, Error, Foreign, Form, Hints, Order, Result, Word};

/// The encoding in which the records end with the file, or what is wrong in the one that comes closest to that.
pub(super) fn find(bytes: &[u8], hints: &Hints) -> Result<Encoding> {
    let mut best: Option<Candidate> = None;
    for (word, order) in candidates(hints) {
        let candidate = Candidate::new(bytes, word, order);
        // The first of equals stays.
        if best.as_ref().is_none_or(|best| candidate.rank > best.rank) {
            best = Some(candidate);
        }
    }
    match best {
        Some(Candidate { encoding, failure: None, .. }) => Ok(encoding),
        Some(Candidate { failure: Some(Error::BadVersion { version, offset }), .. }) => {
            // A version in the wrong byte order is a huge number.
            let version = version.min(version.swap_bytes());
            match version {
                LD_PROFILE_VERSION => Err(Error::Foreign(Foreign::LdProfile)),
                // The version is fine, but not in the order that is hinted.
                0..=GNU_VERSION => Err(Error::BadVersion { version: version.swap_bytes(), offset }),
                _ => Err(Error::BadVersion { version, offset }),
            }
        }
        Some(Candidate { failure: Some(error), .. }) => Err(error),
        None => Err(Error::Empty),
    }
}

/// What comes of reading the file in one encoding.
struct Candidate {
    encoding: Encoding,
    failure: Option<Error>,
    rank: Rank,
}

/// How well an encoding fits, the most important criterion first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// The records end with the file.
    complete: bool,
    /// The names of dimensions are printable and padded with NULs, as every known writer leaves them.
    plausible: bool,
    /// Where in the file the last thing ends that makes sense.
    progress: u64,
    /// The highest address: in the wrong byte order, some low byte stands on top.
    highest: Reverse<u64>,
}

impl Candidate {
    fn new(bytes: &[u8], word: Word, order: Order) -> Candidate {
        let mut rank = Rank { complete: false, plausible: true, progress: 0, highest: Reverse(0) };
        let failure = Records::new(bytes, word, order).and_then(|records| rank.walk(records)).err();
        rank.complete = failure.is_none();
        // With less than the whole file to judge by, how far one gets says more than a name.
        rank.plausible &= rank.complete;
        Candidate { encoding: Encoding { form: Form::Gnu, word, order }, failure, rank }
    }
}

impl Rank {
    fn walk(&mut self, mut records: Records<'_>) -> Result<()> {
        self.progress = records.offset();
        while let Some(record) = records.next()? {
            self.progress = records.offset();
            match record {
                Record::Histogram(histogram) => {
                    self.plausible &= is_name(&histogram.dimension);
                    self.see(histogram.highpc);
                }
                Record::Arc(arc) => self.see(arc.frompc.max(arc.selfpc)),
                Record::Blocks(mut blocks) => {
                    while blocks.left() != 0 {
                        self.see(blocks.word()?);
                        blocks.word()?;
                    }
                }
            }
        }
        Ok(())
    }

    fn see(&mut self, address: u64) {
        self.highest = self.highest.min(Reverse(address));
    }
}

/// Whether a field is printable text with nothing but NULs behind it.
fn is_name(field: &[u8; 15]) -> bool {
    let mut bytes = field.iter().skip_while(|byte| byte.is_ascii_graphic() || **byte == b' ');
    bytes.all(|byte| *byte == 0)
}
