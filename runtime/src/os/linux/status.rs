//! The identity and the status of files.

use core::ffi::c_char;
use core::mem::MaybeUninit;

use super::descriptor::{CURRENT, Fd};
use super::machine::{Stat, numbers};
use super::{Errno, call};

const AT_EMPTY_PATH: usize = 0x1000;
const STATX_BASIC_STATS: usize = 0x7ff;
const STATX_BTIME: usize = 0x800;

/// The kernel's `struct statx`.
#[repr(C)]
struct Statx {
    mask: u32,
    block_size: u32,
    attributes: u64,
    links: u32,
    owner: u32,
    group: u32,
    mode: u16,
    spare: u16,
    inode: u64,
    size: u64,
    blocks: u64,
    attributes_mask: u64,
    times: [u64; 8],
    special_device: [u32; 2],
    device: [u32; 2],
    rest: [u64; 14],
}

/// The status of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    mode: u16,
    pub(crate) size: u64,
    pub(crate) links: u32,
    pub(crate) owner: u32,
    inode: u64,
    device: [u32; 2],
    /// The time of birth, if the file system has it. File systems reuse the inode numbers of deleted files.
    born: [u64; 2],
}

/// The identity of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) inode: u64,
    pub(crate) device: u64,
}

impl Identity {
    /// No file.
    pub(crate) const NONE: Identity = Identity { inode: 0, device: 0 };

    /// The file to which a path leads now; [`Identity::NONE`] if there is none, or the address is not a path.
    pub(crate) fn of(path: *const c_char) -> Identity {
        identity(CURRENT, path, 0).unwrap_or(Identity::NONE)
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

    pub(super) fn identity(&self) -> Identity {
        let [major, minor] = self.device;
        Identity { inode: self.inode, device: u64::from(minor) << 32 | u64::from(major) }
    }

    /// Whether group or others have any permission.
    pub(crate) fn is_shared(&self) -> bool {
        self.mode & 0o077 != 0
    }

    /// Whether every user may create files in this directory.
    pub(crate) fn is_open_to_all(&self) -> bool {
        self.mode & 0o003 == 0o003
    }

    /// Whether both are the same file. The times of birth, if both are known, tell files apart that had the same
    /// inode number one after the other.
    pub(crate) fn is_same_file(&self, other: &Status) -> bool {
        let is_known = self.born != [0; 2] && other.born != [0; 2];
        (self.inode, self.device) == (other.inode, other.device) && (!is_known || self.born == other.born)
    }
}

impl Fd {
    pub(crate) fn status(self) -> Result<Status, Errno> {
        let mut found = MaybeUninit::<Statx>::uninit();
        let arguments = [
            self.0 as usize,
            c"".as_ptr().addr(),
            AT_EMPTY_PATH,
            STATX_BASIC_STATS | STATX_BTIME,
            found.as_mut_ptr().addr(),
        ];
        // SAFETY: the kernel writes a struct statx, 256 bytes, for which there is room.
        match unsafe { call(numbers::STATX, arguments) } {
            Ok(_) => {}
            Err(error) if error == Errno::EBADF => return Err(error),
            // Linux before 4.11 has no statx, and seccomp filters may not know statx.
            Err(_) => return self.old_status(),
        }
        // SAFETY: the kernel has written all of the structure, which contains only integers.
        let found = unsafe { found.assume_init() };
        // Seconds and nanoseconds of the last access, of the birth, and of two other times.
        let [_, _, seconds, nanoseconds, ..] = found.times;
        Ok(Status {
            mode: found.mode,
            size: found.size,
            links: found.links,
            owner: found.owner,
            inode: found.inode,
            device: found.device,
            born: if found.mask as usize & STATX_BTIME != 0 { [seconds, nanoseconds] } else { [0; 2] },
        })
    }

    /// As [`Fd::status`], by an older system call.
    fn old_status(self) -> Result<Status, Errno> {
        let mut found = MaybeUninit::<Stat>::uninit();
        // SAFETY: the kernel writes a struct stat, for which there is room.
        unsafe { call(numbers::FSTAT, [self.0 as usize, found.as_mut_ptr().addr()]) }?;
        // SAFETY: the kernel has written all of the structure, which contains only integers.
        let found = unsafe { found.assume_init() };
        Ok(Status {
            mode: found.mode as u16,
            size: found.size,
            links: found.links(),
            owner: found.owner,
            inode: found.inode,
            device: parts_of_device(found.device),
            born: [0; 2],
        })
    }

