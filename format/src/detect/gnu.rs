//! Detects the word size and the byte order of a GNU file.

use core::cmp::Reverse;

use super::candidates::candidates;
use crate::layout::{GNU_VERSION, LD_PROFILE_VERSION};
use crate::read::gnu::{Record, Records};
use crate::{Encoding, Error, Foreign, Form, Hints, Order, Result, Word};

/// The encoding with which the records end at the end of the file, or the error of the encoding that comes closest.
pub(super) fn find(bytes: &[u8], hints: &Hints) -> Result<Encoding> {
    let mut best: Option<Candidate> = None;
    for (word, order) in candidates(hints) {
        let candidate = Candidate::new(bytes, word, order);
        // Of equal fits, the first wins.
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
                // The version is valid, but not in the hinted byte order.
                0..=GNU_VERSION => Err(Error::BadVersion { version: version.swap_bytes(), offset }),
                _ => Err(Error::BadVersion { version, offset }),
            }
        }
        Some(Candidate { failure: Some(error), .. }) => Err(error),
        None => Err(Error::Empty),
    }
}

/// The result of reading the file in one encoding.
struct Candidate {
    encoding: Encoding,
    failure: Option<Error>,
    rank: Rank,
}

/// How well an encoding fits, with the most important criterion first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// The records end at the end of the file.
    complete: bool,
    /// The names of dimensions are printable and padded with NULs, as all known writers do.
    plausible: bool,
    /// The offset of the end of the last valid record.
    progress: u64,
    /// The highest address: in the wrong byte order, a low byte becomes the highest one.
    highest: Reverse<u64>,
}

impl Candidate {
    fn new(bytes: &[u8], word: Word, order: Order) -> Candidate {
        let mut rank = Rank { complete: false, plausible: true, progress: 0, highest: Reverse(0) };
        let failure = Records::new(bytes, word, order).and_then(|records| rank.walk(records)).err();
        rank.complete = failure.is_none();
        // If the file is damaged, the position of the damage says more than a name.
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

/// Whether a field is printable text, padded with NULs.
fn is_name(field: &[u8; 15]) -> bool {
    let mut bytes = field.iter().skip_while(|byte| byte.is_ascii_graphic() || **byte == b' ');
    bytes.all(|byte| *byte == 0)
}
