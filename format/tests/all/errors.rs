//! Tests of errors: kinds, offsets, sources, and texts.

use std::error::Error as _;
use std::io;

use gmon::{DataModel, Encoding, Error, ErrorKind, Form, IoError, Order, Part};

/// Checks what an error says.
fn check(error: Error, kind: ErrorKind, offset: Option<u64>, text: &str) {
    assert_eq!((error.kind(), error.offset(), error.to_string().as_str()), (kind, offset, text));
}

#[test]
fn errors_of_readers_say_where_and_what() {
    let found = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let magic = *b"ab\0\n";
    check(Error::Empty, ErrorKind::Truncated, None, "empty file");
    let text = "bad magic (\"ab\\x00\\n\" at offset 0x0)";
    check(Error::BadMagic { magic }, ErrorKind::NotAProfile, Some(0), text);
    let text = "not a profile (starts with \"ab\\x00\\n\")";
    check(Error::Unknown { magic }, ErrorKind::NotAProfile, Some(0), text);
    let text = format!("profile has another layout than expected ({found})");
    check(Error::OtherEncoding { found }, ErrorKind::Hints, None, &text);
    let error = Error::RatesDiffer { first: 100, second: 1000 };
    let offset = 0x14;
    assert_eq!(Error::Histograms { error: Box::new(error), offset }.offset(), Some(offset));
}

#[test]
fn errors_of_sums_say_which_items() {
    let (incompatible, overflow) = (ErrorKind::Incompatible, ErrorKind::Overflow);
    let text = "profiles differ in sampling rate (100 and 1000 a second)";
    check(Error::RatesDiffer { first: 100, second: 1000 }, incompatible, None, text);
    let text = "sum does not fit 64 bits (bin 1 of 0x1000..0x1010)";
    check(Error::BinOverflow { range: 0x1000..0x1010, bin: 1 }, overflow, None, text);
    let text = "sum does not fit 64 bits (arc from 0x1 to 0x2)";
    check(Error::ArcOverflow { frompc: 1, selfpc: 2 }, overflow, None, text);
    check(Error::BlockOverflow { addr: 3 }, overflow, None, "sum does not fit 64 bits (basic block 0x3)");
    let text = "histogram without an address range (0x8..0x4)";
    check(Error::EmptyRange { lowpc: 8, highpc: 4 }, ErrorKind::Invalid, None, text);
}

#[test]
fn errors_of_differences_say_what_is_lower() {
    let snapshot = Some("the earlier profile is not an earlier snapshot of the same run: give one that is");
    let lower = Error::Lower { part: Part::Samples, address: 0x1000, earlier: 5, later: 3 };
    assert_eq!((lower.value(), lower.part(), lower.advice()), (Some(3), Some(Part::Samples), snapshot));
    let text = "fewer samples than in the earlier profile (3, not 5, at 0x1000)";
    check(lower, ErrorKind::Incompatible, None, text);
    let other = Error::NotEarlier { key: b"pid", earlier: b"7".to_vec(), later: b"8\n".to_vec() };
    assert_eq!((other.value(), other.part(), other.advice()), (None, None, snapshot));
    let text = "not an earlier side file of the same run (pid \"7\" and later \"8\\n\")";
    check(other, ErrorKind::Incompatible, None, text);
}

#[test]
fn errors_of_writers_say_where_and_what() {
    let text = "address does not fit 32 bits (0x100000000 at offset 0x15)";
    let wide = Error::WideAddress { address: 1 << 32, offset: 0x15 };
    check(wide, ErrorKind::NotHeld, Some(0x15), text);
    let text = "bin 2 does not fit the counters of the form (65536 at offset 0x20)";
    check(Error::WideBin { bin: 2, count: 65536, offset: 0x20 }, ErrorKind::NotHeld, Some(0x20), text);
    check(Error::NoHistogram, ErrorKind::NotHeld, None, "the form needs a histogram (none given)");
    let full = Error::WriteIo { error: io::Error::other("disk full").into() };
    check(full, ErrorKind::Io, None, "cannot write the file (disk full)");
}

#[test]
fn errors_of_side_files_say_where_and_what() {
    let magic = *b"abcdefg\n";
    let text = "not a side file (starts with \"abcdefg\\n\")";
    check(Error::NotASideFile { magic }, ErrorKind::NotAProfile, Some(0), text);
    let text = "side file without end (at offset 0x20)";
    check(Error::NoEnd { offset: 0x20 }, ErrorKind::Truncated, Some(0x20), text);
    let text = "bad parent of a node (0x7 at offset 0x31)";
    let bad = Error::BadValue { part: Part::Parent, value: 7, offset: 0x31 };
    check(bad, ErrorKind::Invalid, Some(0x31), text);
    let impossible = Error::Impossible { part: Part::Bin, value: 5 };
    check(impossible, ErrorKind::Invalid, None, "impossible bin (0x5)");
    let text = "side files of different programs";
    check(Error::ProgramsDiffer, ErrorKind::Incompatible, None, text);
}

#[test]
fn errors_have_the_value_the_part_and_what_to_do() {
    let data = |error: &Error| (error.value(), error.part(), error.advice());
    let damaged = Some("run the program again: the file was cut short or changed after the program wrote it");
    let truncated = Error::Truncated { part: Part::Arc, needed: 12, left: 4, offset: 0x20 };
    assert_eq!(data(&truncated), (Some(4), Some(Part::Arc), damaged));
    assert_eq!(data(&Error::PartialArc { left: 4, size: 12, offset: 0 }), (Some(4), Some(Part::Arc), damaged));
    assert_eq!(data(&Error::BadSize { ncnt: -1, offset: 8 }), (Some(-1), None, damaged));
    let newer = Some("read the file with a newer version");
    assert_eq!(data(&Error::BadVersion { version: 9, offset: 4 }), (Some(9), None, newer));
    let count = i128::from(u64::MAX);
    let wide = Error::WideBin { bin: 2, count, offset: 0 };
    assert_eq!(data(&wide), (Some(count), None, Some("write a form with wider counters")));
    assert_eq!(data(&Error::Impossible { part: Part::Bin, value: 5 }), (Some(5), Some(Part::Bin), None));
    assert_eq!(data(&Error::ArcOverflow { frompc: 1, selfpc: 2 }), (None, None, None));
    let error = Box::new(Error::RatesDiffer { first: 100, second: 1000 });
    let alike = Some("combine only profiles of one program, sampled in the same way");
    assert_eq!(data(&Error::Histograms { error, offset: 0 }), (Some(1000), None, alike));
    let encoding = Encoding::new(Form::OpenBsd, DataModel::Llp64, Order::Little);
    let text = format!("no system has such files ({encoding}): give another form or data model");
    check(Error::NoNarrowLong { encoding }, ErrorKind::Unsupported, None, &text);
}

#[test]
fn the_source_of_an_error_is_the_error_below() {
    let sum = Error::BlockOverflow { addr: 3 };
    let histograms = Error::Histograms { error: Box::new(sum.clone()), offset: 0 };
    assert_eq!(histograms.source().and_then(|source| source.downcast_ref()), Some(&sum));
    assert!(Error::Empty.source().is_none());
    let io = IoError::from(io::Error::other(histograms.clone()));
    assert_eq!(io.source().and_then(|source| source.downcast_ref()), Some(&sum));
    let read = Error::ReadIo { error: io.clone() };
    assert_eq!(read.source().and_then(|source| source.downcast_ref()), Some(&io));
    let write = Error::WriteIo { error: io.clone() };
    assert_eq!(write.source().and_then(|source| source.downcast_ref()), Some(&io));
}
