//! Tests of the memory and of the work of reading and writing in pieces: neither grows faster than the file.

use std::cell::Cell;
use std::io::{self, Cursor, Read, Write};
use std::rc::Rc;

use crate::common::encodings;
use crate::counting::peak;
use gmon::{Arc, DataModel, Encoding, Error, Form, Histogram, Order, Profile, Records, Unit, write, write_to};

/// The memory for pieces of a file.
const PIECES: usize = 400_000;

/// A file of any length: a header, and then the same record again and again.
#[derive(Clone)]
struct Repeated {
    start: Cursor<Vec<u8>>,
    record: Vec<u8>,
    left: u64,
    /// The number of times that something was read.
    reads: Rc<Cell<u64>>,
}

impl Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads.set(self.reads.get() + 1);
        let read = self.start.read(buffer)?;
        if read > 0 {
            return Ok(read);
        }
        let records = (buffer.len() / self.record.len()).min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= records as u64;
        for place in buffer.chunks_exact_mut(self.record.len()).take(records) {
            place.copy_from_slice(&self.record);
        }
        if records > 0 || self.left == 0 {
            return Ok(records * self.record.len());
        }
        // A small buffer gets the record in parts.
        self.start = Cursor::new(self.record.clone());
        self.left -= 1;
        self.start.read(buffer)
    }
}

impl Repeated {
    fn new(start: impl Into<Vec<u8>>, record: impl Into<Vec<u8>>, left: u64) -> Repeated {
        Repeated { start: Cursor::new(start.into()), record: record.into(), left, reads: Rc::default() }
    }

    fn size(&self) -> u64 {
        self.start.get_ref().len() as u64 + self.left * self.record.len() as u64
    }

    /// The number of records, the memory, and the number of reads that reading the file takes.
    fn cost(&self, encoding: Encoding) -> (u64, usize, u64) {
        self.reads.set(0);
        let (file, mut records) = (self.clone(), 0);
        let memory = peak(|| {
            for record in Records::from_reader(file, encoding).unwrap() {
                record.unwrap();
                records += 1;
            }
        });
        (records, memory, self.reads.get())
    }
}

