//! Files and directories.

mod descriptor;
mod limits;
mod status;

pub(super) use descriptor::DELETED;
#[cfg(all(feature = "start", not(test)))]
pub(crate) use descriptor::can_write_files;
#[cfg(any(test, feature = "runtime"))]
pub(crate) use descriptor::file_mask;
pub(crate) use descriptor::{CURRENT, Fd, O_RDWR, push_program_path};
pub(super) use limits::within_limit;
pub(crate) use status::{Identity, Status};
