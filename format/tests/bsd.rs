//! Tests of files of the 4.4BSD family, byte by byte.

mod common;

use common::{ORDERS, WORDS, called, counters, sampled, seconds};
use gmon::{
    Arc, Block, Counter, CounterWidth, Dimension, Encoding, Error, Form, Hints, Order, Part, Profile, Word, detect,
    read, read_as, write,
};

const fn bsd(word: Word, order: Order) -> Encoding {
    Encoding { form: Form::Bsd, word, order }
}

const LE32: Encoding = bsd(Word::W32, Order::Little);
const BE32: Encoding = bsd(Word::W32, Order::Big);
const LE64: Encoding = bsd(Word::W64, Order::Little);
const BE64: Encoding = bsd(Word::W64, Order::Big);

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
    Profile { histograms, ..called(&[(0x1004, 0x1008, 0x0102_0304), (0x1002, 0x1000, 1)]) }
}

/// A 32-bit number in a byte order.
fn number(value: i32, order: Order) -> [u8; 4] {
    match order {
        Order::Little => value.to_le_bytes(),
        Order::Big => value.to_be_bytes(),
    }
}

/// The file with a different first spare word.
fn with_spare(file: &[u8], Encoding { word, order, .. }: Encoding, value: i32) -> Vec<u8> {
    let at = if word == Word::W32 { 0x14 } else { 0x1c };
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
        assert_eq!(detect(file, &Hints::default()), Ok(encoding));
        assert_eq!(read_as(file, encoding), Ok(content()), "{encoding}");
        assert_eq!(write(&content(), encoding).unwrap(), file, "{encoding}");
    }
}

#[test]
fn openbsd_says_the_size_of_its_arcs() {
    for (file, encoding) in FILES {
        let totarc = if encoding.word == Word::W32 { 24 } else { 48 };
        let file = with_spare(file, encoding, totarc);
        let encoding = Encoding { form: Form::OpenBsd, ..encoding };
        assert_eq!(detect(&file, &Hints::default()), Ok(encoding));
        assert_eq!(read_as(&file, encoding), Ok(content()), "{encoding}");
        assert_eq!(write(&content(), encoding).unwrap(), file, "{encoding}");
    }
}

