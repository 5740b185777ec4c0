//! The constants of `PROF` files.

/// The first word of a `PROF` file (`PROF_MAGIC`).
pub(super) const PROF_MAGIC: u32 = 0x5052_4f46;
/// The highest major version of a `PROF` file (`PROF_MAJOR_VERSION`).
pub(super) const PROF_MAJOR: u16 = 1;
/// The version of every object of a `PROF` file.
pub(super) const OBJECT_VERSION: u32 = 1;

/// The type of an object of raw samples (`PROF_BUFFER_T`).
pub(super) const BUFFER: u32 = 1;
/// The type of an object of calls (`PROF_CALLGRAPH_T`).
pub(super) const CALL_GRAPH: u32 = 2;
/// The type of an object that lists modules (`PROF_MODULES_T`).
pub(super) const MODULES: u32 = 3;
/// The type of an object without a meaning (`PROF_DUMMY_T`).
pub(super) const DUMMY: u32 = u32::MAX;

/// The size of a `PROF` file's header in bytes.
pub(super) const PROF_HEADER_SIZE: u64 = 16;
/// The size in bytes of the head that all objects start with: a type, a version, and a size.
pub(super) const OBJECT_HEAD_SIZE: u64 = 16;
/// The size of the fixed part of an object of raw samples in bytes.
pub(super) const BUFFER_SIZE: u64 = 32;
/// The size of the fixed part of an object of calls in bytes.
pub(super) const CALL_GRAPH_SIZE: u64 = 24;
/// The size of the fixed part of an object that lists modules in bytes.
pub(super) const MODULES_SIZE: u64 = 24;
/// The size of one module (`ProfModule`) in bytes.
pub(super) const MODULE_SIZE: u64 = 32;
/// The size of one pair of caller and callee (`ProfFunction`) in bytes.
pub(super) const FUNCTION_SIZE: u64 = 48;
/// `gprof -s` of illumos rounds offsets and sizes in a `PROF` file to this number of bytes (`STRUCT_ALIGN` in its
/// `gprof.h`).
pub(super) const PROF_ALIGNMENT: u64 = 8;