    /// The identity of the file. May be called below mcount, because no structure is copied through a vector
    /// register.
    pub(crate) fn identity(self) -> Option<Identity> {
        identity(self, c"".as_ptr(), AT_EMPTY_PATH)
    }
}

/// The identity of the file to which a path leads from a directory. May be called below mcount.
fn identity(directory: Fd, path: *const c_char, flags: usize) -> Option<Identity> {
    let mut found = MaybeUninit::<Statx>::uninit();
    let start: *mut Statx = found.as_mut_ptr();
    let arguments = [directory.0 as usize, path.addr(), flags, STATX_BASIC_STATS, start.addr()];
    // SAFETY: the kernel writes a struct statx, 256 bytes, for which there is room; three words are read. The kernel
    // does not read an invalid address.
    unsafe {
        if call(numbers::STATX, arguments).is_ok() {
            let inode = (&raw const (*start).inode).read_volatile();
            let device = (&raw const (*start).device).cast::<u64>().read_volatile();
            return Some(Identity { inode, device });
        }
    }
    // An older system call, as in `status`.
    let mut found = MaybeUninit::<Stat>::uninit();
    let start: *mut Stat = found.as_mut_ptr();
    let arguments = [directory.0 as usize, path.addr(), start.addr(), flags];
    // SAFETY: the kernel writes a struct stat, for which there is room; two words are read.
    unsafe {
        call(numbers::NEWFSTATAT, arguments).ok()?;
        let [major, minor] = parts_of_device((&raw const (*start).device).read_volatile());
        let inode = (&raw const (*start).inode).read_volatile();
        Some(Identity { inode, device: u64::from(minor) << 32 | u64::from(major) })
    }
}

/// Splits the word of the older system call into the two numbers of a device.
fn parts_of_device(device: u64) -> [u32; 2] {
    let low_bits = |number: u64| number as u32;
    [low_bits(device >> 8 & 0xfff), low_bits(device & 0xff | device >> 12 & 0xf_ff00)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_has_the_kernels_layout() {
        assert_eq!(size_of::<Statx>(), 256);
        let directory = Fd::open_directory(c"/").unwrap();
        let status = directory.status().unwrap();
        assert!(status.is_directory() && !status.is_regular());
        let older = directory.old_status().unwrap();
        assert_eq!(older.born, [0; 2], "the older call reports no birth time");
        assert_eq!(older, Status { born: [0; 2], ..status }, "both calls report the same otherwise");
        directory.close().unwrap();
        // The number of a closed descriptor may belong to a file of another test at once. No file has this number.
        assert_eq!(Fd(i32::MAX).status(), Err(Errno::EBADF));
    }

    #[test]
    fn the_birth_time_is_read_where_the_file_system_has_one() {
        let directory = Fd::open_directory(c"/").unwrap();
        let born = std::fs::metadata("/").unwrap().created().ok();
        let born = born.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let expected = born.map_or([0; 2], |born| [born.as_secs(), u64::from(born.subsec_nanos())]);
        assert_eq!(directory.status().unwrap().born, expected);
        directory.close().unwrap();
    }

    #[test]
    fn the_birth_time_tells_files_with_one_inode_number_apart() {
        let directory = Fd::open_directory(c"/").unwrap();
        let status = Status { born: [5, 6], ..directory.status().unwrap() };
        directory.close().unwrap();
        assert!(status.is_same_file(&Status { size: status.size + 1, links: 0, ..status }), "a file that grows");
        assert!(!status.is_same_file(&Status { born: [5, 7], ..status }));
        assert!(status.is_same_file(&Status { born: [0; 2], ..status }), "an unknown birth time tells nothing");
        assert!(!status.is_same_file(&Status { inode: status.inode + 1, ..status }));
        assert!(!status.is_same_file(&Status { device: [u32::MAX; 2], ..status }));
    }

    #[test]
    fn a_device_number_has_two_parts() {
        assert_eq!(parts_of_device(0x456 << 20 | 0x103 << 8 | 0x12), [0x103, 0x4_5612]);
    }
}
