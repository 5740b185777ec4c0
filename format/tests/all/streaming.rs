//! Tests of reading and writing in pieces: the results are those of reading and writing in memory.

use std::error::Error as _;
use std::io::{self, Cursor, Read, Write};

use crate::common::{encoding, profile};
use gmon::{
    DataModel, Encoding, Error, ErrorKind, Form, Hints, Order, Profile, Record, Records, detect, detect_reader,
    read_as, write, write_to,
};
use proptest::prelude::*;

/// Returns a few bytes at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.1);
        self.0.read(&mut buffer[..length])
    }
}

fn collected(records: impl Iterator<Item = Result<Record, Error>>) -> Result<Profile, Error> {
    let mut profile = Profile::new();
    for record in records {
        profile.add_record(record?).expect("the histograms of a file that was written");
    }
    Ok(profile)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_say_the_same_as_the_whole(
        (encoding, profile) in encoding().prop_flat_map(|encoding| (Just(encoding), profile(encoding))),
        at_once in 1..100_usize,
        piece in 1..100_usize,
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut file = write(&profile, encoding).unwrap();
        let mut written = Vec::new();
        write_to(&profile, encoding, &mut written).unwrap();
        prop_assert_eq!(&written, &file);
        if is_cut {
            file.truncate(cut.index(file.len()));
        }
        let whole = read_as(&file, encoding);
        prop_assert_eq!(&collected(Records::new(&file, encoding).unwrap()), &whole);
        let pieces = Records::from_reader(Trickle(&file, at_once), encoding).unwrap();
        prop_assert_eq!(&collected(pieces), &whole);
        let pieces = Records::from_reader_in_pieces(Trickle(&file, at_once), encoding, piece).unwrap();
        prop_assert_eq!(&collected(pieces), &whole);
        let hints = Hints::new().with_form(encoding.form);
        prop_assert_eq!(detect_reader(Cursor::new(&file), &hints), detect(&file, &hints));
        prop_assert_eq!(detect_reader(Cursor::new(&file), &Hints::new()), detect(&file, &Hints::new()));
    }
}

/// Fails after some bytes.
struct Broken(usize);

impl Read for Broken {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.0);
        if length == 0 {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        buffer[..length].fill(0);
        self.0 -= length;
        Ok(length)
    }
}

impl Write for Broken {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn errors_of_the_system_are_reported() {
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let error = Records::from_reader(Broken(7), encoding).unwrap().next().unwrap().unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Io, None));
    assert_eq!(error, Error::ReadIo { error: io::ErrorKind::ConnectionReset.into() });
    let error = write_to(&Profile::new(), encoding, Broken(0)).unwrap_err();
    assert_eq!(error, Error::WriteIo { error: io::ErrorKind::StorageFull.into() });
    let mut records = Records::from_reader(Broken(7), encoding).unwrap();
    assert!(records.next().is_some() && records.next().is_none(), "an error ends the records");
}

#[test]
fn errors_of_the_system_keep_number_message_and_source() {
    let number = Error::from(io::Error::from_raw_os_error(5));
    let Error::Io { error } = &number else { panic!("{number:?}") };
    assert_eq!((error.raw_os_error(), error.get().raw_os_error()), (Some(5), Some(5)));
    assert_ne!(number, Error::from(io::Error::from_raw_os_error(6)));
    assert_eq!(number, number.clone());
    let disk = |message: &'static str| Error::WriteIo { error: io::Error::other(message).into() };
    assert_eq!(disk("the disk burns").to_string(), "cannot write the file (the disk burns)");
    assert_ne!(disk("the disk burns"), disk("the disk melts"));
    let source = |error: Error| error.source().map(ToString::to_string);
    assert_eq!(source(disk("the disk burns")).as_deref(), Some("the disk burns"));
    let whole = Error::from(io::Error::from_raw_os_error(5));
    assert_eq!((whole.kind(), whole.offset()), (ErrorKind::Io, None));
}
