//! The type, size, owner and identity of files.

use core::ffi::c_char;
use core::mem::MaybeUninit;

use super::constants::{Stat, device};
use super::descriptor::CURRENT;
use super::{Errno, Fd, call, numbers};

/// The type, size, owner and identity of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    mode: u32,
    pub(crate) size: u64,
    pub(crate) links: u32,
    pub(crate) owner: u32,
    inode: u64,
    device: u64,
    /// The time of creation, if the file system stores the time. Inode numbers are reused after files are deleted.
    born: [u64; 2],
}

/// The identity of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) inode: u64,
    pub(crate) device: u64,
}

impl Identity {
    /// The identity that no file has.
    pub(crate) const NONE: Identity = Identity { inode: 0, device: 0 };

    /// Returns the identity of the file at a path; [`Identity::NONE`] if there is no such file or the pointer is not
    /// valid.
    pub(crate) fn of(path: *const c_char) -> Identity {
        let mut found = MaybeUninit::<Stat>::uninit();
        let arguments = [CURRENT.0 as usize, path.addr(), found.as_mut_ptr().addr(), 0];
        // SAFETY: the kernel writes the structure, and checks the address of the path.
        match unsafe { call(numbers::FSTATAT, arguments) } {
            // SAFETY: the kernel has written the structure.
            Ok(_) => unsafe { identity(found.as_ptr()) },
            Err(_) => Identity::NONE,
        }
    }
}

/// # Safety
///
/// The kernel must have written the structure.
unsafe fn identity(found: *const Stat) -> Identity {
    // SAFETY: the structure is initialized. Reads are word by word, because code below mcount must not use vector
    // registers.
    unsafe { Identity { inode: (&raw const (*found).inode).read_volatile(), device: device(found) } }
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

    /// Returns whether the group or others have any permission for the file.
    pub(crate) fn is_shared(&self) -> bool {
        self.mode & 0o077 != 0
    }

    /// Returns whether every user may create files in this directory.
    pub(crate) fn is_open_to_all(&self) -> bool {
        self.mode & 0o003 == 0o003
    }

    /// Returns whether both are the same file. The time of creation distinguishes a file from an earlier file with the
    /// same inode number.
    pub(crate) fn is_same_file(&self, other: &Status) -> bool {
        (self.inode, self.device, self.born) == (other.inode, other.device, other.born)
    }
}

impl Fd {
    pub(crate) fn status(self) -> Result<Status, Errno> {
        let mut found = MaybeUninit::<Stat>::uninit();
        // SAFETY: `found` has room for the struct stat that the kernel writes.
        unsafe { call(numbers::FSTAT, [self.0 as usize, found.as_mut_ptr().addr()]) }?;
        // SAFETY: the kernel has written the whole structure, which has only integers.
        let found = unsafe { found.assume_init_ref() };
        Ok(Status {
            mode: found.mode(),
            size: found.size,
            links: found.links(),
            owner: found.owner,
            inode: found.inode,
            device: found.device(),
            born: found.born,
        })
    }

    /// Returns the identity of the open file. Called below mcount, so the function copies no structure that would need
    /// a vector register.
    pub(crate) fn identity(self) -> Option<Identity> {
        let mut found = MaybeUninit::<Stat>::uninit();
        // SAFETY: the kernel writes the structure if the call succeeds.
        unsafe {
            call(numbers::FSTAT, [self.0 as usize, found.as_mut_ptr().addr()]).ok()?;
            Some(identity(found.as_ptr()))
        }
    }
}
