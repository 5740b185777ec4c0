//! The constants of the files of Solaris and illumos: the `PROF` file, and the profile that the run-time
//! linker `ld.so.1` writes for a shared object.

/// The first word of a `PROF` file (`PROF_MAGIC`).
pub const PROF_MAGIC: u32 = 0x5052_4f46;
/// The highest major version of a `PROF` file (`PROF_MAJOR_VERSION`).
pub const PROF_MAJOR: u16 = 1;
/// The version of every object of a `PROF` file.
pub const OBJECT_VERSION: u32 = 1;

/// The type of an object of raw samples (`PROF_BUFFER_T`).
pub const BUFFER: u32 = 1;
/// The type of an object of calls (`PROF_CALLGRAPH_T`).
pub const CALL_GRAPH: u32 = 2;
/// The type of an object that lists modules (`PROF_MODULES_T`).
pub const MODULES: u32 = 3;
/// The type of an object without a meaning (`PROF_DUMMY_T`).
pub const DUMMY: u32 = u32::MAX;

/// The size of a `PROF` file's header in bytes.
pub const PROF_HEADER_SIZE: u64 = 16;
/// The size in bytes of the head that all objects start with: a type, a version, and a size.
pub const OBJECT_HEAD_SIZE: u64 = 16;
/// The size of the fixed part of an object of raw samples in bytes.
pub const BUFFER_SIZE: u64 = 32;
/// The size of the fixed part of an object of calls in bytes.
pub const CALL_GRAPH_SIZE: u64 = 24;
/// The size of the fixed part of an object that lists modules in bytes.
pub const MODULES_SIZE: u64 = 24;
/// The size of one module (`ProfModule`) in bytes.
pub const MODULE_SIZE: u64 = 32;
/// The size of one pair of caller and callee (`ProfFunction`) in bytes.
pub const FUNCTION_SIZE: u64 = 48;
/// Writers round offsets and sizes in a `PROF` file to this number of bytes.
pub const PROF_ALIGNMENT: u64 = 16;

/// The first word of the run-time linker's profile (`PRF_MAGIC`).
pub const RTLD_MAGIC: u32 = 0xffff_ffff;
/// The version of the run-time linker's profile with 32-bit addresses.
pub const RTLD_VERSION_32: u32 = 1;
/// The version of the run-time linker's profile with 64-bit addresses.
pub const RTLD_VERSION_64: u32 = 2;
/// The size of the lock in the header of the run-time linker's profile (`lwp_mutex_t`) in bytes.
pub const RTLD_LOCK_SIZE: u64 = 24;
