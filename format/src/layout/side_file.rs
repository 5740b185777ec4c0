//! The constants of side files: what stands beside a profile, `gmon.out.side` beside `gmon.out`.
//!
//! docs/side-file.md describes the file. [`crate::encode::side_file`] encodes its parts.

/// The first eight bytes. The byte above ASCII, the two ends of a line, and the end of a DOS text show a transfer that
/// changed the file.
pub const MAGIC: [u8; 8] = *b"\x89gmon\r\n\x1a";
/// The major version: a reader refuses another one.
pub const MAJOR: u8 = 1;
/// The minor version: a higher one has more kinds of parts and more properties.
pub const MINOR: u8 = 2;
/// The byte that means little-endian numbers.
pub const LITTLE: u8 = 1;
/// The byte that means big-endian numbers.
pub const BIG: u8 = 2;
/// The byte order of the system that the crate is compiled for.
pub const NATIVE: u8 = if cfg!(target_endian = "big") { BIG } else { LITTLE };
/// The size of the header in bytes.
pub const HEADER_SIZE: usize = 32;
/// Flag of the header: the program still runs, or was killed. The file then need not have an end, and the checksum of
/// the profile is that of the profile's start.
pub const LIVE: u32 = 1;

/// The size of the header of a part in bytes.
pub const PART_HEADER_SIZE: usize = 16;
/// Every part starts at a multiple of this number of bytes.
pub const ALIGNMENT: usize = 8;
/// Flag of a part: a reader that does not know the part must refuse the file.
pub const REQUIRED: u32 = 1;

/// The tag of a part.
pub type Tag = [u8; 4];
/// Properties of the run.
pub const PROPERTIES: Tag = *b"HEAD";
/// Objects.
pub const OBJECTS: Tag = *b"OBJS";
/// Functions of generated code.
pub const FUNCTIONS: Tag = *b"FUNC";
/// Threads.
pub const THREADS: Tag = *b"THRD";
/// Samples by object.
pub const SAMPLES: Tag = *b"HIST";
/// Calls.
pub const CALLS: Tag = *b"ARCS";
/// Selections: which calls were counted on demand, and when.
pub const SELECTIONS: Tag = *b"CALL";
/// Samples by object, only those that were taken while calls were counted on demand.
pub const COUNTED_SAMPLES: Tag = *b"HISC";
/// Calls that were estimated from short windows. A writer sets the flag [`REQUIRED`].
pub const ESTIMATES: Tag = *b"ESTM";
/// Calling contexts.
pub const CONTEXTS: Tag = *b"CTXT";
/// Ticks without a calling context.
pub const CUTS: Tag = *b"CUTS";
/// Mappings.
pub const MAPPINGS: Tag = *b"MAPS";
/// Calling contexts as [`RawNode`]s.
pub const RAW_NODES: Tag = *b"NODE";
/// Ticks without a calling context, and the bins of the profile, as [`RawSums`].
pub const RAW_SUMS: Tag = *b"SUMS";
/// Mappings as [`RawMapping`]s.
pub const RAW_MAPPINGS: Tag = *b"AREA";
/// Threads as [`RawThread`]s.
pub const RAW_THREADS: Tag = *b"TIDS";
/// Nothing: room to the next page, or for parts to come.
pub const FILLER: Tag = *b"PAD ";
/// The end of the file.
pub const END: Tag = *b"END ";

/// Flag of an object: it is the program.
pub const IS_PROGRAM: u64 = 1;
/// Flag of an object: it is the vDSO, code of the kernel that every process has.
pub const IS_VDSO: u64 = 2;
/// Flag of an object: the program closed it.
pub const IS_CLOSED: u64 = 4;
/// Flag of an object: it is code that the program generated while it ran, and has no file.
pub const IS_GENERATED: u64 = 8;

/// The whole of which the share of windows is a part: shares are in millionths.
pub const WHOLE_SHARE: u64 = 1_000_000;

/// The path of an object that is generated code, and the name of the code there that has no name.
pub const GENERATED: &[u8] = b"[jit]";
/// The number of addresses of each function of generated code. The first function is at address 0.
pub const FUNCTION_SIZE: u64 = 16;

