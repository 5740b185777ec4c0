//! Starts and stops profiling and writes the file (`monstartup`, `moncontrol`, `_mcleanup`, `gmon_dump`); reads the
//! user's settings.

pub(crate) mod attach;
mod buffer;
pub(crate) mod calls;
mod clock;
mod combine;
mod environment;
#[cfg(all(feature = "start", not(test)))]
mod filters;
mod fork;
mod merge;
mod moncontrol;
mod only;
mod pile;
mod prefix;
#[cfg(not(test))]
pub(crate) mod settings;
pub(crate) mod snapshot;
mod watched_signal;
mod writing_thread;

#[allow(unused_imports, reason = "not all systems have variables without effect")]
pub(crate) use environment::Variable;
pub(crate) use environment::{Environment, strings};
#[cfg(all(feature = "start", not(test)))]
pub(crate) use filters::{get_ready, hold, hold_files, is_in_file};
pub(crate) use fork::{after_fork_in_child, after_fork_in_parent, before_fork};
pub(crate) use merge::RECORDED_BIAS;
#[cfg(not(feature = "start"))]
pub(crate) use moncontrol::is_started;
pub(crate) use moncontrol::{
    _mcleanup, RECORDING, RECORDING_AS_RUN, forget_outside, is_ours, look_at_objects, start, write_snapshot,
};
#[allow(unused_imports, reason = "not all systems ask")]
pub(crate) use moncontrol::{forbid_start, is_profiled, is_unfinished};
