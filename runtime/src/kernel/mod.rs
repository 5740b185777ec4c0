//! OpenBSD's six-argument `profil`, and what stands behind it on each system.
//!
//! Everything above is the same on all systems; on OpenBSD this is the system call. `profil(buf, buflen, samplesize,
//! offset, scale, dirfd)` hands over one buffer in the layout of the file, a `struct gmonhdr`, `samplesize` bytes of
//! 16-bit bins and room for arcs; from then on the bins are counted up, and when the process ends, [`terminate`], the
//! buffer is stored as the file.
//!
//! What was counted outside the program's text goes another way, since that kernel does not keep it: `look` and `place` tell
//! where it lies, and [`terminate`] is given it for the files beside the file.

#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
mod behind;

pub(crate) use behind::{
    Children, Clock, Form, HIGHEST_RATE, Iterate, NOWHERE, Naming, OWN_WORD, Output, PROGRAM, Sampler, Seen, TICKS,
    Wish, adopt, after_fork_in_child, announce, announce_in_file, arcs_grain, begin_in_file, begin_live,
    blocked_as_told, can_end_by_signal, can_sample, can_write_file, choose_sampler, collect, configure, covers,
    for_each_gone, for_each_tick_outside, go_on_again, is_child_that, is_copy, is_in_file, is_live, is_object, is_ours,
    keep_ticks_outside, know_program, leave_file, leave_live, look, look_ahead, look_at_all, look_at_list, map_arcs,
    next_place, number, path, place, profil, profrate, rebuffer, remember_program, reserve_arcs, settle_for_good,
    stop_for_good, take_ticks_outside, terminate, to_be_blocked,
};
#[cfg(any(test, feature = "profil"))]
pub(crate) use behind::{NO_BUFFER, accept, buffer, runtimes_profil, store_memory, store_nothing, take_buffer};