/// The number of the program.
pub const PROGRAM: u32 = 0;
/// The lowest number that is not an object's.
pub const FIRST_RESERVED: u32 = 0x7ff0;
/// The number of places that say why the outer part of a chain is missing.
pub const CUT: u32 = 0x7ffc;
/// The number of places that are threads.
pub const THREAD: u32 = 0x7ffd;
/// The number of places in the kernel.
pub const KERNEL: u32 = 0x7ffe;
/// The number of places in no known object.
pub const ELSEWHERE: u32 = 0x7fff;

/// Set in an address of a [`RawNode`] that is a place: the number of the object in the 15 bits below, the address in
/// the [`ADDRESS_BITS`] lowest.
pub const SETTLED: u64 = 1 << 63;
/// The bits of a settled address that are the address.
pub const ADDRESS_BITS: u32 = 48;

/// May be set in an address of a [`RawNode`] that is not a place. Readers ignore the bit.
pub const MARKED: u64 = 1 << 62;

/// A node of the tree of calling contexts as a live file has it, in memory and in the file: 24 bytes. A runtime
/// replaces the numbers by atomic numbers of the same sizes.
///
/// Node 0 is the root, at which no ticks are counted. A node whose `address` is 0 is not used yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RawNode {
    /// The address when the program ran, or a place with [`SETTLED`].
    pub address: u64,
    /// The number of the caller's node, which is lower than the node's own.
    pub parent: u32,
    /// For the runtime: the next node in its bucket. Readers ignore the number.
    pub next: u32,
    /// The ticks of this node without those of its children.
    pub ticks: u64,
}

/// The size of a [`RawNode`] in bytes.
pub const RAW_NODE_SIZE: usize = size_of::<RawNode>();

/// The content of a part [`RAW_SUMS`]. A runtime replaces the numbers by atomic numbers of the same sizes, here and
/// below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RawSums {
    /// The lowest address of the bins when the program ran. Ticks of other addresses than those of the bins are not in
    /// the profile.
    pub lowpc: u64,
    /// The address behind the bins.
    pub highpc: u64,
    /// The ticks in `cuts` that are not in the profile.
    pub outside: u64,
    /// The ticks that are in no node, by the code of the reason.
    pub cuts: [u64; REASONS],
}

/// The number of sums in a [`RawSums`]: the codes of the reasons are below this number.
pub const REASONS: usize = 24;

/// A mapping in a part [`RAW_MAPPINGS`]. It replaces what the part [`MAPPINGS`] says about its addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RawMapping {
    /// The lowest address when the program ran.
    pub start: u64,
    /// The address behind the mapping. 0 if the entry is not used, or is being changed.
    pub end: u64,
    /// The load bias.
    pub bias: u64,
    /// The number of the object.
    pub object: u64,
}

/// The size of a [`RawMapping`] in bytes.
pub const RAW_MAPPING_SIZE: usize = size_of::<RawMapping>();

/// A thread in a part [`RAW_THREADS`]. Places in the tree have the index in the part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RawThread {
    /// The system's number; 0 for several threads.
    pub number: u32,
    /// 1 if the entry is used, otherwise 0.
    pub is_used: u32,
    /// The name, padded with zeros.
    pub name: [u8; 16],
}

/// The size of a [`RawThread`] in bytes.
pub const RAW_THREAD_SIZE: usize = size_of::<RawThread>();

/// The names of properties. Values are text; numbers are decimal.
pub mod property {
    /// Samples per second.
    pub const RATE: &[u8] = b"rate";
    /// The sampled clock: `cpu` or `wall`.
    pub const CLOCK: &[u8] = b"clock";
    /// What took the samples: `timer`, `itimer`, or `perf`.
    pub const SAMPLER: &[u8] = b"sampler";
    /// The CPU time during which the samples were taken, in nanoseconds.
    pub const CPU: &[u8] = b"cpu";
    /// The time by the wall clock from the start of the profile to the moment when the file was written, in
    /// nanoseconds.
    pub const ELAPSED: &[u8] = b"elapsed";
    /// The name of the machine.
    pub const HOST: &[u8] = b"host";
    /// The rank of the process in its MPI job.
    pub const RANK: &[u8] = b"rank";
    /// The number of the process.
    pub const PID: &[u8] = b"pid";
    /// The words of the command line, each with a NUL after it.
    pub const COMMAND: &[u8] = b"command";
    /// The start of the profile, in nanoseconds since 1970.
    pub const START: &[u8] = b"start";
    /// The number of runs that the file is the sum of. A file without the property is of one run.
    pub const RUNS: &[u8] = b"runs";
}
