//! Walks a stack: from the registers of a signal context to the outermost caller.
//!
//! [`Walk`] is an iterator over the frames of a stack. The caller of a frame follows from the unwind tables of the
//! object (`.eh_frame`), which are exact at each instruction, also in prologues, epilogues, and PLT stubs. Where there
//! is no table, the frame pointer serves if it can be trusted. A chain that cannot be continued is cut and says why.
//!
//! The crate reads no memory itself. A walk asks its caller, through traits:
//!
//! * [`Memory`]: the word at an address, if the word can be read. Stacks, signal contexts, and code are read this way.
//! * [`Loaded`]: the object with code at an address, and the bytes of the object's tables. [`Objects`] is a list of
//!   them.
//! * [`OuterEnds`]: room to remember the outermost frames of deep stacks. Without room, nothing is remembered.
//! * [`Architecture`]: the registers and instructions of a processor. [`X86_64`] and [`AArch64`] are always there.
//!
//! The modules, bottom up:
//!
//! * `memory`: reads words and bytes
//! * `bytes`: a cursor over tables that cannot panic, also for other tables of DWARF
//! * `expression`: DWARF's stack machine
//! * `rule`: how to find the caller's registers; `cache`: rules by program counter
//! * `architecture`: what differs between processors; `x86_64`, `aarch64`: the processors
//! * `entry`, `instructions`: from a table's entry to a rule; `index`: from a program counter to an entry
//! * `objects`: the loaded objects; `image`: a loaded object by its program headers
//! * `signal_frame`: the frames that the kernel makes; `chain`: what a walk needs and finds;
//!   `recursion`: the outermost end of a deep recursion
//! * `outer_end`: the outermost frames of deep stacks; `walk`: the walk; `ends`: a walk that keeps both ends of a deep
//!   stack
//!
//! Everything is generic over the architecture, the memory, and the objects. So tests on any machine evaluate the
//! tables of all architectures, on stacks that the tests make up, and an instance for a signal handler has no indirect
//! call.
//!
//! Nothing here allocates, panics, locks, or recurses. Handlers may run on small stacks, so a walk uses 2 KB. This is
//! why the evaluator is not gimli's, which needs several kilobytes for one row; tests compare each row with gimli's.
//! All tables are of 64-bit machines with the byte order of this machine.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
// The documentation is useful only with private items.
#![allow(rustdoc::private_intra_doc_links)]
#![warn(clippy::indexing_slicing, clippy::expect_used, clippy::panic)]

mod aarch64;
mod architecture;
mod bytes;
mod cache;
mod chain;
mod ends;
mod entry;
mod expression;
mod image;
mod index;
mod instructions;
mod memory;
mod objects;
mod outer_end;
mod records;
mod recursion;
mod rule;
mod signal_frame;
mod walk;
mod x86_64;

pub use aarch64::AArch64;
#[cfg(target_arch = "aarch64")]
pub use aarch64::AArch64 as Native;
pub use architecture::{Architecture, Returning};
pub use bytes::{Cursor, Section};
pub use cache::Cache;
pub use chain::{Cut, Ending, Frame, Tables};
pub use ends::{Ends, Reach, Walked};
pub use expression::{Machine, evaluate};
pub use image::{Image, Parts};
pub use index::Found;
pub use memory::{Memory, copy};
pub use objects::{Loaded, Object, Objects};
pub use outer_end::{OUTER_FRAMES, OuterEnd, OuterEnds, Trail};
pub use rule::{Cfa, Place, Rule, Stored};
pub use signal_frame::SignalFrames;
pub use walk::{MOST_FRAMES, OUTERMOST_FRAMES, Walk};
pub use x86_64::X86_64;
#[cfg(target_arch = "x86_64")]
pub use x86_64::X86_64 as Native;

#[cfg(test)]
mod tests;
