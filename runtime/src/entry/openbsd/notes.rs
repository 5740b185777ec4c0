//! The ELF note that permits profiling. Without the note, the kernel refuses `profil` with EPERM.

use core::arch::global_asm;

/// The type of the note. The note of type 1, by which the kernel recognizes OpenBSD's programs, is in crtbegin.o.
const PROFIL: u32 = 2;

global_asm!(
    ".pushsection .note.openbsd.ident,\"a\",%note",
    ".balign 4",
    "    .long 8, 0, {profil}",
    "    .asciz \"OpenBSD\"",
    ".popsection",
    profil = const PROFIL,
);
