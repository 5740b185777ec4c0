//! The name of `mcount` in code from compilers for FreeBSD.

use core::arch::global_asm;

global_asm!(".globl .mcount", ".type .mcount, %function", ".set .mcount, mcount");
