//! Lists the process's mappings: no mappings, because OpenBSD's kernel reports the list only to the superuser.

use super::Errno;
use crate::os::mapping::Mapping;
use crate::text::Text;

/// The path that stands for the kernel's vDSO. OpenBSD's kernel reports no path for the vDSO.
pub(crate) const VDSO_PATH: &[u8] = b"[vdso]";

/// The buffer for the list of mappings; empty, because there is no list.
pub(crate) struct MapsRoom;

/// Returns the path of the mapped file.
pub(crate) fn path_of_file<'a>(mapping: &Mapping<'a>) -> &'a [u8] {
    mapping.path
}

/// Calls `each` with no mapping. A profiled program is static, so all its code is in its own file.
///
/// # Errors
///
/// Always EOPNOTSUPP.
pub(crate) fn for_each_mapping(_room: &mut MapsRoom, _each: impl FnMut(&Mapping<'_>)) -> Result<(), Errno> {
    Err(Errno::EOPNOTSUPP)
}

/// Appends nothing to `path`, because the kernel does not know the path of the program's executable file.
pub(crate) fn push_program_path<const N: usize>(_path: &mut Text<N>) {}

/// Appends nothing to `words`, because the runtime writes no side file on OpenBSD.
pub(crate) fn push_command_line<const N: usize>(_words: &mut Text<N>) {}

/// Appends nothing to `host`, because the runtime writes no side file on OpenBSD.
pub(crate) fn push_host_name<const N: usize>(_host: &mut Text<N>) {}
