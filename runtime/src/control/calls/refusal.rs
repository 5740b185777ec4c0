//! Why a request changed nothing, as the user reads it.

use core::ffi::c_int;

use super::intervals::NoRoomForList;
use super::source_files::Lines;
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
    /// A list of patterns selects no function; what is known of the lines that the list needs.
    NoFunction(&'a [u8], Lines),
    ListTooLong,
    TooManyLists,
    NoMemory,
    /// Another thread is closing an object.
    Closing,
    /// The list of objects cannot be read.
    NoObjects(Errno),
    /// Calls are counted in windows.
    Windows,
    /// The sampler sends no signal at each sample, or samples another clock.
    NoTicks,
    /// The process counts in its file.
    Live,
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

/// Why the source files of functions are not known.
const MISSING: &[u8] = b"there is no line information: compile with -g";
pub(super) const COMPRESSED: &[u8] =
    b"the line information is compressed: link with -Wl,--compress-debug-sections=none";

/// The reason as a line without its end.
pub(super) fn text<const N: usize>(refusal: Refusal<'_>, line: &mut Text<N>) {
    const WHAT: &[u8] = b"cannot count calls: ";
    let alone = |text| [text, &b""[..], b"", b""];
    let parts: [&[u8]; 4] = match refusal {
        Refusal::NoRoom => {
            alone(b"no function has room at its entry: compile with gmon-cc --on-demand (-fpatchable-function-entry)")
        }
        Refusal::OtherRoom => alone(
            b"there is no room before functions: compile with gmon-cc --on-demand (-fpatchable-function-entry=7,5)",
        ),
        Refusal::NoFunction(list, lines) => {
            let (because, reason): (&[u8], &[u8]) = match lines {
                Lines::Unknown | Lines::Read => (b"", b""),
                Lines::Missing => (b": ", MISSING),
                Lines::Compressed => (b": ", COMPRESSED),
            };
            [b"no function with room at its entry matches ", list, because, reason]
        }
        Refusal::ListTooLong => alone(b"the list of patterns is too long"),
        Refusal::TooManyLists => alone(b"there were too many different lists of patterns"),
        Refusal::NoMemory => alone(b"no memory near the program's code, or no permission to make code there"),
        Refusal::Windows => alone(b"GMON_CALLS has chosen windows, in which calls are counted"),
        Refusal::NoTicks => alone(b"windows need GMON_CLOCK=cpu, and GMON_SAMPLER=itimer or timer"),
        Refusal::Live => alone(b"windows are not possible with GMON_LIVE=1"),
        Refusal::Closing => alone(b"another thread is closing an object"),
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
