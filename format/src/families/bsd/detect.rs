//! Detects the encoding of files of the 4.4BSD family.

use alloc::vec;
use alloc::vec::Vec;

use super::counter_type::{self, Spare};
use super::raw_samples::Floating;
use super::read::{BsdDecoder, Header};
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::detection::candidates::candidates;
use crate::detection::evidence::Evidence;
use crate::detection::file::File;
use crate::detection::{Detection, foreign};
use crate::hints::KnownName;
use crate::layout::{GMONVERSION, MAXARCS};
use crate::older_rust::is_multiple;
use crate::{DataModel, Encoding, Error, Form, HintKind, Hints, Order, Record, Word};

/// An upper half of a count that no program reaches: a machine that counts two billion calls per second takes more than
/// 18 years for 2^60 calls.
const IMPOSSIBLE: u64 = 1 << 28;

/// A header that the file may have.
struct Fit {
    word: Word,
    order: Order,
    header: Header,
    /// The size of what follows the samples.
    arcs_size: u64,
}

impl Fit {
    fn has_whole_arcs(&self) -> bool {
        is_multiple(self.arcs_size, self.word.arc_size())
    }

    /// What the header says about the first spare word, if the word looks like a type of counters. Windows has the
    /// plain form only, and its spare words are uninitialized memory.
    fn spare(&self, hints: &Hints) -> Option<Spare> {
        let may_have_type = hints.model() != Some(DataModel::Llp64);
        may_have_type.then(|| counter_type::by_header(&self.header, self.word)).flatten()
    }
}

