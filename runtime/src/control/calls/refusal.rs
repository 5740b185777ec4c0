//! Why a request changed nothing, as the user reads it.

use core::ffi::c_int;

use super::intervals::NoRoomForList;
use crate::message::{say, say_error};
use crate::os::Errno;

/// Why a request changed nothing.
#[derive(Clone, Copy)]
pub(super) enum Refusal<'a> {
    /// No function has room at its entry.
    NoRoom,
    /// Functions have room of another form.
    OtherRoom,
    /// A list of patterns selects no function.
    NoFunction(&'a [u8]),
    ListTooLong,
    TooManyLists,
    NoMemory,
    /// Another thread is closing an object.
    Closing,
    /// The list of objects cannot be read.
    NoObjects(Errno),
    /// The code could not be changed.
    Forbidden(Errno),
}

impl From<NoRoomForList> for Refusal<'_> {
    fn from(reason: NoRoomForList) -> Self {
        match reason {
            NoRoomForList::TooLong => Refusal::ListTooLong,
            NoRoomForList::TooMany => Refusal::TooManyLists,
        }
    }
}

/// Writes the reason on standard error. Returns -1, which `gmon_calls` returns if nothing was changed.
pub(super) fn report(refusal: Refusal<'_>) -> c_int {
    const WHAT: &[u8] = b"cannot count calls: ";
    match refusal {
        Refusal::NoRoom => say(&[
            WHAT,
            b"no function has room at its entry: compile with gmon-cc --on-demand (-fpatchable-function-entry)",
        ]),
        Refusal::OtherRoom => say(&[
            WHAT,
            b"there is no room before functions: compile with gmon-cc --on-demand (-fpatchable-function-entry=7,5)",
        ]),
        Refusal::NoFunction(list) => say(&[WHAT, b"no function with room at its entry matches ", list]),
        Refusal::ListTooLong => say(&[WHAT, b"the list of patterns is too long"]),
        Refusal::TooManyLists => say(&[WHAT, b"there were too many different lists of patterns"]),
        Refusal::NoMemory => say(&[WHAT, b"no memory near the program's code, or no permission to make code there"]),
        Refusal::NoObjects(error) => say_error(&[b"cannot count calls: cannot read the list of objects"], error),
        Refusal::Closing => say(&[WHAT, b"another thread is closing an object"]),
        Refusal::Forbidden(error) => say_error(&[b"cannot count calls: cannot change the program's code"], error),
    }
    -1
}
