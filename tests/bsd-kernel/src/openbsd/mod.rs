//! OpenBSD 7.8 on amd64.
//!
//! Beside each rule stands the file of OpenBSD's sources that has the rule, below `sys`, with the revision and the date
//! if they are known. No rule was seen on a real kernel.

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
///
/// The note of type 1 is the brand, whatever EI_OSABI is: `kern/exec_elf.c`, August 2025. The rates are
/// `kern/kern_clock.c`'s, August 2025. A program starts with the stack pointer at argc and with registers of 0: setregs
/// in `arch/amd64/amd64/machdep.c`, August 2025. A name has 23 bytes and a NUL: `sys/syslimits.h` 1.16 (2024-08-02).
/// Not seen on a real kernel.
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

/// Only position-independent and dynamic programs get an auxiliary vector: `kern/exec_elf.c`, August 2025. Not seen on
/// a real kernel.
fn auxiliary(image: &Image, from_linux: &AuxiliaryVector) -> Option<AuxiliaryVector> {
    const PAGESZ: (u64, u64) = (6, 4096);
    (image.is_pie || image.interpreter.is_some()).then(|| from_linux.iter().copied().chain([PAGESZ]).collect())
}
