//! What is watched: a program, its profile, and the process. Linux's /proc shows the program of a process, and the live
//! profile that the process counts in.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::table::State;
use crate::error::Error;
use crate::program::image::files::companion;
use crate::question::files::ProfilePath;
use crate::question::options::{Options, Watch};
use crate::sources::side_info::SideInfo;

/// A program and its profile.
pub(super) struct Target {
    /// The options, with the image and the profile of the process.
    pub(super) options: Options,
    /// The process that the user named.
    process: Option<u32>,
    profile: PathBuf,
    host: Option<String>,
}

/// What changes when a file gets other content by a new file or by writing: device, inode, length, and time of the last
/// change. Counting in a mapped file may change none of these.
pub(super) type Stamp = Option<(u64, u64, u64, Option<SystemTime>)>;

/// What a reading knows of the process.
#[derive(Default)]
pub(super) struct Process {
    pub(super) pid: Option<u32>,
    /// The machine, if it is another one.
    pub(super) host: Option<String>,
    pub(super) start: Option<SystemTime>,
    pub(super) state: State,
}

impl Target {
    /// Finds the files of the process, if the user named a process.
    ///
    /// # Errors
    ///
    /// When there is no such process, or the process has no live profile.
    pub(super) fn find(options: &Options, watch: &Watch) -> Result<Target, Error> {
        let mut options = options.clone();
        if let Some(pid) = watch.process {
            let files = ProcessFiles::find(pid)?;
            for named in &mut options.images {
                named.image.clone_from(&files.image);
                named.profiles = vec![ProfilePath::File(files.profile.clone())];
            }
        }
        let profile = match options.images.first().and_then(|named| named.profiles.first()) {
            Some(ProfilePath::File(path)) => path.clone(),
            _ => {
                return Err(Error::Usage(
                    "'--watch' needs a file that can be read again, not the standard input".to_owned(),
                ));
            }
        };
        Ok(Target { options, process: watch.process, profile, host: host() })
    }

    /// The path of the program.
    pub(super) fn image(&self) -> &Path {
        self.options.images.first().map_or(Path::new(""), |named| &named.image)
    }

    /// The path of the profile.
    pub(super) fn profile(&self) -> &Path {
        &self.profile
    }

    /// The stamp of the program.
    pub(super) fn image_stamp(&self) -> Stamp {
        stamp(self.image())
    }

    /// The stamps of the profile and of its side file.
    pub(super) fn profile_stamps(&self) -> [Stamp; 2] {
        [stamp(&self.profile), stamp(&companion(&self.profile, "side"))]
    }

    /// When the last of these files was written. Counting in a mapped file is no writing.
    pub(super) fn written(&self) -> Option<SystemTime> {
        self.profile_stamps().into_iter().flatten().filter_map(|(.., written)| written).max()
    }

    /// Tells what is known of the process, after a reading that began when the files had these stamps.
    pub(super) fn process(&self, side: Option<&SideInfo>, before: [Stamp; 2]) -> Process {
        let property = |key: &str| {
            let known = side?.properties.iter().find(|(known, _)| known == key);
            known.map(|(_, value)| value.as_str())
        };
        let host = property("host").filter(|host| Some(*host) != self.host.as_deref()).map(str::to_owned);
        let pid = property("pid").and_then(|pid| pid.parse().ok());
        let nanoseconds = property("start").and_then(|start| start.parse().ok());
        let start =
            nanoseconds.and_then(|start| SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::from_nanos(start)));
        // The number of the process may be of another namespace of processes than this one.
        let local = self.process.or(pid.filter(|_| host.is_none()));
        let is_running = local.map(|pid| process_counts_in(pid, &self.profile));
        let state = match (side.map(|side| side.is_live), is_running) {
            (Some(false), _) => State::Ended,
            (_, Some(Some(true))) => State::Running,
            // The program ended during the reading: the next reading has its last counts.
            (_, Some(Some(false))) if self.profile_stamps() != before => State::Running,
            (Some(true), Some(Some(false))) => State::Killed,
            (None, Some(Some(false))) => State::Ended,
            (_, Some(None) | None) => State::Unknown,
        };
        Process { pid: self.process.or(pid), host, start, state }
    }
}

fn stamp(path: &Path) -> Stamp {
    let file = fs::metadata(path).ok()?;
    Some((file.dev(), file.ino(), file.len(), file.modified().ok()))
}

/// The number in the header of a live profile, and the offsets that it has with words of either size.
const MAGIC: u32 = 0x0005_1879;
const MAGIC_OFFSETS: [usize; 2] = [12, 20];

/// The files of a process.
pub(super) struct ProcessFiles {
    pub(super) image: PathBuf,
    pub(super) profile: PathBuf,
}

/// A file that a process has mapped, and that all processes which map the file share.
struct SharedFile {
    inode: u64,
    path: PathBuf,
}

