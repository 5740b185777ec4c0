//! Linux. All calls are raw system calls, not the C library's: they set no errno, are no cancellation points, and may
//! be made below mcount and in a signal handler.
mod alternate_stack;
mod auxiliary_vector;
#[cfg(any(test, feature = "runtime"))]
mod bpf;
mod call;
#[path = "../unix/descriptor.rs"]
mod descriptor;
mod disposition;
mod errno;
mod file;
mod file_calls;
mod file_name;
mod hidden_handlers;
#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
mod machine;
// Only the start-up objects see that a filter is installed.
#[cfg_attr(any(test, feature = "runtime"), path = "filter.rs")]
#[cfg_attr(not(any(test, feature = "runtime")), path = "no_filter.rs")]
mod filter;
#[cfg(any(test, feature = "runtime"))]
mod filter_installation;
mod guarded;
#[cfg(any(test, feature = "preload"))]
mod inherited_filter;
#[path = "../unix/limits.rs"]
mod limits;
mod listed_object;
mod maps;
mod memory;
mod own_code;
mod perf;
mod readable;
mod shared_signal;
mod signal;
mod status;
mod thread;
mod ticks;
mod timer;

pub(crate) use listed_object::ListedObject;
pub use machine::{
    CONTEXT_ABOVE_STACK, CONTEXT_PC, CONTEXT_REGISTERS, SIGNAL_TRAMPOLINE, SIGNAL_TRAMPOLINE_CALL, interrupted_pc,
};
pub(crate) use machine::{PERF_ORDER, PERF_PROGRAM_COUNTER, PERF_REGISTERS, PERF_STACK_POINTER, numbers, syscall};

pub use crate::arch::LARGEST_PAGE;
#[cfg(all(feature = "start", not(test)))]
pub(crate) use alternate_stack::{AlternateStack, has_alternate_stack_in, has_alternate_stacks, set_alternate_stack};
pub use auxiliary_vector::executed_path;
pub(crate) use auxiliary_vector::vdso;
use call::{call, checked};
pub(crate) use descriptor::{CURRENT, Fd};
#[cfg(all(feature = "start", not(test)))]
pub(crate) use disposition::{
    Action, disguise, disguised, leave_alternate_stacks, on_fatal_signal, reveal, set_action_raw, stand_in,
};
pub use errno::{Errno, set_errno};
#[cfg(any(test, feature = "runtime"))]
pub(crate) use file::file_mask;
#[cfg(all(feature = "start", not(test)))]
pub(crate) use file::{can_write_files, remember_mask};
pub(crate) use file::{changed_mask, is_path_of, push_command_line, push_current_directory, push_program_path};
pub use file_calls::HOLDS_LITTLE;
pub(crate) use file_calls::O_RDWR;
pub(crate) use file_name::{NAME_END, NAME_START, PLAIN_NAME, PROCESS_VARIABLE};
#[cfg(any(test, feature = "runtime"))]
pub(crate) use filter::enter_thread;
#[cfg(any(test, feature = "runtime"))]
pub(crate) use filter_installation::{Expected, Wanted, are_few_descriptors, expect};
pub use guarded::{can_be_written, read, write};
#[cfg(all(feature = "start", not(test)))]
pub(crate) use hidden_handlers::set_handler_entries;
#[cfg(all(feature = "preload", not(test)))]
pub(crate) use inherited_filter::inherited_filters;
pub(crate) use limits::restore_limit;
pub use maps::copy_own_memory;
pub(crate) use maps::{MapsRoom, OwnMemory, VDSO_PATH, for_each_mapping, path_of_file};
#[cfg(all(feature = "start", not(test)))]
pub(crate) use memory::RLIMIT_AS;
pub(crate) use memory::map_at;
pub(crate) use memory::{
    PAGE, make_present, map_file, map_own_word, replace, reserve, reserve_for_good, take_reserved, unreserve,
};
pub use memory::{clear, map, unmap};
pub(crate) use own_code::{CHANGES_CODE, OwnCode, make_executable, open_object_file, synchronize};
pub(crate) use perf::{SampleMemory, sample_on};
pub use readable::{is_readable, is_readable_in_handler};
pub(crate) use shared_signal::{is_programs, leave_to_program, programs_handler};
#[cfg(all(feature = "start", not(test)))]
pub(crate) use shared_signal::{is_runtimes_handler_in_place, is_shared, programs_action, set_programs_action};
pub use signal::Handler;
pub(crate) use signal::PROFIL_SIGNAL;
pub(crate) use signal::{
    FATAL_SIGNALS, LOOKED_FOR_SIGNALS, NO_SIGNALS, SA_RESTART, SAMPLING_SIGNAL, SIG_BLOCK, SIG_DFL, SIG_UNBLOCK,
    SIGPIPE, SIGPROF, SIGXFSZ, SavedSignals, catch_signal, change_mask, contains, default_action, is_caught_by,
    is_free_for_use, is_not_handled, let_signal_end, let_signal_wait, pending_signals, signal_named, take_signal,
    try_to_block_signals, uncatch_signal, with_signal, without_signal,
};
pub use signal::{SignalInfo, SignalSet, block_signals, set_blocked_signals};
pub(crate) use status::{Identity, Status};
pub(crate) use thread::{
    UNKNOWN_THREAD, effective_user, exit_process, give_way, known_process_id, name_of_thread, process_id,
    push_host_name, store_thread_name, system_release, thread_is_gone,
};
pub use thread::{a_moment, thread_id};
pub(crate) use ticks::{NextHandler, threads_number};
pub(crate) use timer::{TimeOf, Timer, interval_timer, process_time, set_interval_timer, ticks_per_second, unix_time};
#[cfg(any(test, feature = "runtime"))]
pub(crate) use timer::{steady_time, thread_time};

/// Whether code may read the program's text.
pub const IS_TEXT_READABLE: bool = true;
/// Whether functions that are called by their addresses must begin with endbr64.
pub const NEEDS_ENDBR: bool = false;
/// Whether handlers walk the stacks of interrupted threads. The runtime must see each sample when it is taken.
pub const WALKS_STACKS: bool = true;
/// Whether the runtime answers requests of other processes.
pub(crate) const TAKES_REQUESTS: bool = true;
/// Whether the runtime hears when the program gives up the means to read the list of its objects: the start-up objects
/// replace the functions by which programs do so.
pub const HEARS_OF_LOSSES: bool = cfg!(feature = "start");
