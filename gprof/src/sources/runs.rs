//! Reads the profiles of all runs of one image.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gmon::{Accumulator, Hints, Profile};

use super::mismatch::{self, CallCheck};
use super::profile_file::{self, ProfileFile, ProfileSum};
use super::shared_objects::{Program, RunFiles};
use super::side_sum::SideSum;
use super::{rebase, side_info};
use crate::error::Error;
use crate::question::files::ProfilePath;
use crate::terminal::progress::Progress;

/// Tells what the run waits for.
type Say<'a> = &'a mut dyn FnMut(&str);

/// What profiles of one image are read with and compared with.
pub(super) struct Reading<'a> {
    pub(super) hints: Hints,
    /// The hints for a profile that has neither GNU's magic nor 4.4BSD's version, as in GNU gprof.
    pub(super) old: Option<Hints>,
    /// The value of [`crate::program::image::Image::sampled`].
    pub(super) sampled: Option<Range<u64>>,
    /// The addresses of the image's code.
    pub(super) code: Range<u64>,
    /// The comparison of calls with the code of the image, if the image has code.
    pub(super) calls: Option<CallCheck<'a>>,
    /// The identity of the image (build ID, or checksum of headers), if the image has one.
    pub(super) identity: Option<&'a str>,
    /// Whether to read the lists of objects beside the profiles, or only the identity of the program there.
    pub(super) with_objects: bool,
    /// Whether to use the counts in side files.
    pub(super) with_sides: bool,
    /// Whether to leave out the profiles of other programs and builds, as a sum does.
    pub(super) leaves_out_others: bool,
    /// The sample units of other images.
    pub(super) units: &'a Accumulator,
}

/// The profiles of all runs, and the files beside each profile.
#[derive(Default)]
pub(super) struct Runs {
    pub(super) sum: ProfileSum,
    /// For each profile, in the same order, the files beside the profile. The side files are in `side`.
    pub(super) files: Vec<RunFiles>,
    /// The sum of the side files.
    pub(super) side: SideSum,
}

impl Runs {
    /// Adds the runs that follow these. Returns `None` when their profiles or side files are not compatible.
    fn append(&mut self, later: Runs) -> Option<()> {
        self.files.extend(later.files);
        self.side.append(later.side)?;
        self.sum.append(later.sum)
    }
}