#[test]
fn openbsd_with_another_size_of_arcs_is_an_error() {
    let openbsd = Encoding { form: Form::OpenBsd, ..LE64 };
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
    for (plain, Encoding { word, order, .. }) in FILES {
        for counter in counters() {
            let encoding = Encoding { form: Form::FreeBsd(counter), word, order };
            let (header, ncnt_at) = if word == Word::W32 { (0x20, 0x08) } else { (0x28, 0x10) };
            let (samples, counts) = freebsd_samples(counter, order);
            let arcs = &plain[header + 6..];
            let mut file = [&plain[..header], samples, arcs].concat();
            file[ncnt_at..ncnt_at + 4].copy_from_slice(&number((header + samples.len()) as i32, order));
            let file = with_spare(&file, encoding, counter.histcounter_type());

            let mut profile = content();
            profile.histograms[0].bins = counts.map(i64::cast_unsigned).to_vec();
            profile.histograms[0].signed = counter.signed;
            assert_eq!(detect(&file, &Hints::default()), Ok(encoding));
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
            assert_eq!(detect(&with_spare(file, encoding, kind), &Hints::default()), Ok(encoding));
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
        let arc = if encoding.word == Word::W32 { 12 } else { 24 };
        let totarc = with_spare(file, encoding, 2 * arc as i32);
        for length in 0..file.len() {
            let whole_arcs = length >= file.len() - 2 * arc && (file.len() - length).is_multiple_of(arc);
            assert_eq!(read_as(&file[..length], encoding).is_ok(), whole_arcs, "{encoding}, {length}");
            let openbsd = Encoding { form: Form::OpenBsd, ..encoding };
            assert!(read_as(&totarc[..length], openbsd).is_err(), "{encoding}, {length}");
        }
    }
}

#[test]
fn counts_of_32_bits_with_padding_lose_the_padding() {
    // Windows: `long` has 32 bits, and the four bytes after it are never written.
    let mut file = patched(FILE_LE64, 0x42, &[0xdd, 0xba, 0xad, 0x0b]);
    file[0x5a..0x5e].copy_from_slice(&[0xdd, 0xba, 0xad, 0x0b]);
    assert_eq!(read(&file, &Hints::default()), Ok(content()));
    // Upper halves that differ belong to counts.
    file[0x5a] = 0xde;
    let counts: Vec<u64> = read(&file, &Hints::default()).unwrap().arcs.iter().map(|arc| arc.count).collect();
    assert_eq!(counts, [0x0bad_badd_0102_0304, 0x0bad_bade_0000_0001]);
}

#[test]
fn high_counts_are_never_written_as_if_they_were_padded() {
    for counts in [vec![1 << 40], vec![u64::MAX], vec![(1 << 40) + 1, (1 << 40) + 2], vec![u64::MAX - 1; 3]] {
        let arcs: Vec<_> = counts.iter().zip(1..).map(|(count, selfpc)| (0, selfpc, *count)).collect();
        for encoding in [LE64, BE64] {
            let back = read_as(&write(&called(&arcs), encoding).unwrap(), encoding).unwrap();
            assert_eq!(common::sum([back]), called(&arcs));
        }
    }
}

#[test]
fn equal_upper_halves_are_counts_where_the_program_ran_long_enough() {
    let many = (1 << 32) + 5;
    // A file of another writer: one arc, without a separate record for one call.
    let read_back = |lowpc: u64, ticks: u64, counts: &[u64]| -> Vec<u64> {
        let arcs: Vec<_> = counts.iter().map(|_| (0, lowpc, 0)).collect();
        let histograms = vec![seconds(lowpc, lowpc + 8, &[ticks, 0])];
        let mut file = write(&Profile { histograms, ..called(&arcs) }, LE64).unwrap();
        let start = file.len() - 24 * counts.len();
        for (arc, count) in file[start..].chunks_mut(24).zip(counts) {
            arc[16..].copy_from_slice(&count.to_le_bytes());
        }
        read(&file, &Hints::default()).unwrap().arcs.iter().map(|arc| arc.count).collect()
    };
    // At 100 samples per second these are 10 seconds and 1 second.
    assert_eq!(read_back(0x1000, 1000, &[many]), [many]);
    assert_eq!(read_back(0x1000, 100, &[many]), [5]);
    assert_eq!(read_back(0x1000, 1000, &[many, many + 2]), [many, many + 2]);
    assert_eq!(read_back(0x1000, 1000, &[many; 9]), [5; 9]);
    // The upper half of the program's own addresses.
    assert_eq!(read_back(0x1_4000_1000, 1000, &[many]), [5]);
}

#[test]
fn high_counts_of_32_bit_files_take_more_arcs() {
    let file = write(&called(&[(1, 2, 0xffff_ffff)]), BE32).unwrap();
    let counts: Vec<u64> = read_as(&file, BE32).unwrap().arcs.iter().map(|arc| arc.count).collect();
    assert_eq!(counts, [0x7fff_ffff, 0x7fff_ffff, 1]);
    let size = 12 * (u64::MAX.div_ceil(0x7fff_ffff) - 1);
    assert_eq!(write(&called(&[(1, 2, u64::MAX)]), BE32), Err(Error::TooManyRepeats { size }));
}

#[test]
fn the_writer_rejects_what_the_forms_do_not_hold() {
    for form in common::forms().into_iter().filter(|form| *form != Form::Gnu) {
        for (word, order) in WORDS.into_iter().flat_map(|word| ORDERS.map(|order| (word, order))) {
            let error = |profile: &Profile| write(profile, Encoding { form, word, order }).unwrap_err();
            let two = Profile { histograms: vec![seconds(0, 4, &[1]), seconds(4, 8, &[1])], ..Profile::default() };
            assert_eq!(error(&two), Error::TooManyHistograms { histograms: 2 });
            let mut other = seconds(0, 4, &[1]);
            other.dimension = Dimension::from_field(*b"misses\0\0\0\0\0\0\0\0\0");
            let not_seconds = Error::NotSeconds { dimension: other.dimension, abbrev: b's' };
            assert_eq!(error(&sampled(other)), not_seconds);
            let blocks = Profile { blocks: vec![Block { addr: 1, count: 1 }], ..Profile::default() };
            assert_eq!(error(&blocks), Error::BlocksNotHeld { blocks: 1 });
        }
    }
    let wide = Error::WideAddress { address: 1 << 32, offset: 4 };
    assert_eq!(write(&sampled(seconds(0, 1 << 32, &[1])), LE32), Err(wide));
}

#[test]
fn a_bin_that_does_not_fit_is_named() {
    for counter in counters() {
        let encoding = Encoding { form: Form::FreeBsd(counter), ..LE64 };
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
    let hints = Hints { form: Some(Form::FreeBsd(counter)), ..Hints::default() };
    let profile = read(&file, &hints).unwrap();
    assert_eq!((profile.histograms[0].signed, &profile.histograms[0].bins), (true, &vec![5]));
    assert_eq!(profile.arcs, [] as [Arc; 0]);
}
