//! Tests of detection in a file that is not in memory: the result is the same as for a file in memory, however long the
//! file is.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use crate::common::{all_encodings, sampled, seconds};
use gmon::{
    Arc, Counter, CounterWidth, DataModel, Encoding, Error, Evidence, Foreign, Form, Hints, Histogram, OldHeader,
    Order, Profile, Records, Unit, detect, detect_reader, read_as, write,
};

/// A profile with more than 4 KiB of samples and more than 4 KiB of arcs in each form.
fn large(form: Form) -> Profile {
    let bins = 0x1000;
    let start = if form == Form::IllumosRtld { 0 } else { 0x10_0000 };
    let counts: Vec<u64> = (0..bins).map(|bin| bin % 7).collect();
    // The table of LD_PROFILE has room for 491 arcs.
    let arcs = (0..400).map(|arc| {
        let from = if form == Form::MonOut { 0 } else { start + 8 * arc + 4 };
        Arc::new(from, start + 4 * arc + 4, arc + 1)
    });
    sampled(seconds(start, start + 4 * bins, &counts)).with_arcs(arcs)
}

/// Checks that a file is the same in pieces as in memory, and returns what is found.
fn same(file: &[u8], hints: &Hints) -> Result<(Encoding, Vec<Evidence>), Error> {
    let whole = detect(file, hints);
    assert_eq!(detect_reader(Cursor::new(file), hints), whole);
    whole.map(|found| (found.encoding(), found.evidence().to_vec()))
}

#[test]
fn long_files_of_all_forms_are_the_same_in_pieces() {
    for encoding in all_encodings() {
        let file = write(&large(encoding.form), encoding).unwrap();
        assert!(file.len() > 0x2000, "{encoding}");
        for hints in [Hints::new(), Hints::new().with_form(encoding.form), Hints::new().with_model(encoding.model)] {
            let _ = same(&file, &hints);
        }
        let (found, _) = same(&file, &Hints::new().with_form(encoding.form)).unwrap();
        assert_eq!(found.form, encoding.form, "{encoding}");
    }
}

#[test]
fn a_full_table_behind_long_samples_is_found() {
    for model in [DataModel::Ilp32, DataModel::Lp64] {
        let mut file = write(&large(Form::LdProfile), Encoding::new(Form::LdProfile, model, Order::Little)).unwrap();
        let at = 52 + 2 * model.word().size() + 2 * 0x1000;
        assert_eq!(file[at..at + 4], 400_u32.to_le_bytes());
        file[at..at + 4].copy_from_slice(&1000_u32.to_le_bytes());
        let (_, evidence) = same(&file, &Hints::new()).unwrap();
        assert!(evidence.contains(&Evidence::FullTable { counted: 1000, most: 491 }), "{evidence:?}");
    }
}

#[test]
fn all_samples_decide_whether_they_are_floating_point_numbers() {
    let has_floating = |numbers: &[f64]| {
        let counter = Counter { width: CounterWidth::Bits64, signed: false };
        let bins: Vec<u64> = numbers.iter().map(|number| number.to_bits()).collect();
        let histogram = Histogram::new(0x1000..0x1000 + 16 * bins.len() as u64, Unit::seconds(100), bins).unwrap();
        let encoding = Encoding::new(Form::FreeBsd(counter), DataModel::Lp64, Order::Little);
        let file = write(&sampled(histogram), encoding).unwrap();
        same(&file, &Hints::new()).unwrap().1.contains(&Evidence::FloatingSamples)
    };
    let mut numbers = vec![2.0; 20_000];
    assert!(has_floating(&numbers));
    *numbers.last_mut().unwrap() = 0.5;
    assert!(!has_floating(&numbers), "the last number is no count");
    numbers.fill(0.0);
    numbers[19_990..].fill(3.0);
    assert!(has_floating(&numbers), "the first numbers are 0");
}

#[test]
fn the_length_of_the_file_tells_a_profile_of_the_kernel() {
    let hints = Hints::new().with_file_name(b"/proc/profile");
    let mut file = 16_u32.to_le_bytes().to_vec();
    file.resize(0x2000, 0);
    assert_eq!(same(&file, &hints), Err(Error::Foreign { format: Foreign::KernelProfile }));
    file.push(0);
    assert!(matches!(same(&file, &hints), Err(Error::Unknown { .. })), "a part of a counter");
}

