//! The profiles of all processes, added up by executable.
//!
//! Each process writes `NAME.BUILD.PROCESS` and `NAME.BUILD.PROCESS.side`; the sums are `NAME.BUILD` and
//! `NAME.BUILD.side`. Profiles are added when their processes have ended. A sum replaces the files that it contains, so
//! the number of files does not grow with the number of processes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gmon::side_file::{self, Checksum, SideFile};
use gmon::{Accumulator, DataModel, Encoding, Form, Order, Profile};
use rustix::process::{Pid, test_kill_process};

use crate::arguments::{Arguments, Children};
use crate::error::Error;
use crate::message::say;

/// What the name of a side file has behind the name of the profile.
const SIDE: &str = ".side";
/// The ending of a sum that is not complete yet.
const NEW: &str = ".new";
/// The file that says that a directory is gmon-run's. A gmon-run that uses the directory holds a lock on the file.
const MARKER: &str = ".gmon-run";

/// The directory of the profiles.
pub(crate) struct Collection {
    directory: PathBuf,
    is_sum: bool,
    /// The profiles that are in no sum: those that do not fit, and those that are in a sum but cannot be removed.
    left_out: Mutex<BTreeSet<PathBuf>>,
    /// Locked as long as this process runs.
    _marker: File,
}

/// Which profiles are added up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those of executables that have many.
    Crowded,
    /// All.
    All,
}

/// The number of profiles of one executable that may wait.
const CROWD: usize = 16;

/// How many gmon-runs may use directories of one name at the same time.
const MOST_DIRECTORIES: u32 = 1000;

/// The sum of some profiles, and of their side files.
#[derive(Default)]
struct Sum {
    profiles: Accumulator,
    sides: side_file::Accumulator,
}

