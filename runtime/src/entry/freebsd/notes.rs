//! The ELF notes that identify the program to the kernel and the dynamic linker.

use core::arch::global_asm;

/// `__FreeBSD_version` of FreeBSD 14.0, the first release with `__libc_start1`. For lower values, the kernel emulates
/// older releases.
const OLDEST_SYSTEM: u32 = 1_400_097;
/// The types of notes (`sys/elf_common.h`).
const ABI_TAG: u32 = 1;
const NO_INIT: u32 = 2;
const FEATURE_CONTROL: u32 = 4;

// The NO_INIT note means that `_start` runs no constructors. Without the note, the dynamic linker does not run the
// program's constructors because it expects `_start` to run them.
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

// The note that OpenBSD's kernel requires of a program to be profiled; see `objects::program`. The section has another
// name than on OpenBSD, because debuggers use the section's name to recognize OpenBSD's programs.
global_asm!(
    ".pushsection .note.gmon.profil,\"a\",%note",
    ".balign 4",
    "    .long 8, 0, 2",
    "    .asciz \"OpenBSD\"",
    ".popsection",
);
