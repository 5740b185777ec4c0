//! The constants and the C structures of the files, as writers have them in memory.
//!
//! This module needs no allocator; the profiling runtime uses it and [`crate::encode`]. Every structure is in the
//! byte order and the word size of the system it is compiled for; [`crate::read`] does not use them, because a file may
//! come from any system.
//!
//! The module is for writers inside this project: docs/versions.md promises nothing for the module, except for what
//! [`crate::side_file`] exports again.
//!
//! License: 0BSD, besides that of the crate, because the runtime links this module into programs.

pub mod request;
pub mod side_file;

/// `version` of a 4.4BSD header (`GMONVERSION`), in 4.4BSD's `<sys/gmon.h>` since 1992.
pub const GMONVERSION: i32 = 0x0005_1879;

/// The first four bytes of a GNU file (`GMON_MAGIC` of glibc's `<sys/gmon_out.h>`).
pub const GNU_MAGIC: [u8; 4] = *b"gmon";

/// The version that GNU writers store (`GMON_VERSION`); readers also accept 0.
pub const GNU_VERSION: u32 = 1;

/// The version of a glibc `LD_PROFILE` file, which shares the magic but not the records.
pub const LD_PROFILE_VERSION: u32 = 0x0001_ffff;

/// The size of a GNU file's header in bytes: magic, version, twelve spare bytes.
pub const GNU_HEADER_SIZE: usize = 20;

/// The tag of a GNU histogram record (`GMON_TAG_TIME_HIST`).
pub const GNU_TAG_HISTOGRAM: u8 = 0;
/// The tag of a GNU call-graph arc record (`GMON_TAG_CG_ARC`).
pub const GNU_TAG_ARC: u8 = 1;
/// The tag of a GNU basic-block record (`GMON_TAG_BB_COUNT`).
pub const GNU_TAG_BLOCKS: u8 = 2;

/// The size of the dimension's name in a GNU histogram record, in bytes.
pub const GNU_DIMENSION_SIZE: usize = 15;

/// The default dimension of a GNU histogram: seconds, as in the field of a record.
pub const GNU_SECONDS: [u8; GNU_DIMENSION_SIZE] = *b"seconds\0\0\0\0\0\0\0\0";

/// The ratio of code bytes to bytes of the samples buffer: with 16-bit bins, one bin for four bytes of code.
pub const HISTFRACTION: usize = 2;

/// The maximum number of arcs in OpenBSD's runtime (`MAXARCS`).
pub const MAXARCS: usize = 65534;

/// The header of a 4.4BSD profile, `struct gmonhdr`: 32 bytes with 32-bit pointers, otherwise 40.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct GmonHdr {
    /// The lowest sampled address.
    pub lpc: usize,
    /// The address after the highest sampled address.
    pub hpc: usize,
    /// The size in bytes of this header and the samples together, which is the offset of the arcs.
    pub ncnt: i32,
    /// [`GMONVERSION`].
    pub version: i32,
    /// Samples per second.
    pub profrate: i32,
    /// OpenBSD since 2025: the size of the arcs in bytes. FreeBSD: `histcounter_type`, the bits of a counter,
    /// negative for signed counters, 0 for the original 16 unsigned bits. Elsewhere a spare word, often
    /// uninitialized.
    pub totarc: i32,
    /// Unused; uninitialized in many writers.
    pub spare: [i32; 2],
}

/// One arc of a 4.4BSD profile, `struct rawarc`: 12 bytes with 32-bit pointers, otherwise 24.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RawArc {
    /// The return address of the call, in the caller.
    pub raw_frompc: usize,
    /// An address in the called function.
    pub raw_selfpc: usize,
    /// The number of calls (a C `long`).
    pub raw_count: isize,
}

/// The contribution of one byte to a file's checksum, by which files that belong together identify each other: the
/// checksum is the wrapping sum over the file. Zero bytes contribute nothing, so that holes need not be read.
#[must_use]
pub const fn mark(position: u64, byte: u8) -> u64 {
    if byte == 0 {
        return 0;
    }
    // Two rounds of multiplying and folding: every bit of both depends on every other.
    let mixed = (position << 8 | byte as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 32
}
