//! Writes a finished buffer in one of the forms of the file.
//!
//! The crate `gmon` defines the forms and encodes the records; this module streams the records from the buffer
//! without an allocator.

use core::sync::atomic::{AtomicU8, AtomicU16, Ordering::Relaxed};

use gmon::encode::{bsd_arcs, gnu_arc, gnu_bin, gnu_header, gnu_histograms, looks_padded};
use gmon::layout::{GmonHdr, RawArc};

use super::writer::{Writer, Written, encoded};
use crate::closures::closure_trait;
use crate::os::{Errno, Fd};
use crate::samples::bins::STRETCH;

closure_trait! {
    /// Gets the parts of bins, in order.
    pub(crate) EachPart(part: Part)
}

/// The forms that a profile can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// OpenBSD's: the buffer itself.
    OpenBsd = 1,
    /// FreeBSD's: counters of 16 bits, or of 32 bits if a count needs them.
    FreeBsd,
    /// 4.4BSD's: as OpenBSD's, with spare words of 0.
    Bsd,
    /// GNU's: counts that do not fit a counter are continued in further records.
    Gnu,
    /// GNU's, with a record for each part of the program that has samples.
    #[cfg(any(test, feature = "preload"))]
    GnuParts,
}

impl Form {
    /// The form with this name in `GMON_FORMAT`.
    pub(crate) fn named(name: &[u8]) -> Option<Form> {
        match name {
            b"openbsd" => Some(Form::OpenBsd),
            b"freebsd" => Some(Form::FreeBsd),
            b"bsd" => Some(Form::Bsd),
            b"gnu" => Some(Form::Gnu),
            _ => None,
        }
    }

    /// Whether the file has GNU's records.
    fn has_gnu_records(self) -> bool {
        #[cfg(any(test, feature = "preload"))]
        if self == Form::GnuParts {
            return true;
        }
        self == Form::Gnu
    }
}

/// The parts of a finished buffer.
pub(crate) struct Finished<'a> {
    pub(crate) header: &'a GmonHdr,
    pub(crate) bins: Bins<'a>,
    /// The arcs in the buffer, and the arcs behind the buffer.
    pub(crate) arcs: [&'a [RawArc]; 2],
}

impl Finished<'_> {
    /// All arcs in order.
    pub(super) fn all_arcs(&self) -> impl Iterator<Item = &RawArc> + Clone {
        (0..).map_while(|index| self.arc(index))
    }

    #[inline(never)]
    fn arc(&self, index: usize) -> Option<&RawArc> {
        let [in_buffer, behind] = self.arcs;
        in_buffer.get(index).or_else(|| behind.get(index.wrapping_sub(in_buffer.len())))
    }

    /// The number of arcs.
    pub(super) fn arcs_number(&self) -> usize {
        let [in_buffer, behind] = self.arcs;
        in_buffer.len() + behind.len()
    }
}

/// The bins, with their overflows.
pub(crate) struct Bins<'a> {
    pub(crate) samples: &'a [AtomicU16],
    /// The number of overflows of each bin; `None` if no bin overflowed.
    pub(crate) carries: Option<&'a [AtomicU16]>,
    /// Whether each [`STRETCH`] of bins may contain counts; `None` if any bin may.
    pub(crate) touched: Option<&'a [AtomicU8]>,
}

/// The next part of the bins.
pub(crate) enum Part {
    /// A run of zeros of this length.
    Zeros(usize),
    Count(u32),
}

impl Part {
    fn ticks(&self) -> u64 {
        match self {
            Part::Zeros(_) => 0,
            Part::Count(count) => u64::from(*count),
        }
    }
}

/// What a file has of the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sampled {
    /// The ticks in the bins. A bin that was written as the highest value counts with all its ticks.
    pub(crate) ticks: u64,
    /// The number of bins that did not fit the form and were written as the highest value.
    pub(crate) clamped: usize,
}

impl Bins<'_> {
    /// All ticks.
    pub(crate) fn ticks(&self) -> u64 {
        let mut ticks = 0;
        self.for_each(&mut |part: Part| ticks += part.ticks());
        ticks
    }

    /// Passes the counts to `each`, in order.
    #[inline(never)]
    pub(crate) fn for_each(&self, each: &mut dyn EachPart) {
        for (stretch, samples) in self.samples.chunks(STRETCH).enumerate() {
            let touched = self.touched.and_then(|touched| touched.get(stretch));
            if touched.is_some_and(|touched| touched.load(Relaxed) == 0) {
                each.call(Part::Zeros(samples.len()));
                continue;
            }
            for (bin, low) in (stretch * STRETCH..).zip(samples) {
                let carry = self.carries.and_then(|carries| carries.get(bin)).map_or(0, |carry| carry.load(Relaxed));
                each.call(Part::Count(u32::from(carry) << 16 | u32::from(low.load(Relaxed))));
            }
        }
    }
}

