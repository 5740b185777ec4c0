//! What /proc tells of a process: whether a request can be sent to it, its program, and the files that it sees.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gmon::layout::request::{NOTE_OWNER, NOTE_TYPE, SIGNAL, VERSION};

use super::signal::Recipient;
use crate::error::Error;
use crate::program::image::{self, files};
use crate::terminal::system;

/// The most bytes that are read of a file in /proc.
const MOST: u64 = 16 << 20;

/// An error about a process.
pub(super) fn fault(pid: u32, why: impl Into<String>) -> Error {
    Error::Process { pid, why: why.into() }
}

/// Why a process with a runtime has no handler.
pub(super) const NOT_PROFILED: &str =
    "it is not profiled: GMON_ONLY excludes it, it is privileged, or it has installed a filter of system calls";

/// A process.
pub(super) struct Process {
    pub(super) pid: u32,
    /// The directory of the process in /proc. Another process with the same number has another directory.
    directory: File,
    recipient: Recipient,
}

/// What /proc/PID/status tells of a process, or of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    /// The letter of the state.
    state: u8,
    /// The process that the thread is of.
    process: u32,
    /// The effective user.
    pub(super) user: u32,
    /// The number of the process in its own namespace.
    pub(super) number: u32,
    /// Whether the process handles the signal of requests.
    has_handler: bool,
}

/// The runtime in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runtime {
    /// A runtime that answers this version of requests, if the note has a version.
    Version(Option<u32>),
    None,
    /// This user may not see all files of the process.
    Hidden,
}

impl Process {
    /// Finds a process.
    ///
    /// # Errors
    ///
    /// When there is no such process, or no /proc with a directory for each process.
    pub(super) fn find(pid: u32) -> Result<Process, Error> {
        let directory = File::open(format!("/proc/{pid}"));
        let recipient = Recipient::find(pid);
        match (directory, recipient) {
            (Ok(directory), Some(recipient)) => Ok(Process { pid, directory, recipient }),
            _ if Path::new("/proc/self/status").exists() => Err(fault(pid, "there is no such process")),
            _ => Err(fault(pid, "this system has no /proc/PID/status: '--attach' needs Linux")),
        }
    }

