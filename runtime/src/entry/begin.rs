//! Starts profiling after the system's start-up code has found the program's name and environment.

use core::ffi::{CStr, c_char};

use super::mcount;
use crate::control::calls::{self, Demand};
use crate::control::{self, Environment, attach, settings, snapshot, strings};
use crate::kernel::{self, Sampler};
use crate::message::remember_standard_error;
use crate::os::{CHANGES_CODE, TAKES_REQUESTS, block_signals, reserve, set_blocked_signals};
#[cfg(feature = "start")]
use crate::process::exits;
use crate::samples::contexts;

/// Starts profiling the code from `lowpc` to `highpc` of the program `name`. `register` makes the C library call
/// [`control::before_fork`] before a fork, [`control::after_fork_in_parent`] or [`after_fork_in_child`] after a fork,
/// and the end of the profile in `quick_exit`, unless the system's start-up code has another way. A program that the
/// user does not want to be profiled stays as a program without profile.
///
/// # Safety
///
/// `envp` must be the process's environment, and nobody may change the environment during the call; this must be the
/// first call.
pub(super) unsafe fn begin(
    name: Option<&CStr>,
    envp: *const *const c_char,
    (lowpc, highpc): (usize, usize),
    register: impl FnOnce(),
) {
    // SAFETY: the caller's promise.
    let environment = unsafe { Environment::of(strings(envp)) };
    let name = name.unwrap_or(c"");
    if !settings::wants(name, &environment) {
        // A `monstartup` of the program would otherwise be the first. Without start-up code, `monstartup` has called
        // this function.
        #[cfg(feature = "start")]
        control::forbid_start();
        return;
    }
    remember_standard_error();
    // Handlers run when the profile is complete enough for them.
    let blocked = block_signals();
    reserve();
    let directory = settings::configure(name, &environment);
    let (mut sampling, demand) = (settings::sampling(&environment), settings::calls(&environment));
    if CHANGES_CODE && !sampling.wall && matches!(demand, Some(Demand::InWindows(..))) {
        // Windows open and close in the handler of a tick, which the kernel's sampler does not call.
        sampling.sampler.get_or_insert(Sampler::WITH_SIGNALS);
    }
    // Only the file beside the profile can hold stacks. The sampler must know whether they are wanted.
    if !settings::tells_of_objects(&environment) {
        control::forget_outside();
    } else if settings::walks_stacks(&environment) {
        contexts::keep();
        if settings::tells_threads(&environment) {
            contexts::tell_threads();
        }
    }
    kernel::choose_sampler(&sampling);
    control::start(lowpc, highpc, directory.map(|fd| fd.0), settings::is_live(&environment), blocked);
    register();
    if let Some(signal) = settings::dump_signal(&environment) {
        snapshot::watch(signal);
    }
    if CHANGES_CODE {
        calls::set_counter(mcount::counter());
    }
    if TAKES_REQUESTS {
        attach::begin();
    }
    if let Some(signal) = settings::calls_signal(&environment) {
        calls::watch(signal);
    }
    if let Some(demand) = demand {
        calls::switch_on(demand);
    }
    #[cfg(feature = "start")]
    exits::watch(settings::may_catch_signals(&environment));
    if let Some(fd) = directory {
        let _ = fd.close();
    }
    set_blocked_signals(kernel::to_be_blocked(blocked));
}

/// Runs first in the child of a fork.
pub(super) extern "C" fn after_fork_in_child() {
    control::after_fork_in_child();
    #[cfg(feature = "start")]
    exits::after_fork_in_child();
}
