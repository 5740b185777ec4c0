//! The runtime's walk through stacks, as a static library for test programs in C.
#![no_std]
#![allow(missing_docs)]

use core::ffi::{c_int, c_void};

use gmon_runtime::objects::publish;
use gmon_runtime::os::a_moment;
use gmon_runtime::unwind::{Cut, Ending, walk, while_closing};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

#[unsafe(no_mangle)]
extern "C" fn probe_start() {
    publish(true);
}

/// Stores the frames; of a long chain, those in the middle are left out. Returns the number of stored frames and the
/// ending: 0 if the chain is whole, otherwise the reason.
#[unsafe(no_mangle)]
unsafe extern "C" fn probe_walk(context: *const c_void, frames: *mut usize, room: usize, ending: *mut c_int) -> usize {
    let mut number = 0;
    let found = walk(context, |frame| {
        let place = number.min(room - 1);
        // SAFETY: there is room, as the caller says.
        unsafe {
            if number == room {
                let middle = frames.add(room / 2);
                middle.copy_from(middle.add(1), room - room / 2 - 1);
            }
            frames.add(place).write(frame.pc - usize::from(!frame.is_exact));
        }
        number = place + 1;
        true
    });
    let code = match found {
        Ending::Outermost => 0,
        Ending::Cut(Cut::TooDeep) => 1,
        Ending::Cut(Cut::NoTable) => 2,
        Ending::Cut(Cut::Unreadable) => 3,
        Ending::Cut(Cut::Misled) => 4,
        Ending::Cut(Cut::CopyTooSmall | Cut::CopyIncomplete) => 5,
    };
    // SAFETY: the caller's variable.
    unsafe { ending.write(code) };
    number
}

/// Calls `close`, which may unload objects.
#[unsafe(no_mangle)]
unsafe extern "C" fn probe_close(handle: *mut c_void, close: unsafe extern "C" fn(*mut c_void) -> c_int) -> c_int {
    // SAFETY: the caller's promise.
    while_closing(a_moment, || unsafe { close(handle) })
}
