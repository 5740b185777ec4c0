//! The tagged files of Darwin and NeXT: a magic, then records of a type, a size, and that many bytes.
//!
//! Both systems have the same magic. Detection distinguishes them by the content of the records.

mod images;
mod layout;
mod read;
#[cfg(test)]
mod tests;
mod write;

use alloc::vec;

use super::family::{Family, Named, Sign};
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::detection::Detection;
use crate::detection::candidates::ORDERS;
use crate::detection::evidence::Evidence;
use crate::detection::file::File;
use crate::output::Output;
use crate::{Encoding, Error, Form, HintKind, Hints, Order, Profile, Record, Word};
use layout::{MAGIC_32, MAGIC_64};
use read::TaggedDecoder;

/// The forms of Darwin and NeXT.
pub(crate) struct Tagged;

impl Family for Tagged {
    const FORMS: &'static [Named] = &[
        Named::new(Form::Darwin, "darwin", "Darwin").of(&["macOS"]),
        Named::new(Form::Next, "next", "NeXT").of(&["NEXTSTEP", "OPENSTEP"]),
    ];
    const SIGN: Sign = Sign::Magic;

    type Decoder = TaggedDecoder;

    fn decoder(encoding: Encoding) -> Result<TaggedDecoder> {
        TaggedDecoder::new(encoding)
    }

    fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
        let (word, order) = magic(file.start())?;
        if hints.word().is_some_and(|hint| hint != word) || hints.order().is_some_and(|hint| hint != order) {
            return None;
        }
        Some(detection(file, (word, order), hints))
    }

    fn write(profile: &Profile, encoding: Encoding, repeat_limit: u64, output: &mut Output<'_>) -> Result<()> {
        write::write(profile, encoding, repeat_limit, output)
    }
}

/// Word size and byte order according to the magic; `None` for other files.
fn magic(start: &[u8]) -> Option<(Word, Order)> {
    ORDERS.into_iter().find_map(|order| match Cursor::new(start, Word::W32, order).u32() {
        Ok(MAGIC_32) => Some((Word::W32, order)),
        Ok(MAGIC_64) => Some((Word::W64, order)),
        _ => None,
    })
}

fn detection(file: &mut impl File, (word, order): (Word, Order), hints: &Hints) -> Result<Detection> {
    let magic = file.start().first_chunk().copied().unwrap_or_default();
    let mut evidence = vec![Evidence::Magic { magic }];
    let of = |form| Encoding { form, model: word.into(), order };
    let form = match hints.form() {
        Some(form) => {
            evidence.push(Evidence::Hint(HintKind::Form));
            form
        }
        // Only Darwin has 64-bit addresses.
        None if word == Word::W64 => Form::Darwin,
        None => {
            let (darwin, next) = (Walk::new(file, of(Form::Darwin))?, Walk::new(file, of(Form::Next))?);
            // Samples of Darwin fit NeXT too, with the rest of the header as bins. Samples of NeXT do not fit Darwin.
            if darwin.fits && next.fits && darwin.has_images && !darwin.has_samples {
                let candidates = vec![of(Form::Darwin), of(Form::Next)];
                return Err(Error::Ambiguous { candidates, hint: HintKind::Form });
            }
            let form = if darwin.fits || !next.fits && darwin.end >= next.end { Form::Darwin } else { Form::Next };
            let walk = if form == Form::Darwin { darwin } else { next };
            evidence.push(match (form, walk.has_samples, walk.has_images) {
                (Form::Darwin, true, _) => Evidence::SamplesVersion,
                (_, false, false) => Evidence::OnlyArcs,
                _ => Evidence::RecordsOf { form },
            });
            form
        }
    };
    Ok(Detection::new(of(form), evidence))
}

/// What decoding a file in one form shows.
struct Walk {
    /// The records end at the end of the file, and all paths are text.
    fits: bool,
    has_samples: bool,
    has_images: bool,
    /// The offset of the end of the last valid record.
    end: u64,
}

impl Walk {
    fn new(file: &mut impl File, encoding: Encoding) -> Result<Walk> {
        let mut walk = Walk { fits: true, has_samples: false, has_images: false, end: 0 };
        let mut records = file.records(TaggedDecoder::new(encoding)?, encoding)?;
        while let Some(record) = records.next() {
            match record {
                Ok(Record::Histogram(_)) => walk.has_samples = true,
                Ok(Record::Image(image)) => {
                    walk.has_images = true;
                    walk.fits &= !image.path().is_empty() && !image.path().iter().any(u8::is_ascii_control);
                }
                Ok(_) => {}
                #[cfg(feature = "std")]
                Err(error @ Error::ReadIo { .. }) => return Err(error),
                Err(_) => walk.fits = false,
            }
            walk.end = records.offset();
        }
        Ok(walk)
    }
}
