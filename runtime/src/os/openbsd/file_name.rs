//! How the system calls the file: the kernel makes the name, `gmon.<program>.<process>.out`.

/// The name of the file; empty where the name has the program's name.
pub(crate) const PLAIN_NAME: &[u8] = b"";
/// What stands before the program's name, and behind the number of the process.
pub(crate) const NAME_START: &[u8] = b"gmon.";
pub(crate) const NAME_END: &[u8] = b".out";

/// The variable that puts the number of the process in the name: none, the name always has the number.
pub(crate) const PROCESS_VARIABLE: &[u8] = b"";
