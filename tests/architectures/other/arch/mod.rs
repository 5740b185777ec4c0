//! The items that the runtime needs of an architecture in `arch/`. `tests/tests/house/architectures.rs` compiles this
//! folder; nothing runs it, and no function has instructions.
#![allow(unused_variables, clippy::all)]

use core::ffi::c_void;

pub const LARGEST_PAGE: usize = 1 << 14;

pub(crate) fn thread_pointer() -> usize {
    loop {}
}

pub(crate) fn is_in_valgrind() -> bool {
    false
}

pub(crate) unsafe extern "C" fn call_on_stack(
    top: *mut c_void,
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) {
}

macro_rules! passing_handler {
    ($name:ident, $handler:ident) => {
        pub(super) unsafe extern "C" fn $name(signal: c_int, info: *const SignalInfo, context: *const c_void) {
            let _ = unsafe { $handler(signal, info, context) };
        }
    };
}
pub(crate) use passing_handler;

#[cfg(feature = "start")]
macro_rules! handler_entries {
    ($name:ident, $handler:path) => {
        unsafe extern "C" fn $name() {
            let _ = $handler as *const ();
        }
    };
}
#[cfg(feature = "start")]
pub(crate) use handler_entries;

// Only the runtime records calls.
#[cfg(feature = "runtime")]
mod runtime {
    use core::ffi::c_void;

    pub(crate) fn word<const OFFSET: usize>() -> usize {
        loop {}
    }

    pub(crate) fn set_word<const OFFSET: usize>(word: usize) {}

    pub(crate) fn set_word_once<const OFFSET: usize>(word: usize) -> bool {
        loop {}
    }

    pub(crate) unsafe fn set_table(base: *mut c_void, mask: usize) {}

    pub(crate) extern "C" fn dlsym_address() -> usize {
        0
    }

    #[cfg(feature = "start")]
    pub(crate) extern "C" fn fini_address() -> usize {
        0
    }
}
#[cfg(feature = "runtime")]
pub(crate) use runtime::*;
