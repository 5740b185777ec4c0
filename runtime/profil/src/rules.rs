//! What the dialects do not share: in which bin an address counts, and what becomes of a count.

use gmon_runtime::samples::scale::{self, ONE_TO_ONE};

/// Whose rules a profile has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Bsd,
    OpenBsd,
    Illumos,
    /// illumos' `pcsample`, which stores addresses: its one range says where, and how many there is room for.
    Addresses,
    Aix,
}

impl Dialect {
    /// The bin of an address.
    pub(crate) fn bin(self, pc: usize, offset: usize, scale: u32) -> Option<usize> {
        match self {
            // OpenBSD's page and kernel come from 4.4BSD.
            Dialect::Bsd | Dialect::OpenBsd => bsd_bin(pc, offset, scale),
            Dialect::Illumos => illumos_bin(pc, offset, scale),
            Dialect::Aix => aix_bin(pc, offset, scale),
            Dialect::Addresses => None,
        }
    }

    /// A count after so many ticks, and whether the profile goes on.
    pub(crate) fn raise(self, count: u16, ticks: u32) -> (u16, bool) {
        match self {
            Dialect::Illumos => illumos_raise(count, ticks),
            Dialect::Aix => (aix_raise(count, ticks), true),
            Dialect::Bsd | Dialect::OpenBsd | Dialect::Addresses => (bsd_raise(count, ticks), true),
        }
    }
}

/// The bin of a pc, if that is not below the lowest address: [(pc - offset) / 2] * scale / 65536, with half of the
/// distance taken exactly. `scale` is from 1 to 65536; with 0 nothing is profiled.
///
/// The page is silent on rounding. Kernels compute `((pc - offset) * scale >> 16) & ~1`, the place of the bin in bytes;
/// that is this.
pub(crate) fn bsd_bin(pc: usize, offset: usize, scale: u32) -> Option<usize> {
    let distance = pc.checked_sub(offset)?;
    (1..=ONE_TO_ONE).contains(&scale).then(|| scale::bin(distance, scale))
}

/// A count after so many ticks: 16 bits, which begin again at 0, as a kernel's addition does.
pub(crate) fn bsd_raise(count: u16, ticks: u32) -> u16 {
    count.wrapping_add(ticks as u16)
}

/// The finest scale: a fraction with 16 bits behind the point and none before it.
pub(crate) const FINEST: u32 = 0xffff;

/// The index of a pc's counter, if that is not below the offset: the remainder times `scale`, which says how many bytes of
/// counters there are to a byte of code, in counters of two bytes. `scale` is from 2 to 0xffff; with 0 and 1 nothing is profiled.
pub(crate) fn illumos_bin(pc: usize, offset: usize, scale: u32) -> Option<usize> {
    let distance = pc.checked_sub(offset)?;
    (2..=FINEST).contains(&scale).then(|| scale::bin(distance, scale))
}

/// The count that ends a profile: the highest that a `short` has.
const FULL: u16 = 32767;

/// A count after so many ticks, and whether the profile goes on.
pub(crate) fn illumos_raise(count: u16, ticks: u32) -> (u16, bool) {
    let raised = u32::from(count).saturating_add(ticks);
    if raised < u32::from(FULL) { (raised as u16, true) } else { (count.max(FULL), false) }
}

/// The scale that has all code in the first short.
pub(crate) const FIRST_SHORT: u32 = 1;

/// The index of a pc's short: what it is above the offset, times the low 16 bits of `scale` as a fraction, in shorts, of
/// which each has two bytes. Scale 1 is the first short for every pc, also for one below the offset; with 0 nothing is
/// profiled.
pub(crate) fn aix_bin(pc: usize, offset: usize, scale: u32) -> Option<usize> {
    match fraction(scale) {
        0 => None,
        FIRST_SHORT => Some(0),
        fraction => Some(scale::bin(pc.checked_sub(offset)?, fraction)),
    }
}

/// The part of a scale that counts.
pub(crate) fn fraction(scale: u32) -> u32 {
    scale & 0xffff
}

/// A count after so many ticks. It is a `short`, and stays at the highest value of that.
pub(crate) fn aix_raise(count: u16, ticks: u32) -> u16 {
    const FULL: u16 = i16::MAX as u16;
    u32::from(count).saturating_add(ticks).min(u32::from(FULL.max(count))) as u16
}
