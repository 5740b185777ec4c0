//! OpenBSD. The runtime makes system calls itself instead of calling the C library's functions: the system calls do not
//! set errno, are not cancellation points, and are allowed below mcount and in a signal handler.
mod call;
mod constants;
#[path = "../unix/descriptor.rs"]
mod descriptor;
#[path = "../bsd/errno.rs"]
mod errno;
mod execute;
#[path = "../bsd/file_calls.rs"]
mod file_calls;
mod file_name;
mod file_system;
#[path = "../unix/limits.rs"]
mod limits;
mod listed_object;
#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
mod machine;
mod maps;
#[path = "../bsd/memory.rs"]
mod memory;
mod numbers;
#[path = "../bsd/open_flags.rs"]
mod open_flags;
#[path = "../bsd/own_code.rs"]
mod own_code;
#[path = "../bsd/own_memory.rs"]
mod own_memory;
mod profil;
mod promises;
#[path = "../bsd/signal.rs"]
mod signal;
#[path = "../bsd/signal_action.rs"]
mod signal_action;
mod signal_calls;
mod signal_set;
#[path = "../bsd/start_directory.rs"]
mod start_directory;
#[path = "../bsd/status.rs"]
mod status;
#[path = "../bsd/sysctl.rs"]
mod sysctl;
mod thread;
#[path = "../bsd/walks.rs"]
mod walks;

pub(crate) use listed_object::ListedObject;
pub use machine::interrupted_pc;

pub use crate::arch::LARGEST_PAGE;
use call::call;
pub(crate) use descriptor::{CURRENT, Fd};
pub use errno::{Errno, set_errno};
pub(crate) use execute::execute;
pub use file_calls::HOLDS_LITTLE;
pub(crate) use file_name::{NAME_END, NAME_START, PLAIN_NAME, PROCESS_VARIABLE};
pub(crate) use limits::restore_limit;
pub(crate) use maps::{
    MapsRoom, VDSO_PATH, for_each_mapping, path_of_file, push_command_line, push_host_name, push_program_path,
};
pub(crate) use memory::{
    PAGE, map_file, map_own_word, replace, reserve, reserve_for_good, take_reserved, zero_in_copies,
};
pub use memory::{clear, map, unmap};
pub(crate) use open_flags::O_RDWR;
pub(crate) use own_code::{
    CHANGES_CODE, OwnCode, make_executable, map_at, open_object_file, steady_time, synchronize, thread_time,
};
pub(crate) use own_memory::OwnMemory;
pub(crate) use profil::{interval_timer, profil, revive_interval_timer, set_interval_timer};
pub(crate) use promises::{may_create_files, pledge};
pub(crate) use signal::{
    FATAL_SIGNALS, LOOKED_FOR_SIGNALS, SIGPIPE, SIGPROF, SIGXFSZ, catch_signal, default_action, is_caught_by,
    is_free_for_use, is_not_handled, let_signal_end, on_fatal_signal, pending_signals, reveal, set_handler_entries,
    signal_named, take_signal, try_to_block_signals, uncatch_signal,
};
pub use signal::{Handler, SignalInfo, block_signals, set_blocked_signals};
pub use signal_set::SignalSet;
pub(crate) use signal_set::{NO_SIGNALS, SavedSignals, contains, with_signal, without_signal};
pub(crate) use start_directory::{changed_mask, file_mask, is_path_of, push_current_directory};
pub(crate) use status::{Identity, Status};
pub(crate) use sysctl::{ClockRates, clock_rates};
pub(crate) use thread::{
    UNKNOWN_THREAD, effective_user, enter_thread, exit_process, give_way, has_other_rights, known_process_id,
    process_id, process_time, thread_is_gone, unix_time,
};
pub use thread::{a_moment, thread_id};
pub use walks::{
    CONTEXT_ABOVE_STACK, CONTEXT_PC, CONTEXT_REGISTERS, SIGNAL_TRAMPOLINE, SIGNAL_TRAMPOLINE_CALL, copy_own_memory,
    is_readable, is_readable_in_handler,
};
pub(crate) use walks::{name_of_thread, store_thread_name, vdso};

/// Whether code may read the program's text.
pub const IS_TEXT_READABLE: bool = false;
/// Whether functions that are called by their addresses must begin with endbr64.
pub const NEEDS_ENDBR: bool = true;
/// Whether handlers walk the stacks of interrupted threads. Here the kernel takes the samples.
pub const WALKS_STACKS: bool = false;
/// Whether the runtime answers requests of other processes: no handler of the runtime hears of them.
pub(crate) const TAKES_REQUESTS: bool = false;
/// Whether the runtime hears when the program gives up the means to read the list of its objects.
pub const HEARS_OF_LOSSES: bool = false;
