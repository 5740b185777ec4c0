//! The items that the runtime needs of a system in `kernel/`. `tests/tests/house/systems.rs` compiles this folder;
//! nothing runs it.
#![allow(unused_variables, clippy::all)]

use super::buffer::KernelsProfil;
use crate::file::Form;
pub(crate) use crate::file::{arcs_grain, map_arcs};
use crate::os::{Errno, SignalSet};

/// What produces samples: this system has one sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampler {
    Kernel,
}

impl Sampler {
    pub(crate) const WITH_SIGNALS: Sampler = Sampler::Kernel;

    pub(crate) fn named(name: &[u8]) -> Option<Sampler> {
        (name == b"kernel").then_some(Sampler::Kernel)
    }
}

pub(crate) const SAMPLER_NAMES: &[u8] = b"kernel";

/// What the user wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) rate: Option<u32>,
    pub(crate) wall: bool,
    pub(crate) sampler: Option<Sampler>,
}

pub(crate) const RATE_OTHERWISE: &[u8] = b": using 128";

pub(crate) const HIGHEST_RATE: u32 = 128;

/// The form of the system's files.
pub(crate) fn form(has_overflowed: bool) -> Form {
    Form::OpenBsd
}

/// Prints that the first call of `profil` failed.
pub(crate) fn say_start_failure(error: Errno) {}

/// What a system stores for each thread. Zeros are valid.
pub(crate) struct Clock;

impl Clock {
    pub(crate) fn reset(&self) {}
    pub(crate) fn attach(&self, thread: i32, blocked: SignalSet) {}
    pub(crate) fn run(&self, on: bool) {}
    pub(crate) fn settle(&self, is_last: bool) {}
}

pub(crate) fn choose(wish: &Wish) {}

pub(crate) fn profrate() -> u32 {
    128
}

pub(crate) fn is_wall() -> bool {
    false
}

pub(crate) fn start() -> Result<(), Errno> {
    loop {}
}

pub(crate) fn stop() {}

pub(crate) fn settle_for_good() {}

pub(crate) fn count_stored() {}

pub(crate) fn collect() {}

pub(crate) fn discard() {}

pub(crate) fn report() {}

pub(crate) fn after_fork_in_child() {}

crate::state::reset_list! {}

pub(crate) fn to_be_blocked(signals: SignalSet) -> SignalSet {
    signals
}

/// The ticks of `profil` in the dialects of other systems.
/// The kernel has no `profil` of six arguments.
pub(crate) const KERNELS_PROFIL: Option<KernelsProfil> = None;

pub mod profil_clock {
    use core::ffi::{c_int, c_void};

    use crate::os::{Errno, Handler, SignalInfo};

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Rate;

    pub const HUNDRED: Rate = Rate;
    pub const SIXTY: Rate = Rate;
    pub const CONTINUES_IN_CHILD: bool = true;

    pub fn listen(handler: Handler) -> Result<(), Errno> {
        loop {}
    }

    pub fn go_on() {}

    pub fn run(rate: Rate, handler: Handler) -> Result<(), Errno> {
        loop {}
    }

    pub fn stop_soon() {}

    pub fn stop() {}

    pub fn ticks(signal: c_int, info: &SignalInfo) -> u32 {
        0
    }

    pub fn at_tick(handler: Handler) {}

    pub unsafe fn pass_on(signal: c_int, info: *const SignalInfo, context: *const c_void) {}

    pub fn after_fork_in_child() {}
}
