//! A request: the three files of [`gmon::layout::request`], and the answer of the process.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gmon::layout::request::{ANSWER_OFFSET, ANSWER_SIZE, Answer, DIRECTORIES, NAME, PROFILE, Question, SIDE_FILE};
use rustix::fs::{AtFlags, Mode, OFlags, Uid, fchmod, fchown, openat, statat, unlinkat};
use rustix::io::Errno;

use super::process::fault;
use crate::error::Error;
use crate::program::image::files;
use crate::terminal::system;

/// The age from which on a file is left over: a question takes less time.
const OLD: Duration = Duration::from_secs(60);

/// The largest copy that is read, in bytes. The process may be another user's.
const LARGEST: u64 = 1 << 30;

/// Who is asked, and where.
pub(super) struct Asked {
    pub(super) pid: u32,
    /// The number of the process in its own namespace.
    pub(super) number: u32,
    /// The user who may read the files.
    pub(super) user: u32,
    /// The directories to try, in this order.
    pub(super) places: Vec<Place>,
}

/// A directory that may have a request.
pub(super) struct Place {
    directory: OwnedFd,
    /// The path, for messages.
    path: PathBuf,
}

/// What happens outside of the files while the process is asked.
pub(super) trait Steps {
    /// Waits for a moment because this file is in use.
    ///
    /// # Errors
    ///
    /// When the wait has been long enough.
    fn wait_for_others(&mut self, file: &Path) -> Result<(), Error>;

    /// Tells the process that there is a request.
    ///
    /// # Errors
    ///
    /// When the process cannot be told.
    fn send(&mut self) -> Result<(), Error>;

    /// Waits for a moment because the process has not answered. `directory` has the request.
    ///
    /// # Errors
    ///
    /// When there will be no answer.
    fn wait_for_answer(&mut self, directory: &Path) -> Result<(), Error>;

    /// Lets the time of the profile pass.
    ///
    /// # Errors
    ///
    /// When the process ends.
    fn pass(&mut self, time: Duration) -> Result<(), Error>;
}

/// What the process has written.
pub(super) struct Copies {
    pub(super) profile: Vec<u8>,
    pub(super) side: Vec<u8>,
}

/// Opens the directories of requests that exist below a root directory. No symbolic link is followed there, because
/// absolute links would lead out of it.
pub(super) fn places_below(root: &Path) -> Vec<Place> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let open = |path: &str| {
        let top = OwnedFd::from(File::open(root).ok()?);
        let mut names = path.split('/').filter(|name| !name.is_empty());
        names.try_fold(top, |above, name| openat(&above, name, flags, Mode::empty()).ok())
    };
    let place = |path: &&str| Some(Place { directory: open(path)?, path: files::below(Some(root), Path::new(path)) });
    DIRECTORIES.iter().filter_map(place).collect()
}

/// Opens the directories of requests that exist here.
pub(super) fn places_here() -> Vec<Place> {
    let place = |path: &&str| Some(Place { directory: File::open(path).ok()?.into(), path: path.into() });
    DIRECTORIES.iter().filter_map(place).collect()
}

