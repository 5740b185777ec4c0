//! The profiles of all processes, added up by executable.
//!
//! Each process writes `NAME.BUILD.PROCESS` and `NAME.BUILD.PROCESS.side`; the sums are `NAME.BUILD` and
//! `NAME.BUILD.side`. Profiles are added when their processes have ended. A sum replaces the files that it contains, so
//! the number of files does not grow with the number of processes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gmon::side_file::{self, Checksum, SideFile};
use gmon::{Accumulator, DataModel, Encoding, Form, Order, Profile};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open, test_kill_process};

use crate::arguments::{Arguments, Children};
use crate::directory;
use crate::error::Error;
use crate::job::Rank;
use crate::message::say;
use crate::names::{NEW, SIDE, is_ours, parse_name, with_ending};
use crate::perf_maps;

/// The directory of the profiles.
pub(crate) struct Collection {
    directory: PathBuf,
    is_sum: bool,
    /// The profiles that are in no sum: those that do not fit, and those that are in a sum but cannot be removed.
    left_out: Mutex<BTreeSet<PathBuf>>,
    /// The profiles whose generated code has its names, or has none.
    named: Mutex<BTreeSet<PathBuf>>,
    /// The directory of the perf map files.
    maps: PathBuf,
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
        if let Some(mut side) = side {
            // A sum has no run-time addresses, so generated code without names becomes one function.
            side.name_generated_code(&[]);
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
    /// Makes the directory, or takes that of an earlier run.
    ///
    /// # Errors
    ///
    /// When the directory cannot be made, or has files and is not gmon-run's.
    pub(crate) fn create(arguments: &Arguments) -> Result<Collection, Error> {
        let (directory, marker) = directory::open(&arguments.output, Rank::of_process())?;
        Ok(Collection::new(directory, arguments.children == Children::Sum, marker))
    }

    fn new(directory: PathBuf, is_sum: bool, marker: File) -> Collection {
        let maps = PathBuf::from(perf_maps::DIRECTORY);
        Collection { directory, is_sum, left_out: Mutex::default(), named: Mutex::default(), maps, _marker: marker }
    }

    /// The directory, in which the profiles begin with the name of the executable.
    pub(crate) fn prefix(&self) -> &Path {
        &self.directory
    }

    /// Collects what processes that have ended have left: names the code that they generated, and then adds up the
    /// profiles of some or all executables.
    pub(crate) fn collect(&self, which: Which) {
        let parts = self.parts();
        self.name_generated_code(&parts);
        if self.is_sum {
            self.add_up(parts, which);
        }
    }

    /// The profiles of processes that have ended, by executable. Where profiles stay, these are the new ones.
    fn parts(&self) -> BTreeMap<String, Vec<PathBuf>> {
        let mut parts: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        let (Ok(left_out), Ok(named)) = (self.left_out.lock(), self.named.lock()) else { return parts };
        for (name, path) in directory::files(&self.directory).unwrap_or_default() {
            if let Some((executable, process)) = parse_name(&name)
                && !left_out.contains(&path)
                && (self.is_sum || !named.contains(&path))
                && !is_there(process)
            {
                parts.entry(executable.to_owned()).or_default().push(path);
            }
        }
        parts
    }

    /// Gives the code that processes generated the names in their perf map files. A later process with the same number
    /// may replace such a file, so this must not wait for the end of the program.
    fn name_generated_code(&self, parts: &BTreeMap<String, Vec<PathBuf>>) {
        let Ok(mut named) = self.named.lock() else { return };
        let parts: BTreeSet<PathBuf> = parts.values().flatten().cloned().collect();
        for part in parts.difference(&named) {
            if let Err(error) = self.name(part) {
                say(&error);
            }
        }
        // Profiles that a sum has replaced are no longer among the parts.
        if self.is_sum {
            *named = parts;
        } else {
            named.extend(parts);
        }
    }

    /// Names the generated code of one profile.
    fn name(&self, part: &Path) -> Result<(), String> {
        let name = part.file_name().unwrap_or_default().to_string_lossy();
        let Some((_, process)) = parse_name(&name) else { return Ok(()) };
        let map = perf_maps::path(&self.maps, process);
        let path = with_ending(part, SIDE);
        // Most processes generate no code, and their side files need not be read.
        if fs::symlink_metadata(&map).is_err() {
            return Ok(());
        }
        let (Ok(bytes), Ok(status)) = (fs::read(&path), fs::metadata(&path)) else { return Ok(()) };
        let Some(mut side) = SideFile::parse(&bytes).ok().filter(SideFile::has_unnamed_code) else { return Ok(()) };
        let refused = |why: perf_maps::Refusal| format!("{}: its names are not used: {why}", map.display());
        let Some(names) = perf_maps::read(&map, &side, &status).map_err(refused)? else { return Ok(()) };
        if side.name_generated_code(&names) {
            store(&path, &side.write()).map_err(|error| format!("{}: cannot write names: {error}", path.display()))?;
        }
        Ok(())
    }

    /// Adds up profiles.
    fn add_up(&self, parts: BTreeMap<String, Vec<PathBuf>>, which: Which) {
        for (executable, mut parts) in parts {
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
        let files = directory::files(&self.directory).unwrap_or_default();
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

/// Writes a file, which appears when it is complete.
fn store(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = with_ending(path, NEW);
    // What has the name may be a link that somebody else has made.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => File::create_new(&new)?.write_all(bytes)?,
    }
    fs::rename(new, path)
}

/// Whether a process with this number has not ended. A process that has ended keeps the number until somebody waits for
/// the process, which the first process of some containers does late.
fn is_there(process: i32) -> bool {
    let Some(process) = Pid::from_raw(process) else { return false };
    match pidfd_open(process, PidfdFlags::empty()) {
        // The descriptor is readable when the process has ended.
        Ok(descriptor) => poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&Timespec::default())) != Ok(1),
        Err(Errno::SRCH) => false,
        // An old kernel has no descriptors of processes, and a system-call filter may forbid these descriptors.
        Err(_) => test_kill_process(process) != Err(Errno::SRCH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_is_not_there_although_nobody_has_waited_for_it() {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let number = i32::try_from(child.id()).unwrap();
        let has_ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_raw(number).unwrap()), has_ended).unwrap().unwrap();
        assert!(!is_there(number));
        assert!(test_kill_process(Pid::from_raw(number).unwrap()).is_ok(), "the number is in use");
        child.wait().unwrap();
        assert!(!is_there(number));
        assert!(is_there(i32::try_from(std::process::id()).unwrap()));
        assert!(!is_there(0));
    }

    /// A directory for the files of a test, and a collection in it.
    fn collection(name: &str) -> (PathBuf, Collection) {
        let place = std::env::temp_dir().join(format!("gmon-run-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        let (directory, marker) = directory::take(&place).unwrap().unwrap();
        let collection = Collection { maps: place.clone(), ..Collection::new(directory, true, marker) };
        (place, collection)
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
            collection.collect(Which::All);
            let sum = Profile::parse(&fs::read(place.join("prog.0123abcd")).unwrap()).unwrap();
            assert_eq!(sum.arcs().iter().map(|arc| arc.count).sum::<u64>(), 35);
            let left: Vec<u32> = (0..8).filter(|number| part(*number).exists()).collect();
            assert_eq!(left, [5, 6]);
        }
        fs::write(part(8), profile(5, 100)).unwrap();
        collection.collect(Which::Crowded);
        assert!(part(8).exists(), "one profile waits");
        collection.collect(Which::All);
        let sum = Profile::parse(&fs::read(place.join("prog.0123abcd")).unwrap()).unwrap();
        assert_eq!(sum.arcs().iter().map(|arc| arc.count).sum::<u64>(), 40);
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn empty_profiles_make_no_sum() {
        let (place, collection) = collection("empty");
        fs::write(place.join("prog.0123abcd.2000000000"), b"").unwrap();
        collection.collect(Which::All);
        assert!(!place.join("prog.0123abcd").exists());
        fs::remove_dir_all(place).unwrap();
    }

    /// A side file of a profile, with as many samples in code that no object has as there are addresses.
    fn side_of(profile: &[u8], addresses: &[u64]) -> Vec<u8> {
        let mut side = SideFile::new(gmon::Word::W64);
        side.add_property(side_file::property::START, b"0").unwrap();
        side.set_profile(Some(Checksum::of(profile)));
        for address in addresses {
            let place = side_file::Place { object: side_file::ELSEWHERE, address: *address };
            side.add_context(None, place, 1).unwrap();
        }
        side.write()
    }

    /// The names of the functions of generated code in a side file, each with its samples.
    fn generated(path: &Path) -> Vec<(String, u64)> {
        let side = SideFile::parse(&fs::read(path).unwrap()).unwrap();
        let names = |number| side.functions(number).iter().map(|name| String::from_utf8_lossy(name).into_owned());
        let named = side.objects().flat_map(|(number, _)| names(number).enumerate().map(move |of| (number, of)));
        let ticks = |(number, (index, name))| {
            let nodes = side.contexts().nodes().iter().filter(|node| node.place().object == number);
            let nodes = nodes.filter(|node| side_file::function_addresses(index).contains(&node.place().address));
            (name, nodes.map(side_file::Node::ticks).sum())
        };
        named.map(ticks).collect()
    }

    #[test]
    fn generated_code_has_its_names_in_each_file_and_in_the_sum() {
        let (place, collection) = collection("generated");
        let part = |number: u32| place.join(format!("prog.0123abcd.{}", 2_000_000_000 + number));
        // The same function is at another address in each process, and the same address is another function.
        let maps = ["1000 10 first\n2000 10 second\n", "1000 10 second\n3000 10 first\n", ""];
        for (number, map) in (0..).zip(maps) {
            let profile = profile(1, 100);
            fs::write(part(number), &profile).unwrap();
            fs::write(with_ending(&part(number), SIDE), side_of(&profile, &[0x1008, 0x2008, 0x300f])).unwrap();
            if !map.is_empty() {
                fs::write(perf_maps::path(&place, 2_000_000_000 + number as i32), map).unwrap();
            }
        }
        collection.collect(Which::Crowded);
        let named =
            |of: &[(&str, u64)]| of.iter().map(|(name, ticks)| ((*name).to_owned(), *ticks)).collect::<Vec<_>>();
        assert_eq!(generated(&with_ending(&part(0), SIDE)), named(&[("[jit]", 1), ("first", 1), ("second", 1)]));
        assert_eq!(generated(&with_ending(&part(1), SIDE)), named(&[("[jit]", 1), ("first", 1), ("second", 1)]));
        assert_eq!(generated(&with_ending(&part(2), SIDE)), []);
        // A later process with the same number changes nothing.
        fs::write(perf_maps::path(&place, 2_000_000_000), "1000 1000 later\n").unwrap();
        collection.collect(Which::Crowded);
        collection.collect(Which::All);
        let sum = generated(&place.join("prog.0123abcd.side"));
        assert_eq!(sum, named(&[("[jit]", 5), ("first", 2), ("second", 2)]));
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn profiles_that_are_not_added_up_get_their_names_and_stay() {
        let (place, mut collection) = collection("each");
        collection.is_sum = false;
        let (part, profile) = (place.join("prog.0123abcd.2000000000"), profile(1, 100));
        fs::write(&part, &profile).unwrap();
        fs::write(with_ending(&part, SIDE), side_of(&profile, &[0x1008])).unwrap();
        fs::write(perf_maps::path(&place, 2_000_000_000), "1000 10 first\n").unwrap();
        assert_eq!(collection.parts().len(), 1);
        collection.collect(Which::All);
        assert!(part.exists() && !place.join("prog.0123abcd").exists());
        assert_eq!(generated(&with_ending(&part, SIDE)), [("first".to_owned(), 1)]);
        assert!(collection.parts().is_empty(), "nothing is new");
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn links_of_others_are_not_followed() {
        let (place, _collection) = collection("links");
        let (file, other) = (place.join("prog.0123abcd"), place.join("other"));
        fs::write(&other, b"mine").unwrap();
        std::os::unix::fs::symlink(&other, with_ending(&file, NEW)).unwrap();
        store(&file, b"sum").unwrap();
        assert_eq!((fs::read(&file).unwrap(), fs::read(&other).unwrap()), (b"sum".to_vec(), b"mine".to_vec()));
        let directory = place.join("directory");
        fs::create_dir(&directory).unwrap();
        std::os::unix::fs::symlink(&other, directory.join(".gmon-run")).unwrap();
        assert!(directory::take(&directory).is_err());
        assert_eq!(fs::read(&other).unwrap(), b"mine");
        fs::remove_dir_all(place).unwrap();
    }
}
