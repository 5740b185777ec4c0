//! Tests of files of the 4.4BSD family, byte by byte.

use crate::common::{ORDERS, WORDS, called, counters, found, sampled, seconds};
use gmon::{
    Arc, Bins, Block, Counter, CounterWidth, DataModel, Dimension, Encoding, Error, Form, HintKind, Hints, Histogram,
    Order, Part, Profile, Unit, Word, read, read_as, write,
};

const fn bsd(model: DataModel, order: Order) -> Encoding {
    Encoding::new(Form::Bsd, model, order)
}

const LE32: Encoding = bsd(DataModel::Ilp32, Order::Little);
const BE32: Encoding = bsd(DataModel::Ilp32, Order::Big);
const LE64: Encoding = bsd(DataModel::Lp64, Order::Little);
const BE64: Encoding = bsd(DataModel::Lp64, Order::Big);

#[rustfmt::skip]
const FILE_LE32: &[u8] = &[
    0x00, 0x10, 0x00, 0x00,             // 0x00 lpc
    0x0c, 0x10, 0x00, 0x00,             // 0x04 hpc
    0x26, 0x00, 0x00, 0x00,             // 0x08 ncnt: bytes of header and samples
    0x79, 0x18, 0x05, 0x00,             // 0x0c version
    0x64, 0x00, 0x00, 0x00,             // 0x10 profrate
    0, 0, 0, 0,                         // 0x14 totarc, histcounter_type or spare
    0, 0, 0, 0, 0, 0, 0, 0,             // 0x18 spare
    0x01, 0x00, 0x03, 0x02, 0x00, 0x00, // 0x20 samples
    0x04, 0x10, 0x00, 0x00,             // 0x26 raw_frompc
    0x08, 0x10, 0x00, 0x00,             // 0x2a raw_selfpc
    0x04, 0x03, 0x02, 0x01,             // 0x2e raw_count
    0x02, 0x10, 0x00, 0x00,             // 0x32 raw_frompc
    0x00, 0x10, 0x00, 0x00,             // 0x36 raw_selfpc
    0x01, 0x00, 0x00, 0x00,             // 0x3a raw_count
];

#[rustfmt::skip]
const FILE_BE32: &[u8] = &[
    0x00, 0x00, 0x10, 0x00,             // 0x00 lpc
    0x00, 0x00, 0x10, 0x0c,             // 0x04 hpc
    0x00, 0x00, 0x00, 0x26,             // 0x08 ncnt: bytes of header and samples
    0x00, 0x05, 0x18, 0x79,             // 0x0c version
    0x00, 0x00, 0x00, 0x64,             // 0x10 profrate
    0, 0, 0, 0,                         // 0x14 totarc, histcounter_type or spare
    0, 0, 0, 0, 0, 0, 0, 0,             // 0x18 spare
    0x00, 0x01, 0x02, 0x03, 0x00, 0x00, // 0x20 samples
    0x00, 0x00, 0x10, 0x04,             // 0x26 raw_frompc
    0x00, 0x00, 0x10, 0x08,             // 0x2a raw_selfpc
    0x01, 0x02, 0x03, 0x04,             // 0x2e raw_count
    0x00, 0x00, 0x10, 0x02,             // 0x32 raw_frompc
    0x00, 0x00, 0x10, 0x00,             // 0x36 raw_selfpc
    0x00, 0x00, 0x00, 0x01,             // 0x3a raw_count
];

#[rustfmt::skip]
const FILE_LE64: &[u8] = &[
    0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x00 lpc
    0x0c, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x08 hpc
    0x2e, 0x00, 0x00, 0x00,                         // 0x10 ncnt: bytes of header and samples
    0x79, 0x18, 0x05, 0x00,                         // 0x14 version
    0x64, 0x00, 0x00, 0x00,                         // 0x18 profrate
    0, 0, 0, 0,                                     // 0x1c totarc, histcounter_type or spare
    0, 0, 0, 0, 0, 0, 0, 0,                         // 0x20 spare
    0x01, 0x00, 0x03, 0x02, 0x00, 0x00,             // 0x28 samples
    0x04, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x2e raw_frompc
    0x08, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x36 raw_selfpc
    0x04, 0x03, 0x02, 0x01, 0x00, 0x00, 0x00, 0x00, // 0x3e raw_count
    0x02, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x46 raw_frompc
    0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x4e raw_selfpc
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x56 raw_count
];

