//! FreeBSD 14 and 15 on amd64.

mod capabilities;
mod clocks;
mod contexts;
mod files;
mod mappings;
mod numbers;
mod processes;
mod signals;
mod sysctl;
mod threads;

use crate::clock::Rates;
use crate::image::{Brand, Image};
use crate::kernel::{AuxiliaryVector, Personality};
use crate::task::Registers;

/// The personality of FreeBSD.
pub static FREEBSD: Personality = Personality {
    name: "freebsd",
    brand: Brand { os_abi: Some(9), note: b"FreeBSD" },
    rates: Rates { hz: 1000, stathz: 127, profhz: 8128 },
    calls: numbers::CALLS,
    zeroes_registers: true,
    trampoline: contexts::TRAMPOLINE,
    start,
    auxiliary,
    refuse: capabilities::refuse,
    end: |_, _| {},
    name_length: 19,
    signals: 128,
    frame: contexts::frame,
    siginfo: contexts::siginfo,
    restore: contexts::restore,
};

/// rdi is the address of argc. The stack pointer is below argc, aligned as after a call instruction.
fn start(registers: &mut Registers, argc: u64) {
    registers.rdi = argc;
    registers.rsp = (argc.wrapping_sub(8) & !15) + 8;
}

/// The auxiliary vector: the entries that Linux and FreeBSD share, then FreeBSD's entries.
fn auxiliary(_: &Image, from_linux: &AuxiliaryVector) -> Option<AuxiliaryVector> {
    const PAGESZ: (u64, u64) = (6, 4096);
    const FLAGS: (u64, u64) = (8, 0);
    const NCPUS: (u64, u64) = (19, 1);
    let own = [PAGESZ, FLAGS, (18, sysctl::OSRELDATE), NCPUS];
    Some(from_linux.iter().copied().chain(own).collect())
}
