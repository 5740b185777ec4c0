//! The runtime's unwinder, compared with independent readers: its rules with gimli's, its chains with those of libgcc
//! and with the calls and returns of a program that runs instruction by instruction.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod callers;
mod compiled;
mod elf;
mod handlers;
mod kit;
mod random;
mod rules;
mod sampled;
mod shadow;
mod signals;
mod steps;
mod tracee;
