//! Reads profiles, several at a time in threads of their own, and adds up the profiles of one image.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::os::unix::fs::FileTypeExt;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use gmon::{Accumulator, Bins, Encoding, Form, Hints, Histogram, Profile, RecordCounts, Unit};

use crate::error::Error;
use crate::program::image::files;
use crate::question::files::{ProfilePath, spelled_encoding};
use crate::question::reports::Contents;

/// The sampling rate of a profile whose header says zero.
pub(super) const HOST_RATE: u32 = 100;

/// The contents of a profile's file, in numbers.
#[derive(Clone, Debug)]
pub struct FileInfo {
    /// The path of the file; `-` for the standard input.
    pub file: String,
    /// The length of the file in bytes.
    pub length: u64,
    /// The version of the file's form; 0 if the form has no versions.
    pub version: u32,
    /// The form, the word size, and the byte order.
    pub form: String,
    /// The facts from which these follow: a sentence each, without a period.
    pub evidence: Vec<String>,
    /// What makes numbers of the file doubtful, each with the path of the file.
    pub warnings: Vec<String>,
    /// The number of records of each kind.
    pub records: RecordCounts,
    /// Whether this is the profile of a shared object, which lies beside the program's profile.
    pub is_shared_object: bool,
    /// The number of bins at the maximum count of the form: more samples may have been lost.
    pub saturated: usize,
    /// The rank of the process in its parallel job, if the side file of the profile has it.
    pub rank: Option<u64>,
    /// The name of the machine, if the side file of the profile has it.
    pub host: Option<String>,
    /// The executables and shared objects that the file lists: Darwin's and NeXT's images, and illumos' modules.
    pub images: Vec<gmon::Image>,
}

/// A profile, and what is known about its file.
pub(super) struct ProfileFile {
    pub(super) profile: Profile,
    pub(super) encoding: Encoding,
    /// What kinds of data the file contains.
    pub(super) contents: Contents,
    pub(super) info: FileInfo,
    /// The number of samples outside the program that the profile had.
    pub(super) elsewhere: u64,
}

impl ProfileFile {
    /// Whether the profile has the header of 4.2BSD.
    pub(super) fn is_old(&self) -> bool {
        matches!(self.encoding.form, Form::OldBsd(_))
    }

    /// The number of samples; 0 if their sum is negative.
    pub(super) fn samples(&self) -> u64 {
        samples(&self.profile)
    }
}

/// The number of samples of a profile; 0 if their sum is negative.
pub(super) fn samples(profile: &Profile) -> u64 {
    let totals = profile.histograms().iter().map(|histogram| u64::try_from(histogram.total()).unwrap_or(0));
    totals.fold(0, u64::saturating_add)
}

/// Reads the bytes of a profile.
///
/// # Errors
///
/// When the file cannot be read.
pub(super) fn bytes(path: &ProfilePath) -> Result<Vec<u8>, Error> {
    match path {
        ProfilePath::Stdin => files::standard_input().map_err(|why| unread(path.to_string(), why)),
        ProfilePath::Memory(memory) => Ok(memory.profile.clone()),
        ProfilePath::File(file) => files::regular_or_pipe(file).map_err(|why| match why.kind() {
            io::ErrorKind::NotFound if file.file_name() == Some(OsStr::new("gmon.out")) => {
                Error::NoProfile { file: path.to_string() }
            }
            _ => unread(path.to_string(), why),
        }),
    }
}

/// How long a pipe or a terminal may take before the user learns what the run waits for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Reads the bytes of a profile. If a named pipe or a terminal does not come to its end soon, `say` gets a message
/// about it.
///
/// # Errors
///
/// As [`bytes`].
pub(super) fn bytes_or_say(path: &ProfilePath, say: &mut dyn FnMut(&str)) -> Result<Vec<u8>, Error> {
    let Some(kind) = endless(path) else { return bytes(path) };
    let (sender, receiver) = mpsc::channel();
    let source = path.clone();
    // If nobody waits any longer, nobody needs the bytes.
    let read = move || drop(sender.send(bytes(&source)));
    if thread::Builder::new().spawn(read).is_err() {
        return bytes(path);
    }
    if let Ok(read) = receiver.recv_timeout(PATIENCE) {
        return read;
    }
    say(&format!("reading profiles: waiting for the end of {path}, which is a {kind}"));
    let gone = || unread(path.to_string(), io::Error::other("cannot be read"));
    receiver.recv().unwrap_or_else(|_| Err(gone()))
}

