//! `mon.out`, the profile of `cc -p`: the number of calls of each function, then samples up to the end of the file.
//!
//! The form has no magic, and calls have no callers.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::family::{Family, Named, Sign, hinted};
use crate::decode::bins;
use crate::decode::cursor::Cursor;
use crate::decode::{Decode, Result, refuse_narrow_long};
use crate::detection::Detection;
use crate::detection::candidates::{candidates, is_plausible, is_possible, keep_if_any, one};
use crate::detection::evidence::Evidence;
use crate::detection::file::File;
use crate::encode::{Sink as _, pieces};
use crate::hints::KnownName;
use crate::output::Output;
use crate::output::pieces::{long_most, only_histogram, repeated_size, samples_size, write_bins};
use crate::{Arc, Counter, Encoding, Error, Form, HintKind, Hints, Histogram, Part, Profile, Record, Unit};

/// The form of `mon.out`.
pub(crate) struct MonOut;

impl Family for MonOut {
    const FORMS: &'static [Named] = &[Named::new(Form::MonOut, "mon-out", "mon.out").of(&["cc -p of illumos"])];
    const SIGN: Sign = Sign::Name;

    type Decoder = MonOutDecoder;

    fn decoder(encoding: Encoding) -> Result<MonOutDecoder> {
        MonOutDecoder::new(encoding)
    }

    fn exists(encoding: Encoding) -> bool {
        !encoding.has_narrow_long()
    }

    fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
        if hints.name() == Some(KnownName::MonOut) { find(file, hints) } else { None }
    }

    fn find_hinted(file: &mut impl File, form: Form, hints: &Hints) -> Result<Detection> {
        find(file, hints).unwrap_or_else(|| hinted(file, form, hints))
    }

    fn write(profile: &Profile, encoding: Encoding, repeat_limit: u64, output: &mut Output<'_>) -> Result<()> {
        write(profile, encoding, repeat_limit, output)
    }
}

/// The encoding that fits best; `None` if the file is something else.
///
/// Of several encodings with which the file can be read to its end, those win whose samples `profil` can have made, and
/// of these, those with calls. Too many files can be read to their end to try this form without a hint or a name. With
/// the name only, the samples of some encoding must be those of a usual program.
fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
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
        None => {
            // Functions of shared objects are outside of the range, but not all functions are.
            fits.retain(|(_, fit)| !fit.has_calls_outside || fit.has_calls_inside);
            if !fits.iter().any(|(_, fit)| fit.is_plausible) {
                return None;
            }
            Evidence::Name
        }
    };
    keep_if_any(&mut fits, |fit| fit.is_possible);
    keep_if_any(&mut fits, |fit| !fit.has_calls_outside);
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
    /// A function is in the range of the samples.
    has_calls_inside: bool,
    /// A function is not in the range of the samples.
    has_calls_outside: bool,
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
        let mut start = Cursor::new(file.start(), encoding.word(), encoding.order);
        let range = match (start.word(), start.word()) {
            (Ok(lowpc), Ok(highpc)) => lowpc..highpc,
            _ => 0..0,
        };
        for record in file.records(MonOutDecoder::new(encoding)?, encoding)? {
            match record {
                Ok(Record::Arc(arc)) => {
                    fit.has_calls = true;
                    fit.has_calls_inside |= range.contains(&arc.selfpc);
                    fit.has_calls_outside |= !range.contains(&arc.selfpc);
                }
                Ok(Record::Histogram(histogram)) => {
                    let (bins, span) = (histogram.len(), histogram.highpc().saturating_sub(histogram.lowpc()));
                    fit.has_samples = true;
                    fit.is_plausible = is_plausible(bins, span);
                    fit.is_possible = is_possible(bins, span);
                }
                #[cfg(feature = "std")]
                Err(error @ Error::ReadIo { .. }) => return Err(error),
                Ok(_) | Err(_) => return Ok(None),
            }
        }
        Ok(Some(fit))
    }
}

