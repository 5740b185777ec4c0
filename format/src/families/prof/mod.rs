//! The PROF files of Solaris and illumos, `gmon.out` and `mon.out` alike: a header, then objects of raw samples, of
//! calls, and of modules.

mod layout;
mod object;
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
use crate::{DataModel, Encoding, Form, Hints, Profile, Word};
use layout::PROF_MAGIC;
use read::ProfDecoder;

/// The form of PROF files.
pub(crate) struct Prof;

impl Family for Prof {
    const FORMS: &'static [Named] =
        &[Named::new(Form::IllumosProf, "illumos-prof", "illumos PROF").of(&["Sun's compilers"])];
    const SIGN: Sign = Sign::Magic;
    // A PROF file has samples, not bins.
    const HAS_BINS: bool = false;

    type Decoder = ProfDecoder;

    fn decoder(_encoding: Encoding) -> Result<ProfDecoder> {
        Ok(ProfDecoder::new())
    }

    fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
        let start = file.start();
        let (order, version) = ORDERS.into_iter().find_map(|order| {
            let mut cursor = Cursor::new(start, Word::W64, order);
            let is_prof = cursor.u32().ok()? == PROF_MAGIC;
            is_prof.then_some((order, cursor.u16().map_or(0, u32::from)))
        })?;
        // All addresses have 64 bits, for programs of either word size: the caller may know that of the program.
        let model = hints.model().or(hints.word().map(DataModel::from)).unwrap_or(DataModel::Lp64);
        if hints.order().is_some_and(|hint| hint != order) {
            return None;
        }
        let magic = start.first_chunk().copied().unwrap_or_default();
        let evidence = vec![Evidence::Magic { magic }, Evidence::Version { version, offset: 4, order }];
        Some(Ok(Detection::new(Encoding { form: Form::IllumosProf, model, order }, evidence)))
    }

    fn write(profile: &Profile, _encoding: Encoding, repeat_limit: u64, output: &mut Output<'_>) -> Result<()> {
        write::write(profile, repeat_limit, output)
    }
}