/// Writes the profile into an empty file.
pub(crate) fn write(file: Fd, profile: &Finished<'_>, form: Form) -> Result<(Written, Sampled), Errno> {
    let mut out = Writer::new(file);
    let sampled = match form {
        Form::Gnu => gnu_samples(&mut out, profile),
        #[cfg(any(test, feature = "preload"))]
        Form::GnuParts => gnu_parts(&mut out, profile),
        Form::FreeBsd if profile.bins.carries.is_some() => wide_samples(&mut out, profile),
        Form::FreeBsd => samples(&mut out, profile, 16),
        Form::Bsd => samples(&mut out, profile, 0),
        Form::OpenBsd => {
            // If the header cannot hold the number of arcs, the file has 4.4BSD's form, in which the arcs go on to
            // the end of the file.
            let size = profile.arcs_number().saturating_mul(size_of::<RawArc>());
            samples(&mut out, profile, i32::try_from(size).unwrap_or(0))
        }
    };
    arcs(&mut out, profile, form);
    out.finish().map(|written| (written, sampled))
}

/// The arcs.
fn arcs(out: &mut Writer, profile: &Finished<'_>, form: Form) {
    let all = || profile.all_arcs().map(encoded);
    if form.has_gnu_records() {
        for arc in all() {
            let Ok(()) = gnu_arc(out, &arc);
        }
        return;
    }
    let is_apart = form == Form::Bsd && looks_padded(all().map(|arc| arc.count));
    let Ok(()) = bsd_arcs(out, all(), isize::MAX as u64, is_apart);
}

/// Writes 4.4BSD's header and 16-bit samples.
fn samples(out: &mut Writer, profile: &Finished<'_>, first_spare: i32) -> Sampled {
    out.bsd_header(profile.header, profile.header.ncnt, first_spare);
    let mut sampled = Sampled::default();
    profile.bins.for_each(&mut |part: Part| {
        sampled.ticks += part.ticks();
        match part {
            Part::Zeros(bins) => out.zeros(bins * size_of::<u16>()),
            Part::Count(count) => {
                let low = u16::try_from(count).unwrap_or_else(|_| {
                    sampled.clamped += 1;
                    u16::MAX
                });
                out.put(&low.to_ne_bytes());
            }
        }
    });
    sampled
}

/// Writes FreeBSD's header and samples of 32 bits.
fn wide_samples(out: &mut Writer, profile: &Finished<'_>) -> Sampled {
    let mut sampled = Sampled::default();
    let Ok(ncnt) = i32::try_from(size_of::<GmonHdr>() + profile.bins.samples.len() * size_of::<u32>()) else {
        out.fail(Errno::EFBIG);
        return sampled;
    };
    out.bsd_header(profile.header, ncnt, 32);
    profile.bins.for_each(&mut |part: Part| {
        sampled.ticks += part.ticks();
        match part {
            Part::Zeros(bins) => out.zeros(bins * size_of::<u32>()),
            Part::Count(count) => out.put(&count.to_ne_bytes()),
        }
    });
    sampled
}

/// The number of bins in a record of [`Form::GnuParts`]. Records of all processes begin at multiples of this number, so
/// that readers can add them up: histograms of different programs' runs must be of the same range, or must not overlap.
#[cfg(any(test, feature = "preload"))]
const PART: usize = 128;

