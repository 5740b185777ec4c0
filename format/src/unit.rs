//! What a sample stands for.

use core::fmt;

use crate::layout::GNU_SECONDS;

/// What one sample stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unit {
    /// Samples per second. 0 means that the samples are ticks of unknown length (FreeBSD's pmcstat).
    pub profrate: u32,
    /// What is measured, usually [`Dimension::SECONDS`].
    pub dimension: Dimension,
    /// The dimension's abbreviation, usually `s`.
    pub abbrev: u8,
}

/// The name of a histogram's unit: up to 15 bytes, padded with NULs as in the file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "[u8; 15]"))]
pub struct Dimension([u8; 15]);

impl Unit {
    /// Samples of time, with this many samples per second.
    #[must_use]
    pub const fn seconds(profrate: u32) -> Unit {
        Unit { profrate, dimension: Dimension::SECONDS, abbrev: b's' }
    }
}

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

impl From<[u8; 15]> for Dimension {
    fn from(field: [u8; 15]) -> Dimension {
        Dimension::from_field(field)
    }
}