#[rustfmt::skip]
const FILE_BE64: &[u8] = &[
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, // 0x00 lpc
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x0c, // 0x08 hpc
    0x00, 0x00, 0x00, 0x2e,                         // 0x10 ncnt: bytes of header and samples
    0x00, 0x05, 0x18, 0x79,                         // 0x14 version
    0x00, 0x00, 0x00, 0x64,                         // 0x18 profrate
    0, 0, 0, 0,                                     // 0x1c totarc, histcounter_type or spare
    0, 0, 0, 0, 0, 0, 0, 0,                         // 0x20 spare
    0x00, 0x01, 0x02, 0x03, 0x00, 0x00,             // 0x28 samples
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x04, // 0x2e raw_frompc
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x08, // 0x36 raw_selfpc
    0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x03, 0x04, // 0x3e raw_count
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x02, // 0x46 raw_frompc
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, // 0x4e raw_selfpc
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, // 0x56 raw_count
];

const FILES: [(&[u8], Encoding); 4] = [(FILE_LE32, LE32), (FILE_BE32, BE32), (FILE_LE64, LE64), (FILE_BE64, BE64)];

fn content() -> Profile {
    let histograms = vec![seconds(0x1000, 0x100c, &[1, 0x0203, 0])];
    let arcs = [Arc::new(0x1004, 0x1008, 0x0102_0304), Arc::new(0x1002, 0x1000, 1)];
    Profile::of_samples(histograms).unwrap().with_arcs(arcs)
}

/// A 32-bit number in a byte order.
fn number(value: i32, order: Order) -> [u8; 4] {
    match order {
        Order::Little => value.to_le_bytes(),
        Order::Big => value.to_be_bytes(),
    }
}

/// The file with a different first spare word.
fn with_spare(file: &[u8], encoding: Encoding, value: i32) -> Vec<u8> {
    let order = encoding.order;
    let at = if encoding.word() == Word::W32 { 0x14 } else { 0x1c };
    patched(file, at, &number(value, order))
}