fn little(form: Form) -> Encoding {
    let model = if form == Form::Next { DataModel::Ilp32 } else { DataModel::Lp64 };
    Encoding::new(form, model, Order::Little)
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The header of a profile of illumos' run-time linker with this many slots and no samples.
fn rtld(slots: u64) -> Vec<u8> {
    let slots = u32::try_from(slots).unwrap();
    [words(&[u32::MAX, 2]), vec![0; 24 + 8], words(&[0, 56 + 24 * slots, slots, slots])].concat()
}

/// The magic of Darwin or NeXT, and the head of a record of this size.
fn tagged(magic: u32, record_type: u32, size: u64) -> Vec<u8> {
    words(&[magic, record_type, u32::try_from(size).unwrap()])
}

/// Files with this many arcs or samples.
fn files_of_records(count: u64) -> Vec<(Form, Repeated)> {
    let arc = Profile::new().with_arcs([Arc::new(1, 2, 3)]);
    let mut files = Vec::new();
    for form in [Form::Gnu, Form::Bsd, Form::OpenBsd] {
        let start = write(&Profile::new(), little(form)).unwrap();
        let record = write(&arc, little(form)).unwrap()[start.len()..].to_vec();
        files.push((form, Repeated::new(start, record, count)));
    }
    files.push((Form::IllumosRtld, Repeated::new(rtld(count), words(&[1, 0, 2, 0, 3, 0]), count)));
    let start = tagged(0xbeef_babf, 2, count * 24);
    files.push((Form::Darwin, Repeated::new(start, words(&[1, 0, 2, 0, 3, 0]), count)));
    let start = tagged(0xbeef_babe, 2, count * 12);
    files.push((Form::Next, Repeated::new(start, words(&[1, 2, 3]), count)));
    let samples = Histogram::new(0..2, Unit::seconds(0), vec![1_u16, 0]).unwrap();
    let prof = write(&Profile::of_samples([samples]).unwrap(), little(Form::IllumosProf)).unwrap();
    // An object of one sample; the header and the calls are before it.
    let (start, record) = prof.split_at(prof.len() - 40);
    files.push((Form::IllumosProf, Repeated::new(start, record, count)));
    files
}

#[test]
fn memory_does_not_grow_with_the_file() {
    let small = files_of_records(10_000);
    for ((form, small), (_, large)) in small.into_iter().zip(files_of_records(100_000)) {
        let ((few, small, _), (many, large, _)) = (small.cost(little(form)), large.cost(little(form)));
        assert_eq!((few, many), (10_000, 100_000), "{form}");
        assert!(large <= small && large < PIECES, "{form}: {small} and {large} bytes");
    }
}

/// Files of entries that have nothing to count.
fn files_of_nothing(count: u64) -> Vec<(&'static str, Form, Repeated)> {
    let gnu = write(&Profile::new(), little(Form::Gnu)).unwrap();
    let prof = words(&[0x5052_4f46, 1, 16, 0]);
    let mut states = tagged(0xbeef_babe, 4, 4 + 12 * count);
    states.extend(words(&[u32::try_from(count).unwrap()]));
    vec![
        ("slots", Form::IllumosRtld, Repeated::new(rtld(count), [0; 24], count)),
        ("states without files", Form::Next, Repeated::new(states, [0; 12], count)),
        ("records without arcs", Form::Darwin, Repeated::new(words(&[0xbeef_babf]), words(&[2, 0]), count)),
        ("objects without a meaning", Form::IllumosProf, Repeated::new(prof, words(&[u32::MAX, 1, 16, 0]), count)),
        ("histograms without bins", Form::Gnu, Repeated::new(gnu.clone(), [0; 41], count)),
        ("lists without blocks", Form::Gnu, Repeated::new(gnu, [2, 0, 0, 0, 0], count)),
    ]
}

#[test]
fn entries_without_a_record_take_linear_work_and_no_memory() {
    for (name, form, file) in files_of_nothing(100_000) {
        let (records, memory, reads) = file.cost(little(form));
        assert_eq!(records, 0, "{name}");
        assert!(memory < PIECES, "{name}: {memory} bytes");
        // Each read is followed by at most one try to decode what is in memory.
        assert!(reads < file.size() / 4096 + 64, "{name}: {reads} reads of {} bytes", file.size());
    }
}

/// The start of an `LD_PROFILE` file for a megabyte of code, the number of slots that are reserved, and the size of all
/// slots.
fn ld_profile(reserved: u32) -> Repeated {
    let bins = vec![0_u16; 1 << 18];
    let profile = Profile::of_samples([Histogram::new(0..1 << 20, Unit::seconds(100), bins).unwrap()]).unwrap();
    let mut start = write(&profile, little(Form::LdProfile)).unwrap();
    let slots = start.len() - (72 + (2 << 18));
    start.truncate(start.len() - slots);
    start.truncate(start.len() - 4);
    start.extend(reserved.to_le_bytes());
    Repeated::new(start, [0; 4], slots as u64 / 4)
}

#[test]
fn slots_of_an_ld_profile_file_take_no_memory() {
    for reserved in [0, 1, 1000, 1 << 20] {
        let file = ld_profile(reserved);
        let (records, memory, reads) = file.cost(little(Form::LdProfile));
        assert_eq!(records, 1);
        // The samples as bytes in a buffer that grew twice, and as counters.
        assert!(memory < 8 * (2 << 18), "{reserved}: {memory} of {} bytes", file.size());
        assert!(reads < file.size() / 4096 + 64, "{reserved}: {reads} reads of {} bytes", file.size());
    }
}

#[test]
fn mon_out_takes_memory_for_the_file_only() {
    // The samples are one record, which ends with the file.
    let start = [words(&[8, 0, 16, 0, 0, 0])].concat();
    let file = Repeated::new(start, [1, 0], 1_000_000);
    let (records, memory, reads) = file.cost(little(Form::MonOut));
    assert_eq!(records, 1);
    assert!(memory < 8_000_000 + PIECES, "{memory} bytes");
    assert!(reads < file.size() / 4096 + 64, "{reads} reads");
}

#[test]
fn bytes_after_the_end_take_no_memory() {
    let slots = ld_profile(0);
    let (all, histogram) = (slots.left, 8 * (2 << 18));
    for (form, start, left) in
        [(Form::IllumosRtld, Repeated::new(rtld(0), [0; 4], 0), 0), (Form::LdProfile, slots, all)]
    {
        let file = Repeated { left: left + 1_000_000, ..start };
        let offset = file.size() - 4_000_000;
        let memory = peak(|| {
            let last = Records::from_reader(file.clone(), little(form)).unwrap().last();
            assert_eq!(last, Some(Err(Error::Trailing { left: 4_000_000, offset })), "{form}");
        });
        assert!(memory < histogram, "{form}: {memory} bytes");
    }
}

/// Discards what it gets.
struct Sink(u64);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn writing_takes_no_memory_for_the_file() {
    let profile = Profile::new().with_arcs((0..200_000).map(|at| Arc::new(at, at, 1)));
    // These forms need the arcs in groups, a histogram, or arcs without callers.
    let others = [Form::Darwin, Form::Next, Form::LdProfile, Form::MonOut];
    for encoding in encodings().into_iter().filter(|encoding| !others.contains(&encoding.form)) {
        let mut sink = Sink(0);
        let used = peak(|| write_to(&profile, encoding, &mut sink).unwrap());
        assert!(used < 300_000, "{encoding}: {used} bytes");
        assert!(sink.0 >= 2_400_000);
    }
}