/// The state of the reader. The records are an arc without a known caller for each function that was called, then the
/// histogram.
#[derive(Clone)]
pub(crate) enum MonOutDecoder {
    /// At the header.
    Start,
    /// At a function, or after the last one.
    Functions { range: Range<u64>, left: u64 },
    /// After the samples.
    End,
}

impl MonOutDecoder {
    fn new(encoding: Encoding) -> Result<MonOutDecoder> {
        refuse_narrow_long(encoding).map(|()| MonOutDecoder::Start)
    }
}

impl Decode for MonOutDecoder {
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        if let MonOutDecoder::Start = self {
            let (range, left) = header(cursor)?;
            *self = MonOutDecoder::Functions { range, left };
        }
        let MonOutDecoder::Functions { range, left } = self else { return Ok(None) };
        while *left != 0 {
            let function = function(cursor)?;
            *left = left.saturating_sub(1);
            if let Some(arc) = function {
                return Ok(Some(Record::Arc(arc)));
            }
        }
        let samples = cursor.split_to_end(Part::Samples)?;
        // The form has no rate: 0 is an unknown one.
        let histogram = bins::histogram(range.clone(), 0, Unit::seconds(0), samples)?;
        *self = MonOutDecoder::End;
        Ok(histogram.map(Record::Histogram))
    }
}

/// Reads the header: the address range, and the number of functions.
fn header(cursor: &mut Cursor<'_>) -> Result<(Range<u64>, u64)> {
    let start = cursor.offset();
    let word = cursor.word_size() as u64;
    let mut header = cursor.split(word.saturating_mul(3), Part::Header)?;
    let (lowpc, highpc, functions) = (header.word()?, header.word()?, header.word()?);
    if highpc < lowpc {
        return Err(Error::BadRange { lowpc, highpc, offset: start });
    }
    // A damaged number is an error before the first function.
    let mut all = *cursor;
    all.split(functions.saturating_mul(word.saturating_mul(2)), Part::Functions)?;
    Ok((lowpc..highpc, functions))
}

/// Reads a function and the number of its calls. `None` for an entry that no function used.
///
/// A function of a shared object is outside of the range of the samples.
fn function(cursor: &mut Cursor<'_>) -> Result<Option<Arc>> {
    let size = cursor.word_size().saturating_mul(2);
    let mut entry = cursor.split(size as u64, Part::Functions)?;
    let (selfpc, count) = (entry.word()?, entry.word()?);
    Ok((selfpc != 0).then_some(Arc::new(0, selfpc, count)))
}

/// Writes the header, the functions, and the samples.
fn write(profile: &Profile, encoding: Encoding, repeat_limit: u64, output: &mut Output<'_>) -> Result<()> {
    let histogram = only_histogram(profile)?;
    let range = histogram.map_or(0..0, Histogram::range);
    for arc in profile.arcs() {
        if arc.frompc != 0 {
            return Err(Error::CallerNotHeld { frompc: arc.frompc, selfpc: arc.selfpc });
        }
        // An address of 0 is an entry that no function uses.
        if arc.selfpc == 0 {
            return Err(Error::OutsideNotHeld { address: arc.selfpc, range });
        }
    }
    let most = long_most(encoding.model);
    let entry = (encoding.word().size() as u64).saturating_mul(2);
    let functions_size = repeated_size(profile.arcs(), most, entry, repeat_limit)?;
    let samples = samples_size(histogram)?;
    output.reserve(functions_size.saturating_add(samples).saturating_add(24));
    output.word(range.start)?;
    output.word(range.end)?;
    output.word(functions_size.checked_div(entry).unwrap_or(0))?;
    for arc in profile.arcs() {
        for count in pieces(arc.count, most) {
            output.word(arc.selfpc)?;
            output.word(count)?;
        }
    }
    histogram.map_or(Ok(()), |histogram| write_bins(output, histogram, Counter::U16))
}
