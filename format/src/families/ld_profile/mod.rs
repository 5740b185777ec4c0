//! What glibc's dynamic linker writes for `LD_PROFILE`: GNU's magic, one histogram, and a table of arcs with room for
//! more.

mod layout;
mod read;
mod write;

use alloc::vec;

use super::family::{Family, Named, Sign};
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::detection::Detection;
use crate::detection::candidates::{ORDERS, candidates};
use crate::detection::evidence::Evidence;
use crate::detection::file::File;
use crate::layout::{GNU_MAGIC, LD_PROFILE_VERSION};
use crate::output::Output;
use crate::{Encoding, Error, Form, HintKind, Hints, Histogram, Order, Profile, Record, Word};
use layout::LdProfileSizes;
use read::LdProfileDecoder;

/// The form of glibc's dynamic linker.
pub(crate) struct LdProfile;

impl Family for LdProfile {
    const FORMS: &'static [Named] =
        &[Named::new(Form::LdProfile, "ld-profile", "LD_PROFILE").of(&["glibc's dynamic linker"])];
    const SIGN: Sign = Sign::Magic;

    type Decoder = LdProfileDecoder;

    fn decoder(_encoding: Encoding) -> Result<LdProfileDecoder> {
        Ok(LdProfileDecoder::default())
    }

    fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
        let has_version = ORDERS.into_iter().any(|order| has_version(file.start(), order));
        has_version.then(|| find(file, hints))
    }

    fn find_hinted(file: &mut impl File, _form: Form, hints: &Hints) -> Result<Detection> {
        find(file, hints)
    }

    fn write(profile: &Profile, encoding: Encoding, _repeat_limit: u64, output: &mut Output<'_>) -> Result<()> {
        write::write(profile, encoding, output)
    }
}

/// The offset of the version.
const VERSION_OFFSET: u64 = 4;

/// The size of what precedes the number of arcs, without the two addresses and the bins: the header, two tags, and the
/// rest of the histogram.
const TO_NUMBER_OF_ARCS: u64 = 52;

/// Whether the file has the magic and the version, in this byte order.
fn has_version(start: &[u8], order: Order) -> bool {
    let mut cursor = Cursor::new(start, Word::W64, order);
    cursor.array() == Ok(GNU_MAGIC) && cursor.u32() == Ok(LD_PROFILE_VERSION)
}

/// The encoding with which the number of bins fits the range. The version has the byte order.
fn find(file: &mut impl File, hints: &Hints) -> Result<Detection> {
    let mut failure = None;
    for (word, order) in candidates(hints) {
        let encoding = Encoding::new(Form::LdProfile, hints.model_for(word), order);
        let first = file.records(LdProfileDecoder::default(), encoding)?.next();
        match first {
            Some(Ok(Record::Histogram(samples))) => return detection(file, encoding, &samples, hints),
            #[cfg(feature = "std")]
            Some(Err(error @ Error::ReadIo { .. })) => return Err(error),
            // The error in the right byte order says more.
            Some(Err(error)) if failure.is_none() || has_version(file.start(), order) => failure = Some(error),
            Some(_) | None => {}
        }
    }
    Err(failure.unwrap_or(Error::Empty))
}

fn detection(file: &mut impl File, encoding: Encoding, samples: &Histogram, hints: &Hints) -> Result<Detection> {
    let (word, order) = (encoding.word(), encoding.order);
    let mut evidence = vec![
        Evidence::Magic { magic: GNU_MAGIC },
        Evidence::Version { version: LD_PROFILE_VERSION, offset: VERSION_OFFSET, order },
        hints.word().map_or(Evidence::BinsFit { word }, |_| Evidence::Hint(HintKind::Word)),
    ];
    let head = (word.size() as u64).saturating_mul(2).saturating_add(TO_NUMBER_OF_ARCS);
    let at = head.saturating_add(samples.len().saturating_mul(2));
    let most = LdProfileSizes::new(samples.highpc().saturating_sub(samples.lowpc()), word).most_arcs;
    file.scan(at..at.saturating_add(4), |number| {
        let counted = Cursor::new(number, word, order).u32().map_or(0, u64::from);
        evidence.extend((counted > most).then_some(Evidence::FullTable { counted, most }));
        false
    })?;
    Ok(Detection::new(encoding, evidence))
}
