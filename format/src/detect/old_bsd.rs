//! Detects a file of 4.2BSD's form, which has no magic: the whole file must fit.

use alloc::vec;
use alloc::vec::Vec;

use super::candidates::{candidates, is_plausible, keep_if_any, one};
use super::detection::Detection;
use super::evidence::Evidence;
use super::file::File;
use crate::older_rust::is_multiple;
use crate::read::Result;
use crate::read::cursor::Cursor;
use crate::read::old_bsd::Header;
use crate::{Encoding, Form, HintKind, Hints, Histogram, OldHeader, Order, Record, Word};

/// The encoding that fits best; `None` if the file is something else.
///
/// Without a hint, the samples and the addresses must be those of a usual program. If the caller gave the form, the file
/// need only be readable to its end, and usual samples and addresses decide between several encodings.
///
/// Of several encodings that fit, those win whose samples have the density of known writers. The density decides between
/// the two 64-bit headers in most files: with the other header, there are two bins more or less. If the density does not
/// decide, the file is ambiguous.
pub(super) fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
    let mut fits: Vec<(Encoding, Fit)> = Vec::new();
    for (word, order) in candidates(hints) {
        for header in headers(hints, word, order) {
            let encoding = Encoding::new(Form::OldBsd(header), hints.model_for(word), order);
            // The sizes in most headers show that the rest of the file need not be read.
            if !has_sizes_of(file, encoding, header) {
                continue;
            }
            match Fit::of(file, encoding, header) {
                Ok(fit) => fits.extend(fit.map(|fit| (encoding, fit))),
                Err(error) => return Some(Err(error)),
            }
        }
    }
    match hints.form() {
        Some(_) => keep_if_any(&mut fits, |fit| fit.is_plausible),
        None => fits.retain(|(_, fit)| fit.is_plausible),
    }
    keep_if_any(&mut fits, |fit| fit.is_usual_density);
    let evidence = |encoding: &Encoding, fit: &Fit| {
        let Form::OldBsd(header) = encoding.form else { return Vec::new() };
        let mut evidence = vec![Evidence::WholeFileFits { header: header.size(encoding.word()) }];
        evidence.extend(hints.form().map(|_| Evidence::Hint(HintKind::Form)));
        evidence.extend(fit.is_usual_density.then_some(Evidence::UsualDensity));
        evidence
    };
    one(&fits, hints, evidence)
}

/// The headers to try. All are the same in 32-bit files. In little-endian files, a wide size is a size with padding of 0.
fn headers(hints: &Hints, word: Word, order: Order) -> impl Iterator<Item = OldHeader> + use<> {
    let hinted = match hints.form() {
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

/// Whether the samples are whole bins in the file, and whole arcs follow the samples.
fn has_sizes_of(file: &impl File, encoding: Encoding, header: OldHeader) -> bool {
    let word = encoding.word();
    let mut cursor = Cursor::new(file.start(), word, encoding.order);
    let Ok(Header { samples_size, .. }) = Header::read(&mut cursor, header, word) else { return false };
    let arcs_size = file.length().checked_sub(cursor.offset()).and_then(|left| left.checked_sub(samples_size));
    is_multiple(samples_size, 2) && arcs_size.is_some_and(|size| is_multiple(size, word.arc_size()))
}

/// How well a file fits.
struct Fit {
    /// The samples and the addresses are those of a usual program.
    is_plausible: bool,
    /// Whether the number of bins for the code is that of a known writer.
    is_usual_density: bool,
}

impl Fit {
    /// Reads the file to its end. `None` if the file does not fit.
    fn of(file: &mut impl File, encoding: Encoding, header: OldHeader) -> Result<Option<Fit>> {
        let mut histogram: Option<Histogram> = None;
        let mut has_addresses_inside = true;
        for record in file.records(encoding)? {
            match record {
                Ok(Record::Histogram(first)) => histogram = Some(first),
                Ok(Record::Arc(arc)) => {
                    has_addresses_inside &= histogram.as_ref().is_some_and(|histogram| {
                        histogram.range().contains(&arc.selfpc) && arc.frompc <= histogram.highpc()
                    });
                }
                #[cfg(feature = "std")]
                Err(error @ crate::ReadError::Io(_)) => return Err(error),
                Ok(_) | Err(_) => return Ok(None),
            }
        }
        let is_plausible =
            |histogram: &Histogram| is_plausible(histogram.len(), histogram.highpc().saturating_sub(histogram.lowpc()));
        Ok(Some(Fit {
            is_plausible: has_addresses_inside && histogram.as_ref().is_some_and(is_plausible),
            is_usual_density: histogram.is_some_and(|histogram| is_usual_density(&histogram, header)),
        }))
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

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::Unit;

    #[test]
    fn known_writers_make_a_bin_for_four_bytes() {
        for (header, bins, span, is_usual) in [
            (OldHeader::Packed, 64, 256, true),
            (OldHeader::Wide, 64, 256, true),
            (OldHeader::Packed, 64, 257, false),
            (OldHeader::Packed, 64, 252, true),
            (OldHeader::Wide, 64, 252, false),
            (OldHeader::Packed, 64, 241, true),
            (OldHeader::Packed, 64, 240, false),
            (OldHeader::Packed, 63, 250, false),
            (OldHeader::Packed, 64, 100, false),
        ] {
            let histogram = Histogram::new(0x1000..0x1000 + span, Unit::seconds(60), vec![0_u16; bins]).unwrap();
            assert_eq!(is_usual_density(&histogram, header), is_usual, "{header:?} {bins} {span}");
        }
    }
}
