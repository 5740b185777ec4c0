//! Processes, as Linux's /proc shows them: their program, and the live profile that they count in.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::Error;

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
    /// Finds the program of a process, and the live profile: a live profile is mapped while the process runs, wherever the
    /// settings of the process put the file.
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
pub(super) fn counts_in(pid: u32, profile: &Path) -> Option<bool> {
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
