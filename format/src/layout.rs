//! The constants and the C structures of the files, as writers lay them out in memory.
//!
//! This module needs no allocator; the profiling runtime uses it and [`crate::encode`]. Every structure is in the
//! byte order and the word size of the system it is compiled for; [`crate::read`] does not use them, because a file may
//! come from any system.

/// `version` of a 4.4BSD header (`GMONVERSION`), in 4.4BSD's `<sys/gmon.h>` since 1992.
pub const GMONVERSION: i32 = 0x0005_1879;

/// The first four bytes of a GNU file (`GMON_MAGIC` of glibc's `<sys/gmon_out.h>`).
pub const GNU_MAGIC: [u8; 4] = *b"gmon";

/// The version that GNU writers store (`GMON_VERSION`); readers take 0 as well.
pub const GNU_VERSION: u32 = 1;

/// The version of a glibc `LD_PROFILE` file, which shares the magic but not the records.
pub const LD_PROFILE_VERSION: u32 = 0x0001_ffff;

/// Bytes of a GNU file's header: magic, version, twelve spare bytes.
pub const GNU_HEADER_SIZE: usize = 20;

/// The tag of a GNU histogram record (`GMON_TAG_TIME_HIST`).
pub const GNU_TAG_HISTOGRAM: u8 = 0;
/// The tag of a GNU call-graph arc record (`GMON_TAG_CG_ARC`).
pub const GNU_TAG_ARC: u8 = 1;
/// The tag of a GNU basic-block record (`GMON_TAG_BB_COUNT`).
pub const GNU_TAG_BLOCKS: u8 = 2;

/// Bytes of the dimension's name in a GNU histogram record.
pub const GNU_DIMENSION_SIZE: usize = 15;

/// What the samples of a GNU histogram count unless a file says otherwise: seconds, as in the dimension's field.
pub const GNU_SECONDS: [u8; GNU_DIMENSION_SIZE] = *b"seconds\0\0\0\0\0\0\0\0";

/// Code bytes for each byte of the samples buffer: with 16-bit bins, one bin for four bytes of code.
pub const HISTFRACTION: usize = 2;

/// The most arcs that OpenBSD's runtime makes room for (`MAXARCS`).
pub const MAXARCS: usize = 65534;

/// The header of a 4.4BSD profile, `struct gmonhdr`: 32 bytes where pointers have 32 bits, else 40.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct GmonHdr {
    /// The lowest sampled address.
    pub lpc: usize,
    /// The address behind the highest sampled one.
    pub hpc: usize,
    /// Bytes of this header and of the samples together; the arcs begin there.
    pub ncnt: i32,
    /// [`GMONVERSION`].
    pub version: i32,
    /// Samples each second.
    pub profrate: i32,
    /// OpenBSD since 2025: bytes of arcs. FreeBSD: `histcounter_type`, the bits of a counter, negative when signed,
    /// 0 for the 16 unsigned bits of old. Elsewhere a spare word, often uninitialised.
    pub totarc: i32,
    /// Unused; uninitialised in many writers.
    pub spare: [i32; 2],
}

/// One arc of a 4.4BSD profile, `struct rawarc`: 12 bytes where pointers have 32 bits, else 24.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RawArc {
    /// The return address of the call: in the caller.
    pub raw_frompc: usize,
    /// An address in the function called.
    pub raw_selfpc: usize,
    /// How often (C's `long`).
    pub raw_count: isize,
}

/// What one byte adds to the sum by which files that belong together know each other: the sum over a file, with whatever
/// overflows lost, is its mark. Bytes of 0 add nothing, so that holes need not be looked at.
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