/// What a path names if nobody knows when it ends: a named pipe or a terminal.
fn endless(path: &ProfilePath) -> Option<&'static str> {
    match path {
        ProfilePath::Stdin => io::stdin().is_terminal().then_some("terminal"),
        ProfilePath::File(file) => {
            file.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo()).then_some("pipe")
        }
        ProfilePath::Memory(_) => None,
    }
}

/// The error for a file that cannot be read.
pub(super) fn unread(file: String, source: io::Error) -> Error {
    Error::Read { file, source }
}

/// Parses the bytes of the profile at `path`.
///
/// # Errors
///
/// When the bytes are not a profile.
pub(super) fn read_profile(path: &ProfilePath, bytes: &[u8], hints: &Hints) -> Result<ProfileFile, Error> {
    let fail = |source: gmon::Error| Error::Profile { file: path.to_string(), source };
    let hints = match path {
        ProfilePath::Stdin | ProfilePath::Memory(_) => *hints,
        ProfilePath::File(file) => hints.with_file_name(file.as_os_str().as_encoded_bytes()),
    };
    let detection = gmon::detect(bytes, &hints).map_err(|error| match error {
        _ if let Some(tool) = decompressor(bytes) => {
            let file = path.to_string();
            // Without a file, the tools read standard input.
            let command = if *path == ProfilePath::Stdin { tool.to_owned() } else { format!("{tool} {file}") };
            Error::Compressed { file, command }
        }
        gmon::Error::Ambiguous { candidates, .. } => {
            let forms = candidates.iter().map(|candidate| spelled_encoding(*candidate)).collect();
            Error::AmbiguousProfile { file: path.to_string(), forms }
        }
        gmon::Error::OtherEncoding { found } => {
            Error::OtherLayout { file: path.to_string(), found, word: hints.word(), order: hints.order() }
        }
        error => fail(error),
    })?;
    let encoding = detection.encoding();
    let mut profile = gmon::read_as(bytes, encoding).map_err(fail)?;
    let warnings = detection.evidence().iter().filter(|fact| fact.is_warning());
    let info = FileInfo {
        file: if *path == ProfilePath::Stdin { "-".to_owned() } else { path.to_string() },
        length: bytes.len() as u64,
        version: u32::from(encoding.form == Form::Gnu),
        form: encoding.to_string(),
        evidence: detection.evidence().iter().map(ToString::to_string).collect(),
        warnings: warnings.map(|fact| format!("{path}: {fact}")).collect(),
        records: records(&profile, bytes, encoding).map_err(fail)?,
        is_shared_object: false,
        saturated: saturated(&profile, encoding.form),
        rank: None,
        host: None,
        images: profile.images().to_vec(),
    };
    if encoding.form == Form::Gnu {
        let contents = Contents {
            samples: !profile.histograms().is_empty(),
            calls: !profile.arcs().is_empty(),
            ..Contents::default()
        };
        return Ok(ProfileFile { profile, encoding, contents, info, elsewhere: 0 });
    }
    // The other forms always have samples and calls, and a header that some writers leave at zero.
    if let Some(unit) = profile.histograms().first().map(Histogram::unit).filter(|unit| unit.profrate == 0) {
        profile.set_unit(Unit { profrate: HOST_RATE, ..unit });
    }
    let contents = Contents { samples: true, calls: true, ..Contents::default() };
    Ok(ProfileFile { profile, encoding, contents, info, elsewhere: 0 })
}

/// The first bytes of compressed files, and the programs that write the content of such files.
const COMPRESSED: [(&[u8], &str); 4] =
    [(b"\x1f\x8b", "zcat"), (b"\x28\xb5\x2f\xfd", "zstdcat"), (b"\xfd7zXZ\0", "xzcat"), (b"BZh", "bzcat")];

/// The program that writes the content of a compressed file; `None` for files of other kinds.
fn decompressor(bytes: &[u8]) -> Option<&'static str> {
    COMPRESSED.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, tool)| *tool)
}

/// Counts the records of a profile. Only GNU's form requires another pass over the file.
fn records(profile: &Profile, bytes: &[u8], encoding: Encoding) -> Result<RecordCounts, gmon::Error> {
    match encoding.form {
        Form::Gnu => gmon::count_records(bytes, encoding),
        _ => Ok(RecordCounts::of(profile)),
    }
}

