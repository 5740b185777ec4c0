//! What a file is, and which.

use core::ffi::c_char;
use core::mem::MaybeUninit;

use super::file::CURRENT;
use super::{Errno, Fd, call, numbers};

/// `struct stat` (`sys/stat.h`).
#[repr(C)]
struct Stat {
    mode: u32,
    device: u32,
    inode: u64,
    links: u32,
    owner: u32,
    group: u32,
    special_device: u32,
    /// The last access, modification, and change.
    times: [u64; 6],
    size: u64,
    blocks: u64,
    rest: [u32; 4],
    born: [u64; 2],
}

const _: () = assert!(size_of::<Stat>() == 128);

/// What a file is, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    mode: u32,
    pub(crate) size: u64,
    pub(crate) links: u32,
    pub(crate) owner: u32,
    inode: u64,
    device: u64,
    /// When it was made, where the file system says: numbers of files that are gone are given away again.
    born: [u64; 2],
}

/// Which file something is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) inode: u64,
    pub(crate) device: u64,
}

impl Identity {
    /// That of no file.
    pub(crate) const NONE: Identity = Identity { inode: 0, device: 0 };

    /// The file that a path leads to now; [`Identity::NONE`] where there is none, or no path at that address.
    pub(crate) fn of(path: *const c_char) -> Identity {
        let mut found = MaybeUninit::<Stat>::uninit();
        let arguments = [CURRENT.0 as usize, path.addr(), found.as_mut_ptr().addr(), 0];
        // SAFETY: the kernel writes the structure. What is not a path's address, it does not read.
        match unsafe { call(numbers::FSTATAT, arguments) } {
            // SAFETY: the kernel has written it.
            Ok(_) => unsafe { identity(found.as_ptr()) },
            Err(_) => Identity::NONE,
        }
    }
}

/// # Safety
///
/// The kernel must have written the structure.
unsafe fn identity(found: *const Stat) -> Identity {
    // SAFETY: the caller's promise. Word by word: below mcount no vector register may be used.
    unsafe {
        Identity {
            inode: (&raw const (*found).inode).read_volatile(),
            device: u64::from((&raw const (*found).device).read_volatile()),
        }
    }
}

impl Status {
    pub(crate) fn is_directory(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    pub(crate) fn is_character_device(&self) -> bool {
        self.mode & 0o170_000 == 0o020_000
    }

    pub(crate) fn is_regular(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    /// Whether group or others may do anything with the file.
    pub(crate) fn is_shared(&self) -> bool {
        self.mode & 0o077 != 0
    }

    /// Whether every user may create files in this directory.
    pub(crate) fn is_open_to_all(&self) -> bool {
        self.mode & 0o003 == 0o003
    }

    /// Whether both are the same file. The time of birth tells files apart that had the same number one after the other.
    pub(crate) fn is_same_file(&self, other: &Status) -> bool {
        (self.inode, self.device, self.born) == (other.inode, other.device, other.born)
    }
}

impl Fd {
    pub(crate) fn status(self) -> Result<Status, Errno> {
        let mut found = MaybeUninit::<Stat>::uninit();
        // SAFETY: the kernel writes a struct stat, for which there is room.
        unsafe { call(numbers::FSTAT, [self.0 as usize, found.as_mut_ptr().addr()]) }?;
        // SAFETY: the kernel has written all of it, integers only.
        let found = unsafe { found.assume_init_ref() };
        Ok(Status {
            mode: found.mode,
            size: found.size,
            links: found.links,
            owner: found.owner,
            inode: found.inode,
            device: u64::from(found.device),
            born: found.born,
        })
    }

    /// Which file it is. Below mcount: without the structures that would go through a vector register.
    pub(crate) fn identity(self) -> Option<Identity> {
        let mut found = MaybeUninit::<Stat>::uninit();
        // SAFETY: the kernel writes the structure if the call goes well.
        unsafe {
            call(numbers::FSTAT, [self.0 as usize, found.as_mut_ptr().addr()]).ok()?;
            Some(identity(found.as_ptr()))
        }
    }
}
