//! Detects a file of 4.2BSD's form, which has no magic: the whole file must fit.

use alloc::vec;
use alloc::vec::Vec;

use super::candidates::{candidates, is_plausible, keep_if_any, one};
use super::detection::Detection;
use super::evidence::Evidence;
use super::file::File;
use crate::read::Result;
use crate::{Encoding, Form, HintKind, Hints, Histogram, OldHeader, Order, Record, Word};

/// The encoding that fits best; `None` if the file is something else.
///
/// Of several encodings that fit, those win whose samples have the density of known writers. The density decides between
/// the two 64-bit headers in most files: with the other header, there are two bins more or less. If the density does not
/// decide, the file is ambiguous.
pub(super) fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
    let mut fits: Vec<(Encoding, Fit)> = Vec::new();
    for (word, order) in candidates(hints) {
        for header in headers(hints, word, order) {
            let encoding = Encoding::new(Form::OldBsd(header), hints.model.unwrap_or(word.into()), order);
            match Fit::of(file, encoding, header) {
                Ok(fit) => fits.extend(fit.map(|fit| (encoding, fit))),
                Err(error) => return Some(Err(error)),
            }
        }
    }
    keep_if_any(&mut fits, |fit| fit.is_usual_density);
    let evidence = |encoding: &Encoding, fit: &Fit| {
        let Form::OldBsd(header) = encoding.form else { return Vec::new() };
        let mut evidence = vec![Evidence::WholeFileFits { header: header.size(encoding.word()) }];
        evidence.extend(hints.form.map(|_| Evidence::Hint(HintKind::Form)));
        evidence.extend(fit.is_usual_density.then_some(Evidence::UsualDensity));
        evidence
    };
    one(&fits, hints, evidence)
}

/// The headers to try. All are the same in 32-bit files. In little-endian files, a wide size is a size with padding of 0.
fn headers(hints: &Hints, word: Word, order: Order) -> impl Iterator<Item = OldHeader> + use<> {
    let hinted = match hints.form {
        Some(Form::OldBsd(header)) => Some(header),
        _ => None,
    };
    let tried: &[OldHeader] = match (word, order) {
        (Word::W32, _) => &[OldHeader::Packed],
        (Word::W64, Order::Little) => &[OldHeader::Packed, OldHeader::Padded],
        (Word::W64, Order::Big) => &[OldHeader::Packed, OldHeader::Padded, OldHeader::Wide],
    };
    let tried = if hinted.is_some() { &[] } else { tried };
    hinted.into_iter().chain(tried.iter().copied())
}

/// How well a file fits.
struct Fit {
    /// Whether the number of bins for the code is that of a known writer.
    is_usual_density: bool,
}

impl Fit {
    /// Checks the header, the samples, and all arcs. `None` if the file does not fit.
    fn of(file: &mut impl File, encoding: Encoding, header: OldHeader) -> Result<Option<Fit>> {
        let mut histogram = None;
        for record in file.records(encoding)? {
            let fits = match record {
                Ok(Record::Histogram(first)) => {
                    let span = first.highpc().saturating_sub(first.lowpc());
                    let fits = is_plausible(first.len(), span);
                    histogram = Some(first);
                    fits
                }
                Ok(Record::Arc(arc)) => histogram.as_ref().is_some_and(|histogram| {
                    histogram.range().contains(&arc.selfpc) && arc.frompc <= histogram.highpc()
                }),
                #[cfg(feature = "std")]
                Err(error @ crate::ReadError::Io(_)) => return Err(error),
                Ok(_) | Err(_) => false,
            };
            if !fits {
                return Ok(None);
            }
        }
        Ok(histogram.map(|histogram| Fit { is_usual_density: is_usual_density(&histogram, header) }))
    }
}

fn is_usual_density(histogram: &Histogram, header: OldHeader) -> bool {
    let span = histogram.highpc().saturating_sub(histogram.lowpc());
    match histogram.len().saturating_mul(4).checked_sub(span) {
        // The systems that write the form make a bin for four bytes of code.
        Some(0) => true,
        // glibc rounds the samples up to eight bytes, and GNU gprof writes them behind a header without padding.
        Some(more) => header == OldHeader::Packed && more < 16 && histogram.len() % 4 == 0,
        None => false,
    }
}
