//! The constants of the tagged files of Darwin and NeXT, from Darwin's `<sys/gmon.h>`.

/// The first word of a file with 32-bit addresses (`GMON_MAGIC`).
pub(super) const MAGIC_32: u32 = 0xbeef_babe;
/// The first word of a file with 64-bit addresses (`GMON_MAGIC_64`), which only Darwin writes.
pub(super) const MAGIC_64: u32 = 0xbeef_babf;

/// The type of a record with one histogram (`GMONTYPE_SAMPLES`).
pub(super) const SAMPLES: u32 = 1;
/// The type of a record of arcs (`GMONTYPE_RAWARCS`).
pub(super) const RAWARCS: u32 = 2;
/// The type of a record of arcs with the order of their first calls (`GMONTYPE_ARCS_ORDERS`).
pub(super) const ARCS_ORDERS: u32 = 3;
/// Darwin's type of a record that lists loaded images with their slides (`GMONTYPE_DYLD_STATE`).
pub(super) const DYLD_STATE: u32 = 4;
/// Darwin's type of a record that lists loaded images with their addresses (`GMONTYPE_DYLD2_STATE`).
pub(super) const DYLD2_STATE: u32 = 5;
/// NeXT's type of a record that lists the object files that `rld` loaded (`GMONTYPE_RLD_STATE`).
pub(super) const NEXT_RLD_STATE: u32 = 4;
/// NeXT's type of a record that lists loaded images with their slides (`GMONTYPE_DYLD_STATE`). A comment of
/// `<mach-o/gmon.h>` has an address of the header before the slide, which neither NeXT's runtime nor its gprof has.
pub(super) const NEXT_DYLD_STATE: u32 = 5;
