//! The functions by which a program gives up the way to its directory, to `/proc`, or to new descriptors, and `umask`.

use core::arch::global_asm;

use super::super::seccomp::make;
use crate::os::numbers;

// The functions do what the C library's do, which are system calls of the same arguments and nothing else. An argument
// that a call does not have may be anything. There is no frame, so the functions need no tables.
global_asm!(
    ".pushsection .text.losses,\"ax\",%progbits",
    ".macro loss name, number",
    "    .globl  \\name",
    "    .type   \\name, %function",
    "\\name:",
    "    mov     r8d, \\number",
    "    jmp     {make}",
    "    .size   \\name, . - \\name",
    ".endm",
    ".globl  setrlimit, setrlimit64, prlimit64",
    ".type   setrlimit, %function",
    ".type   setrlimit64, %function",
    ".type   prlimit64, %function",
    // int setrlimit(int resource, const struct rlimit *limit)
    "setrlimit:",
    "setrlimit64:",
    "    mov     rdx, rsi",
    "    mov     esi, edi",
    "    xor     edi, edi",
    "    xor     ecx, ecx",
    ".size   setrlimit, . - setrlimit",
    ".size   setrlimit64, . - setrlimit64",
    // int prlimit(pid_t pid, int resource, const struct rlimit *limit, struct rlimit *before)
    "prlimit64:",
    "    loss    prlimit, {prlimit}",
    ".size   prlimit64, . - prlimit64",
    // int chroot(const char *path)
    "    loss    chroot, {chroot}",
    // int unshare(int flags)
    "    loss    unshare, {unshare}",
    // int setns(int fd, int type)
    "    loss    setns, {setns}",
    // mode_t umask(mode_t mask)
    "    loss    umask, {umask}",
    ".purgem loss",
    ".popsection",
    prlimit = const numbers::PRLIMIT,
    chroot = const numbers::CHROOT,
    unshare = const numbers::UNSHARE,
    setns = const numbers::SETNS,
    umask = const numbers::UMASK,
    make = sym make,
);