/// Writes GNU's header, and histograms of the parts that have samples. The first part is always there, because it has
/// the rate.
#[cfg(any(test, feature = "preload"))]
fn gnu_parts(out: &mut Writer, profile: &Finished<'_>) -> Sampled {
    let mut sampled = Sampled::default();
    gnu_header(out);
    let Bins { samples, carries, touched } = profile.bins;
    let range = profile.header;
    let size = range.hpc.wrapping_sub(range.lpc).checked_div(samples.len()).unwrap_or(0);
    for first in (0..samples.len()).step_by(PART) {
        let is_touched =
            touched.and_then(|touched| touched.get(first / STRETCH)).is_none_or(|mark| mark.load(Relaxed) != 0);
        let end = samples.len().min(first + PART);
        let part = |all: Option<&[AtomicU16]>, bin: usize| {
            let number = all.and_then(|all| all.get(bin));
            number.map_or(0, |number: &AtomicU16| number.load(Relaxed))
        };
        let count = |bin| u64::from(part(carries, bin)) << 16 | u64::from(part(Some(samples), bin));
        let highest = if is_touched { (first..end).map(count).max().unwrap_or(0) } else { 0 };
        if highest == 0 && first > 0 {
            continue;
        }
        let lpc = range.lpc.wrapping_add(first * size);
        let hpc = if end == samples.len() { range.hpc } else { range.lpc.wrapping_add(end * size) };
        let header = GmonHdr { lpc, hpc, ..*range };
        for histogram in 0..gnu_histograms(highest) {
            out.gnu_histogram(&header, end - first);
            for bin in first..end {
                let count = gnu_bin(count(bin), histogram);
                sampled.ticks += u64::from(count);
                out.put(&count.to_ne_bytes());
            }
        }
    }
    sampled
}

