//! FreeBSD and OpenBSD: the objects, programs in emulated kernels, and the reader. `make check-bsd` installs what most
//! of these tests need.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

mod bsd_kernel;
mod bsd_objects;
mod bsd_processes;
mod bsd_programs;
mod bsd_reader;
mod freebsd;
mod freebsd_objects;
mod freebsd_profil;
mod openbsd;
mod openbsd_arm64;
mod openbsd_dynamic;
mod openbsd_kernel;
mod openbsd_library;
mod openbsd_objects;
mod openbsd_settings;
mod openbsd_snapshots;
