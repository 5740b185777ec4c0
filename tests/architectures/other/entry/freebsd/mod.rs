//! The items that the runtime needs of an architecture in `entry/freebsd/`. `tests/tests/house/architectures.rs`
//! compiles this file; nothing runs it.

use super::exec_lists::{execute_list, execute_list_with_environment, search_list};
use super::fork::{COPIES_MEMORY, DECIDING_FLAGS, failed, rfork_copy};
#[cfg(feature = "start")]
use super::start::CLEANUP;

/// What the functions of an architecture use.
#[unsafe(no_mangle)]
extern "C" fn rfork() {
    let _ = (COPIES_MEMORY, DECIDING_FLAGS, failed as *const (), rfork_copy as *const ());
    let _ = [execute_list as *const (), execute_list_with_environment as *const (), search_list as *const ()];
    #[cfg(feature = "start")]
    let _ = &CLEANUP;
}

pub(super) extern "C" fn thread_fork_address() -> usize {
    0
}