    /// The path of the directory of the process.
    fn directory(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.directory.as_raw_fd()).into()
    }

    /// The part behind /proc/PID of the path of a thread that has not ended: empty for the first thread. The directory
    /// of a thread that has ended shows no files.
    fn living(&self) -> Option<PathBuf> {
        let lives = |path: &Path| Status::read(path).is_some_and(|status| !status.has_ended());
        let directory = self.directory();
        if lives(&directory) {
            return Some(PathBuf::new());
        }
        let threads = fs::read_dir(directory.join("task")).ok()?.filter_map(Result::ok);
        threads
            .map(|thread| thread.path())
            .find(|path| lives(path))
            .and_then(|path| Some(Path::new("task").join(path.file_name()?)))
    }

    /// The path of a file in the directory of a thread that has not ended.
    fn path(&self, name: &str) -> PathBuf {
        self.directory().join(self.living().unwrap_or_default()).join(name)
    }

    /// Tells whether the process can be asked, and reads its status. `own` is the effective user of this process.
    ///
    /// # Errors
    ///
    /// When the process has ended, is stopped, or is another user's.
    pub(super) fn status(&self, own: u32) -> Result<Status, Error> {
        let ended = || fault(self.pid, "it has ended");
        let first = Status::read(&self.directory()).ok_or_else(ended)?;
        let living = Status::read(&self.path("")).ok_or_else(ended)?;
        // The number of a thread is not that of its process.
        let status = Status { number: first.number, ..living };
        status.check(self.pid, own)?;
        Ok(status)
    }

    /// Whether the process handles the signal of requests. Without a handler, the signal would end the process, so this
    /// must be known before each signal.
    ///
    /// # Errors
    ///
    /// As [`Process::status`].
    pub(super) fn handles_requests(&self, own: u32) -> Result<bool, Error> {
        Ok(self.status(own)?.has_handler)
    }

    /// Checks that the process has a runtime that answers requests.
    ///
    /// # Errors
    ///
    /// As [`Process::status`], and when the process has no runtime, that of another version, or no handler.
    pub(super) fn check_runtime(&self, own: u32) -> Result<Status, Error> {
        let status = self.status(own)?;
        match self.runtime() {
            Runtime::None => Err(fault(
                self.pid,
                "it has none of this toolchain's runtimes: link the program with gmon-cc, or start it with gmon-run",
            )),
            Runtime::Version(Some(VERSION)) | Runtime::Hidden if status.has_handler => Ok(status),
            Runtime::Version(Some(VERSION)) | Runtime::Hidden => Err(fault(self.pid, NOT_PROFILED)),
            Runtime::Version(other) => {
                let other = other.map_or("unknown".to_owned(), |version| version.to_string());
                Err(fault(
                    self.pid,
                    format!(
                        "its runtime is that of another release (version {other} of requests instead of {VERSION}): \
                         use the gprof of that release"
                    ),
                ))
            }
        }
    }

    /// Finds the runtime by the notes of the executable and of all shared objects.
    fn runtime(&self) -> Runtime {
        let mut maps = Vec::new();
        let read = File::open(self.path("maps")).and_then(|file| file.take(MOST).read_to_end(&mut maps));
        match read {
            Ok(_) => runtime(&maps, &[self.directory().join("map_files"), self.path("root")]),
            // The process has changed its user, or the system hides the files of processes.
            Err(_) => Runtime::Hidden,
        }
    }

    /// Sends the signal of requests. The caller has checked that the process has a handler.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub(super) fn send(&self) -> Result<(), Error> {
        self.recipient.send().map_err(|error| fault(self.pid, format!("the signal cannot be sent: {}", system(&error))))
    }

    /// Waits for this time, or less if a signal comes to this process. Returns whether the process has ended.
    pub(super) fn wait(&self, time: Duration) -> bool {
        self.recipient.wait(time) || self.has_ended()
    }

    /// Whether the process has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.living().is_none()
    }

    /// What tells the program of the process from others; `None` if this user may not see the program.
    pub(super) fn program(&self) -> Option<files::FileKey> {
        files::key(&self.path("exe"))
    }

    /// The path of the executable. If the file was removed or replaced, the path is in /proc.
    ///
    /// # Errors
    ///
    /// When this user may not see the executable.
    pub(super) fn executable(&self) -> Result<PathBuf, Error> {
        let link = self.path("exe");
        let linked = fs::metadata(&link).and_then(|_| fs::read_link(&link)).map_err(|error| {
            fault(self.pid, format!("its executable cannot be found: {}: name the executable", system(&error)))
        })?;
        let key = self.program();
        let reached = [linked.clone(), below(&self.lasting("root"), &linked)];
        let found = reached.into_iter().find(|path| files::key(path) == key);
        Ok(found.unwrap_or_else(|| self.lasting("exe")))
    }

    /// The root directory of the process, if the process sees other files than this one.
    pub(super) fn other_root(&self) -> Option<PathBuf> {
        let root = self.lasting("root");
        let key = files::key(&root)?;
        let mounts = |path: &Path| fs::read_link(path.join("ns/mnt")).ok();
        let is_same =
            Some(key) == files::key(Path::new("/")) && mounts(&self.path("")) == mounts(Path::new("/proc/self"));
        (!is_same).then_some(root)
    }

    /// The path in /proc of a file of the process. The path stays the same as long as the process runs.
    fn lasting(&self, name: &str) -> PathBuf {
        Path::new("/proc").join(self.pid.to_string()).join(self.living().unwrap_or_default()).join(name)
    }
}

impl Status {
    /// Reads the status of a process or of a thread. Returns `None` if it is gone.
    fn read(directory: &Path) -> Option<Status> {
        let mut text = Vec::new();
        File::open(directory.join("status")).ok()?.take(MOST).read_to_end(&mut text).ok()?;
        Status::parse(&String::from_utf8_lossy(&text))
    }

    fn parse(text: &str) -> Option<Status> {
        let field = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(known, _)| *known == name).map(|(_, value)| value.trim())
        };
        let process = field("Tgid")?.parse().ok()?;
        let caught = u64::from_str_radix(field("SigCgt")?, 16).ok()?;
        // Kernels before 4.1 do not tell the numbers in other namespaces.
        let number = field("NSpid").and_then(|numbers| numbers.split_whitespace().last()?.parse().ok());
        Some(Status {
            state: *field("State")?.as_bytes().first()?,
            process,
            user: field("Uid")?.split_whitespace().nth(1)?.parse().ok()?,
            number: number.unwrap_or(process),
            has_handler: caught >> (SIGNAL - 1) & 1 != 0,
        })
    }

    fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }

    fn check(&self, pid: u32, own: u32) -> Result<(), Error> {
        match self {
            _ if self.process != pid => {
                Err(fault(pid, format!("it is a thread of process {}: attach to that process", self.process)))
            }
            _ if self.has_ended() => Err(fault(pid, "it has ended")),
            Status { state: b'T' | b't', .. } => {
                Err(fault(pid, format!("it is stopped: continue it first ('kill -CONT {pid}')")))
            }
            Status { user, .. } if own != 0 && *user != own => {
                Err(fault(pid, "it belongs to another user: run gprof as that user or as root"))
            }
            _ => Ok(()),
        }
    }
}

