//! The notes by which the kernel and the dynamic linker know the program.

use core::arch::global_asm;

/// `__FreeBSD_version` of FreeBSD 14.0, the first with `__libc_start1`: the kernel keeps the behavior of older systems for lower
/// values.
const OLDEST_SYSTEM: u32 = 1_400_097;
/// The types of notes (`sys/elf_common.h`).
const ABI_TAG: u32 = 1;
const NO_INIT: u32 = 2;
const FEATURE_CONTROL: u32 = 4;

// NO_INIT says that `_start` runs no constructors: without that note the dynamic linker leaves the constructors of the program
// to `_start`, and nothing runs them.
global_asm!(
    ".macro gmon_note kind, value",
    "    .long 8, 4, \\kind",
    "    .asciz \"FreeBSD\"",
    "    .long \\value",
    ".endm",
    ".pushsection .note.tag,\"a\",%note",
    ".balign 4",
    "gmon_note {abi_tag}, {version}",
    "gmon_note {no_init}, 0",
    "gmon_note {feature_control}, 0",
    ".popsection",
    ".purgem gmon_note",
    abi_tag = const ABI_TAG,
    version = const OLDEST_SYSTEM,
    no_init = const NO_INIT,
    feature_control = const FEATURE_CONTROL,
);

// The note by which OpenBSD's kernel knows a program that may be profiled: see `objects::program`. In a section of another name
// than there, by which debuggers take a program for one of that system's.
global_asm!(
    ".pushsection .note.gmon.profil,\"a\",%note",
    ".balign 4",
    "    .long 8, 0, 2",
    "    .asciz \"OpenBSD\"",
    ".popsection",
);
