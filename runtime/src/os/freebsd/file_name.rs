//! The parts of the profile's file name, as the system's libc builds the name.

/// The fixed name of the file; empty if the name is the program's name followed by [`NAME_END`].
pub(crate) const PLAIN_NAME: &[u8] = b"";
/// The start and the end of a name that contains the program's name and the process ID.
pub(crate) const NAME_START: &[u8] = b"";
pub(crate) const NAME_END: &[u8] = b".gmon";

/// The start of the environment variable that adds the process ID to the name; empty if the system has no such
/// variable.
pub(crate) const PROCESS_VARIABLE: &[u8] = b"PROFIL_USE_PID=";
