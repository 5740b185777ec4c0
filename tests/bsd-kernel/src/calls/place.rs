//! Lookups of paths: in the process's root directory, below the directory of a descriptor in capability mode, and by
//! the rules of unveil(2).

use std::ffi::{CString, OsString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::Mode;

use crate::calls::descriptor_calls::{file, int, open_of};
use crate::credentials::Credentials;
use crate::descriptors::Open;
use crate::error::Error;
use crate::kernel::{Kernel, ThreadId};
use crate::record::Kind;
use crate::visibility::{Access, Unveiled};

/// AT_FDCWD: the current directory as a descriptor.
pub const AT_FDCWD: i32 = -100;

/// A directory and a path in it.
#[derive(Debug)]
pub struct Place {
    directory: Rc<Open>,
    /// The path as the program passed it.
    pub path: CString,
    /// The limits of the lookup: none, the directory, or the root directory.
    bounds: ResolveFlag,
    credentials: Credentials,
    unveiled: Unveiled,
}

/// Returns the place that a directory's descriptor and a path name.
///
/// # Errors
///
/// EFAULT, EBADF, and ECAPMODE for the current directory in capability mode.
pub fn place(kernel: &mut Kernel, id: ThreadId, directory: u64, path: u64) -> Result<Place, Error> {
    let path = CString::new(kernel.task(id).read_string(path)?).map_err(|_| Errno::EINVAL)?;
    let process = kernel.process_of(id);
    let (credentials, unveiled) = (process.credentials, process.unveiled.clone());
    let (root, is_confined) = (process.root.clone(), process.is_in_capability_mode);
    if is_confined && int(directory) == AT_FDCWD {
        kernel.note(id, Kind::Refused, &format!("{path:?} at the current directory in capability mode"));
        return Err(Error::CapabilityMode);
    }
    let directory = if int(directory) == AT_FDCWD {
        let current = kernel.process_of(id).directory.try_clone().map_err(|_| Errno::EMFILE)?;
        Rc::new(Open::File(current))
    } else {
        open_of(kernel, id, directory)?
    };
    let bounds = if is_confined { ResolveFlag::RESOLVE_BENEATH } else { ResolveFlag::empty() };
    let place = Place { directory, path, bounds, credentials, unveiled };
    match root {
        Some(root) if !is_confined => place.below(&root),
        _ => Ok(place),
    }
}

impl Place {
    /// Limits the lookup to a root directory of chroot(2). A relative path starts outside of the root directory if the
    /// process's current directory is outside.
    fn below(self, root: &Rc<OwnedFd>) -> Result<Place, Error> {
        let start = path_of(&file(&self.directory)?.try_clone_to_owned().map_err(|_| Errno::EMFILE)?)?;
        let path = match start.strip_prefix(path_of(root)?) {
            _ if self.path.to_bytes().first() == Some(&b'/') => self.path.clone(),
            Ok(start) => CString::new([start.as_os_str().as_bytes(), b"/", self.path.to_bytes()].concat())
                .map_err(|_| Errno::EINVAL)?,
            Err(_) => return Ok(self),
        };
        let directory = Rc::new(Open::File(root.try_clone().map_err(|_| Errno::EMFILE)?));
        Ok(Place { directory, path, bounds: ResolveFlag::RESOLVE_IN_ROOT, ..self })
    }

    /// Returns whether the lookup must stay below the directory, as in capability mode.
    #[must_use]
    pub fn is_confined(&self) -> bool {
        self.bounds == ResolveFlag::RESOLVE_BENEATH
    }

    /// Opens the place with Linux's flags, if unveil(2) allows the access.
    ///
    /// # Errors
    ///
    /// As openat(2); ENOTCAPABLE if the path leaves the directory in capability mode.
    pub fn open(&self, flags: OFlag, mode: Mode, access: Access) -> Result<OwnedFd, Error> {
        self.check(access, flags.contains(OFlag::O_NOFOLLOW))?;
        self.open_unchecked(flags, mode)
    }

    fn open_unchecked(&self, flags: OFlag, mode: Mode) -> Result<OwnedFd, Error> {
        let how = OpenHow::new().flags(flags | OFlag::O_CLOEXEC).mode(mode).resolve(self.bounds);
        let directory = file(&self.directory)?;
        self.credentials.with(|| openat2(directory, self.path.as_c_str(), how)).map_err(|error| match error {
            Errno::EXDEV if self.is_confined() => Error::NotCapable,
            error => error.into(),
        })
    }

    /// Opens the directory of the path's last component, and returns this component, if unveil(2) allows the access.
    ///
    /// # Errors
    ///
    /// As [`Place::open`].
    pub fn parent(&self, access: Access) -> Result<(OwnedFd, CString), Error> {
        self.check(access, true)?;
        let path = Path::new(std::ffi::OsStr::from_bytes(self.path.to_bytes()));
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Errno::EINVAL.into());
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let text = |part: &[u8]| CString::new(part).map_err(|_| Errno::EINVAL);
        let place = Place {
            directory: Rc::clone(&self.directory),
            path: text(parent.as_os_str().as_bytes())?,
            bounds: self.bounds,
            credentials: self.credentials,
            unveiled: Unveiled::default(),
        };
        let directory = place.open_unchecked(OFlag::O_PATH | OFlag::O_DIRECTORY, Mode::empty())?;
        Ok((directory, text(name.as_bytes())?))
    }

    /// Accesses files with the permissions of the process's user.
    pub fn as_user<T>(&self, access: impl FnOnce() -> T) -> T {
        self.credentials.with(access)
    }

    /// Checks an access against the rules of unveil(2).
    fn check(&self, access: Access, keeps_link: bool) -> Result<(), Error> {
        if self.unveiled == Unveiled::default() {
            return Ok(());
        }
        Ok(self.unveiled.check(&self.absolute(keeps_link)?, access)?)
    }

    /// Returns the absolute path without symbolic links, also of a file that does not exist. With `keeps_link`, the
    /// last component may be a link.
    ///
    /// # Errors
    ///
    /// ENOENT if a directory of the path does not exist, EACCES if a directory is not accessible.
    pub fn absolute(&self, keeps_link: bool) -> Result<PathBuf, Error> {
        let link = if keeps_link { OFlag::O_NOFOLLOW } else { OFlag::empty() };
        match self.open_unchecked(OFlag::O_PATH | link, Mode::empty()) {
            Ok(found) => Ok(path_of(&found)?),
            Err(Error::System(Errno::ENOENT)) => {
                let everything = Place {
                    unveiled: Unveiled::default(),
                    path: self.path.clone(),
                    directory: Rc::clone(&self.directory),
                    ..*self
                };
                let (parent, name) = everything.parent(Access::default())?;
                Ok(path_of(&parent)?.join(OsString::from_vec(name.into_bytes())))
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns the path of an open file.
fn path_of(open: &OwnedFd) -> Result<PathBuf, Errno> {
    let link = format!("/proc/self/fd/{}", open.as_fd().as_raw_fd());
    nix::fcntl::readlink(link.as_str()).map(PathBuf::from)
}
