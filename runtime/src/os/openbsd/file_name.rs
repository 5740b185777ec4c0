//! The name of the profile. OpenBSD's kernel chooses the name: `gmon.<program>.<process ID>.out`.

/// The fixed file name; empty, because the name depends on the program.
pub(crate) const PLAIN_NAME: &[u8] = b"";
/// The text before the program's name, and the text after the process ID.
pub(crate) const NAME_START: &[u8] = b"gmon.";
pub(crate) const NAME_END: &[u8] = b".out";

/// The environment variable that adds the process ID to the name; empty, because the name always has the process ID.
pub(crate) const PROCESS_VARIABLE: &[u8] = b"";
