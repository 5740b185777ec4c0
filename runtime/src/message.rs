//! One line on standard error.
//!
//! The line must not do the program any harm. Descriptor 2 may be a file of the program's by now: nothing is said then. To
//! write may send a signal that kills or stops, and wait for a reader that never comes: signals are blocked and taken back,
//! and the wait is short. Behind a filter of system calls that does not let us ask what the descriptor is, only a file or a
//! terminal gets the line.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use crate::os::{
    Errno, Fd, SIGPIPE, SIGXFSZ, Status, contains, pending_signals, set_blocked_signals, take_signal,
    try_to_block_signals,
};
use crate::text::{Digits, Text};

const STANDARD_ERROR: Fd = Fd(2);

/// What standard error was at the start; `None` if there was none.
struct AtStart(UnsafeCell<Option<Status>>);

// SAFETY: written once, before any line is said.
unsafe impl Sync for AtStart {}

static AT_START: AtStart = AtStart(UnsafeCell::new(None));
static IS_KNOWN: AtomicBool = AtomicBool::new(false);
/// Whether it was another file when a filter of system calls was about to be installed.
static WAS_REPLACED: AtomicBool = AtomicBool::new(false);

/// How many milliseconds all lines together may wait until somebody reads what is there already.
static PATIENCE: AtomicU32 = AtomicU32::new(900);

/// Remembers what standard error is. Only the first call does anything.
pub(crate) fn know_standard_error() {
    if !IS_KNOWN.swap(true, Relaxed) {
        // SAFETY: this is the first call, and whoever looks at it makes one before.
        unsafe { *AT_START.0.get() = STANDARD_ERROR.status().ok() };
    }
}

/// Looks at standard error once more before a filter of system calls may forbid that.
#[cfg(all(feature = "start", not(test)))]
pub(crate) fn look_before_filter() {
    WAS_REPLACED.store(!is_for_lines(), Relaxed);
}

/// Whether a line can be written to descriptor 2: it is what it was at the start, or a log.
fn is_for_lines() -> bool {
    know_standard_error();
    // SAFETY: nobody writes it any more.
    let Some(then) = (unsafe { &*AT_START.0.get() }) else { return false };
    match STANDARD_ERROR.status() {
        // What is opened to append to is a log, to which the program has redirected its standard error.
        Ok(now) => now.is_same_file(then) || (now.is_regular() && STANDARD_ERROR.appends()),
        // A filter refuses the question. A pipe might have no reader, and the signal of that could not be taken back.
        Err(Errno::EPERM) => !WAS_REPLACED.load(Relaxed) && (then.is_regular() || then.is_character_device()),
        Err(_) => false,
    }
}

/// Says `gmon: ` and the parts, on a line of its own and in one write.
pub(crate) fn say(parts: &[&[u8]]) {
    let mut line = Text::<512>::new();
    line.push(b"gmon: ");
    for part in parts {
        line.push(part);
    }
    line.end();
    if is_for_lines() {
        write(line.as_bytes());
    }
}

/// Says a number, unless that is 0: `gmon: gmon.out: 3 bins are full`, or without the name if that is empty.
pub(crate) fn say_count(name: &[u8], number: u64, what: &[u8]) {
    if number > 0 {
        let mut count = Digits::new();
        count.push_decimal(number);
        say(&[name, if name.is_empty() { b"" } else { b": " }, count.as_bytes(), what]);
    }
}

/// Writes the line, if that can be done without harm. Where it cannot there is nobody to tell.
fn write(line: &[u8]) {
    // SIGTTOU too, which would stop a program in the background of its terminal: blocked, it is not sent.
    // Where a filter keeps signals from being blocked, they could not be taken back either.
    let Ok(blocked) = try_to_block_signals() else { return };
    let pending = pending_signals();
    if !STANDARD_ERROR.takes_writing(PATIENCE.load(Relaxed)) {
        PATIENCE.store(0, Relaxed);
    } else if let Err(error) = STANDARD_ERROR.write_all(line) {
        for (reason, signal) in [(Errno::EPIPE, SIGPIPE), (Errno::EFBIG, SIGXFSZ)] {
            if error == reason && pending.is_ok_and(|pending| !contains(pending, signal)) {
                take_signal(signal);
            }
        }
    }
    set_blocked_signals(blocked);
}

/// Says what failed with which error: `gmon: gmon.out: cannot write: no space left on device (error 28)`.
pub(crate) fn say_error(parts: &[&[u8]], error: Errno) {
    say_cure(parts, error, &[]);
}

/// Says what failed with which error, and what helps.
pub(crate) fn say_cure(parts: &[&[u8]], error: Errno, cure: &[&[u8]]) {
    let mut line = Text::<480>::new();
    for part in parts {
        line.push(part);
    }
    line.push(b": ");
    line.push(error.text());
    line.push(if error.text().is_empty() { b"error " } else { b" (error " });
    line.push_decimal(u64::from(error.0.unsigned_abs()));
    if !error.text().is_empty() {
        line.push(b")");
    }
    for part in cure {
        line.push(part);
    }
    say(&[line.as_bytes()]);
}
