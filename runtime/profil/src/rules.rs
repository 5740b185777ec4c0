//! What differs between dialects: the bin of an address, and the increment of a count.

use gmon_runtime::samples::scale::{self, ONE_TO_ONE};

/// The rules of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Bsd,
    OpenBsd,
    Illumos,
    /// illumos' `pcsample`, which stores addresses: its one range is the array and its room.
    Addresses,
    Aix,
}

impl Dialect {
    /// The bin of an address.
    pub(crate) fn bin(self, pc: usize, offset: usize, scale: u32) -> Option<usize> {
        match self {
            // OpenBSD's manual page and kernel come from 4.4BSD.
            Dialect::Bsd | Dialect::OpenBsd => bsd_bin(pc, offset, scale),
            Dialect::Illumos => illumos_bin(pc, offset, scale),
            Dialect::Aix => aix_bin(pc, offset, scale),
            Dialect::Addresses => None,
        }
    }

    /// The count after `ticks`, and whether the profile continues.
    pub(crate) fn raise(self, count: u16, ticks: u32) -> (u16, bool) {
        match self {
            Dialect::Illumos => illumos_raise(count, ticks),
            Dialect::Aix => (aix_raise(count, ticks), true),
            Dialect::Bsd | Dialect::OpenBsd | Dialect::Addresses => (bsd_raise(count, ticks), true),
        }
    }
}

/// The bin of a pc; `None` below the lowest address: [(pc - offset) / 2] * scale / 65536, with half of the distance
/// taken exactly. `scale` is from 1 to 65536; with 0 nothing is profiled.
///
/// The manual page does not mention rounding. Kernels compute `((pc - offset) * scale >> 16) & ~1`, the place of the
/// bin in bytes, which is the same.
pub(crate) fn bsd_bin(pc: usize, offset: usize, scale: u32) -> Option<usize> {
    let distance = pc.checked_sub(offset)?;
    (1..=ONE_TO_ONE).contains(&scale).then(|| scale::bin(distance, scale))
}

/// The count after `ticks`: 16 bits, which wrap around to 0, as in a kernel.
pub(crate) fn bsd_raise(count: u16, ticks: u32) -> u16 {
    count.wrapping_add(ticks as u16)
}

/// The finest scale: a fraction with 16 bits.
pub(crate) const FINEST: u32 = 0xffff;

/// The index of a pc's counter; `None` below the offset. The distance times `scale`, the bytes of counters for a byte
/// of code, is divided by the two bytes of a counter. `scale` is from 2 to 0xffff; with 0 and 1 nothing is profiled.
pub(crate) fn illumos_bin(pc: usize, offset: usize, scale: u32) -> Option<usize> {
    let distance = pc.checked_sub(offset)?;
    (2..=FINEST).contains(&scale).then(|| scale::bin(distance, scale))
}

/// The count that ends a profile: the highest value of a `short`.
const FULL: u16 = 32767;

/// The count after `ticks`, and whether the profile continues.
pub(crate) fn illumos_raise(count: u16, ticks: u32) -> (u16, bool) {
    let raised = u32::from(count).saturating_add(ticks);
    if raised < u32::from(FULL) { (raised as u16, true) } else { (count.max(FULL), false) }
}

/// The scale at which all code counts in the first short.
pub(crate) const FIRST_SHORT: u32 = 1;

/// The index of a pc's short: the distance from the offset, times the low 16 bits of `scale` as a fraction, divided
/// by the two bytes of a short. With scale 1, every pc, also below the offset, counts in the first short; with 0
/// nothing is profiled.
pub(crate) fn aix_bin(pc: usize, offset: usize, scale: u32) -> Option<usize> {
    match fraction(scale) {
        0 => None,
        FIRST_SHORT => Some(0),
        fraction => Some(scale::bin(pc.checked_sub(offset)?, fraction)),
    }
}

/// The part of a scale that is used.
pub(crate) fn fraction(scale: u32) -> u32 {
    scale & 0xffff
}

/// The count after `ticks`: a `short`, which stays at its highest value.
pub(crate) fn aix_raise(count: u16, ticks: u32) -> u16 {
    const FULL: u16 = i16::MAX as u16;
    u32::from(count).saturating_add(ticks).min(u32::from(FULL.max(count))) as u16
}
