//! Counts calls: each thread's tables of arcs, their growth, and the slow path of mcount.

mod ended;
mod entry_of_calls;
mod table;
pub(crate) mod threads;

#[cfg(all(feature = "preload", not(test)))]
pub(crate) use threads::enter_new_thread;
pub(crate) use threads::{
    Counter, after_fork_in_child, after_fork_in_parent, before_fork, empty_arcs, enter_this_thread, for_each_arc,
    is_any_closing, is_closing, lost, lost_in_children, miss, run_clocks, set_closing, settle_clocks, take_arcs,
};