/// A file that counts what is read, and that cannot be read from some offset on.
struct Disk<'a> {
    file: Cursor<&'a [u8]>,
    read: u64,
    broken_at: u64,
}

impl<'a> Disk<'a> {
    fn new(file: &'a [u8]) -> Disk<'a> {
        Disk { file: Cursor::new(file), read: 0, broken_at: u64::MAX }
    }
}

impl Read for Disk<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.broken_at.saturating_sub(self.file.position())).unwrap_or(usize::MAX);
        if left == 0 {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let length = buffer.len().min(left);
        let read = self.file.read(&mut buffer[..length])?;
        self.read += read as u64;
        Ok(read)
    }
}

impl Seek for Disk<'_> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

/// Whether the detection needs the whole file. Elsewhere, the start of the file decides.
fn needs_all(encoding: Encoding) -> bool {
    match encoding.form {
        Form::Gnu | Form::OldBsd(_) | Form::LdProfile | Form::Next | Form::MonOut => true,
        Form::Darwin => encoding.model == DataModel::Ilp32,
        Form::Bsd => encoding.model == DataModel::Lp64 && encoding.order == Order::Little,
        _ => false,
    }
}

#[test]
fn a_read_error_is_an_error_of_the_detection() {
    for encoding in all_encodings().into_iter().filter(|encoding| needs_all(*encoding)) {
        let file = write(&large(encoding.form), encoding).unwrap();
        let mut disk = Disk { broken_at: 5000, ..Disk::new(&file) };
        let name: &[u8] = if encoding.form == Form::MonOut { b"mon.out" } else { b"gmon.out" };
        let found = detect_reader(&mut disk, &Hints::new().with_file_name(name));
        assert_eq!(found, Err(Error::ReadIo { error: io::ErrorKind::ConnectionReset.into() }), "{encoding}");
    }
}

#[test]
fn few_passes_read_the_file() {
    for (form, model, passes) in [
        (Form::Gnu, DataModel::Lp64, 1),
        (Form::Bsd, DataModel::Lp64, 1),
        (Form::OldBsd(OldHeader::Packed), DataModel::Lp64, 2),
        (Form::OldBsd(OldHeader::Packed), DataModel::Ilp32, 1),
        (Form::Darwin, DataModel::Ilp32, 2),
    ] {
        let arcs = (0..100_000).map(|arc| Arc::new(0x10_0000 + arc % 99, 0x10_0004, arc));
        let encoding = Encoding::new(form, model, Order::Little);
        let file = write(&large(form).with_arcs(arcs), encoding).unwrap();
        let mut disk = Disk::new(&file);
        assert_eq!(detect_reader(&mut disk, &Hints::new()).unwrap().encoding(), encoding);
        // An encoding that does not fit costs the first piece of the file.
        let pieces = 4 * 65_536;
        assert!(pieces < file.len() / 2);
        assert!(
            disk.read <= (pieces + passes * file.len()) as u64,
            "{encoding}: {} of {} bytes",
            disk.read,
            file.len()
        );
    }
}

#[test]
fn the_records_can_be_read_after_the_detection() {
    for encoding in all_encodings() {
        let file = write(&large(encoding.form), encoding).unwrap();
        let mut reader = Cursor::new(&file);
        reader.set_position(77);
        let found = detect_reader(&mut reader, &Hints::new().with_form(encoding.form)).unwrap().encoding();
        assert_eq!(reader.position(), 0, "{encoding}");
        let records: usize =
            Records::from_reader(&mut reader, found).unwrap().map(|record| record.map(|_| 1).unwrap()).sum();
        assert_eq!(records, Records::new(&file, found).unwrap().count(), "{encoding}");
        assert_eq!(read_as(&file, found).unwrap().arcs().len(), 400);
        assert!(
            detect_reader(&mut reader, &Hints::new().with_form(Form::LdProfile)).is_ok()
                == (encoding.form == Form::LdProfile)
        );
        assert_eq!(reader.position(), 0, "after an error");
    }
}
