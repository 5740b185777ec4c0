//! Walks the stack of an interrupted thread: from the registers of a signal context to the outermost caller.
//!
//! [`Walk`] is an iterator over the frames of a stack. The caller of a frame follows from the unwind tables of the object
//! (`.eh_frame`), which are exact at each instruction, also in prologues, epilogues, and PLT stubs. Where there is no
//! table, the frame pointer serves if it can be trusted. A chain that cannot be continued is cut and says why.
//!
//! The modules, bottom up:
//!
//! * `memory`: reads the stack; `pages`: a memory that asks before it reads a page; `copied`: a copy of a stack
//! * `bytes`: a cursor over tables that cannot panic; `expression`: DWARF's stack machine
//! * `rule`: how to find the caller's registers; `cache`: rules by program counter
//! * `entry`, `instructions`: from a table's entry to a rule; `index`: from a program counter to an entry
//! * `objects`: the loaded objects; `image`: a loaded object by its program headers; `later`: objects that are loaded after
//!   the start; `table_copies`: copies of their tables, for copied stacks; `searches`: what a search for these objects
//!   reads; `published`: what signal handlers use
//! * `architecture`: what differs between processors; `x86_64`, `aarch64`: the processors
//! * `signal_frame`: the frames that the kernel makes; `chain`: what a walk needs and finds;
//!   `recursion`: the outermost end of a deep recursion; `walk`: the walk
//! * `outer_end`: the outermost frames of deep stacks; `ends`: a walk that keeps both ends of a deep stack
//! * `this_process`: walks the stacks of this process
//!
//! The functions are generic over the architecture and the memory. So tests on any machine evaluate the tables of all
//! architectures, on stacks that the tests make up.
//!
//! Nothing here allocates, panics, locks, or recurses. Handlers may run on small stacks, so a walk uses 2 KB (the
//! benchmark `unwind` measures the use). This is why the evaluator is not gimli's, which needs several kilobytes for one row;
//! tests compare each row with gimli's.

mod aarch64;
mod architecture;
mod bytes;
mod cache;
mod chain;
mod copied;
mod ends;
mod entry;
mod expression;
mod image;
mod index;
mod instructions;
mod later;
mod memory;
mod objects;
mod outer_end;
mod pages;
mod published;
mod recursion;
mod rule;
mod searches;
mod signal_frame;
mod table_copies;
mod this_process;
mod walk;
mod x86_64;

pub use aarch64::AArch64;
#[cfg(target_arch = "aarch64")]
pub use aarch64::AArch64 as Native;
pub use architecture::Architecture;
pub use bytes::Section;
pub use cache::Cache;
pub use chain::{Cut, Ending, Frame, Tables};
pub use copied::CopiedStack;
pub use ends::{Reach, Walked};
pub use expression::{Machine, evaluate};
pub use index::Found;
pub(crate) use later::Description;
pub use later::{Later, LaterObjects};
pub use memory::Memory;
pub use objects::{Object, Objects};
pub use outer_end::{OUTER_FRAMES, OuterEnds, Trail};
pub use pages::Pages;
pub use published::{Known, Published, Reading};
pub use rule::{Cfa, Place, Rule, Stored};
pub use searches::Searches;
pub use signal_frame::SignalFrames;
pub use table_copies::TableCopies;
pub use this_process::{Stack, publish, walk, walk_stack, while_closing};
pub(crate) use this_process::{after_fork_in_child, describe_later, is_closing, object, object_at, stays};
pub use walk::{MOST_FRAMES, OUTERMOST_FRAMES, Walk};
pub use x86_64::X86_64;
#[cfg(target_arch = "x86_64")]
pub use x86_64::X86_64 as Native;

#[cfg(test)]
mod leaf_tests;
#[cfg(test)]
mod tests;
