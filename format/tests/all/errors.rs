//! Tests of errors: kinds, offsets, sources, and texts.

use std::error::Error as _;
use std::io;

use gmon::{
    DataModel, Encoding, Error, ErrorKind, Field, Form, HistogramError, IoError, Order, ReadError, SideFileBuildError,
    SideFileReadError, SideFileSumError, SumError, WriteError,
};

/// Checks what an error says.
fn check(error: impl Into<Error>, kind: ErrorKind, offset: Option<u64>, text: &str) {
    let error = error.into();
    assert_eq!((error.kind(), error.offset(), error.to_string().as_str()), (kind, offset, text));
}

#[test]
fn errors_of_readers_say_where_and_what() {
    let found = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let magic = *b"ab\0\n";
    check(ReadError::Empty, ErrorKind::Truncated, None, "empty file");
    let text = "bad magic (\"ab\\x00\\n\" at offset 0x0)";
    check(ReadError::BadMagic { magic }, ErrorKind::NotAProfile, Some(0), text);
    let text = "not a profile (starts with \"ab\\x00\\n\")";
    check(ReadError::Unknown { magic }, ErrorKind::NotAProfile, Some(0), text);
    let text = format!("profile has another layout than expected ({found})");
    check(ReadError::OtherEncoding { found }, ErrorKind::Hints, None, &text);
    let error = SumError::RatesDiffer { first: 100, second: 1000 };
    let offset = 0x14;
    assert_eq!(ReadError::Histograms { error, offset }.offset(), Some(offset));
}

#[test]
fn errors_of_sums_say_which_items() {
    let (incompatible, overflow) = (ErrorKind::Incompatible, ErrorKind::Overflow);
    let text = "profiles differ in sampling rate (100 and 1000 a second)";
    check(SumError::RatesDiffer { first: 100, second: 1000 }, incompatible, None, text);
    let text = "sum does not fit 64 bits (bin 1 of 0x1000..0x1010)";
    check(SumError::BinOverflow { range: 0x1000..0x1010, bin: 1 }, overflow, None, text);
    let text = "sum does not fit 64 bits (arc from 0x1 to 0x2)";
    check(SumError::ArcOverflow { frompc: 1, selfpc: 2 }, overflow, None, text);
    check(SumError::BlockOverflow { addr: 3 }, overflow, None, "sum does not fit 64 bits (basic block 0x3)");
    let text = "histogram without an address range (0x8..0x4)";
    check(HistogramError::NoRange { lowpc: 8, highpc: 4 }, ErrorKind::Invalid, None, text);
}

#[test]
fn errors_of_writers_say_where_and_what() {
    let text = "address does not fit 32 bits (0x100000000 at offset 0x15)";
    let wide = WriteError::WideAddress { address: 1 << 32, offset: 0x15 };
    check(wide, ErrorKind::NotHeld, Some(0x15), text);
    let text = "bin 2 does not fit the counters of the form (65536 at offset 0x20)";
    check(WriteError::WideBin { bin: 2, count: 65536, offset: 0x20 }, ErrorKind::NotHeld, Some(0x20), text);
    check(WriteError::NoHistogram, ErrorKind::NotHeld, None, "the form needs a histogram (none given)");
    let full = WriteError::from(io::Error::other("disk full"));
    check(full, ErrorKind::Io, None, "cannot write the file (disk full)");
}

#[test]
fn errors_of_side_files_say_where_and_what() {
    let magic = *b"abcdefg\n";
    let text = "not a side file (starts with \"abcdefg\\n\")";
    check(SideFileReadError::BadMagic { magic }, ErrorKind::NotAProfile, Some(0), text);
    let text = "side file without end (at offset 0x20)";
    check(SideFileReadError::NoEnd { offset: 0x20 }, ErrorKind::Truncated, Some(0x20), text);
    let text = "bad parent of a node (0x7 at offset 0x31)";
    let bad = SideFileReadError::BadValue { field: Field::Parent, value: 7, offset: 0x31 };
    check(bad, ErrorKind::Invalid, Some(0x31), text);
    let impossible = SideFileBuildError::Impossible { field: Field::Bin, value: 5 };
    check(impossible, ErrorKind::Invalid, None, "impossible bin (0x5)");
    let text = "side files of different programs";
    check(SideFileSumError::ProgramsDiffer, ErrorKind::Incompatible, None, text);
}

#[test]
fn the_source_of_an_error_is_the_error_below() {
    let sum = SumError::BlockOverflow { addr: 3 };
    let histograms = ReadError::Histograms { error: sum.clone(), offset: 0 };
    assert_eq!(histograms.source().and_then(|source| source.downcast_ref()), Some(&sum));
    assert!(ReadError::Empty.source().is_none());
    let io = IoError::from(io::Error::other(histograms.clone()));
    assert_eq!(io.source().and_then(|source| source.downcast_ref()), Some(&sum));
    let read = ReadError::Io(io.clone());
    assert_eq!(read.source().and_then(|source| source.downcast_ref()), Some(&io));
    let write = WriteError::Io(io.clone());
    assert_eq!(write.source().and_then(|source| source.downcast_ref()), Some(&io));
}