/// A path of a process, below its root directory.
fn below(root: &Path, path: &Path) -> PathBuf {
    files::below(Some(root), path)
}

/// Finds the runtime in the files that have mapped code. `maps` is the text of /proc/PID/maps. The first directory has
/// the mapped files by their addresses, the second is the root directory of the process.
fn runtime(maps: &[u8], [mapped, root]: &[PathBuf; 2]) -> Runtime {
    let (mut versions, mut is_hidden) = (Vec::new(), false);
    for (path, addresses) in code_files(maps) {
        // Only privileged users may open files by their addresses. The names may be those of newer files.
        let notes = |path: &Path| image::notes(path, &NOTE_OWNER, NOTE_TYPE);
        match notes(&mapped.join(addresses)).or_else(|_| notes(&below(root, &path))) {
            Ok(notes) => versions.extend(notes),
            Err(error) => is_hidden |= error.kind() != io::ErrorKind::InvalidInput,
        }
    }
    let version = |note: &Vec<u8>| note.as_slice().try_into().ok().map(u32::from_ne_bytes);
    let mut versions = versions.iter().map(version);
    match versions.clone().find(|version| *version == Some(VERSION)).or_else(|| versions.next()) {
        Some(version) => Runtime::Version(version),
        None if is_hidden => Runtime::Hidden,
        None => Runtime::None,
    }
}

