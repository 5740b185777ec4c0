//! The name by which compilers for FreeBSD call `mcount`.

use core::arch::global_asm;

global_asm!(".globl .mcount", ".type .mcount, %function", ".set .mcount, mcount");
