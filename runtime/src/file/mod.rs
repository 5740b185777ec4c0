//! The files: names, forms, writing, and files in which the process counts.

pub(crate) mod forms;
pub(crate) mod kept;
pub(crate) mod live;
pub(crate) mod mapped;
pub(crate) mod names;
pub(crate) mod one_writer;
pub(crate) mod output;
pub(crate) mod side_file;
mod stale;
pub(crate) mod successor;
pub(crate) mod sum;
pub(crate) mod writer;

pub(crate) use forms::Form;
pub(crate) use live::{arcs_grain, begin as begin_live, is_live, leave as leave_live, map_arcs, reserve_arcs};
pub(crate) use mapped::{
    announce as announce_in_file, begin as begin_in_file, is_in_file, leave as leave_file,
    room_for_arcs as room_for_arcs_in_file,
};
pub(crate) use names::{Children, children_leave};
pub use names::{Naming, Output, configure};
#[cfg(all(feature = "start", not(test)))]
#[allow(unused_imports, reason = "only Linux hears of losses")]
pub(crate) use output::hold;
pub(crate) use output::{keep_side_file, release_directory};
#[allow(unused_imports, reason = "the samplers of the BSDs do not say what they are")]
pub(crate) use side_file::{Sampled, add_counted_time, counted_time, remember_command, set_sampler};
pub(crate) use side_file::{announce, describe_mappings, describe_objects, remember_run, set_rank};
