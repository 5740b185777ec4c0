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

pub(crate) mod entry_room {
    pub(crate) const ROOM_SIZE: usize = 8;
    pub(crate) const THUNK_SIZE: usize = 16;
    pub(crate) const ISLAND_SIZE: usize = 16;
    pub(crate) const REACH: usize = 1 << 30;
    pub(crate) const LABELS: &[usize] = &[0];
    pub(crate) const TELLS_ROOM_BY_TABLES: bool = false;
    pub(crate) const JUMP_IN_THUNK: usize = 8;
    pub(crate) const STEPS_ON: usize = 1;
    pub(crate) const STEPS_OFF: usize = 1;
    pub(crate) const THUNK_RULE: [u8; 8] = [0; 8];
    pub(crate) const RETURN_ADDRESS_COLUMN: u8 = 1;
    pub(crate) const DATA_ALIGNMENT: u8 = 0x78;

    #[derive(Clone, Copy, PartialEq)]
    pub(crate) struct Room;

    pub(crate) struct Change {
        pub(crate) distance: usize,
        pub(crate) bytes: [u8; 4],
        pub(crate) length: usize,
    }

    impl Room {
        pub(crate) const NONE: Room = Room;
        pub(crate) fn of(code: &[u8; ROOM_SIZE]) -> Option<Room> {
            loop {}
        }
        pub(crate) fn body(self, record: usize) -> usize {
            loop {}
        }
        pub(crate) fn on(self, step: usize, record: usize, thunk: usize) -> Option<Change> {
            loop {}
        }
        pub(crate) fn off(self, step: usize) -> Change {
            loop {}
        }
    }

    pub(crate) fn island(counter: usize) -> [u8; ISLAND_SIZE] {
        loop {}
    }
    pub(crate) fn thunk(thunk: usize, island: usize, counter: usize, body: usize) -> Option<[u8; THUNK_SIZE]> {
        loop {}
    }
    pub(crate) fn target_of_jump(pc: usize, code: u64) -> Option<usize> {
        loop {}
    }
    pub(crate) unsafe fn jump_at(pc: usize) -> Option<u64> {
        loop {}
    }
    pub(crate) fn make_visible(address: usize, length: usize) {}
}

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