impl ProcessFiles {
    /// Finds the program of a process, and the live profile: a live profile is mapped while the process runs, wherever
    /// the settings of the process put the file.
    ///
    /// # Errors
    ///
    /// When there is no such process, this user may not look at the process, or the process has no live profile.
    pub(super) fn find(pid: u32) -> Result<ProcessFiles, Error> {
        let fail = |why: String| Error::Process { pid, why };
        let directory = Path::new("/proc").join(pid.to_string());
        if !directory.exists() {
            let why = if Path::new("/proc/self/maps").exists() {
                "there is no such process"
            } else {
                "this system has no /proc/PID/maps, which tells the files of a process: name the program and its profile"
            };
            return Err(fail(why.to_owned()));
        }
        let shared = shared_files(pid).map_err(|error| fail(format!("its mappings cannot be read: {error}")))?;
        let found = shared.iter().filter_map(|file| file.reached(&directory)).find(|path| is_profile(path));
        match found {
            Some(profile) => Ok(ProcessFiles { image: image(&directory), profile }),
            None => Err(fail(no_profile(&directory))),
        }
    }
}

impl SharedFile {
    /// A path that leads to the file from here; `None` if the file was removed. The process may have another root.
    fn reached(&self, directory: &Path) -> Option<PathBuf> {
        let below = self.path.strip_prefix("/").map(|path| directory.join("root").join(path));
        let mut paths = [Some(self.path.clone()), below.ok()].into_iter().flatten();
        paths.find(|path| fs::metadata(path).is_ok_and(|file| file.is_file() && file.ino() == self.inode))
    }
}

/// Whether a process runs and counts in this profile; `None` if this cannot be known.
fn process_counts_in(pid: u32, profile: &Path) -> Option<bool> {
    let inode = fs::metadata(profile).ok()?.ino();
    match shared_files(pid) {
        Ok(shared) => {
            Some(shared.iter().any(|file| file.inode == inode && file.path.file_name() == profile.file_name()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Path::new("/proc/self/maps").exists().then_some(false),
        Err(_) => None,
    }
}

/// The name of this machine, as profiles have it.
pub(super) fn host() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim_end().to_owned())
}

/// The files that a process has mapped to write and to share.
fn shared_files(pid: u32) -> io::Result<Vec<SharedFile>> {
    let maps = fs::read(format!("/proc/{pid}/maps"))?;
    let maps = String::from_utf8_lossy(&maps);
    Ok(maps.lines().filter_map(shared_file).collect())
}

/// Reads a line of /proc/PID/maps: addresses, permissions, offset, device, inode, and the path.
fn shared_file(line: &str) -> Option<SharedFile> {
    let mut words = line.splitn(6, ' ');
    let permissions = words.nth(1)?.as_bytes();
    let inode = words.nth(2)?.parse().ok()?;
    let path = words.next()?.trim_start();
    let is_written = permissions.get(1) == Some(&b'w') && permissions.get(3) == Some(&b's');
    (is_written && path.starts_with('/')).then(|| SharedFile { inode, path: path.into() })
}

/// Whether a file begins as a live profile does.
fn is_profile(path: &Path) -> bool {
    let mut header = [0; 24];
    let is_read = File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok();
    let word = |at: &usize| header.get(*at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes));
    is_read && MAGIC_OFFSETS.iter().any(|at| word(at) == Some(MAGIC))
}

/// The program of a process. If the file was replaced, the path is that of the running program in /proc.
fn image(directory: &Path) -> PathBuf {
    let link = directory.join("exe");
    let inode = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    match fs::read_link(&link) {
        Ok(path) if inode(&path) == inode(&link) => path,
        _ => link,
    }
}

/// Why a process has no live profile.
fn no_profile(directory: &Path) -> String {
    let variables = fs::read(directory.join("environ")).unwrap_or_default();
    let is_live = variables.split(|byte| *byte == 0).any(|variable| variable == b"GMON_LIVE=1");
    if is_live {
        "it has GMON_LIVE=1 but no live profile: it was not built with -pg and this project's runtime, its profile was removed, \
         or it is the child of a fork"
            .to_owned()
    } else {
        "it has no live profile: start the program with GMON_LIVE=1".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_mappings() {
        let of = |line| shared_file(line).map(|file| (file.inode, file.path.display().to_string()));
        let line = "7f00-7f10 rw-s 00000000 fd:01 4711                       /tmp/a b/gmon.out";
        assert_eq!(of(line), Some((4711, "/tmp/a b/gmon.out".to_owned())));
        for other in
            ["7f00-7f10 rw-p 00000000 fd:01 7   /lib/x.so", "7f00-7f10 rw-s 00000000 00:01 7 ", "", "7f00 rw-s"]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_process_without_a_live_profile_says_what_to_do() {
        let said = ProcessFiles::find(std::process::id()).err().unwrap().to_string();
        assert!(said.contains("GMON_LIVE=1"), "{said}");
        // The kernel gives no process such a number.
        let said = ProcessFiles::find(u32::MAX).err().unwrap().to_string();
        assert!(said.contains("there is no such process"), "{said}");
    }
}
