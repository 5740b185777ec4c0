//! Detects the word size and the byte order of `mon.out`, which has no magic: the whole file must fit.

use alloc::vec;
use alloc::vec::Vec;

use super::candidates::{candidates, is_plausible, keep_if_any, one};
use super::detection::Detection;
use super::evidence::Evidence;
use super::file::File;
use crate::read::Result;
use crate::{Encoding, Form, HintKind, Hints, Record};

/// The encoding that fits best; `None` if the file is something else. Too many files fit to try this form without a hint
/// or a name.
pub(super) fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
    let mut fits: Vec<(Encoding, Fit)> = Vec::new();
    for (word, order) in candidates(hints) {
        let encoding = Encoding::new(Form::MonOut, hints.model.unwrap_or(word.into()), order);
        match Fit::of(file, encoding) {
            Ok(fit) => fits.extend(fit.map(|fit| (encoding, fit))),
            Err(error) => return Some(Err(error)),
        }
    }
    keep_if_any(&mut fits, |fit| fit.has_calls);
    let told = if hints.form.is_some() { Evidence::Hint(HintKind::Form) } else { Evidence::Name };
    one(&fits, hints, |encoding, _| vec![told.clone(), Evidence::RecordsEnd { word: encoding.word() }])
}

/// How well a file fits.
struct Fit {
    has_calls: bool,
}

impl Fit {
    /// Checks the header, the functions, and the size of the samples. `None` if the file does not fit.
    fn of(file: &mut impl File, encoding: Encoding) -> Result<Option<Fit>> {
        let (mut has_calls, mut has_samples) = (false, false);
        for record in file.records(encoding)? {
            match record {
                Ok(Record::Arc(_)) => has_calls = true,
                Ok(Record::Histogram(histogram)) => {
                    let span = histogram.highpc().saturating_sub(histogram.lowpc());
                    has_samples = is_plausible(histogram.len(), span);
                }
                #[cfg(feature = "std")]
                Err(error @ crate::ReadError::Io(_)) => return Err(error),
                Ok(_) | Err(_) => return Ok(None),
            }
        }
        Ok(has_samples.then_some(Fit { has_calls }))
    }
}