/// The encoding of a file of the 4.4BSD family, or the error in its header. `None` if no encoding has the version in
/// the right place.
///
/// In a 32-bit file, a spare word is where a 64-bit file has the version, so both headers may fit. The headers with
/// whole arcs win.
pub(super) fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
    let mut failure = None;
    let mut fits: Vec<Fit> = Vec::new();
    for (word, order) in candidates(hints) {
        if !has_version(file.start(), word, order) {
            continue;
        }
        match read_header(file, word, order) {
            Ok((header, arcs_size)) => fits.push(Fit { word, order, header, arcs_size }),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    if fits.iter().any(Fit::has_whole_arcs) {
        fits.retain(Fit::has_whole_arcs);
    }
    match &*fits {
        [] => failure.map(Err),
        [fit] => Some(detection(file, fit, hints)),
        several => {
            let encoding = |fit: &Fit| {
                let form = hints.form().unwrap_or_else(|| form_of(fit, fit.spare(hints), hints, &mut Vec::new()));
                Encoding::new(form, hints.model_for(fit.word), fit.order)
            };
            let candidates = several.iter().map(encoding).collect();
            Some(Err(Error::Ambiguous { candidates, hint: HintKind::Word }))
        }
    }
}

/// The header of a file that is long enough for its samples, and the size of what follows the samples.
fn read_header(file: &impl File, word: Word, order: Order) -> Result<(Header, u64)> {
    let mut cursor = Cursor::new(file.start(), word, order);
    let header = Header::read(&mut cursor, word)?;
    let left = file.length().saturating_sub(cursor.offset());
    match left.checked_sub(header.samples_size) {
        Some(arcs_size) => Ok((header, arcs_size)),
        None => {
            let (part, needed, offset) = (crate::Part::Samples, header.samples_size, cursor.offset());
            Err(Error::Truncated { part, needed, left, offset })
        }
    }
}

fn detection(file: &mut impl File, fit: &Fit, hints: &Hints) -> Result<Detection> {
    let &Fit { word, order, .. } = fit;
    let offset = word.size().saturating_mul(2).saturating_add(4) as u64;
    let mut evidence = vec![Evidence::Version { version: GMONVERSION as u32, offset, order }];
    let form = match hints.form() {
        Some(form) => {
            evidence.push(Evidence::Hint(HintKind::Form));
            form
        }
        None => {
            let spare = match fit.spare(hints) {
                Some(Spare::Both(counter)) => {
                    Some(counter_type::by_samples(file, &fit.header, counter, (word, order))?)
                }
                known => known,
            };
            if let Some(Spare::Both(counter)) = spare {
                let of = |form| Encoding::new(form, hints.model_for(word), order);
                let candidates = vec![of(Form::Bsd), of(Form::FreeBsd(counter))];
                return Err(Error::Ambiguous { candidates, hint: HintKind::Form });
            }
            form_of(fit, spare, hints, &mut evidence)
        }
    };
    look_at_samples(file, fit, form, &mut evidence)?;
    let model = model(file, (form, word, order), hints, &mut evidence)?;
    Ok(Detection::new(Encoding { form, model, order }, evidence))
}

/// Whether 4.4BSD's version is in its place: after two addresses and `ncnt`.
fn has_version(start: &[u8], word: Word, order: Order) -> bool {
    let mut cursor = Cursor::new(start, word, order);
    let fields = (cursor.word(), cursor.word(), cursor.i32(), cursor.i32());
    matches!(fields, (Ok(_), Ok(_), Ok(_), Ok(GMONVERSION)))
}

/// The form of a 4.4BSD header, from its first spare word, and from what is known about this word as a type of
/// counters.
///
/// No counter type is a multiple of an arc's size, so the two meanings of that word do not collide. Any other value
/// is uninitialized memory of the writer.
fn form_of(fit: &Fit, spare: Option<Spare>, hints: &Hints, evidence: &mut Vec<Evidence>) -> Form {
    let &Fit { word, ref header, arcs_size, .. } = fit;
    let value = header.spare;
    if hints.model() == Some(DataModel::Llp64) {
        return Form::Bsd;
    }
    match spare {
        Some(Spare::Type(counter) | Spare::Both(counter)) => {
            evidence.push(Evidence::CounterType { value });
            return Form::FreeBsd(counter);
        }
        Some(Spare::Garbage(reason)) => {
            evidence.push(reason.evidence(value));
            return Form::Bsd;
        }
        None => {}
    }
    let is_totarc = |bytes: u64| bytes != 0 && bytes == arcs_size && is_multiple(bytes, word.arc_size());
    if u64::try_from(value).is_ok_and(is_totarc) {
        evidence.push(Evidence::ArcsSize { value });
        return Form::OpenBsd;
    }
    let most = (MAXARCS as u64).saturating_mul(word.arc_size());
    let is_other = |bytes: u64| (1..=most).contains(&bytes) && is_multiple(bytes, word.arc_size());
    // Sums by older readers keep the header of one of the profiles.
    let is_sum = hints.name() == Some(KnownName::Sum);
    match u64::try_from(value) {
        Ok(0) => {}
        Ok(bytes) if is_other(bytes) && !is_sum => evidence.push(Evidence::OtherArcsSize { value, size: arcs_size }),
        _ => evidence.push(Evidence::SpareWord { value }),
    }
    Form::Bsd
}

/// Looks for counters that the header does not tell.
fn look_at_samples(file: &mut impl File, fit: &Fit, form: Form, evidence: &mut Vec<Evidence>) -> Result<()> {
    let &Fit { word, order, ref header, .. } = fit;
    let start = word.header_size();
    let mut floating = Floating::new(order);
    file.scan(start..start.saturating_add(header.samples_size), |piece| floating.see(piece))?;
    if floating.is_likely() {
        evidence.push(Evidence::FloatingSamples);
    }
    let has_look_of_psp = (form, word, order, header.profrate) == (Form::Bsd, Word::W32, Order::Little, 1000);
    if has_look_of_psp && header.samples_size == header.highpc.saturating_sub(header.lowpc) {
        evidence.push(Evidence::MaybeWideCounters);
    }
    Ok(())
}

/// The size of a `long`, from the counts of the arcs.
///
/// On Windows, an arc ends with four uninitialized bytes, which are the same in all arcs of a file. The upper halves of
/// the counts tell the size. Only little-endian files of the plain form can have such arcs.
fn model(
    file: &mut impl File,
    (form, word, order): (Form, Word, Order),
    hints: &Hints,
    evidence: &mut Vec<Evidence>,
) -> Result<DataModel> {
    let is_concerned = form == Form::Bsd && word == Word::W64 && order == Order::Little;
    if let Some(model) = hints.model() {
        evidence.push(Evidence::Hint(HintKind::Model));
        return Ok(model);
    }
    if !is_concerned {
        return Ok(word.into());
    }
    let encoding = Encoding { form, model: DataModel::Lp64, order };
    let records = file.records(BsdDecoder::new(encoding)?, encoding)?;
    let mut uppers = records.filter_map(|record| match record {
        Ok(Record::Arc(arc)) => Some(Ok(arc.count >> 32)),
        Ok(_) => None,
        // The reader reports the damage.
        Err(error) => Some(Err(error)),
    });
    let first = match uppers.next() {
        None => return Ok(DataModel::Lp64),
        Some(first) => first?,
    };
    let mut differ = false;
    for upper in uppers {
        differ |= upper? != first;
    }
    match first {
        _ if differ => evidence.push(Evidence::WideCounts),
        0 => evidence.push(Evidence::NarrowCounts),
        IMPOSSIBLE.. => {
            evidence.push(Evidence::Padding { upper: u32::try_from(first).unwrap_or(u32::MAX) });
            return Ok(DataModel::Llp64);
        }
        _ => {
            let candidates = [DataModel::Lp64, DataModel::Llp64].map(|model| Encoding { form, model, order }).into();
            return Err(Error::Ambiguous { candidates, hint: HintKind::Model });
        }
    }
    Ok(DataModel::Lp64)
}

/// The error for a file that is declared to be of the 4.4BSD family and does not have the version.
pub(super) fn error(file: &impl File, hints: &Hints) -> Error {
    let word = hints.word().unwrap_or(Word::W64);
    let order = hints.order().unwrap_or(Order::Little);
    match Header::read(&mut Cursor::new(file.start(), word, order), word) {
        Err(error) => error,
        Ok(_) => foreign::error(file, hints),
    }
}
