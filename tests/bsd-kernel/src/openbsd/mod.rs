//! OpenBSD 7.8 on amd64.

mod contexts;
mod files;
mod numbers;
mod pledge;
mod profil;
mod signals;
mod sysctl;
mod threads;
mod unveil;

use crate::clock::{Rates, Reload};
use crate::image::{Brand, Image};
use crate::kernel::{AuxiliaryVector, Personality};

/// The personality of OpenBSD.
pub static OPENBSD: Personality = Personality {
    name: "openbsd",
    brand: Brand { os_abi: None, note: b"OpenBSD" },
    reload: Reload::Always,
    rates: Rates { hz: 100, stathz: 100, profhz: 1000 },
    calls: numbers::CALLS,
    zeroes_registers: false,
    trampoline: contexts::TRAMPOLINE,
    start: |registers, argc| registers.rsp = argc,
    auxiliary,
    refuse: pledge::refuse,
    end: profil::end,
    name_length: 23,
    signals: 32,
    frame: contexts::frame,
    siginfo: contexts::siginfo,
    restore: contexts::restore,
};

/// Only position-independent programs get an auxiliary vector.
fn auxiliary(image: &Image, from_linux: &AuxiliaryVector) -> Option<AuxiliaryVector> {
    const PAGESZ: (u64, u64) = (6, 4096);
    image.is_pie.then(|| from_linux.iter().copied().chain([PAGESZ]).collect())
}
