//! What a family of forms has: its names, its detection, its decoder, and its writer.

use alloc::vec;

use crate::decode::{Decode, Result};
use crate::detection::candidates::candidates;
use crate::detection::evidence::Evidence;
use crate::detection::file::File;
use crate::detection::{Detection, foreign};
use crate::output::Output;
use crate::output::pieces::check_empty_bins;
use crate::{Encoding, Error, Form, HintKind, Hints, Profile};

/// A form, by its names.
pub(crate) struct Named {
    pub(crate) form: Form,
    /// The name for programs: lower-case letters, digits, and hyphens.
    pub(crate) name: &'static str,
    /// The name in messages.
    pub(crate) title: &'static str,
    /// The systems and programs that write the form under other names.
    pub(crate) writers: &'static [&'static str],
}

impl Named {
    pub(crate) const fn new(form: Form, name: &'static str, title: &'static str) -> Named {
        Named { form, name, title, writers: &[] }
    }

    /// The form, which these systems and programs write, too.
    pub(crate) const fn of(self, writers: &'static [&'static str]) -> Named {
        Named { writers, ..self }
    }
}

/// How a file of a family is recognized. Detection tries the surest sign first: the order is that of the variants.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// The file starts with a magic.
    Magic,
    /// The file has a version in a place that depends on the encoding.
    Version,
    /// The file has the name of the form, and all of its content fits.
    Name,
    /// All of the content fits.
    Content,
}

/// A family of forms that have their detection, their decoder, and their writer in common.
pub(crate) trait Family {
    /// Each form, with all types of counters and all headers.
    const FORMS: &'static [Named];
    /// How a file is recognized.
    const SIGN: Sign;
    /// Whether the forms hold basic-block counts.
    const HOLDS_BLOCKS: bool = false;
    /// Whether a file has the bins of a histogram, and not only its samples.
    const HAS_BINS: bool = true;

    /// The decoder of all forms of the family.
    type Decoder: Decode;

    /// Makes the decoder of an encoding, at the start of the file. An error if no system has files with the encoding.
    fn decoder(encoding: Encoding) -> Result<Self::Decoder>;

    /// Whether some system writes files with the encoding.
    fn exists(_encoding: Encoding) -> bool {
        true
    }

    /// The encoding of a file, or the error in a file that has the sign of the family. `None` for other files.
    fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>>;

    /// The encoding of a file if the caller gave a form of the family.
    fn find_hinted(file: &mut impl File, _form: Form, hints: &Hints) -> Result<Detection> {
        Self::find(file, hints).unwrap_or_else(|| Err(foreign::error(file, hints)))
    }

    /// Writes a profile without blocks, unless the forms hold blocks.
    fn write(profile: &Profile, encoding: Encoding, repeat_limit: u64, output: &mut Output<'_>) -> Result<()>;

    /// Writes a profile, if the form can hold it.
    fn write_checked(profile: &Profile, encoding: Encoding, repeat_limit: u64, output: &mut Output<'_>) -> Result<()> {
        if !Self::exists(encoding) {
            return Err(Error::NoNarrowLong { encoding });
        }
        if !Self::HOLDS_BLOCKS && !profile.blocks().is_empty() {
            return Err(Error::BlocksNotHeld { blocks: profile.blocks().len() as u64 });
        }
        if Self::HAS_BINS {
            check_empty_bins(profile, encoding.form.counter(), repeat_limit)?;
        }
        Self::write(profile, encoding, repeat_limit, output)
    }
}

/// The encoding of a file that does not fit the form that the caller gave. The reader finds what is wrong.
pub(crate) fn hinted(file: &impl File, form: Form, hints: &Hints) -> Result<Detection> {
    match candidates(hints).next() {
        Some((word, order)) => {
            let encoding = Encoding::new(form, hints.model_for(word), order);
            Ok(Detection::new(encoding, vec![Evidence::Hint(HintKind::Form)]))
        }
        None => Err(foreign::error(file, hints)),
    }
}
