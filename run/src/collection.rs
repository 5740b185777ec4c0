//! The profiles of all processes, added up by executable.
//!
//! Each process writes `NAME.BUILD.PROCESS` and `NAME.BUILD.PROCESS.side`; the sums are `NAME.BUILD` and
//! `NAME.BUILD.side`. Profiles are added when their processes have ended. A sum replaces the files that it contains, so
//! the number of files does not grow with the number of processes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

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

/// The directory of the profiles.
pub(crate) struct Collection {
    directory: PathBuf,
    is_sum: bool,
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

/// The profile of a process.
struct Part {
    path: PathBuf,
    process: i32,
}

impl Collection {
    /// Makes the directory, and removes the profiles of an earlier run from it.
    ///
    /// # Errors
    ///
    /// When the directory cannot be made, or is not empty and has no profiles of gmon-run.
    pub(crate) fn create(arguments: &Arguments) -> Result<Collection, Error> {
        let path = &arguments.output;
        let fail = |error: io::Error| Error::Directory(path.clone(), error);
        fs::create_dir_all(path).map_err(fail)?;
        let directory = fs::canonicalize(path).map_err(fail)?;
        let collection = Collection { directory, is_sum: arguments.children == Children::Sum };
        for (name, path) in collection.files().map_err(fail)? {
            if is_ours(&name) {
                fs::remove_file(path).map_err(fail)?;
            }
        }
        Ok(collection)
    }

    /// The directory, in which the profiles begin with the name of the executable.
    pub(crate) fn prefix(&self) -> &Path {
        &self.directory
    }

    fn files(&self) -> io::Result<Vec<(String, PathBuf)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            let name = path.file_name().map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned());
            files.extend(name.map(|name| (name, path)));
        }
        Ok(files)
    }

    /// The profiles of processes that have ended, by executable.
    fn parts(&self) -> BTreeMap<String, Vec<Part>> {
        let mut parts: BTreeMap<String, Vec<Part>> = BTreeMap::new();
        for (name, path) in self.files().unwrap_or_default() {
            if let Some((executable, process)) = parse_name(&name)
                && !is_there(process)
            {
                parts.entry(executable.to_owned()).or_default().push(Part { path, process });
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
            parts.sort_by(|a, b| (a.process, &a.path).cmp(&(b.process, &b.path)));
            if let Err(error) = self.add_parts(&executable, &parts) {
                say(&format!("{executable}: cannot add up the profiles of its processes: {error}"));
            }
        }
    }

    /// Adds profiles to the sum of an executable, and removes them.
    fn add_parts(&self, executable: &str, parts: &[Part]) -> Result<(), Box<dyn std::error::Error>> {
        let sum_path = self.directory.join(executable);
        let mut sum = Accumulator::new();
        let mut sides = side_file::Accumulator::new();
        let mut added = Vec::new();
        for path in std::iter::once(&sum_path).chain(parts.iter().map(|part| &part.path)) {
            let Ok(bytes) = fs::read(path) else { continue };
            if bytes.is_empty() {
                // The process was killed before it wrote.
                added.push(path.clone());
                continue;
            }
            let profile = Profile::parse(&bytes)?;
            let side = match fs::read(with_ending(path, SIDE)) {
                Ok(side) => Some(SideFile::parse(&side)?).filter(|side| side.is_of(&bytes)),
                Err(_) => None,
            };
            sum.add(profile)?;
            if let Some(side) = side {
                sides.add(&side)?;
            }
            added.push(path.clone());
        }
        let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
        let bytes = gmon::write(&sum.finish(), encoding)?;
        let mut side = sides.finish();
        side.set_profile(Some(Checksum::of(&bytes)));
        store(&with_ending(&sum_path, SIDE), &side.write())?;
        store(&sum_path, &bytes)?;
        for path in added.iter().filter(|path| **path != sum_path) {
            let _ = fs::remove_file(with_ending(path, SIDE));
            fs::remove_file(path)?;
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
            let what = if self.is_sum { "executables" } else { "processes" };
            say(&format!("{directory}: profiles of {profiles} {what}: gprof shows them"));
        }
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
}