/// The files that have mapped code, each with its addresses as /proc/PID/map_files names them.
fn code_files(maps: &[u8]) -> BTreeMap<PathBuf, String> {
    let file = |line: &[u8]| {
        let mut words = line.splitn(6, |byte| *byte == b' ');
        let addresses = String::from_utf8(words.next()?.to_vec()).ok()?;
        let is_code = words.next()?.get(2) == Some(&b'x');
        let path = words.nth(3)?.trim_ascii_start();
        // The memory of a file without a name is no object of a linker.
        let is_file = path.starts_with(b"/") && !path.starts_with(b"/memfd:");
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(path));
        (is_code && is_file).then_some((path, addresses))
    };
    maps.split(|byte| *byte == b'\n').filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::note_files::{file, note};

    const STATUS: &str = "Name:\tState: T\nState:\tS (sleeping)\nTgid:\t70\nPid:\t71\nUid:\t1\t2\t3\t4\n\
        NSpid:\t71\t8\t5\nSigIgn:\tffffffffffffffff\nSigCgt:\t0800000000000000\n";

    /// Catches the real user in the place of the effective one, the number in another namespace, another signal, and a
    /// name that looks like a line.
    #[test]
    fn a_status() {
        let status = Status::parse(STATUS).unwrap();
        assert_eq!(status, Status { state: b'S', process: 70, user: 2, number: 5, has_handler: true });
        let of = |from: &str, to: &str| Status::parse(&STATUS.replace(from, to));
        for caught in ["f7ffffffffffffff", "0000000000000000", "1000000000000000", "0400000000000000"] {
            assert!(!of("0800000000000000", caught).unwrap().has_handler, "{caught}");
        }
        assert_eq!(of("NSpid", "NStgid").unwrap().number, 70);
        for name in ["State", "Tgid", "Uid", "SigCgt"] {
            assert_eq!(of(&format!("{name}:"), "Other:"), None, "{name}");
        }
    }

    /// Catches a process that is asked although it cannot answer, or must not be asked.
    #[test]
    fn who_may_be_asked() {
        let status = Status { state: b'S', process: 7, user: 2, number: 7, has_handler: false };
        let said = |status: Status, own| status.check(7, own).err().map(|error| error.to_string());
        for state in *b"RSDI" {
            assert_eq!([said(Status { state, ..status }, 2), said(Status { state, ..status }, 0)], [None, None]);
        }
        for (status, own, expected) in [
            (Status { state: b'Z', ..status }, 2, "process 7: it has ended"),
            (Status { state: b'X', ..status }, 0, "process 7: it has ended"),
            (Status { state: b'T', ..status }, 0, "process 7: it is stopped: continue it first ('kill -CONT 7')"),
            (Status { state: b't', ..status }, 2, "process 7: it is stopped: continue it first ('kill -CONT 7')"),
            (Status { process: 6, ..status }, 2, "process 7: it is a thread of process 6: attach to that process"),
            (status, 3, "process 7: it belongs to another user: run gprof as that user or as root"),
            (
                Status { user: 0, ..status },
                3,
                "process 7: it belongs to another user: run gprof as that user or as root",
            ),
        ] {
            assert_eq!(said(status, own).as_deref(), Some(expected));
        }
    }

    #[test]
    fn mapped_code() {
        let maps = b"7f00-7f10 r--p 00000000 fd:01 1                /lib/data.so\n\
            7f10-7f20 r-xp 00000000 fd:01 1                /lib/a b.so\n\
            7f20-7f30 r-xp 00000000 00:01 1                /memfd:jit (deleted)\n\
            7f30-7f40 r-xp 00000000 00:00 0                [vdso]\n\
            7f40-7f50 rwxp 00000000 00:00 0\n\nr-xp\n";
        let found = code_files(maps);
        assert_eq!(found, BTreeMap::from([("/lib/a b.so".into(), "7f10-7f20".to_owned())]));
    }

    /// Catches a note that is not searched for in all objects, by addresses and by names, and an object that nobody may
    /// read and that counts as one without a runtime.
    #[test]
    fn the_runtime_of_a_process() {
        let place = std::env::temp_dir().join(format!("gprof-runtime-{}", std::process::id()));
        let [mapped, root] = ["map_files", "root"].map(|name| place.join(name));
        [&mapped, &root].into_iter().for_each(|directory| fs::create_dir_all(directory).unwrap());
        let write = |path: PathBuf, version: &[u8]| {
            let notes = note(&NOTE_OWNER, NOTE_TYPE, version);
            fs::write(path, file(&notes, notes.len() as u64)).unwrap();
        };
        let own = VERSION.to_ne_bytes();
        let other = (VERSION + 1).to_ne_bytes();
        fs::write(root.join("prog"), file(&[], 0)).unwrap();
        write(root.join("own.so"), &own);
        write(root.join("other.so"), &other);
        write(root.join("long.so"), &[0; 5]);
        write(mapped.join("8-9"), &own);
        fs::write(mapped.join("9-a"), b"").unwrap();
        let of = |files: &[(&str, &str)]| {
            let line = |(addresses, name): &(&str, &str)| format!("{addresses} r-xp 00000000 fd:01 1    /{name}\n");
            runtime(files.iter().map(line).collect::<String>().as_bytes(), &[mapped.clone(), root.clone()])
        };
        let prog = ("1-2", "prog");
        assert_eq!([of(&[]), of(&[prog])], [Runtime::None; 2]);
        assert_eq!(of(&[prog, ("2-3", "own.so")]), Runtime::Version(Some(VERSION)));
        assert_eq!(of(&[prog, ("2-3", "other.so")]), Runtime::Version(Some(VERSION + 1)));
        assert_eq!(of(&[prog, ("2-3", "long.so")]), Runtime::Version(None));
        assert_eq!(of(&[prog, ("2-3", "other.so"), ("3-4", "own.so")]), Runtime::Version(Some(VERSION)));
        assert_eq!(of(&[prog, ("2-3", "gone.so (deleted)")]), Runtime::Hidden);
        assert_eq!(of(&[prog, ("8-9", "gone.so (deleted)")]), Runtime::Version(Some(VERSION)));
        assert_eq!(of(&[prog, ("9-a", "own.so")]), Runtime::None, "the file of this name is newer");
        fs::remove_dir_all(place).unwrap();
    }

    /// Catches files of this process in the place of the other one's, and a root directory that looks like another one.
    #[test]
    fn the_files_of_a_process() {
        let process = Process::find(std::process::id()).unwrap();
        assert_eq!(process.executable().unwrap(), std::env::current_exe().unwrap());
        assert_eq!(process.program(), files::key(&std::env::current_exe().unwrap()));
        assert_eq!(process.other_root(), None);
        assert!(!process.has_ended() && !process.wait(Duration::ZERO));
        assert_eq!(process.runtime(), Runtime::None);
    }
}