#[cfg(test)]
impl Place {
    /// Opens a directory of a test.
    pub(super) fn open(path: &Path) -> Place {
        Place { directory: File::open(path).unwrap().into(), path: path.into() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Asked {
    fn fault(&self, why: String) -> Error {
        fault(self.pid, why)
    }

    /// Asks the process, and reads the copies that it writes. All files are gone afterwards.
    ///
    /// # Errors
    ///
    /// When no files can be made, a step fails, or the process refuses.
    pub(super) fn ask(&self, question: &Question<'_>, steps: &mut dyn Steps) -> Result<Copies, Error> {
        let request = self.create(steps)?;
        let unwritten = |error| self.fault(format!("the question cannot be written: {}", system(&error)));
        request.request.write_all_at(&question.encode(), 0).map_err(unwritten)?;
        steps.send()?;
        let mut last = Vec::new();
        loop {
            let bytes = request.answer();
            match Answer::decode(&bytes) {
                Some(Answer::Done) => break,
                // The text may come later than the rest.
                Some(Answer::Refused(text)) if bytes == last => {
                    return Err(self.fault(String::from_utf8_lossy(text).into_owned()));
                }
                _ => {}
            }
            last = bytes;
            steps.wait_for_answer(&request.made.place.path)?;
        }
        let read = |file: &File| {
            let read = files::open_within(file, LARGEST);
            read.map_err(|error| self.fault(format!("the copy of its profile cannot be read: {}", system(&error))))
        };
        Ok(Copies { profile: read(&request.profile)?, side: read(&request.side)? })
    }

    /// Makes the files in the first directory that takes them.
    fn create(&self, steps: &mut dyn Steps) -> Result<Request<'_>, Error> {
        let mut first = None;
        for place in &self.places {
            loop {
                match Request::create(place, self) {
                    Ok(request) => return Ok(request),
                    Err((name, Errno::EXIST)) => self.free(place, &name, steps)?,
                    Err((name, error)) => {
                        let why = format!("{}: {}", place.path.join(name).display(), system(&error.into()));
                        first.get_or_insert(why);
                        break;
                    }
                }
            }
        }
        let why = first.unwrap_or_else(|| format!("none of {} can be opened", DIRECTORIES.join(", ")));
        Err(self.fault(format!("no files can be made that it would see: {why}")))
    }

    /// Removes a file that is left over, or waits until another gprof has removed its file.
    fn free(&self, place: &Place, name: &str, steps: &mut dyn Steps) -> Result<(), Error> {
        let path = place.path.join(name);
        let stat = match statat(&place.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(()),
            stat => stat.map_err(|error| self.fault(format!("{}: {}", path.display(), system(&error.into()))))?,
        };
        let (user, own) = (stat.st_uid, rustix::process::geteuid().as_raw());
        if !is_ours(user, [own, self.user]) {
            return Err(self.fault(format!("{}: the file belongs to user {user}, remove it first", path.display())));
        }
        if age(stat.st_mtime).is_some_and(|age| age > OLD) {
            return match unlinkat(&place.directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => Ok(()),
                Err(error) => Err(self.fault(format!("{}: {}", path.display(), system(&error.into())))),
            };
        }
        steps.wait_for_others(&path)
    }

    /// The names of the files. The request is the last, so that a process that still looks for an older request does
    /// not find half of this one.
    fn names(&self) -> [String; 3] {
        [PROFILE, SIDE_FILE, ""].map(|suffix| format!("{NAME}{}{suffix}", self.number))
    }
}

/// Whether a gprof may have made the file of this user: one of the users that ask the process, or the user for whom
/// files are made.
fn is_ours(user: u32, [asking, asked]: [u32; 2]) -> bool {
    user == asking || user == asked
}

/// The time since a moment, in seconds since 1970; `None` if the moment is not in the past.
fn age(changed: i64) -> Option<Duration> {
    let changed = Duration::from_secs(u64::try_from(changed).ok()?);
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH.checked_add(changed)?).ok()
}

/// Files that have been made. They are removed with this value.
struct Made<'a> {
    place: &'a Place,
    names: Vec<String>,
}

impl Made<'_> {
    /// Makes a file that only this user may open, for reading and writing.
    fn file(&mut self, name: &str, user: u32) -> Result<File, Errno> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDWR;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = openat(&self.place.directory, name, flags, mode)?;
        self.names.push(name.to_owned());
        // The mask of this process may have taken rights away.
        fchmod(&file, mode)?;
        if user != rustix::process::geteuid().as_raw() {
            fchown(&file, Some(Uid::from_raw(user)), None)?;
        }
        Ok(file.into())
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        for name in self.names.iter().rev() {
            // A file that is gone needs nothing else. Nobody could do more about other errors.
            let _ = unlinkat(&self.place.directory, name.as_str(), AtFlags::empty());
        }
    }
}

/// The files of a request.
struct Request<'a> {
    made: Made<'a>,
    request: File,
    profile: File,
    side: File,
}

impl<'a> Request<'a> {
    /// Makes the files.
    ///
    /// # Errors
    ///
    /// The name of the file that cannot be made, with the error of the system.
    fn create(place: &'a Place, asked: &Asked) -> Result<Request<'a>, (String, Errno)> {
        let mut made = Made { place, names: Vec::new() };
        let mut make = |name: String| made.file(&name, asked.user).map_err(|error| (name, error));
        let [profile, side, request] = asked.names();
        let (profile, side, request) = (make(profile)?, make(side)?, make(request)?);
        Ok(Request { made, request, profile, side })
    }

    /// The bytes of the answer that there are.
    fn answer(&self) -> Vec<u8> {
        let mut bytes = vec![0; ANSWER_SIZE];
        let length = self.request.read_at(&mut bytes, ANSWER_OFFSET as u64).unwrap_or(0);
        bytes.truncate(length);
        bytes
    }
}
