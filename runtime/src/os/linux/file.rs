//! What Linux alone does with files.

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::descriptor::{CURRENT, Fd, WRITING_FLAGS};
use super::file_calls::O_CLOEXEC;
use super::limits::within_limit;
use super::machine::numbers;
use super::status::{Identity, Status};
use super::{Errno, call};
use crate::state::Inherited;
use crate::text::Text;

const SEEK_DATA: usize = 3;

impl Fd {
    /// Appends the current path of the open file to `path`.
    pub(crate) fn push_path<const N: usize>(self, path: &mut Text<N>) {
        let mut link = Text::<64>::new();
        link.push(b"/proc/self/fd/");
        link.push_decimal(u64::from(self.0.unsigned_abs()));
        if let Some(link) = link.as_c_str() {
            path.fill(|room| read_link(link, room));
        }
    }

    /// Extends the file by `length` zeros from `offset` on, and allocates room for them.
    pub(crate) fn extend(self, offset: usize, length: usize) -> Result<(), Errno> {
        within_limit(offset + length)?;
        // SAFETY: no pointers.
        unsafe { call(numbers::FALLOCATE, [self.0 as usize, 0, offset, length]) }.map(|_| ())
    }

    /// Opens a file of this directory for reading.
    pub(crate) fn open_for_reading(self, path: &CStr) -> Result<Fd, Errno> {
        self.open(path, O_CLOEXEC, 0)
    }

    /// The offset of the next data that is not in a hole; `None` if there is none.
    pub(crate) fn next_data(self, offset: usize) -> Option<usize> {
        // SAFETY: no pointers.
        match unsafe { call(numbers::LSEEK, [self.0 as usize, offset, SEEK_DATA]) } {
            Ok(data) => Some(data),
            Err(Errno::ENXIO) => None,
            // The file system does not support the question.
            Err(_) => Some(offset),
        }
    }

    /// Reads the next bytes, at most as many as fit; 0 at the end of the file.
    pub(crate) fn read(self, bytes: &mut [u8]) -> Result<usize, Errno> {
        // SAFETY: the kernel writes no more bytes than there is room for.
        unsafe { call(numbers::READ, [self.0 as usize, bytes.as_mut_ptr().addr(), bytes.len()]) }
    }
}

/// Reads the target of a symbolic link into `room`. The result is the length of the target; 0 if the link cannot be
/// read.
#[inline(never)]
fn read_link(link: &CStr, room: &mut [u8]) -> usize {
    let arguments = [CURRENT.0 as usize, link.as_ptr().addr(), room.as_mut_ptr().addr(), room.len()];
    // SAFETY: the kernel writes no more bytes than there is room for.
    unsafe { call(numbers::READLINKAT, arguments) }.unwrap_or(0)
}

/// Appends the path of the program's executable file to `path`; nothing if the path cannot be read.
pub(crate) fn push_program_path<const N: usize>(path: &mut Text<N>) {
    path.fill(|room| {
        let length = read_link(c"/proc/self/exe", room);
        let found = room.get(..length).unwrap_or_default();
        found.strip_suffix(DELETED).unwrap_or(found).len()
    });
}

/// Appends the path of the current directory to `path`. If the directory is not below the root directory of the
/// process, the path does not begin with `/`.
pub(crate) fn push_current_directory<const N: usize>(path: &mut Text<N>) {
    path.fill(|room| {
        let arguments = [room.as_mut_ptr().addr(), room.len()];
        // SAFETY: the kernel writes no more bytes than there is room for; the last byte is a NUL.
        unsafe { call(numbers::GETCWD, arguments) }.unwrap_or(0).saturating_sub(1)
    });
}

/// Whether an absolute path leads to the file with this status.
pub(crate) fn is_path_of(path: &CStr, status: &Status) -> bool {
    path.to_bytes().starts_with(b"/") && Identity::of(path.as_ptr()) == status.identity()
}

/// What is known of the umask at the start: nothing, because the question changes the umask for a moment. See
/// [`changed_mask`].
#[cfg(any(test, feature = "runtime"))]
pub(crate) fn file_mask() -> usize {
    0
}

/// The umask at the start, if the program has changed it since; otherwise 0, because the kernel still knows the umask.
pub(crate) fn changed_mask() -> usize {
    FIRST_MASK.load(Relaxed)
}

/// Remembers the umask that the program has changed. Only the first call has an effect.
#[cfg(all(feature = "start", not(test)))]
pub(crate) fn remember_mask(mask: usize) {
    let _ = FIRST_MASK.compare_exchange(0, mask | IS_KNOWN, Relaxed, Relaxed);
}

/// The umask at the start and [`IS_KNOWN`], once the program has changed it; 0 before.
static FIRST_MASK: Inherited<AtomicUsize> =
    Inherited::new("the child's files respect the umask at the start of the program", AtomicUsize::new(0));
/// A bit that no permission has.
#[cfg(all(feature = "start", not(test)))]
const IS_KNOWN: usize = 1 << 31;

/// Appends the words of the command line to `words`, each with a NUL after it, as far as there is room. Appends nothing
/// if the kernel does not reveal them.
pub(crate) fn push_command_line<const N: usize>(words: &mut Text<N>) {
    let Ok(file) = CURRENT.open_for_reading(c"/proc/self/cmdline") else { return };
    let mut has_more = true;
    while has_more {
        words.fill(|room| {
            let length = file.read(room).unwrap_or(0);
            has_more = length > 0;
            length
        });
    }
    let _ = file.close();
}

/// The suffix that the kernel appends to the path of a file without a name.
pub(super) const DELETED: &[u8] = b" (deleted)";

/// Whether a file can be opened and written behind a seccomp filter, for which `permits` answers.
pub(crate) fn can_write_files(permits: impl Fn(usize, [usize; 3]) -> bool) -> bool {
    let descriptor = 3;
    permits(numbers::OPENAT, [descriptor, 0, WRITING_FLAGS])
        && [numbers::STATX, numbers::UNLINKAT, numbers::PWRITE, numbers::FTRUNCATE, numbers::CLOSE]
            .into_iter()
            .all(|number| permits(number, [descriptor, 0, 0]))
}
