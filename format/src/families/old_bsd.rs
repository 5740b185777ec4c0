//! The form of 4.2BSD: a header without a magic, a version, and a rate, the samples, and arcs up to the end of the
//! file.

use alloc::vec;
use alloc::vec::Vec;

use super::family::{Family, Named, Sign, hinted};
use crate::decode::arcs::{all_arcs, next_arc};
use crate::decode::bins;
use crate::decode::cursor::Cursor;
use crate::decode::{Decode, Result, refuse_narrow_long};
use crate::detection::Detection;
use crate::detection::candidates::{candidates, is_plausible, keep_if_any, one};
use crate::detection::evidence::Evidence;
use crate::detection::file::File;
use crate::encode::{Sink as _, bsd_arcs};
use crate::older_rust::is_multiple;
use crate::output::Output;
use crate::output::pieces::{long_most, only_histogram, repeated_size, samples_size, size_field, write_bins};
use crate::{
    Arc, Counter, DataModel, Encoding, Error, Form, HintKind, Hints, Histogram, OldHeader, Order, Part, Profile,
    Record, Unit, Word,
};

/// The form of 4.2BSD.
pub(crate) struct OldBsd;

impl Family for OldBsd {
    const FORMS: &'static [Named] = &[
        Named::new(Form::OldBsd(OldHeader::Packed), "old-bsd", "4.2BSD").of(&["4.3BSD", "gprof -s -O bsd of GNU"]),
        Named::new(Form::OldBsd(OldHeader::Padded), "old-bsd-padded", "4.2BSD (padded header)").of(&["OSF/1"]),
        Named::new(Form::OldBsd(OldHeader::Wide), "old-bsd-wide", "old illumos").of(&["old Solaris"]),
    ];
    const SIGN: Sign = Sign::Content;

    type Decoder = OldBsdDecoder;

    fn decoder(encoding: Encoding) -> Result<OldBsdDecoder> {
        OldBsdDecoder::new(header_of(encoding.form), encoding)
    }

    fn exists(encoding: Encoding) -> bool {
        !encoding.has_narrow_long()
    }

    fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
        find(file, hints)
    }

    fn find_hinted(file: &mut impl File, form: Form, hints: &Hints) -> Result<Detection> {
        find(file, hints).unwrap_or_else(|| hinted(file, form, hints))
    }

    fn write(profile: &Profile, encoding: Encoding, repeat_limit: u64, output: &mut Output<'_>) -> Result<()> {
        write(profile, encoding, header_of(encoding.form), repeat_limit, output)
    }
}

/// The header of a form.
fn header_of(form: Form) -> OldHeader {
    if let Form::OldBsd(header) = form { header } else { OldHeader::Packed }
}

/// The encoding that fits best; `None` if the file is something else.
///
/// Without a hint, the samples and the addresses must be those of a usual program. If the caller gave the form, the
/// file need only be readable to its end, and usual samples and addresses decide between several encodings.
///
/// Of several encodings that fit, those win whose samples have the density of known writers. The density decides
/// between the two 64-bit headers in most files: with the other header, there are two bins more or less. If the density
/// does not decide, the file is ambiguous.
fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
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

/// The headers to try. All are the same in 32-bit files. In little-endian files, a wide size is a size with padding of
/// 0.
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
        for record in file.records(OldBsdDecoder::new(header, encoding)?, encoding)? {
            match record {
                Ok(Record::Histogram(first)) => histogram = Some(first),
                Ok(Record::Arc(arc)) => {
                    has_addresses_inside &= histogram.as_ref().is_some_and(|histogram| {
                        histogram.range().contains(&arc.selfpc) && arc.frompc <= histogram.highpc()
                    });
                }
                #[cfg(feature = "std")]
                Err(error @ Error::ReadIo { .. }) => return Err(error),
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

/// The state of the reader.
#[derive(Clone)]
pub(crate) struct OldBsdDecoder {
    header: OldHeader,
    model: DataModel,
    is_behind_samples: bool,
}

impl OldBsdDecoder {
    fn new(header: OldHeader, encoding: Encoding) -> Result<OldBsdDecoder> {
        refuse_narrow_long(encoding)?;
        Ok(OldBsdDecoder { header, model: encoding.model, is_behind_samples: false })
    }
}

impl Decode for OldBsdDecoder {
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        if !self.is_behind_samples {
            let start = cursor.offset();
            let header = Header::read(cursor, self.header, self.model.word())?;
            let samples = cursor.split(header.samples_size, Part::Samples)?;
            // The form has no rate: 0 is an unknown one.
            let histogram = bins::histogram(header.lowpc..header.highpc, start, Unit::seconds(0), samples)?;
            self.is_behind_samples = true;
            if histogram.is_some() {
                return Ok(histogram.map(Record::Histogram));
            }
        }
        next_arc(cursor, self.model)
    }

    fn arcs(&mut self, cursor: &mut Cursor<'_>, arcs: &mut Vec<Arc>) {
        if self.is_behind_samples {
            all_arcs(cursor, self.model, arcs);
        }
    }
}

/// The content of a valid header.
struct Header {
    lowpc: u64,
    highpc: u64,
    /// The size of the samples in bytes.
    samples_size: u64,
}

impl Header {
    /// Reads the header. The cursor stops after it.
    fn read(cursor: &mut Cursor<'_>, header: OldHeader, word: Word) -> Result<Header> {
        let (start, size) = (cursor.offset(), header.size(word));
        let mut fields = cursor.split(size, Part::Header)?;
        let (lowpc, highpc) = (fields.word()?, fields.word()?);
        let offset = fields.offset();
        let ncnt = match (word, header) {
            (Word::W64, OldHeader::Wide) => fields.u64()? as i64,
            _ => fields.i32()?.into(),
        };
        if highpc < lowpc {
            return Err(Error::BadRange { lowpc, highpc, offset: start });
        }
        let samples_size = u64::try_from(ncnt).ok().and_then(|ncnt| ncnt.checked_sub(size));
        let samples_size = samples_size.ok_or(Error::BadSize { ncnt, offset })?;
        Ok(Header { lowpc, highpc, samples_size })
    }
}

/// Writes the header, the samples, and the arcs.
fn write(
    profile: &Profile,
    encoding: Encoding,
    header: OldHeader,
    repeat_limit: u64,
    output: &mut Output<'_>,
) -> Result<()> {
    let (word, histogram) = (encoding.word(), only_histogram(profile)?);
    let most = long_most(encoding.model);
    let arcs_size = repeated_size(profile.arcs(), most, word.arc_size(), repeat_limit)?;
    let ncnt = samples_size(histogram)?.saturating_add(header.size(word));
    output.reserve(ncnt.saturating_add(arcs_size));
    let range = histogram.map_or(0..0, Histogram::range);
    output.word(range.start)?;
    output.word(range.end)?;
    match (word, header) {
        (Word::W64, OldHeader::Wide) => output.u64(ncnt),
        _ => output.u32(size_field(ncnt, Part::Samples)? as u32),
    }
    if (word, header) == (Word::W64, OldHeader::Padded) {
        output.u32(0);
    }
    if let Some(histogram) = histogram {
        write_bins(output, histogram, Counter::U16)?;
    }
    bsd_arcs(output, profile.arcs().iter().copied(), most, false)
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
