//! FreeBSD 14 and 15 on amd64.
//!
//! Each rule names its source: the file of FreeBSD's source tree (the main branch of 2024 and 2025), with a date or a
//! manual page where one is known, and whether a real kernel was seen to follow the rule. The real kernel is FreeBSD
//! 15.1 on amd64, with its own libc, libthr and rtld, and with static, dynamic and position-independent programs.
//! `docs/freebsd.md` has the same in one table.
//!
//! Source: sys/kern/imgact_elf.c (the brand), sys/kern/kern_clock.c and sys/kern/kern_clocksource.c (the rates of the
//! clocks). Seen on FreeBSD 15.1 (amd64).

mod capabilities;
mod clocks;
mod contexts;
mod files;
mod jail;
mod mappings;
mod numbers;
mod processes;
mod signals;
mod sysctl;
mod threads;

use crate::clock::{Rates, Reload};
use crate::image::{Brand, Image};
use crate::kernel::{AuxiliaryVector, Personality};
use crate::task::Registers;

/// The personality of FreeBSD.
pub static FREEBSD: Personality = Personality {
    name: "freebsd",
    brand: Brand { os_abi: Some(9), note: b"FreeBSD" },
    reload: Reload::IfLonger,
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

/// Source: sys/amd64/amd64/exec_machdep.c (`exec_setregs`). Seen on FreeBSD 15.1 (amd64).
///
/// rdi is the address of argc. The stack pointer is below argc, aligned as after a call instruction.
fn start(registers: &mut Registers, argc: u64) {
    registers.rdi = argc;
    registers.rsp = (argc.wrapping_sub(8) & !15) + 8;
}

/// Source: sys/kern/imgact_elf.c (`__elfN(freebsd_copyout_auxargs)`), sys/sys/elf_common.h. Seen on FreeBSD 15.1
/// (amd64).
///
/// The auxiliary vector: the entries that Linux and FreeBSD share, then FreeBSD's entries.
fn auxiliary(_: &Image, from_linux: &AuxiliaryVector) -> Option<AuxiliaryVector> {
    const PAGESZ: (u64, u64) = (6, 4096);
    const FLAGS: (u64, u64) = (8, 0);
    const NCPUS: (u64, u64) = (19, 1);
    let own = [PAGESZ, FLAGS, (18, sysctl::OSRELDATE), NCPUS];
    Some(from_linux.iter().copied().chain(own).collect())
}