/// Writes GNU's header and histograms. A bin that grows meanwhile counts with the ticks in the histograms.
fn gnu_samples(out: &mut Writer, profile: &Finished<'_>) -> Sampled {
    let mut sampled = Sampled::default();
    gnu_header(out);
    let mut highest = 0;
    profile.bins.for_each(&mut |part: Part| match part {
        Part::Zeros(_) => {}
        Part::Count(count) => highest = highest.max(count),
    });
    for histogram in 0..gnu_histograms(u64::from(highest)) {
        out.gnu_histogram(profile.header, profile.bins.samples.len());
        profile.bins.for_each(&mut |part: Part| match part {
            Part::Zeros(bins) => out.zeros(bins * size_of::<u16>()),
            Part::Count(count) => {
                let count = gnu_bin(u64::from(count), histogram);
                sampled.ticks += u64::from(count);
                out.put(&count.to_ne_bytes());
            }
        });
    }
    sampled
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;
    use std::sync::atomic::AtomicU32;

    use gmon::layout::GMONVERSION;
    use gmon::{Encoding, Hints, Profile};

    use super::super::side_file::tests::ONE_AT_A_TIME;
    use super::*;

    const ARCS: [RawArc; 2] = [
        RawArc { raw_frompc: 0x1010, raw_selfpc: 0x1024, raw_count: 7 },
        RawArc { raw_frompc: 0x1020, raw_selfpc: 0x1004, raw_count: 10_000_000_000 },
    ];

    /// The description of a file with these bytes.
    fn whole(bytes: &[u8]) -> Written {
        let marks = (0..).zip(bytes).map(|(position, byte)| gmon::layout::mark(position, *byte));
        Written { length: bytes.len(), sum: marks.fold(0, u64::wrapping_add) }
    }

    /// Reads a profile of sixteen bins whose sixth was hit `carry * 65536 + 3` times.
    fn written(form: Form, carry: u16) -> (usize, Encoding, Profile) {
        written_with(form, carry, &ARCS)
    }

    fn written_with(form: Form, carry: u16, arcs: &[RawArc]) -> (usize, Encoding, Profile) {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("gmon-forms-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        let file = File::create(&path).unwrap();
        let samples: [AtomicU16; 16] = [0, 1, 0, 0, 65535, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9].map(AtomicU16::new);
        let carries: [AtomicU16; 16] = std::array::from_fn(|bin| AtomicU16::new(if bin == 5 { carry } else { 0 }));
        let header = GmonHdr {
            lpc: 0x1000,
            hpc: 0x1040,
            ncnt: 40 + 32,
            version: GMONVERSION,
            profrate: 100,
            totarc: size_of_val(arcs) as i32,
            spare: [0; 2],
        };
        let bins = Bins { samples: &samples, carries: (carry > 0).then_some(&carries), touched: None };
        let (in_buffer, behind) = arcs.split_at(arcs.len() / 2);
        let profile = Finished { header: &header, bins, arcs: [in_buffer, behind] };
        let _alone = ONE_AT_A_TIME.lock();
        let (written, sampled) = write(Fd(file.as_raw_fd()), &profile, form).unwrap();
        assert_eq!(sampled.ticks, 65548 + 65536 * u64::from(carry));
        let bytes = fs::read(&path).unwrap();
        assert_eq!(written, whole(&bytes));
        fs::remove_file(&path).unwrap();
        let encoding = gmon::detect(&bytes, &Hints::default()).unwrap().encoding();
        (sampled.clamped, encoding, gmon::read_as(&bytes, encoding).unwrap())
    }

    #[test]
    fn what_was_not_touched_is_a_hole() {
        const BINS: usize = 1000 * STRETCH + 10;
        let samples: Vec<_> = (0..BINS).map(|_| AtomicU16::new(0)).collect();
        let carries: Vec<_> = (0..BINS).map(|_| AtomicU16::new(0)).collect();
        let touched: Vec<_> = (0..BINS.div_ceil(STRETCH)).map(|_| AtomicU8::new(0)).collect();
        for (bin, count) in [(0, 3), (500 * STRETCH - 1, 5), (500 * STRETCH, 7)] {
            samples[bin].store(count, Relaxed);
            touched[bin / STRETCH].store(1, Relaxed);
        }
        let header = GmonHdr {
            lpc: 0x1000,
            hpc: 0x1000 + 4 * BINS,
            ncnt: (40 + 2 * BINS) as i32,
            version: GMONVERSION,
            profrate: 100,
            totarc: 0,
            spare: [0; 2],
        };
        let path = std::env::temp_dir().join(format!("gmon-forms-hole-{}", std::process::id()));
        let _alone = ONE_AT_A_TIME.lock();
        for form in [Form::OpenBsd, Form::Bsd, Form::Gnu, Form::FreeBsd] {
            for arcs in [&ARCS[..], &[]] {
                let file = File::create(&path).unwrap();
                let bins = Bins { samples: &samples, carries: Some(&carries), touched: Some(&touched) };
                let header = GmonHdr { totarc: size_of_val(arcs) as i32, ..header };
                let (written, sampled) =
                    write(Fd(file.as_raw_fd()), &Finished { header: &header, bins, arcs: [arcs, &[]] }, form).unwrap();
                assert_eq!(sampled, Sampled { ticks: 15, clamped: 0 });
                let bytes = fs::read(&path).unwrap();
                assert_eq!(written, whole(&bytes));
                let encoding = gmon::detect(&bytes, &Hints::default()).unwrap().encoding();
                let profile = gmon::read_as(&bytes, encoding).unwrap();
                let [histogram] = profile.histograms() else { panic!("{form:?}") };
                assert_eq!(histogram.len(), BINS as u64);
                assert_eq!(histogram.total(), 15);
                assert_eq!([0, 500 * STRETCH - 1, 500 * STRETCH].map(|bin| histogram.count(bin as u64)), [3, 5, 7]);
                assert_eq!(profile.arcs().is_empty(), arcs.is_empty());
                let room = fs::metadata(&path).unwrap().blocks() * 512;
                assert!(room < bytes.len() as u64 / 10, "{form:?}: {room} bytes on the disk for {}", bytes.len());
            }
        }
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn parts_without_samples_are_left_out_and_all_begin_at_the_same_addresses() {
        const BINS: usize = 4 * STRETCH + 10;
        let samples: Vec<_> = (0..BINS).map(|_| AtomicU16::new(0)).collect();
        let carries: Vec<_> = (0..BINS).map(|_| AtomicU16::new(0)).collect();
        let touched: Vec<_> = (0..BINS.div_ceil(STRETCH)).map(|_| AtomicU8::new(0)).collect();
        // The last bin of a part, the first bin of the next part, and the last bin of all.
        let places = [(2 * STRETCH + 3 * PART - 1, 5), (2 * STRETCH + 3 * PART, 7), (BINS - 1, 9)];
        for (bin, count) in places {
            samples[bin].store(count, Relaxed);
            touched[bin / STRETCH].store(2, Relaxed);
        }
        carries[BINS - 1].store(1, Relaxed);
        let header = GmonHdr {
            lpc: 0x1000,
            hpc: 0x1000 + 4 * BINS,
            ncnt: (40 + 2 * BINS) as i32,
            version: GMONVERSION,
            profrate: 250,
            totarc: size_of_val(&ARCS) as i32,
            spare: [0; 2],
        };
        let path = std::env::temp_dir().join(format!("gmon-forms-parts-{}", std::process::id()));
        let _alone = ONE_AT_A_TIME.lock();
        let file = File::create(&path).unwrap();
        let bins = Bins { samples: &samples, carries: Some(&carries), touched: Some(&touched) };
        let finished = Finished { header: &header, bins, arcs: [&ARCS, &[]] };
        let (written, sampled) = write(Fd(file.as_raw_fd()), &finished, Form::GnuParts).unwrap();
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!((written, sampled), (whole(&bytes), Sampled { ticks: 21 + 65536, clamped: 0 }));
        let encoding = gmon::detect(&bytes, &Hints::default()).unwrap().encoding();
        assert_eq!(encoding.form, gmon::Form::Gnu);
        let profile = gmon::read_as(&bytes, encoding).unwrap();
        let start = |bin: usize| 0x1000 + 4 * bin as u64;
        let ranges: std::collections::BTreeMap<_, _> =
            profile.histograms().iter().map(|part| ((part.lowpc(), part.highpc()), part.total())).collect();
        let expected = [
            ((start(0), start(PART)), 0),
            ((start(2 * STRETCH + 2 * PART), start(2 * STRETCH + 3 * PART)), 5),
            ((start(2 * STRETCH + 3 * PART), start(2 * STRETCH + 4 * PART)), 7),
            ((start(4 * STRETCH), start(BINS)), 9 + 65536),
        ];
        let mut all = profile.histograms().to_vec();
        all.sort_by_key(gmon::Histogram::lowpc);
        let total = |range: &(u64, u64)| {
            all.iter().filter(|part| (part.lowpc(), part.highpc()) == *range).map(gmon::Histogram::total).sum::<i128>()
        };
        assert_eq!(ranges.keys().copied().collect::<Vec<_>>(), expected.map(|(range, _)| range));
        for (range, count) in expected {
            assert_eq!(total(&range), count, "{range:x?}");
        }
        assert!(all.iter().all(|part| part.unit().profrate == 250));
        assert_eq!(profile.arcs().iter().map(|arc| arc.count).sum::<u64>(), 10_000_000_007);
    }

    #[test]
    fn every_form_says_the_same() {
        let all = [
            (Form::OpenBsd, gmon::Form::OpenBsd),
            (Form::Bsd, gmon::Form::Bsd),
            (Form::Gnu, gmon::Form::Gnu),
            (Form::FreeBsd, gmon::Form::FreeBsd(gmon::Counter { width: gmon::CounterWidth::Bits16, signed: false })),
        ];
        for (form, expected) in all {
            let (clamped, encoding, profile) = written(form, 0);
            assert_eq!((clamped, encoding.form), (0, expected));
            let [histogram] = profile.histograms() else { panic!("{form:?}: {profile:?}") };
            assert_eq!((histogram.lowpc(), histogram.highpc(), histogram.unit().profrate), (0x1000, 0x1040, 100));
            assert_eq!(*histogram.bins(), vec![0_u16, 1, 0, 0, 65535, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9].into());
            let calls =
                |selfpc| profile.arcs().iter().filter(|arc| arc.selfpc == selfpc).map(|arc| arc.count).sum::<u64>();
            assert_eq!((calls(0x1024), calls(0x1004)), (7, 10_000_000_000), "{form:?}");
        }
    }

    #[test]
    fn counts_of_more_than_32_bits_are_whole_also_where_all_are() {
        const MANY: u64 = (1 << 32) + 5;
        let arc = |selfpc, count: u64| RawArc { raw_frompc: 0x1010, raw_selfpc: selfpc, raw_count: count as isize };
        for arcs in [&[arc(0x1004, MANY)][..], &[arc(0x1004, MANY), arc(0x1024, MANY + 1)]] {
            for form in [Form::OpenBsd, Form::Bsd, Form::Gnu, Form::FreeBsd] {
                let (_, _, profile) = written_with(form, 0, arcs);
                for arc in arcs {
                    let of_it = profile.arcs().iter().filter(|read| read.selfpc == arc.raw_selfpc as u64);
                    assert_eq!(of_it.map(|read| read.count).sum::<u64>(), arc.raw_count as u64, "{form:?}");
                }
            }
        }
    }

    #[test]
    fn what_ran_over_16_bits_is_whole_in_the_forms_that_can_say_it() {
        for form in [Form::Gnu, Form::FreeBsd] {
            let (clamped, _, profile) = written(form, 2);
            assert_eq!(clamped, 0);
            let sixth: i128 = profile.histograms().iter().map(|histogram| histogram.count(5)).sum();
            let fifth: i128 = profile.histograms().iter().map(|histogram| histogram.count(4)).sum();
            assert_eq!((fifth, sixth), (65535, 2 * 65536 + 3), "{form:?}");
        }
    }

    #[test]
    fn what_ran_over_16_bits_is_the_highest_value_and_said_in_the_others() {
        for form in [Form::OpenBsd, Form::Bsd] {
            let (clamped, _, profile) = written(form, 2);
            assert_eq!((clamped, profile.histograms()[0].count(5)), (1, 65535), "{form:?}");
        }
    }
}
