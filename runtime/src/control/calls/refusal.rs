//! Why a request changed nothing, as the user reads it.

use core::ffi::c_int;

use super::intervals::NoRoomForList;
use crate::message::{push_error, say};
use crate::os::Errno;
use crate::text::Text;

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

/// The reason as a line without its end.
pub(super) fn text<const N: usize>(refusal: Refusal<'_>, line: &mut Text<N>) {
    const WHAT: &[u8] = b"cannot count calls: ";
    let parts: [&[u8]; 2] = match refusal {
        Refusal::NoRoom => {
            [b"no function has room at its entry: compile with gmon-cc --on-demand (-fpatchable-function-entry)", b""]
        }
        Refusal::OtherRoom => [
            b"there is no room before functions: compile with gmon-cc --on-demand (-fpatchable-function-entry=7,5)",
            b"",
        ],
        Refusal::NoFunction(list) => [b"no function with room at its entry matches ", list],
        Refusal::ListTooLong => [b"the list of patterns is too long", b""],
        Refusal::TooManyLists => [b"there were too many different lists of patterns", b""],
        Refusal::NoMemory => [b"no memory near the program's code, or no permission to make code there", b""],
        Refusal::Closing => [b"another thread is closing an object", b""],
        Refusal::NoObjects(error) => return push_error(line, &[WHAT, b"cannot read the list of objects"], error),
        Refusal::Forbidden(error) => return push_error(line, &[WHAT, b"cannot change the program's code"], error),
    };
    line.push(WHAT);
    parts.iter().for_each(|part| line.push(part));
}

/// Writes the reason on standard error. Returns -1, which `gmon_calls` returns if nothing was changed.
pub(super) fn report(refusal: Refusal<'_>) -> c_int {
    let mut line = Text::<512>::new();
    text(refusal, &mut line);
    say(&[line.as_bytes()]);
    -1
}