/// The number of bins at the maximum count of the form's counters. Raw samples have no counters: their bins are sparse.
fn saturated(profile: &Profile, form: Form) -> usize {
    let counter = form.counter();
    let bits = 8 * counter.width.size() - usize::from(counter.signed);
    let greatest = u64::MAX >> (64 - bits);
    let counted = profile.histograms().iter().filter(|histogram| !matches!(histogram.bins(), Bins::Sparse { .. }));
    counted.flat_map(Histogram::hit).filter(|(_, bin)| *bin == greatest.into()).count()
}

/// The sum of profiles, with what is known about their files.
#[derive(Default)]
pub(super) struct ProfileSum {
    sum: Accumulator,
    /// A sum of one bin for each profile that has samples, of this image and of other images. Profiles whose samples
    /// cannot be added here cannot stand in one report.
    units: Accumulator,
    /// What kinds of data the profiles contain.
    pub(super) contents: Contents,
    /// The contents of each file.
    pub(super) files: Vec<FileInfo>,
    /// The number of samples in the image, over all profiles.
    pub(super) samples: u64,
    /// The number of samples outside the image that the profiles had.
    pub(super) elsewhere: u64,
    /// Warnings about profiles that do not match the image.
    pub(super) mismatches: Vec<String>,
}

impl ProfileSum {
    /// Makes an empty sum. Its profiles must be compatible with the sums of other images.
    pub(super) fn compatible_with(others: &Accumulator) -> ProfileSum {
        ProfileSum { units: others.clone(), ..ProfileSum::default() }
    }

    /// Adds a profile. `mismatch` is the warning if the profile does not match the image.
    ///
    /// # Errors
    ///
    /// When the profile is not compatible with the earlier profiles of this image or of another image.
    pub(super) fn add(&mut self, path: &ProfilePath, file: ProfileFile, mismatch: Option<String>) -> Result<(), Error> {
        self.samples = self.samples.saturating_add(file.samples());
        let ProfileFile { profile, contents, info, elsewhere, .. } = file;
        self.elsewhere = self.elsewhere.saturating_add(elsewhere);
        self.files.push(info);
        self.contents.join(contents);
        self.mismatches.extend(mismatch.map(|mismatch| format!("{path}: {mismatch}")));
        self.add_profile(profile).map_err(|source| Error::Profile { file: path.to_string(), source })
    }

    /// Adds counts that come from a side file.
    ///
    /// # Errors
    ///
    /// As [`ProfileSum::add`].
    pub(super) fn add_counts(&mut self, profile: Profile) -> Result<(), gmon::Error> {
        self.contents.join(Contents {
            samples: !profile.histograms().is_empty(),
            calls: !profile.arcs().is_empty(),
            ..Contents::default()
        });
        self.add_profile(profile)
    }

    fn add_profile(&mut self, profile: Profile) -> Result<(), gmon::Error> {
        // Histograms of different images may have different bin sizes, but their samples must have the same unit.
        let unit = |first: &Histogram| Histogram::new(0..1, first.unit(), vec![0_u16]).ok();
        let unit = Profile::of_samples(profile.histograms().first().and_then(unit))?;
        self.sum.add(profile)?;
        self.units.add(unit)
    }

    /// Adds the profiles that follow these. Returns `None` when the profiles are not compatible.
    pub(super) fn append(&mut self, later: ProfileSum) -> Option<()> {
        self.sum.add(later.sum.finish_in_order()).ok()?;
        self.units.add(later.units.finish()).ok()?;
        self.contents.join(later.contents);
        self.samples = self.samples.saturating_add(later.samples);
        self.elsewhere = self.elsewhere.saturating_add(later.elsewhere);
        self.files.extend(later.files);
        self.mismatches.extend(later.mismatches);
        Some(())
    }

    /// The units that sums of other images must be compatible with.
    pub(super) fn units(&self) -> &Accumulator {
        &self.units
    }

    /// Adds the units of other images, and returns the units of all. Returns `None` when the units are not
    /// compatible.
    pub(super) fn join_units(&mut self, others: &Accumulator) -> Option<Accumulator> {
        self.units.add(others.clone().finish()).ok()?;
        Some(self.units.clone())
    }

    /// The unit of the samples. Without samples, the unit is a second with this rate.
    pub(super) fn unit(&self, profrate: u32) -> Unit {
        self.units.clone().finish().histograms().first().map_or(Unit::seconds(profrate), Histogram::unit)
    }

