//! The directory and the umask at the start.

use core::ffi::CStr;

use super::status::Status;
use super::{call, numbers};
use crate::text::Text;

/// Returns the process's umask. Must be called at start-up, when there is one thread, because the function changes the
/// umask for a moment.
pub(crate) fn file_mask() -> usize {
    // SAFETY: no pointers; the call cannot fail.
    let set = |mask: usize| unsafe { call(numbers::UMASK, [mask]) }.unwrap_or(0);
    let mask = set(0o077);
    set(mask);
    mask
}

/// Appends no path of the current directory: the runtime keeps the directory open instead.
pub(crate) fn push_current_directory<const N: usize>(_path: &mut Text<N>) {}

/// Whether a path is known to lead to the file with this status: never, so the runtime keeps directories open.
pub(crate) fn is_path_of(_path: &CStr, _status: &Status) -> bool {
    false
}

/// The bits of the umask at the start that [`file_mask`] does not know: none.
pub(crate) fn changed_mask() -> usize {
    0
}
