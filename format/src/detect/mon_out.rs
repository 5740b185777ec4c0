//! Detects the word size and the byte order of `mon.out`, which has no magic: the whole file must fit.

use alloc::vec;
use alloc::vec::Vec;

use super::candidates::{candidates, is_plausible, is_possible, keep_if_any, one};
use super::detection::Detection;
use super::evidence::Evidence;
use super::file::File;
use crate::read::Result;
use crate::{Encoding, Form, HintKind, Hints, Record};

/// The encoding that fits best; `None` if the file is something else.
///
/// Of several encodings with which the file can be read to its end, those win whose samples `profil` can have made, and of
/// these, those with calls. Too many files can be read to their end to try this form without a hint or a name. With the
/// name only, the samples of some encoding must be those of a usual program.
pub(super) fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
    let mut fits: Vec<(Encoding, Fit)> = Vec::new();
    for (word, order) in candidates(hints) {
        let encoding = Encoding::new(Form::MonOut, hints.model_for(word), order);
        match Fit::of(file, encoding) {
            Ok(fit) => fits.extend(fit.map(|fit| (encoding, fit))),
            Err(error) => return Some(Err(error)),
        }
    }
    let told = match hints.form() {
        Some(_) => Evidence::Hint(HintKind::Form),
        None if !fits.iter().any(|(_, fit)| fit.is_plausible) => return None,
        None => Evidence::Name,
    };
    keep_if_any(&mut fits, |fit| fit.is_possible);
    keep_if_any(&mut fits, |fit| fit.has_calls);
    // Without records, all encodings mean the same.
    if fits.iter().all(|(_, fit)| !fit.has_calls && !fit.has_samples) {
        fits.truncate(1);
    }
    one(&fits, hints, |encoding, _| vec![told.clone(), Evidence::RecordsEnd { word: encoding.word() }])
}

/// How well a file fits.
#[derive(Default)]
struct Fit {
    has_calls: bool,
    has_samples: bool,
    /// The number of bins for the code is that of a usual program.
    is_plausible: bool,
    /// Some call of `profil` makes this number of bins for the code.
    is_possible: bool,
}

impl Fit {
    /// Reads the file to its end. `None` if the file does not fit.
    fn of(file: &mut impl File, encoding: Encoding) -> Result<Option<Fit>> {
        let mut fit = Fit::default();
        for record in file.records(encoding)? {
            match record {
                Ok(Record::Arc(_)) => fit.has_calls = true,
                Ok(Record::Histogram(histogram)) => {
                    let (bins, span) = (histogram.len(), histogram.highpc().saturating_sub(histogram.lowpc()));
                    fit.has_samples = true;
                    fit.is_plausible = is_plausible(bins, span);
                    fit.is_possible = is_possible(bins, span);
                }
                #[cfg(feature = "std")]
                Err(error @ crate::ReadError::Io(_)) => return Err(error),
                Ok(_) | Err(_) => return Ok(None),
            }
        }
        Ok(Some(fit))
    }
}
