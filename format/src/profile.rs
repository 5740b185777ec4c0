//! The content of a profile, independent of the file's form.

use alloc::vec::Vec;
use core::fmt;

use crate::Arc;
use crate::layout::GNU_SECONDS;

/// The content of one profile file, or of the sum of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The samples. Usually one histogram; several if there are several address ranges, and none in a file with only
    /// calls. Ranges never overlap.
    pub histograms: Vec<Histogram>,
    /// The calls, in the order of the file. The same pair of addresses may occur more than once: the counts add up.
    pub arcs: Vec<Arc>,
    /// The executions of basic blocks (GNU form only; current compilers do not count these).
    pub blocks: Vec<Block>,
}

/// Samples of the program counter over one address range, in bins of equal size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The lowest address that is sampled.
    pub lowpc: u64,
    /// The address after the highest sampled address.
    pub highpc: u64,
    /// Samples per second. 0 means that the samples are ticks of unknown length (FreeBSD's pmcstat).
    pub profrate: u32,
    /// The unit of a sample, usually [`Dimension::SECONDS`].
    pub dimension: Dimension,
    /// The dimension's abbreviation, usually `s`.
    pub abbrev: u8,
    /// Whether a bin is an `i64` in two's complement: FreeBSD's signed counters may be negative.
    pub signed: bool,
    /// The number of samples in each bin.
    pub bins: Vec<u64>,
}

/// Executions of one basic block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block {
    /// The block's first address.
    pub addr: u64,
    /// The number of executions.
    pub count: u64,
}

/// The name of a histogram's unit: up to 15 bytes, padded with NULs as in the file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dimension([u8; 15]);

impl Dimension {
    /// Seconds of CPU time: the dimension of all files except handmade ones.
    pub const SECONDS: Dimension = Dimension(GNU_SECONDS);

    /// Makes a dimension from the field of a GNU record. Bytes after the first NUL are cleared.
    #[must_use]
    pub fn from_field(mut field: [u8; 15]) -> Dimension {
        let mut ended = false;
        for byte in &mut field {
            ended |= *byte == 0;
            if ended {
                *byte = 0;
            }
        }
        Dimension(field)
    }

    /// The field of a GNU record.
    #[must_use]
    pub fn field(&self) -> &[u8; 15] {
        &self.0
    }

    /// The name's bytes, without padding.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().escape_ascii().fmt(f)
    }
}

impl fmt::Debug for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dimension({self})")
    }
}
