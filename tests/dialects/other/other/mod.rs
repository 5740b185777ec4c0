//! The form of an invented system: a magic, a version that is the word size, one histogram, and arcs to the end of the
//! file.

mod read;
mod write;

use alloc::vec;

use super::family::{Family, Named, Sign};
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::detection::Detection;
use crate::detection::candidates::candidates;
use crate::detection::evidence::Evidence;
use crate::detection::file::File;
use crate::output::Output;
use crate::{Encoding, Form, Hints, Profile};
use read::{MAGIC, OtherDecoder};

/// The form of the invented system.
pub(crate) struct Other;

impl Family for Other {
    const FORMS: &'static [Named] = &[Named::new(Form::Other, "other", "other system")];
    const SIGN: Sign = Sign::Magic;

    type Decoder = OtherDecoder;

    fn decoder(_encoding: Encoding) -> Result<OtherDecoder> {
        Ok(OtherDecoder::default())
    }

    fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
        candidates(hints).find_map(|(word, order)| {
            let mut cursor = Cursor::new(file.start(), word, order);
            let (magic, version) = (cursor.array().ok()?, cursor.u32().ok()?);
            let evidence = vec![Evidence::Magic { magic }, Evidence::Version { version, offset: 4, order }];
            let detection = Detection::new(Encoding::new(Form::Other, word.into(), order), evidence);
            (magic == MAGIC && version == word.size() as u32).then_some(Ok(detection))
        })
    }

    fn write(profile: &Profile, _encoding: Encoding, repeat_limit: u64, output: &mut Output<'_>) -> Result<()> {
        write::write(profile, repeat_limit, output)
    }
}
