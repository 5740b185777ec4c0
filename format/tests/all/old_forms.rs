//! Tests of 4.2BSD's form, LD_PROFILE, mon.out, and basic blocks of GNU version 0: fields, errors, and detection.

use crate::common::{called, found, sampled, seconds};
use gmon::{
    Arc, DataModel, Encoding, Error, Evidence, Foreign, Form, HintKind, Hints, OldHeader, Order, Part, Profile, detect,
    read_as, write,
};

const LP64: DataModel = DataModel::Lp64;

fn little(form: Form) -> Encoding {
    Encoding::new(form, LP64, Order::Little)
}

/// A little-endian file, field by field.
#[derive(Clone, Default)]
struct File(Vec<u8>);

impl File {
    fn u16(mut self, values: &[u16]) -> File {
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self
    }

    fn u32(mut self, value: u32) -> File {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u64(mut self, value: u64) -> File {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(mut self, bytes: &[u8]) -> File {
        self.0.extend(bytes);
        self
    }

    fn zeros(mut self, count: usize) -> File {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    fn error(&self, form: Form) -> Error {
        read_as(&self.0, little(form)).unwrap_err()
    }
}

/// A profile with one bin for four bytes of code, and one call.
fn small(bins: u64) -> Profile {
    let counts: Vec<u64> = (0..bins).collect();
    let histogram = seconds(0x1000, 0x1000 + 4 * bins, &counts);
    sampled(histogram).with_arcs([Arc::new(0x1004, 0x1008, 3)])
}

/// An LD_PROFILE file with 0x40 bytes of code, as many arcs as it says, and room for 50.
fn ld_profile(arcs: u32) -> File {
    let head = File::default().bytes(b"gmon").u32(0x1_ffff).zeros(12).u32(0).u64(0x1000).u64(0x1040).u32(16).u32(100);
    let samples = head.bytes(b"seconds\0\0\0\0\0\0\0\0s").u16(&[7; 16]);
    let arc = samples.u32(1).u32(arcs).u64(0).u64(0x10).u32(5);
    arc.zeros(50 * 16 * 20 - 20)
}

#[test]
fn every_cut_of_a_file_is_an_error() {
    let old = Form::OldBsd(OldHeader::Packed);
    let file = write(&small(8), little(old)).unwrap();
    for length in 0..file.len() {
        let result = read_as(&file[..length], little(old));
        // A file that ends between samples and arcs is complete.
        assert_eq!(result.is_ok(), length == 20 + 16, "{length}: {result:?}");
    }
    let file = ld_profile(1).0;
    assert_eq!(read_as(&file, little(Form::LdProfile)).unwrap().arcs(), [Arc::new(0, 0x1010, 5)]);
    for length in (0..200).chain(file.len() - 40..file.len()) {
        let error = read_as(&file[..length], little(Form::LdProfile)).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{length}: {error}");
    }
    let error = read_as(&[&file[..], b"x"].concat(), little(Form::LdProfile)).unwrap_err();
    assert_eq!(error, Error::Trailing { left: 1, offset: file.len() as u64 });
}

#[test]
fn sizes_of_old_headers_are_checked() {
    let file = |ncnt: u32, low: u64, high: u64| File::default().u64(low).u64(high).u32(ncnt).u16(&[1, 2, 3, 4]);
    let packed = Form::OldBsd(OldHeader::Packed);
    assert_eq!(file(19, 0, 16).error(packed), Error::BadSize { ncnt: 19, offset: 16 });
    assert_eq!(file(u32::MAX, 0, 16).error(packed), Error::BadSize { ncnt: -1, offset: 16 });
    assert_eq!(file(27, 0, 16).error(packed), Error::PartialBin { size: 7, width: 2, offset: 20 });
    assert_eq!(file(28, 16, 0).error(packed), Error::BadRange { lowpc: 16, highpc: 0, offset: 0 });
    assert_eq!(file(28, 16, 16).error(packed), Error::NoRange { bins: 4, lowpc: 16, offset: 0 });
    let (part, needed) = (Part::Samples, 0x7fff_ffff - 20);
    assert_eq!(file(0x7fff_ffff, 0, 16).error(packed), Error::Truncated { part, needed, left: 8, offset: 20 });
    let wide = File::default().u64(0).u64(16).u64(1 << 63).u16(&[1, 2, 3, 4]);
    let error = wide.error(Form::OldBsd(OldHeader::Wide));
    assert_eq!(error, Error::BadSize { ncnt: i64::MIN, offset: 16 });
}

#[test]
fn fields_of_ld_profile_are_checked() {
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = ld_profile(1);
        file.0[at..at + bytes.len()].copy_from_slice(bytes);
        file.error(Form::LdProfile)
    };
    assert_eq!(changed(0, b"G"), Error::BadMagic { magic: *b"Gmon" });
    assert_eq!(changed(4, &[1, 0, 0, 0]), Error::BadVersion { version: 1, offset: 4 });
    assert_eq!(changed(0x14, &[2]), Error::BadTag { tag: 2, offset: 0x14 });
    assert_eq!(changed(0x18, &[0x41]), Error::BadRange { lowpc: 0x1041, highpc: 0x1040, offset: 0x18 }, "lowpc");
    let bins = Error::OtherBins { bins: 0xffff_ffff, needed: 16, range: 0x1000..0x1040, offset: 0x18 };
    assert_eq!(changed(0x28, &[0xff; 4]), bins);
    assert_eq!(changed(0x60, &[7]), Error::BadTag { tag: 7, offset: 0x60 });
    let range = 0x1000..0x1040;
    let outside = Error::OutsideRange { address: 0x1040, range: range.clone(), offset: 0x68 };
    assert_eq!(changed(0x68, &[0x40]), outside, "from");
    assert_eq!(changed(0x70, &[0x40]), outside, "self");
    assert_eq!(changed(0x70, &[0xff; 8]), Error::OutsideRange { address: 0xfff, range, offset: 0x68 });
    // The dynamic linker increments the number of arcs even if the table is full.
    let full = ld_profile(u32::MAX);
    assert_eq!(read_as(&full.0, little(Form::LdProfile)).unwrap().arcs().len(), 1, "other slots have no calls");
    let detection = detect(&full.0, &Hints::default()).unwrap();
    let warning = detection.evidence().iter().find(|fact| fact.is_warning());
    assert_eq!(warning, Some(&Evidence::FullTable { counted: u32::MAX.into(), most: 50 }));
}

#[test]
fn fields_of_mon_out_are_checked() {
    let file = |functions: u64, address: u64| {
        File::default().u64(0x1000).u64(0x1010).u64(functions).u64(address).u64(9).u16(&[1, 0, 0, 2])
    };
    let profile = read_as(&file(1, 0x1004).0, little(Form::MonOut)).unwrap();
    assert_eq!(profile.arcs(), [Arc::new(0, 0x1004, 9)]);
    assert_eq!((profile.histograms()[0].range(), profile.histograms()[0].total()), (0x1000..0x1010, 3));
    let truncated = |needed| Error::Truncated { part: Part::Functions, needed, left: 24, offset: 24 };
    assert_eq!(file(2, 0x1004).error(Form::MonOut), truncated(32));
    assert_eq!(file(u64::MAX, 0x1004).error(Form::MonOut), truncated(u64::MAX));
    let odd = file(1, 0x1004).bytes(b"x");
    assert_eq!(odd.error(Form::MonOut), Error::PartialBin { size: 9, width: 2, offset: 40 });
}

/// Catches a reader that refuses functions of shared objects, and a detection that takes a file of such functions
/// alone, in which a wrong word size cannot be told, for `mon.out` by its name.
#[test]
fn functions_of_shared_objects_are_outside_of_the_range_of_mon_out() {
    let file = |addresses: [u64; 2]| {
        let head = File::default().u64(0x1000).u64(0x1010).u64(2);
        addresses.into_iter().fold(head, |file, address| file.u64(address).u64(9)).u16(&[1, 0, 0, 2])
    };
    let named = Hints::new().with_file_name(b"mon.out");
    for outside in [0x1010, 0xfff, u64::MAX] {
        let mixed = file([0x1004, outside]);
        assert_eq!(found(&mixed.0, &named), Ok(little(Form::MonOut)), "{outside:#x}");
        let profile = read_as(&mixed.0, little(Form::MonOut)).unwrap();
        assert_eq!(profile.arcs(), [Arc::new(0, 0x1004, 9), Arc::new(0, outside, 9)]);
        assert_eq!(write(&profile, little(Form::MonOut)).unwrap(), mixed.0);
        let alone = file([outside, outside]);
        assert!(found(&alone.0, &named).is_err());
        assert_eq!(found(&alone.0, &Hints::new().with_form(Form::MonOut)), Ok(little(Form::MonOut)));
    }
}

#[test]
fn blocks_of_version_0_are_checked() {
    let file = |blocks: u32| File::default().bytes(b"gmon").zeros(16).bytes(&[2]).u32(blocks).bytes(b"x\0");
    let block = |file: File| file.u64(7).u64(0x1000).bytes(b"sine.c\0main\0").u32(12);
    let profile = read_as(&block(file(1)).0, little(Form::Gnu)).unwrap();
    assert_eq!((profile.blocks()[0].addr, profile.blocks()[0].count), (0x1000, 7));
    // The smallest block has 22 bytes: two numbers, two empty strings, and a line.
    let error = block(file(u32::MAX)).error(Form::Gnu);
    assert!(matches!(error, Error::Truncated { part: Part::Blocks, needed, .. } if needed == 22 * 0xffff_ffff));
    let unended = File::default().bytes(b"gmon").zeros(16).bytes(&[2]).u32(0).bytes(b"xxx");
    let truncated = |needed, left, offset| Error::Truncated { part: Part::Blocks, needed, left, offset };
    assert_eq!(unended.error(Form::Gnu), truncated(4, 3, 25));
    // Long names leave less for the last block than the smallest block needs; at 0x1b is the first of three blocks.
    let two = |last: File| last.u64(7).u64(0x1000).bytes(&[b'x'; 30]).bytes(b"\0\0").u32(12);
    let three = two(two(file(3)));
    assert_eq!(three.clone().zeros(15).error(Form::Gnu), truncated(16, 15, 0x83));
    assert_eq!(three.clone().zeros(16).bytes(b"ab").error(Form::Gnu), truncated(3, 2, 0x93));
    assert_eq!(three.zeros(16).bytes(b"\0\0").u16(&[1]).error(Form::Gnu), truncated(4, 2, 0x95));
}

#[test]
fn the_density_of_samples_decides_between_headers() {
    let file = |header, bins| write(&small(bins), little(Form::OldBsd(header))).unwrap();
    // With 7 bins, a packed header would have 9 bins, which no writer makes for that range.
    let padded = found(&file(OldHeader::Padded, 7), &Hints::default());
    assert_eq!(padded, Ok(little(Form::OldBsd(OldHeader::Padded))));
    assert_eq!(found(&file(OldHeader::Packed, 7), &Hints::default()), Ok(little(Form::OldBsd(OldHeader::Packed))));
    let evidence = detect(&file(OldHeader::Padded, 7), &Hints::default()).unwrap().evidence().to_vec();
    assert_eq!(evidence, [Evidence::WholeFileFits { header: 24 }, Evidence::UsualDensity]);
    // 10 bins may be 12 with glibc's rounding behind a packed header.
    let candidates = [OldHeader::Packed, OldHeader::Padded].map(|header| little(Form::OldBsd(header))).into();
    let ambiguous = Error::Ambiguous { candidates, hint: HintKind::Form };
    assert_eq!(found(&file(OldHeader::Padded, 10), &Hints::default()), Err(ambiguous));
    let hint = Hints::new().with_form(Form::OldBsd(OldHeader::Wide));
    assert_eq!(found(&file(OldHeader::Wide, 10), &hint), Ok(little(Form::OldBsd(OldHeader::Wide))));
}

#[test]
fn the_name_of_a_file_tells_forms_without_magic() {
    let calls = File::default().u64(0x1000).u64(0x1010).u64(1).u64(0x1004).u64(9).u16(&[1, 0, 0, 2]).0;
    assert!(matches!(found(&calls, &Hints::default()), Err(Error::Unknown { .. })));
    let named = Hints::new().with_file_name(b"runs/mon.out");
    assert_eq!(found(&calls, &named), Ok(little(Form::MonOut)));
    assert!(detect(&calls, &named).unwrap().evidence().contains(&Evidence::Name));
    let kernel = File::default().u32(4).u32(0).u32(17).u32(3).0;
    assert!(matches!(found(&kernel, &Hints::default()), Err(Error::Unknown { .. })));
    let named = Hints::new().with_file_name(b"/proc/profile");
    assert_eq!(found(&kernel, &named), Err(Error::Foreign { format: Foreign::KernelProfile }));
    let other = File::default().u32(5).u32(0).u32(17).u32(3).0;
    assert!(matches!(found(&other, &named), Err(Error::Unknown { .. })), "a step is a power of two");
}

#[test]
fn doubtful_files_of_the_bsds_have_warnings() {
    let file = |totarc: u32, samples: &[u8]| {
        let head = File::default().u64(0x1000).u64(0x1000 + 2 * samples.len() as u64).u32(40 + samples.len() as u32);
        let head = head.u32(0x5_1879).u32(100).u32(totarc).zeros(8).bytes(samples);
        head.u64(0x1004).u64(0x1008).u64(3).0
    };
    let warnings = |bytes: &[u8], name: &[u8]| {
        let detection = detect(bytes, &Hints::new().with_file_name(name)).unwrap();
        detection.evidence().iter().filter(|fact| fact.is_warning()).cloned().collect::<Vec<_>>()
    };
    let sums: Vec<u8> = [5.0_f64, 0.0, 12.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(warnings(&file(0, &sums), b"gmon.sum"), [Evidence::FloatingSamples]);
    let counters = [3, 0, 1, 0, 0, 0, 0, 0];
    assert_eq!(warnings(&file(0, &counters), b"gmon.out"), []);
    assert_eq!(warnings(&file(24, &counters), b"gmon.out"), [], "OpenBSD's size is right");
    let cut = Evidence::OtherArcsSize { value: 48, size: 24 };
    assert_eq!(warnings(&file(48, &counters), b"gmon.out"), [cut]);
    assert_eq!(warnings(&file(48, &counters), b"gmon.sum"), [], "sums keep the size of one of the profiles");
    assert_eq!(warnings(&file(0x7fff_1234, &counters), b"gmon.out"), [], "uninitialized memory");
}

#[test]
fn writers_reject_what_a_form_cannot_hold() {
    let fails = |profile: &Profile, form| write(profile, little(form)).unwrap_err();
    let old = Form::OldBsd(OldHeader::Padded);
    assert_eq!(fails(&small(4), Form::MonOut), Error::CallerNotHeld { frompc: 0x1004, selfpc: 0x1008 });
    assert_eq!(fails(&called(&[]), Form::LdProfile), Error::NoHistogram);
    let outside = Error::OutsideNotHeld { address: 0x1010, range: 0x1000..0x1010 };
    let far = sampled(seconds(0x1000, 0x1010, &[0; 4])).with_arcs([Arc::new(0, 0x1010, 1)]);
    let unused = sampled(seconds(0x1000, 0x1010, &[0; 4])).with_arcs([Arc::new(0, 0, 1)]);
    assert_eq!(fails(&unused, Form::MonOut), Error::OutsideNotHeld { address: 0, range: 0x1000..0x1010 });
    assert_eq!(fails(&far, Form::LdProfile), outside);
    for frompc in [0x1000, 0x1010, 0xfff] {
        let profile = sampled(seconds(0x1000, 0x1010, &[0; 4])).with_arcs([Arc::new(frompc, 0x1004, 1)]);
        assert_eq!(fails(&profile, Form::LdProfile), Error::CallerNotHeld { frompc, selfpc: 0x1004 });
        assert!(write(&profile, little(old)).is_ok());
    }
    let coarse = sampled(seconds(0x1000, 0x1010, &[0; 2]));
    let bins = Error::BinsNotHeld { bins: 2, needed: 4, range: 0x1000..0x1010 };
    assert_eq!(fails(&coarse, Form::LdProfile), bins);
    let arcs = (0..51).map(|_| Arc::new(0, 0x1004, 1));
    let many = sampled(seconds(0x1000, 0x1010, &[0; 4])).with_arcs(arcs);
    assert_eq!(fails(&many, Form::LdProfile), Error::TooLarge { part: Part::Arcs, size: 51, limit: 50 });
    // A large count takes two slots.
    let large = sampled(seconds(0x1000, 0x1010, &[0; 4])).with_arcs([Arc::new(0, 0x1004, 1 << 32)]);
    let read = read_as(&write(&large, little(Form::LdProfile)).unwrap(), little(Form::LdProfile)).unwrap();
    assert_eq!(read.arcs(), [Arc::new(0, 0x1004, 0xffff_ffff), Arc::new(0, 0x1004, 1)]);
}
