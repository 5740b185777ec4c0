//! The flags of openat(2) that are the same on the BSDs (`sys/fcntl.h`).

#[allow(dead_code, reason = "only OpenBSD examines the flags of a call")]
pub(super) const O_ACCESS: usize = 3;
pub(super) const O_WRONLY: usize = 1;
pub(crate) const O_RDWR: usize = 2;
pub(super) const O_NONBLOCK: usize = 4;
pub(super) const O_APPEND: usize = 8;
pub(super) const O_NOFOLLOW: usize = 0x100;
pub(super) const O_CREAT: usize = 0x200;
pub(super) const O_EXCL: usize = 0x800;
pub(super) const O_DIRECTORY: usize = 0x2_0000;