    /// The sum, and the units that sums of other images must be compatible with.
    pub(super) fn finish(self) -> (Profile, Accumulator) {
        (self.sum.finish_in_order(), self.units)
    }
}

/// The number of items that are worth a thread.
const WORTH_A_THREAD: usize = 8;

/// Hands consecutive chunks of a list to threads, and returns the results in the order of the list. This thread
/// handles the first chunk and calls `tell` before each item; other threads call a function that does nothing. If the
/// system refuses a thread, this thread handles its chunk too.
///
/// Returns `None` when the items are too few for two threads, or when the result of a chunk is `None`.
pub(super) fn map_chunks<T: Sync, R: Send>(
    items: &[T],
    read: impl Fn(&[T], &mut dyn FnMut()) -> Option<R> + Sync,
    tell: &mut dyn FnMut(),
) -> Option<Vec<R>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(items.len() / WORTH_A_THREAD);
    if threads < 2 {
        return None;
    }
    let mut chunks = items.chunks(items.len().div_ceil(threads));
    let first = chunks.next()?;
    let read = &read;
    thread::scope(|scope| {
        let in_a_thread = |chunk| thread::Builder::new().spawn_scoped(scope, move || read(chunk, &mut || {})).ok();
        let others: Vec<_> = chunks.map(|chunk| (chunk, in_a_thread(chunk))).collect();
        let first = read(first, tell);
        // This joins every thread, whatever its result.
        let others: Vec<_> = others
            .into_iter()
            .map(|(chunk, other)| match other {
                Some(other) => other.join().ok().flatten(),
                None => read(chunk, tell),
            })
            .collect();
        std::iter::once(first).chain(others).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gmon::{Counter, CounterWidth, DataModel, Order};

    /// Catches the error of the crate, which names neither the image nor the profile's own word size, and a mixed-up
    /// order of the two.
    #[test]
    fn a_profile_of_another_word_size_names_both() {
        let histogram = || Histogram::new(0x1000..0x1010, Unit::seconds(100), vec![1_u16, 2, 3, 4]).unwrap();
        let profile = || Profile::of_samples(vec![histogram()]).unwrap();
        for (model, other) in [(DataModel::Ilp32, DataModel::Lp64), (DataModel::Lp64, DataModel::Ilp32)] {
            let words = (model.word(), other.word());
            for form in [Form::Gnu, Form::Bsd, Form::OpenBsd, Form::Darwin] {
                let bytes = gmon::write(&profile(), Encoding::new(form, model, Order::Little)).unwrap();
                let image = Hints::new().with_word(other.word()).with_order(Order::Little);
                let said = read_profile(&ProfilePath::Stdin, &bytes, &image).err().map(|error| error.to_string());
                let expected = format!(
                    "standard input: a profile of a {} little-endian program, but the image is a {} little-endian one: name \
                     the program that wrote the profile",
                    words.0, words.1
                );
                assert_eq!(said, Some(expected), "{form}");
            }
        }
    }

    /// The number of full counters in a file of this form with one bin of this count.
    fn full(form: Form, bins: impl Into<Bins>) -> usize {
        let bins = bins.into();
        let end = if matches!(bins, Bins::Sparse { .. }) { u64::MAX } else { 0x1004 };
        let range = if end == u64::MAX { 0..end } else { 0x1000..end };
        let histogram = Histogram::new(range, Unit::seconds(0), bins).unwrap();
        let encoding = Encoding::new(form, DataModel::Lp64, Order::Little);
        let bytes = gmon::write(&Profile::of_samples(vec![histogram]).unwrap(), encoding).unwrap();
        let hints = Hints::new().with_form(form).with_model(DataModel::Lp64).with_order(Order::Little);
        read_profile(&ProfilePath::Stdin, &bytes, &hints).unwrap().info.saturated
    }

    #[test]
    fn only_counters_can_be_full() {
        assert_eq!([65_534, 65_535].map(|count: u16| full(Form::Bsd, vec![count])), [0, 1]);
        let wide = Form::FreeBsd(Counter { width: CounterWidth::Bits32, signed: false });
        assert_eq!([65_535, u32::MAX.into()].map(|count: u64| full(wide, vec![count])), [0, 1]);
        let raw = Bins::sparse(u64::MAX, vec![(0x1000, 65_535)]).unwrap();
        assert_eq!(full(Form::IllumosProf, raw), 0);
    }
}
