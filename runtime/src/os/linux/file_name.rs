//! How the system's own runtime calls the file.

/// The name of the file; empty where it is the program's name with [`NAME_END`] behind it.
pub(crate) const PLAIN_NAME: &[u8] = b"gmon.out";
/// What stands before the program's name, and behind the process's number, in a name that has both.
pub(crate) const NAME_START: &[u8] = b"gmon.";
pub(crate) const NAME_END: &[u8] = b".out";

/// What a variable of the environment begins with that puts the process's number in the name of the file; empty where
/// there is no such variable.
pub(crate) const PROCESS_VARIABLE: &[u8] = b"";