fn patched(file: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

#[test]
fn reads_and_writes_every_word_and_order() {
    for (file, encoding) in FILES {
        assert_eq!(found(file, &Hints::default()), Ok(encoding));
        assert_eq!(read_as(file, encoding), Ok(content()), "{encoding}");
        assert_eq!(write(&content(), encoding).unwrap(), file, "{encoding}");
    }
}

#[test]
fn openbsd_says_the_size_of_its_arcs() {
    for (file, encoding) in FILES {
        let totarc = if encoding.word() == Word::W32 { 24 } else { 48 };
        let file = with_spare(file, encoding, totarc);
        let encoding = Encoding::new(Form::OpenBsd, encoding.model, encoding.order);
        assert_eq!(found(&file, &Hints::default()), Ok(encoding));
        assert_eq!(read_as(&file, encoding), Ok(content()), "{encoding}");
        assert_eq!(write(&content(), encoding).unwrap(), file, "{encoding}");
    }
}

#[test]
fn openbsd_with_another_size_of_arcs_is_an_error() {
    let openbsd = Encoding::new(Form::OpenBsd, DataModel::Lp64, Order::Little);
    for totarc in [24, 47, 72, -48] {
        let file = with_spare(FILE_LE64, LE64, totarc);
        assert_eq!(read_as(&file, openbsd), Err(Error::BadArcSize { totarc, left: 48, offset: 0x1c }));
        // Unless OpenBSD's form is declared, the number counts as uninitialized.
        assert_eq!(read(&file, &Hints::default()), Ok(content()));
    }
    assert_eq!(read_as(FILE_LE64, openbsd), Ok(content()), "kgmon leaves 0 there");
}

/// The bytes of three bins in FreeBSD's forms, and their counts.
#[rustfmt::skip]
fn freebsd_samples(counter: Counter, order: Order) -> (&'static [u8], [i64; 3]) {
    use CounterWidth::{Bits8, Bits16, Bits32, Bits64};
    use Order::{Big, Little};
    match (counter.width, counter.signed, order) {
        (Bits8, false, _) => (&[0x01, 0xff, 0x00], [1, 0xff, 0]),
        (Bits8, true, _) => (&[0x01, 0xff, 0x80], [1, -1, -128]),
        (Bits16, false, Little) => (&[0x01, 0x00, 0xfe, 0xff, 0x00, 0x00], [1, 0xfffe, 0]),
        (Bits16, false, Big) => (&[0x00, 0x01, 0xff, 0xfe, 0x00, 0x00], [1, 0xfffe, 0]),
        (Bits16, true, Little) => (&[0x01, 0x00, 0xfe, 0xff, 0x00, 0x80], [1, -2, -32768]),
        (Bits16, true, Big) => (&[0x00, 0x01, 0xff, 0xfe, 0x80, 0x00], [1, -2, -32768]),
        (Bits32, false, Little) => (&[
            0x01, 0x00, 0x00, 0x00,
            0xfe, 0xff, 0xff, 0xff,
            0x04, 0x03, 0x02, 0x01,
        ], [1, 0xffff_fffe, 0x0102_0304]),
        (Bits32, false, Big) => (&[
            0x00, 0x00, 0x00, 0x01,
            0xff, 0xff, 0xff, 0xfe,
            0x01, 0x02, 0x03, 0x04,
        ], [1, 0xffff_fffe, 0x0102_0304]),
        (Bits32, true, Little) => (&[
            0x01, 0x00, 0x00, 0x00,
            0xfe, 0xff, 0xff, 0xff,
            0x04, 0x03, 0x02, 0x01,
        ], [1, -2, 0x0102_0304]),
        (Bits32, true, Big) => (&[
            0x00, 0x00, 0x00, 0x01,
            0xff, 0xff, 0xff, 0xfe,
            0x01, 0x02, 0x03, 0x04,
        ], [1, -2, 0x0102_0304]),
        // These bits are -2, or the second-largest count.
        (Bits64, _, Little) => (&[
            0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
            0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
        ], [1, -2, 0x0102_0304_0506_0708]),
        (Bits64, _, Big) => (&[
            0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
            0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
        ], [1, -2, 0x0102_0304_0506_0708]),
    }
}

#[test]
fn freebsd_says_the_kind_of_its_counters() {
    for (plain, encoding) in FILES {
        let (word, order) = (encoding.word(), encoding.order);
        for counter in counters() {
            let encoding = Encoding::new(Form::FreeBsd(counter), word.into(), order);
            let (header, ncnt_at) = if word == Word::W32 { (0x20, 0x08) } else { (0x28, 0x10) };
            let (samples, counts) = freebsd_samples(counter, order);
            let arcs = &plain[header + 6..];
            let mut file = [&plain[..header], samples, arcs].concat();
            file[ncnt_at..ncnt_at + 4].copy_from_slice(&number((header + samples.len()) as i32, order));
            let file = with_spare(&file, encoding, counter.histcounter_type());

            let unsigned = counts.map(|count| count as u64).to_vec();
            let bins = if counter.signed { Bins::I64(counts.to_vec()) } else { Bins::U64(unsigned) };
            let histogram = Histogram::new(0x1000..0x100c, Unit::seconds(100), bins).unwrap();
            let profile = Profile::of_samples([histogram]).unwrap().with_arcs(content().arcs().to_vec());
            // No system has signed counters of 16 bits, and the bins are those of plain files.
            let is_known = (counter.width, counter.signed) != (CounterWidth::Bits16, true);
            let form = if is_known { encoding.form } else { Form::Bsd };
            assert_eq!(found(&file, &Hints::default()), Ok(Encoding::new(form, encoding.model, encoding.order)));
            assert_eq!(found(&file, &Hints::new().with_form(encoding.form)), Ok(encoding));
            assert_eq!(read_as(&file, encoding), Ok(profile.clone()), "{encoding:?}");
            assert_eq!(write(&profile, encoding).unwrap(), file, "{encoding:?}");
        }
    }
}

#[test]
fn a_counter_that_the_samples_do_not_fit_is_rubbish() {
    for (file, encoding) in FILES {
        // Three 16-bit bins are not a whole number of 32-bit or 64-bit bins.
        for kind in [32, -64, 7, -17, 0x7fff_1234] {
            assert_eq!(found(&with_spare(file, encoding, kind), &Hints::default()), Ok(encoding));
        }
    }
}

#[test]
fn a_header_without_samples_has_no_histogram() {
    let calls = called(&[(1, 2, 3)]);
    for encoding in [LE32, BE32, LE64, BE64] {
        let file = write(&calls, encoding).unwrap();
        assert_eq!(read(&file, &Hints::default()), Ok(calls.clone()));
    }
}

#[test]
fn rejects_what_cannot_be() {
    let error = |at: usize, bytes: &[u8]| read_as(&patched(FILE_LE64, at, bytes), LE64).unwrap_err();
    assert_eq!(error(0x14, &[0x78]), Error::BadVersion { version: 0x51878, offset: 0x14 });
    assert_eq!(error(0x01, &[0x20]), Error::BadRange { lowpc: 0x2000, highpc: 0x100c, offset: 0 });
    assert_eq!(error(0x08, &[0x00]), Error::NoRange { bins: 3, lowpc: 0x1000, offset: 0 });
    assert_eq!(error(0x10, &[0x28]), Error::NoBins { range: 0x1000..0x100c, offset: 0 });
    assert_eq!(error(0x10, &[0x27]), Error::BadSize { ncnt: 0x27, offset: 0x10 });
    assert_eq!(error(0x10, &[0xff; 4]), Error::BadSize { ncnt: -1, offset: 0x10 });
    let samples = Error::Truncated { part: Part::Samples, needed: 0x7fff_ffff - 40, left: 54, offset: 40 };
    assert_eq!(error(0x10, &[0xff, 0xff, 0xff, 0x7f]), samples);
    assert_eq!(error(0x10, &[0x2d]), Error::PartialBin { size: 5, width: 2, offset: 40 });
    // With one bin less, the arcs start two bytes too early.
    assert_eq!(error(0x10, &[0x2c]), Error::PartialArc { left: 2, size: 24, offset: 0x5c });
    let header = Error::Truncated { part: Part::Header, needed: 40, left: 39, offset: 0 };
    assert_eq!(read_as(&FILE_LE64[..39], LE64), Err(header));
}

#[test]
fn every_cut_but_behind_an_arc_is_an_error() {
    for (file, encoding) in FILES {
        let arc = if encoding.word() == Word::W32 { 12 } else { 24 };
        let totarc = with_spare(file, encoding, 2 * arc as i32);
        for length in 0..file.len() {
            let whole_arcs = length >= file.len() - 2 * arc && (file.len() - length) % arc == 0;
            assert_eq!(read_as(&file[..length], encoding).is_ok(), whole_arcs, "{encoding}, {length}");
            let openbsd = Encoding::new(Form::OpenBsd, encoding.model, encoding.order);
            assert!(read_as(&totarc[..length], openbsd).is_err(), "{encoding}, {length}");
        }
    }
}

/// The file with these upper halves of the counts of its two arcs.
fn with_uppers(uppers: [u32; 2]) -> Vec<u8> {
    let mut file = patched(FILE_LE64, 0x42, &uppers[0].to_le_bytes());
    file[0x5a..0x5e].copy_from_slice(&uppers[1].to_le_bytes());
    file
}

#[test]
fn counts_of_32_bits_may_have_padding() {
    let llp64 = Encoding::new(Form::Bsd, DataModel::Llp64, Order::Little);
    // Windows: `long` has 32 bits, and the four bytes after it are never written.
    let file = with_uppers([0xbaad_f00d; 2]);
    assert_eq!(found(&file, &Hints::new()), Ok(llp64), "no program has such counts");
    assert_eq!(read(&file, &Hints::new()), Ok(content()));
    assert_eq!(write(&content(), llp64).unwrap(), with_uppers([0; 2]));
    // Upper halves that differ belong to counts.
    let file = with_uppers([0xbaad_f00d, 0xbaad_f00e]);
    let counts: Vec<u64> = read(&file, &Hints::new()).unwrap().arcs().iter().map(|arc| arc.count).collect();
    assert_eq!(counts, [0xbaad_f00d_0102_0304, 0xbaad_f00e_0000_0001]);
    assert_eq!(read_as(&file, llp64), Ok(content()), "a hint is trusted");
}

#[test]
fn a_narrow_long_exists_in_one_form_only() {
    let with_long = crate::common::forms()
        .into_iter()
        .filter(|form| matches!(form, Form::OldBsd(_) | Form::MonOut) || crate::common::bsd_forms().contains(form));
    let all = with_long.flat_map(|form| ORDERS.map(|order| Encoding::new(form, DataModel::Llp64, order)));
    let known = Encoding::new(Form::Bsd, DataModel::Llp64, Order::Little);
    for encoding in all.filter(|encoding| *encoding != known) {
        assert_eq!(write(&called(&[(1, 2, 3)]), encoding), Err(Error::NoNarrowLong { encoding }));
        assert_eq!(read_as(FILE_LE64, encoding), Err(Error::NoNarrowLong { encoding }));
    }
    // The spare words of Windows are uninitialized memory, which may look like FreeBSD's type of counters.
    let file = patched(FILE_LE64, 0x1c, &16_u32.to_le_bytes());
    assert_eq!(found(&file, &Hints::new().with_model(DataModel::Llp64)), Ok(known));
}

/// Uninitialized memory is often a part of an address, and the counts of a program that runs for minutes can have the
/// same upper half.
#[test]
fn equal_upper_halves_that_a_program_can_count_are_ambiguous() {
    for upper in [1, 0x7ff6] {
        let file = with_uppers([upper; 2]);
        let candidates =
            [DataModel::Lp64, DataModel::Llp64].map(|model| Encoding::new(Form::Bsd, model, Order::Little));
        let error = read(&file, &Hints::new()).unwrap_err();
        assert_eq!(error, Error::Ambiguous { candidates: candidates.to_vec(), hint: HintKind::Model });
        assert_eq!(
            error.to_string(),
            "ambiguous profile (64-bit little-endian 4.4BSD or 64-bit little-endian 4.4BSD with 32-bit long): \
             say its data model"
        );
        let counts = |model| {
            let profile = read(&file, &Hints::new().with_model(model)).unwrap();
            profile.arcs().iter().map(|arc| arc.count).collect::<Vec<u64>>()
        };
        assert_eq!(counts(DataModel::Llp64), [0x0102_0304, 1]);
        assert_eq!(counts(DataModel::Lp64), [(u64::from(upper) << 32) + 0x0102_0304, (u64::from(upper) << 32) + 1]);
    }
}

#[test]
fn high_counts_are_never_written_as_if_they_were_padded() {
    for counts in [vec![1 << 40], vec![u64::MAX], vec![(1 << 40) + 1, (1 << 40) + 2], vec![u64::MAX - 1; 3]] {
        let arcs: Vec<_> = counts.iter().zip(1..).map(|(count, selfpc)| (0, selfpc, *count)).collect();
        for encoding in [LE64, BE64] {
            let back = read_as(&write(&called(&arcs), encoding).unwrap(), encoding).unwrap();
            assert_eq!(crate::common::sum([back]), called(&arcs));
        }
    }
}

#[test]
fn high_counts_of_32_bit_files_take_more_arcs() {
    let file = write(&called(&[(1, 2, 0xffff_ffff)]), BE32).unwrap();
    let counts: Vec<u64> = read_as(&file, BE32).unwrap().arcs().iter().map(|arc| arc.count).collect();
    assert_eq!(counts, [0x7fff_ffff, 0x7fff_ffff, 1]);
    let size = 12 * (u64::MAX.div_ceil(0x7fff_ffff) - 1);
    assert_eq!(write(&called(&[(1, 2, u64::MAX)]), BE32), Err(Error::TooManyRepeats { size }));
}

#[test]
fn the_writer_rejects_what_the_forms_do_not_hold() {
    for form in crate::common::bsd_forms() {
        for (word, order) in WORDS.into_iter().flat_map(|word| ORDERS.map(|order| (word, order))) {
            let error = |profile: &Profile| write(profile, Encoding::new(form, word.into(), order)).unwrap_err();
            let two = Profile::of_samples(vec![seconds(0, 4, &[1]), seconds(4, 8, &[1])]).unwrap();
            assert_eq!(error(&two), Error::TooManyHistograms { histograms: 2 });
            let mut other = seconds(0, 4, &[1]);
            let dimension = Dimension::from_field(*b"misses\0\0\0\0\0\0\0\0\0");
            other.set_unit(Unit { dimension, ..other.unit() });
            let not_seconds = Error::NotSeconds { dimension, abbrev: b's' };
            assert_eq!(error(&sampled(other)), not_seconds);
            let blocks = Profile::new().with_blocks(vec![Block::new(1, 1)]);
            assert_eq!(error(&blocks), Error::BlocksNotHeld { blocks: 1 });
        }
    }
    let wide = Error::WideAddress { address: 1 << 32, offset: 4 };
    assert_eq!(write(&sampled(seconds(0, 1 << 32, &[1])), LE32), Err(wide));
}

#[test]
fn a_bin_that_does_not_fit_is_named() {
    for counter in counters() {
        let encoding = Encoding::new(Form::FreeBsd(counter), DataModel::Lp64, Order::Little);
        let size = counter.width.size();
        let bits = 8 * size as u32 - u32::from(counter.signed);
        let most = u64::MAX >> (64 - bits);
        assert!(write(&sampled(seconds(0, 8, &[0, most])), encoding).is_ok());
        if let Some(count) = most.checked_add(1) {
            let wide = Error::WideBin { bin: 1, count: i128::from(count), offset: 40 + size as u64 };
            assert_eq!(write(&sampled(seconds(0, 8, &[0, count])), encoding), Err(wide));
        }
    }
    let wide = Error::WideBin { bin: 0, count: 65536, offset: 32 };
    assert_eq!(write(&sampled(seconds(0, 8, &[65536])), LE32), Err(wide));
}

#[test]
fn a_hint_overrides_the_counter_of_the_file() {
    // DragonFly's kernels write signed 64-bit counters without declaring them.
    let mut file = write(&sampled(seconds(0x1000, 0x1010, &[5])), LE64).unwrap();
    file.extend([0; 6]);
    file[0x10] += 6;
    let counter = Counter { width: CounterWidth::Bits64, signed: true };
    let hints = Hints::new().with_form(Form::FreeBsd(counter));
    let profile = read(&file, &hints).unwrap();
    assert!(matches!(profile.histograms()[0].bins(), Bins::I64(bins) if *bins == [5]));
    assert_eq!(profile.arcs(), [] as [Arc; 0]);
}