impl Sum {
    /// Adds a profile. After an error, the sum is the same as before.
    fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
        let profile = Profile::parse(bytes)?;
        let side = match fs::read(with_ending(path, SIDE)) {
            Ok(side) => Some(SideFile::parse(&side)?).filter(|side| side.is_of(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let mut profiles = self.profiles.clone();
        profiles.add(profile)?;
        if let Some(side) = side {
            self.sides.add(&side)?;
        }
        self.profiles = profiles;
        Ok(())
    }

    /// Writes the sum.
    fn store(self, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
        let bytes = gmon::write(&self.profiles.finish(), encoding)?;
        let mut side = self.sides.finish();
        side.set_profile(Some(Checksum::of(&bytes)));
        store(&with_ending(path, SIDE), &side.write())?;
        store(path, &bytes)?;
        Ok(())
    }
}

impl Collection {
    /// Makes the directory, and removes the profiles of an earlier run from it. If another gmon-run uses the directory,
    /// takes one whose name has a number behind.
    ///
    /// # Errors
    ///
    /// When the directory cannot be made, or has files and is not gmon-run's.
    pub(crate) fn create(arguments: &Arguments) -> Result<Collection, Error> {
        let wanted = &arguments.output;
        for number in 1..=MOST_DIRECTORIES {
            let path = if number == 1 { wanted.clone() } else { with_ending(wanted, &format!(".{number}")) };
            let fail = |error: io::Error| Error::Directory(path.clone(), error);
            let Some((directory, marker)) = take(&path).map_err(fail)? else { continue };
            let is_sum = arguments.children == Children::Sum;
            let collection = Collection { directory, is_sum, left_out: Mutex::default(), _marker: marker };
            for (name, path) in collection.files().map_err(fail)? {
                if is_ours(&name) {
                    fs::remove_file(path).map_err(fail)?;
                }
            }
            if number > 1 {
                say(&format!("another gmon-run uses {}: the profiles are in {}", wanted.display(), path.display()));
            }
            return Ok(collection);
        }
        Err(Error::Directory(wanted.clone(), io::ErrorKind::AlreadyExists.into()))
    }

    /// The directory, in which the profiles begin with the name of the executable.
    pub(crate) fn prefix(&self) -> &Path {
        &self.directory
    }

    /// The regular files of the directory.
    fn files(&self) -> io::Result<Vec<(String, PathBuf)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                files.push((String::from_utf8_lossy(entry.file_name().as_bytes()).into_owned(), entry.path()));
            }
        }
        Ok(files)
    }

    /// The profiles of processes that have ended, by executable.
    fn parts(&self) -> BTreeMap<String, Vec<PathBuf>> {
        let left_out = self.left_out.lock().map(|left_out| left_out.clone()).unwrap_or_default();
        let mut parts: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for (name, path) in self.files().unwrap_or_default() {
            if let Some((executable, process)) = parse_name(&name)
                && !left_out.contains(&path)
                && !is_there(process)
            {
                parts.entry(executable.to_owned()).or_default().push(path);
            }
        }
        parts
    }

    /// Adds up profiles of processes that have ended.
    pub(crate) fn add_up(&self, which: Which) {
        for (executable, mut parts) in self.parts() {
            if which == Which::Crowded && parts.len() < CROWD {
                continue;
            }
            parts.sort();
            if let Err(error) = self.add_parts(&executable, &parts) {
                say(&format!("{executable}: cannot add up the profiles of its processes: {error}"));
                parts.into_iter().for_each(|part| self.leave_out(part));
            }
        }
    }

    fn leave_out(&self, part: PathBuf) {
        if let Ok(mut left_out) = self.left_out.lock() {
            left_out.insert(part);
        }
    }

    /// Adds profiles to the sum of an executable, and removes them. A profile that does not fit stays beside the sum.
    fn add_parts(&self, executable: &str, parts: &[PathBuf]) -> Result<(), Box<dyn std::error::Error>> {
        let path = self.directory.join(executable);
        let (mut sum, mut has_profiles, mut is_changed, mut added) = (Sum::default(), false, false, Vec::new());
        match fs::read(&path) {
            Ok(bytes) => {
                sum.add(&path, &bytes)?;
                has_profiles = true;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        for part in parts {
            let bytes = fs::read(part)?;
            // A process that was killed before it wrote leaves an empty file.
            let result = if bytes.is_empty() { Ok(()) } else { sum.add(part, &bytes) };
            match result {
                Ok(()) => {
                    is_changed |= !bytes.is_empty();
                    added.push(part);
                }
                Err(error) => {
                    say(&format!("{}: not in the sum: {error}", part.display()));
                    self.leave_out(part.clone());
                }
            }
        }
        if is_changed {
            sum.store(&path)?;
            has_profiles = true;
        }
        for part in added {
            // An empty file may belong to a process that runs in another namespace of process numbers.
            let is_empty = fs::metadata(part).is_ok_and(|status| status.len() == 0);
            if is_empty && !has_profiles {
                self.leave_out(part.clone());
                continue;
            }
            let _ = fs::remove_file(with_ending(part, SIDE));
            if fs::remove_file(part).is_err() {
                self.leave_out(part.clone());
            }
        }
        Ok(())
    }

    /// Says what the run has left, if somebody reads standard error, and whether nothing is there.
    pub(crate) fn tell_result(&self, is_expected_to_fail: bool) {
        let files = self.files().unwrap_or_default();
        let profiles = files.iter().filter(|(name, _)| is_ours(name) && !name.ends_with(SIDE));
        let profiles = profiles.filter(|(_, path)| fs::metadata(path).is_ok_and(|status| status.len() > 0)).count();
        let directory = self.directory.display();
        if profiles == 0 && !is_expected_to_fail {
            say(&format!("{directory}: no process left a profile (a process that is killed needs --live)"));
        } else if profiles > 0 && io::stderr().is_terminal() {
            let what = match (self.is_sum, profiles) {
                (true, 1) => "executable",
                (true, _) => "executables",
                (false, 1) => "process",
                (false, _) => "processes",
            };
            say(&format!("{directory}: profiles of {profiles} {what}: gprof shows them"));
        }
    }
}

/// Makes a directory gmon-run's, or takes one that is. The result is `None` if another gmon-run uses the directory.
fn take(path: &Path) -> io::Result<Option<(PathBuf, File)>> {
    fs::create_dir_all(path)?;
    let directory = fs::canonicalize(path)?;
    let marker = directory.join(MARKER);
    if !marker.exists() && fs::read_dir(&directory)?.next().is_some() {
        return Err(io::Error::other("it has files of others"));
    }
    let marker = File::create(marker)?;
    match marker.try_lock() {
        Ok(()) => Ok(Some((directory, marker))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Writes a file, which appears when it is complete.
fn store(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = with_ending(path, NEW);
    fs::write(&new, bytes)?;
    fs::rename(new, path)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Whether a process with this number is there.
fn is_there(process: i32) -> bool {
    Pid::from_raw(process).is_some_and(|process| test_kill_process(process) != Err(rustix::io::Errno::SRCH))
}

/// The executable and the process in the name `NAME.BUILD.PROCESS` or `NAME.BUILD.PROCESS-ATTEMPT` of a profile.
fn parse_name(name: &str) -> Option<(&str, i32)> {
    let (executable, process) = name.rsplit_once('.')?;
    let process = process.split_once('-').map_or(process, |(process, _)| process);
    let process: i32 = process.parse().ok()?;
    is_sum_name(executable).then_some((executable, process))
}

/// Whether a name is `NAME.BUILD`.
fn is_sum_name(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(name, build)| {
        !name.is_empty() && build.len() == 8 && build.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Whether gmon-run or its runtime gives files such names.
fn is_ours(name: &str) -> bool {
    let name = name.strip_suffix(NEW).unwrap_or(name);
    let name = name.strip_suffix(SIDE).unwrap_or(name);
    is_sum_name(name) || parse_name(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_executable_and_the_process() {
        assert_eq!(parse_name("cc1.0123abcd.4711"), Some(("cc1.0123abcd", 4711)));
        assert_eq!(parse_name("python3.11.0123abcd.4711-2"), Some(("python3.11.0123abcd", 4711)));
        for other in ["cc1.0123abcd", "cc1.4711", "cc1.0123abcg.4711", ".0123abcd.4711", "cc1.0123abcd.4711.side"] {
            assert_eq!(parse_name(other), None, "{other}");
        }
        assert!(is_ours("cc1.0123abcd.4711.side") && is_ours("cc1.0123abcd") && is_ours("cc1.0123abcd.side.new"));
        assert!(!is_ours("main.c") && !is_ours("notes.side") && !is_ours("0123abcd"));
    }

    /// A directory for the files of a test, and a collection in it.
    fn collection(name: &str) -> (PathBuf, Collection) {
        let place = std::env::temp_dir().join(format!("gmon-run-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        let (directory, marker) = take(&place).unwrap().unwrap();
        (place, Collection { directory, is_sum: true, left_out: Mutex::default(), _marker: marker })
    }

    /// A profile with so many calls, and the rate of its one bin.
    fn profile(calls: u64, rate: u32) -> Vec<u8> {
        let unit = gmon::Unit::seconds(rate);
        let histogram = gmon::Histogram::new(0x1000..0x1010, unit, vec![1_u16, 0, 0, 0]).unwrap();
        let profile = Profile::of_samples(vec![histogram]).unwrap();
        let profile = profile.with_arcs(vec![gmon::Arc::new(0x1004, 0x1008, calls)]);
        gmon::write(&profile, Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little)).unwrap()
    }

    #[test]
    fn profiles_that_do_not_fit_stay_and_the_others_are_added_once() {
        let (place, collection) = collection("misfits");
        // No process has a number this high.
        let part = |number: u32| place.join(format!("prog.0123abcd.{}", 2_000_000_000 + number));
        for number in 0..5 {
            fs::write(part(number), profile(7, 100)).unwrap();
        }
        fs::write(part(5), profile(1000, 50)).unwrap();
        fs::write(part(6), &profile(1000, 100)[..30]).unwrap();
        fs::write(part(7), b"").unwrap();
        for _ in 0..2 {
            collection.add_up(Which::All);
            let sum = Profile::parse(&fs::read(place.join("prog.0123abcd")).unwrap()).unwrap();
            assert_eq!(sum.arcs().iter().map(|arc| arc.count).sum::<u64>(), 35);
            let left: Vec<u32> = (0..8).filter(|number| part(*number).exists()).collect();
            assert_eq!(left, [5, 6]);
        }
        fs::write(part(8), profile(5, 100)).unwrap();
        collection.add_up(Which::Crowded);
        assert!(part(8).exists(), "one profile waits");
        collection.add_up(Which::All);
        let sum = Profile::parse(&fs::read(place.join("prog.0123abcd")).unwrap()).unwrap();
        assert_eq!(sum.arcs().iter().map(|arc| arc.count).sum::<u64>(), 40);
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn empty_profiles_make_no_sum() {
        let (place, collection) = collection("empty");
        fs::write(place.join("prog.0123abcd.2000000000"), b"").unwrap();
        collection.add_up(Which::All);
        assert!(!place.join("prog.0123abcd").exists());
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn a_directory_with_files_of_others_is_not_taken_and_a_locked_one_neither() {
        let (place, _collection) = collection("taken");
        assert!(take(&place).unwrap().is_none(), "another gmon-run uses the directory");
        let others = place.join("others");
        fs::create_dir(&others).unwrap();
        fs::write(others.join("backup.20261127"), b"mine").unwrap();
        assert!(take(&others).unwrap_err().to_string().contains("files of others"));
        assert!(others.join("backup.20261127").exists());
        fs::remove_dir_all(place).unwrap();
    }
}
