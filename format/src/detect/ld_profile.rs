//! Detects the word size and the byte order of an `LD_PROFILE` file.

use alloc::vec;

use super::candidates::{ORDERS, candidates};
use super::detection::Detection;
use super::evidence::Evidence;
use super::file::File;
use crate::layout::{GNU_MAGIC, LD_PROFILE_VERSION};
use crate::read::Result;
use crate::read::cursor::Cursor;
use crate::read::ld_profile::Table;
use crate::{Encoding, Form, HintKind, Hints, Order, ReadError, Word};

/// The offset of the version.
const VERSION_OFFSET: u64 = 4;

/// Whether the file has the magic and the version, in any byte order.
pub(super) fn is_one(start: &[u8]) -> bool {
    ORDERS.into_iter().any(|order| has_version(start, order))
}

fn has_version(start: &[u8], order: Order) -> bool {
    let mut cursor = Cursor::new(start, Word::W64, order);
    cursor.array() == Ok(GNU_MAGIC) && cursor.u32() == Ok(LD_PROFILE_VERSION)
}

/// The encoding with which the number of bins fits the range. The version has the byte order.
pub(super) fn find(file: &mut impl File, hints: &Hints) -> Result<Detection> {
    let mut failure = None;
    for (word, order) in candidates(hints) {
        let encoding = Encoding::new(Form::LdProfile, hints.model.unwrap_or(word.into()), order);
        let first = file.records(encoding)?.next();
        match first {
            Some(Ok(_)) => return Ok(detection(file, encoding, hints)),
            #[cfg(feature = "std")]
            Some(Err(error @ ReadError::Io(_))) => return Err(error),
            // The error in the right byte order says more.
            Some(Err(error)) if failure.is_none() || has_version(file.start(), order) => failure = Some(error),
            Some(Err(_)) | None => {}
        }
    }
    Err(failure.unwrap_or(ReadError::Empty))
}

fn detection(file: &impl File, encoding: Encoding, hints: &Hints) -> Detection {
    let (word, order) = (encoding.word(), encoding.order);
    let mut evidence = vec![
        Evidence::Magic { magic: GNU_MAGIC },
        Evidence::Version { version: LD_PROFILE_VERSION, offset: VERSION_OFFSET, order },
        hints.word.map_or(Evidence::BinsFit { word }, |_| Evidence::Hint(HintKind::Word)),
    ];
    // The table of a file that is read in pieces may not be in memory.
    if let Ok(table) = Table::read(&mut Cursor::new(file.start(), word, order)) {
        let (counted, most) = (table.counted_arcs, table.sizes.most_arcs);
        evidence.extend((counted > most).then_some(Evidence::FullTable { counted, most }));
    }
    Detection::new(encoding, evidence)
}
