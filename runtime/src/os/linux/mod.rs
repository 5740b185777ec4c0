//! Linux. Raw system calls, never the C library's: they set no errno, are no cancellation points, and may be made below
//! mcount and in a signal handler.

#[cfg(any(test, feature = "profil"))]
mod auxiliary_vector;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod bpf;
mod call;
mod disposition;
#[cfg(all(feature = "start", not(test)))]
mod dynamic_linker;
mod errno;
mod file;
mod hidden_handlers;
#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
mod machine;
// Only the start-up objects see filters being installed.
#[cfg_attr(any(test, feature = "start", not(feature = "profil")), path = "filter.rs")]
#[cfg_attr(not(any(test, feature = "start", not(feature = "profil"))), path = "no_filter.rs")]
mod filter;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod filter_installation;
#[cfg(any(test, feature = "profil"))]
mod guarded;
pub(crate) mod linked;
mod listed_object;
mod maps;
mod memory;
mod perf;
mod signal;
mod thread;
#[cfg(any(test, feature = "profil"))]
mod ticks;
mod timer;

pub(crate) use listed_object::ListedObject;
pub(crate) use machine::{interrupted_pc, numbers, syscall};

pub(crate) use crate::arch::LARGEST_PAGE;
#[cfg(all(feature = "start", not(test)))]
pub(crate) use disposition::{Action, disguise, disguised, reveal, set_action_raw, stand_in};
#[cfg(all(feature = "start", not(test)))]
pub(crate) use dynamic_linker::next_definition;
pub(crate) use errno::{Errno, set_errno};
#[cfg(all(feature = "start", not(test)))]
pub(crate) use file::can_write_files;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
pub(crate) use file::file_mask;
pub(crate) use file::{CURRENT, Fd, Identity, O_RDWR, Status, push_program_path};
#[cfg(any(test, feature = "start", not(feature = "profil")))]
pub(crate) use filter::enter_thread;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
pub(crate) use filter_installation::{Expected, Wanted, expect};
#[cfg(any(test, feature = "profil"))]
pub(crate) use guarded::{can_be_written, read, write};
#[cfg(all(feature = "start", not(test)))]
pub(crate) use hidden_handlers::set_doors;
pub(crate) use maps::{Mapping, MapsRoom, OwnMemory, VDSO_PATH, for_each_mapping};
pub(crate) use memory::{
    PAGE, Reserve, clear, map, map_file, map_own_word, replace, reserve, reserve_for_good, take_reserved, unmap,
    unreserve,
};
pub(crate) use perf::{SampleMemory, sample_on};
pub(crate) use signal::{
    FATAL_SIGNALS, LOOKED_FOR_SIGNALS, NO_SIGNALS, SA_RESTART, SAMPLING_SIGNAL, SIG_BLOCK, SIG_DFL, SIG_UNBLOCK,
    SIGPIPE, SIGPROF, SIGXFSZ, SavedSignals, SignalInfo, SignalSet, block_signals, catch_signal, change_mask, contains,
    default_action, is_caught_by, is_free_for_use, is_not_handled, let_signal_end, let_signal_wait, on_fatal_signal,
    pending_signals, set_blocked_signals, signal_named, take_signal, try_to_block_signals, uncatch_signal, with_signal,
    without_signal,
};
#[cfg(any(test, feature = "profil"))]
pub(crate) use signal::{Handler, PROFIL_SIGNAL};
pub(crate) use thread::{
    UNKNOWN_THREAD, a_moment, effective_user, exit_process, give_way, known_process_id, process_id, system_release,
    thread_id, thread_is_gone,
};
#[cfg(any(test, feature = "profil"))]
pub(crate) use ticks::{NextHandler, threads_number};
pub(crate) use timer::{TimeOf, Timer, interval_timer, process_time, set_interval_timer, ticks_per_second};

#[cfg(any(test, feature = "profil"))]
pub(crate) use auxiliary_vector::executed_path;
use call::{call, checked};
