//! The items of `arch` for x86-64.

pub(crate) mod entry_room;
#[cfg(all(feature = "start", not(test)))]
mod handler_entries;
mod identity;
mod passing_handler;
mod stack;
// Only the runtime records calls.
#[cfg(any(test, feature = "runtime"))]
#[cfg_attr(feature = "preload", path = "thread_of_object.rs")]
mod thread;
mod valgrind;
#[cfg(all(feature = "runtime", not(test)))]
mod weak_symbols;

#[cfg(all(feature = "start", not(test)))]
pub(crate) use handler_entries::handler_entries;
pub(crate) use identity::thread_pointer;
#[allow(unused_imports, reason = "only Linux shares a signal with the program")]
pub(crate) use passing_handler::passing_handler;
pub(crate) use stack::call_on_stack;
#[cfg(any(test, feature = "runtime"))]
pub(crate) use thread::{set_table, set_word, set_word_once, word};
pub(crate) use valgrind::is_in_valgrind;
#[cfg(all(feature = "runtime", not(test)))]
pub(crate) use weak_symbols::dlsym_address;
#[cfg(all(feature = "start", not(feature = "preload"), not(test)))]
pub(crate) use weak_symbols::fini_address;

/// The largest page size of kernels for this architecture.
pub const LARGEST_PAGE: usize = 4096;
