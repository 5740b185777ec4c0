//! GNU's form: a header with a magic, then tagged records.
//!
//! The file states neither the word size nor, in version 0, the byte order. Detection reads the file in each encoding.

mod read;
mod write;

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::family::{Family, Named, Sign};
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::detection::Detection;
use crate::detection::candidates::{ORDERS, candidates};
use crate::detection::evidence::Evidence;
use crate::detection::file::File;
use crate::layout::{GNU_MAGIC, GNU_VERSION, LD_PROFILE_VERSION};
use crate::output::Output;
use crate::{Encoding, Error, Form, HintKind, Hints, Histogram, Order, Profile, Record, Word};
use read::GnuDecoder;

/// GNU's form.
pub(crate) struct Gnu;

impl Family for Gnu {
    const FORMS: &'static [Named] = &[Named::new(Form::Gnu, "gnu", "GNU").of(&["glibc", "GCC for ARC", "OpenOCD"])];
    const SIGN: Sign = Sign::Magic;
    const HOLDS_BLOCKS: bool = true;

    type Decoder = GnuDecoder;

    fn decoder(_encoding: Encoding) -> Result<GnuDecoder> {
        Ok(GnuDecoder::default())
    }

    fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
        let is_gnu = file.start().starts_with(&GNU_MAGIC) && !is_of_linker(file.start());
        is_gnu.then(|| find(file, hints))
    }

    fn find_hinted(file: &mut impl File, _form: Form, hints: &Hints) -> Result<Detection> {
        find(file, hints)
    }

    fn write(profile: &Profile, encoding: Encoding, repeat_limit: u64, output: &mut Output<'_>) -> Result<()> {
        write::write(profile, encoding.word(), repeat_limit, output)
    }
}

/// Whether a file with the magic has the version of glibc's dynamic linker, whose files have other records.
fn is_of_linker(start: &[u8]) -> bool {
    ORDERS.into_iter().any(|order| {
        let mut cursor = Cursor::new(start, Word::W64, order);
        matches!((cursor.u32(), cursor.u32()), (Ok(_), Ok(LD_PROFILE_VERSION)))
    })
}

/// The offset of the version.
const VERSION_OFFSET: u64 = 4;

/// The encoding with which the records end at the end of the file, or the error of the encoding that comes closest.
fn find(file: &mut impl File, hints: &Hints) -> Result<Detection> {
    let mut all: Vec<Candidate> = Vec::new();
    for (word, order) in candidates(hints) {
        all.push(Candidate::new(file, word, order)?);
    }
    // Of equal fits, the first one wins.
    let Some(best) = all.iter().reduce(|best, other| if other.rank > best.rank { other } else { best }) else {
        return Err(Error::Empty);
    };
    match &best.failure {
        None => check(best, &all, hints).map(|()| best.detection(file.start(), hints)),
        Some(Error::BadVersion { version, offset }) => {
            // A version in the wrong byte order is a huge number.
            let (version, offset) = ((*version).min(version.swap_bytes()), *offset);
            match version {
                // The version is valid, but not in the hinted byte order.
                0..=GNU_VERSION => Err(Error::BadVersion { version: version.swap_bytes(), offset }),
                _ => Err(Error::BadVersion { version, offset }),
            }
        }
        Some(error) => Err(error.clone()),
    }
}

/// Checks that no other encoding fits as well with another content. In another byte order, the addresses must be as
/// high. An encoding without records has no addresses: all encodings with records are its rivals.
fn check(best: &Candidate, all: &[Candidate], hints: &Hints) -> Result<()> {
    let is_best = |other: &Candidate| other.encoding == best.encoding;
    let is_equal = |other: &Candidate| {
        other.encoding.word() != best.encoding.word() || other.rank.highest == best.rank.highest || best.records == 0
    };
    let fits = |other: &Candidate| other.failure.is_none() && other.rank.plausible == best.rank.plausible;
    let is_rival = |other: &&Candidate| is_best(other) || other.records > 0 && fits(other) && is_equal(other);
    let candidates: Vec<Encoding> = all.iter().filter(is_rival).map(|candidate| candidate.encoding).collect();
    if candidates.len() < 2 {
        return Ok(());
    }
    let is_other_word = |other: &Encoding| other.word() != best.encoding.word();
    let hint = match hints.word() {
        None if candidates.iter().any(is_other_word) => HintKind::Word,
        _ => HintKind::Order,
    };
    Err(Error::Ambiguous { candidates, hint })
}

/// The result of reading the file in one encoding.
struct Candidate {
    encoding: Encoding,
    failure: Option<Error>,
    rank: Rank,
    /// The number of records.
    records: u64,
    /// A histogram has a bin of ticks for each byte.
    has_byte_bins: bool,
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
    fn new(file: &mut impl File, word: Word, order: Order) -> Result<Candidate> {
        let encoding = Encoding::new(Form::Gnu, word.into(), order);
        let mut rank = Rank { complete: false, plausible: false, progress: 0, highest: Reverse(0) };
        let mut count = 0_u64;
        let (mut failure, mut has_byte_bins) = (None, false);
        let mut records = file.records(GnuDecoder::default(), encoding)?;
        for record in &mut records {
            match record {
                Ok(record) => {
                    rank.see(&record);
                    has_byte_bins |= matches!(&record, Record::Histogram(histogram) if is_of_bytes(histogram));
                }
                #[cfg(feature = "std")]
                Err(error @ Error::ReadIo { .. }) => return Err(error),
                Err(error) => failure = Some(error),
            }
            count = count.saturating_add(1);
        }
        rank.progress = records.offset();
        rank.complete = failure.is_none();
        // If the file is damaged, the position of the damage says more than a name.
        rank.plausible = rank.complete && records.has_usual_names();
        Ok(Candidate { encoding, failure, rank, records: count, has_byte_bins })
    }

    fn detection(&self, start: &[u8], hints: &Hints) -> Detection {
        let order = self.encoding.order;
        let version = start.get(4..8).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| match order {
            Order::Little => u32::from_le_bytes(*bytes),
            Order::Big => u32::from_be_bytes(*bytes),
        });
        let mut evidence =
            vec![Evidence::Magic { magic: GNU_MAGIC }, Evidence::Version { version, offset: VERSION_OFFSET, order }];
        // Version 0 is the same in both byte orders.
        match hints.order() {
            Some(_) => evidence.push(Evidence::Hint(HintKind::Order)),
            None if version == 0 && self.records > 0 => evidence.push(Evidence::LowAddresses { order }),
            None => {}
        }
        evidence.push(match hints.word() {
            Some(_) => Evidence::Hint(HintKind::Word),
            None if self.records == 0 => Evidence::NoRecords,
            None => Evidence::RecordsEnd { word: self.encoding.word() },
        });
        if self.has_byte_bins {
            evidence.push(Evidence::ByteBins);
        }
        Detection::new(self.encoding, evidence)
    }
}

/// Whether a histogram has a bin of ticks for each byte, as those of eu-stackprof.
fn is_of_bytes(histogram: &Histogram) -> bool {
    let size = histogram.highpc().saturating_sub(histogram.lowpc());
    histogram.unit().dimension.as_bytes() == b"ticks" && histogram.len() == size
}

impl Rank {
    fn see(&mut self, record: &Record) {
        let highest = match record {
            Record::Histogram(histogram) => histogram.highpc(),
            Record::Arc(arc) => arc.frompc.max(arc.selfpc),
            Record::Block(block) => block.addr,
            _ => 0,
        };
        self.highest = self.highest.min(Reverse(highest));
    }
}