impl Reading<'_> {
    /// Reads profiles, on all cores if they are many. Reads each file once, or twice if one of many files is damaged.
    ///
    /// # Errors
    ///
    /// When a profile cannot be read, is damaged, or is not compatible with the earlier profiles of this image or of
    /// another image. The error comes with the runs before that profile.
    pub(super) fn all(&self, paths: &[ProfilePath], progress: &mut Progress<'_>) -> Result<Runs, Box<(Error, Runs)>> {
        let done = AtomicUsize::new(0);
        let progress = RefCell::new(progress);
        let mut tell = || progress.borrow_mut().count("reading profiles", done.load(Relaxed), paths.len());
        let mut say = |message: &str| progress.borrow_mut().wait_for(message);
        if let Some(runs) = self.in_parallel(paths, &done, &mut tell) {
            return Ok(runs);
        }
        // The sums of the threads are not compatible, or a thread found an error: reading one after the other finds
        // the file.
        done.store(0, Relaxed);
        let mut runs = Runs { sum: ProfileSum::compatible_with(self.units), ..Runs::default() };
        match self.each(paths, &done, (&mut tell, &mut say), &mut runs) {
            Ok(()) => Ok(runs),
            Err(error) => Err(Box::new((error, runs))),
        }
    }

    /// Reads profiles one after the other.
    fn each(
        &self,
        paths: &[ProfilePath],
        done: &AtomicUsize,
        (tell, say): (&mut dyn FnMut(), Say<'_>),
        runs: &mut Runs,
    ) -> Result<(), Error> {
        for path in paths {
            tell();
            let bytes = profile_file::bytes_or_say(path, say)?;
            let mut beside = match path {
                ProfilePath::Stdin => RunFiles::default(),
                ProfilePath::File(file) => RunFiles::read(file, &bytes, self.identity, self.with_objects),
                ProfilePath::Memory(profile) => RunFiles::of_memory(profile, self.identity),
            };
            let side = beside.side.take().filter(|_| self.with_sides);
            if self.leaves_out(&beside) {
                runs.files.push(RunFiles { listed: None, ..beside });
                done.fetch_add(1, Relaxed);
                continue;
            }
            runs.files.push(beside);
            let mut file = self.parse_profile(path, &bytes)?;
            rebase::undo_slide(&mut file.profile, self.sampled.as_ref());
            file.elsewhere = rebase::keep_program(&mut file.profile, &self.code);
            if let Some(side) = &side {
                (file.info.rank, file.info.host) = side_info::process(side);
            }
            let other = rebase::samples_elsewhere(&file.profile, file.elsewhere, &self.code);
            let mismatch = other.or_else(|| self.mismatch(&file.profile, runs.files.last()));
            let samples = file.samples();
            runs.sum.add(path, file, mismatch)?;
            let fail = |source: gmon::Error| Error::Profile { file: format!("{path}.side"), source };
            runs.side.add(side, samples).map_err(fail)?;
            done.fetch_add(1, Relaxed);
        }
        Ok(())
    }

    fn parse_profile(&self, path: &ProfilePath, bytes: &[u8]) -> Result<ProfileFile, Error> {
        let first = profile_file::read_profile(path, bytes, &self.hints);
        match self.old {
            Some(old) if first.as_ref().map_or(true, ProfileFile::is_old) => {
                profile_file::read_profile(path, bytes, &old).or(first)
            }
            _ => first,
        }
    }

    /// Whether to leave out the profile beside these files.
    pub(super) fn leaves_out(&self, beside: &RunFiles) -> bool {
        self.leaves_out_others && matches!(beside.program, Program::Other(..))
    }

    /// The warning if the profile does not match the image. A run whose files name another program gets its warning
    /// elsewhere.
    fn mismatch(&self, profile: &Profile, beside: Option<&RunFiles>) -> Option<String> {
        let is_known = beside.is_some_and(|beside| matches!(beside.program, Program::Other(..)));
        let calls = self.calls.as_ref().filter(|_| !is_known);
        let expected = mismatch::expected_addresses(&self.code, self.sampled.as_ref());
        mismatch::find_wrong_addresses(profile, &expected).or_else(|| calls?.find(profile))
    }

    /// Reads many profiles on all cores. Returns `None` when the profiles are few, when one of them can be read only
    /// once, or when any error occurs.
    fn in_parallel(&self, paths: &[ProfilePath], done: &AtomicUsize, tell: &mut dyn FnMut()) -> Option<Runs> {
        if paths.iter().any(ProfilePath::is_read_once) {
            return None;
        }
        let read = |chunk: &[ProfilePath], tell: &mut dyn FnMut()| {
            let mut runs = Runs { sum: ProfileSum::compatible_with(self.units), ..Runs::default() };
            // No thread reads a pipe.
            self.each(chunk, done, (tell, &mut |_| {}), &mut runs).ok().map(|()| runs)
        };
        let mut chunks = profile_file::map_chunks(paths, read, tell)?.into_iter();
        let mut all = chunks.next()?;
        for later in chunks {
            all.append(later)?;
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::profile_file::FileInfo;
    use crate::terminal::Terminal;
    use std::fs;

    use gmon::{Arc, DataModel, Encoding, Form, Order, Word};

    /// Writes profiles of one image: each has its own call and a call that all have.
    fn files(count: u64) -> (std::path::PathBuf, Vec<ProfilePath>) {
        let directory = std::env::temp_dir().join(format!("gprof-runs-{}-{count}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let paths = (0..count).map(|number| {
            let own = Arc::new(0x1000, 0x2000 + number, number + 1);
            let arcs = vec![own, Arc::new(0x1000, 0x1100, 1)];
            let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
            let path = directory.join(number.to_string());
            fs::write(&path, gmon::write(&Profile::new().with_arcs(arcs), encoding).unwrap()).unwrap();
            ProfilePath::File(path)
        });
        let paths = paths.collect();
        (directory, paths)
    }

    #[test]
    fn threads_come_to_the_same_as_one_after_the_other() {
        let (directory, paths) = files(100);
        let hints = Hints::new().with_word(Word::W64).with_order(Order::Little);
        let units = Accumulator::default();
        let reading = Reading {
            hints,
            old: None,
            sampled: None,
            code: 0x1000..0x9000,
            calls: None,
            identity: None,
            with_objects: false,
            with_sides: true,
            leaves_out_others: false,
            units: &units,
        };
        let done = AtomicUsize::new(0);
        let mut alone = Runs::default();
        reading.each(&paths, &done, (&mut || {}, &mut |_| {}), &mut alone).unwrap();
        if let Some(together) = reading.in_parallel(&paths, &done, &mut || {}) {
            let names = |files: &[FileInfo]| files.iter().map(|info| info.file.clone()).collect::<Vec<_>>();
            assert_eq!(names(&together.sum.files), names(&alone.sum.files));
            assert_eq!(together.files.len(), 100);
            assert_eq!(together.sum.finish().0, alone.sum.finish().0);
        }
        // Reading one after the other finds a damaged profile.
        let ProfilePath::File(path) = &paths[60] else { unreachable!() };
        fs::write(path, b"gmon").unwrap();
        assert!(reading.in_parallel(&paths, &done, &mut || {}).is_none());
        let clock = || std::time::Duration::ZERO;
        let mut nowhere = std::io::sink();
        let mut progress = Progress::new(&mut nowhere, &Terminal::default(), &clock);
        let (wrong, before) = *reading.all(&paths, &mut progress).err().unwrap();
        assert!(wrong.to_string().contains(&path.display().to_string()), "{wrong}");
        assert_eq!((before.sum.files.len(), before.files.len()), (60, 61));
        fs::remove_dir_all(directory).unwrap();
    }
}
