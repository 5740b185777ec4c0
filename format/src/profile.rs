//! What a profile holds, whatever file it came from.

use alloc::vec::Vec;
use core::fmt;

use crate::Arc;
use crate::layout::GNU_SECONDS;

/// Everything that one profile file, or the sum of several, says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Where the samples fell. Usually one; one for each address range otherwise, and none in a file of calls only.
    /// Ranges never overlap.
    pub histograms: Vec<Histogram>,
    /// Who called whom, in the order of the file. The same pair may stand there more than once: counts add up.
    pub arcs: Vec<Arc>,
    /// How often basic blocks ran (GNU form only; no compiler of today asks for it).
    pub blocks: Vec<Block>,
}

/// Samples of the program counter over one address range, in bins of equal size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The lowest address that is sampled.
    pub lowpc: u64,
    /// The address behind the highest one sampled.
    pub highpc: u64,
    /// Samples each second. 0 says that the samples are ticks of no known length (FreeBSD's pmcstat).
    pub profrate: u32,
    /// What a sample measures, normally [`Dimension::SECONDS`].
    pub dimension: Dimension,
    /// The dimension's abbreviation, normally `s`.
    pub abbrev: u8,
    /// Whether a bin is an `i64` in two's complement: FreeBSD's signed counters may be below zero.
    pub signed: bool,
    /// How often each bin was hit.
    pub bins: Vec<u64>,
}

/// Executions of one basic block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block {
    /// The block's first address.
    pub addr: u64,
    /// How often it ran.
    pub count: u64,
}

/// The name of what a histogram measures: up to 15 bytes, padded with NULs as in the file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dimension([u8; 15]);

impl Dimension {
    /// Seconds of CPU time: what every known writer but hand-made files says.
    pub const SECONDS: Dimension = Dimension(GNU_SECONDS);

    /// A dimension from the field of a GNU record. Bytes behind the first NUL do not count and are cleared.
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
