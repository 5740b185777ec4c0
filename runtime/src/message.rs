//! Writes one line on standard error.
//!
//! The line must not harm the program. If descriptor 2 is another file than at the start, nothing is written. A write
//! may raise a signal that kills or stops, and may wait for a reader that never comes: signals are blocked and taken
//! back, and the wait is short. If a seccomp filter hides what the descriptor is, only a file or a terminal gets the
//! line.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use crate::os::{
    Errno, Fd, SIGPIPE, SIGXFSZ, Status, contains, pending_signals, set_blocked_signals, take_signal,
    try_to_block_signals,
};
use crate::state::Inherited;
use crate::text::{Digits, Text};

const STANDARD_ERROR: Fd = Fd(2);

/// The status of standard error at the start; `None` if it was closed.
struct AtStart(UnsafeCell<Option<Status>>);

// SAFETY: written once, before the first line.
unsafe impl Sync for AtStart {}

static AT_START: Inherited<AtStart> =
    Inherited::new("the child inherits standard error and its reader", AtStart(UnsafeCell::new(None)));
static IS_KNOWN: Inherited<AtomicBool> =
    Inherited::new("the child inherits standard error and its reader", AtomicBool::new(false));
/// Whether descriptor 2 was another file when a seccomp filter was about to be installed.
static WAS_REPLACED: Inherited<AtomicBool> =
    Inherited::new("the child inherits standard error and its reader", AtomicBool::new(false));

/// The milliseconds that all lines together may still wait for a reader.
static PATIENCE: Inherited<AtomicU32> =
    Inherited::new("the child inherits standard error and its reader", AtomicU32::new(900));

/// Remembers the status of standard error. Only the first call has an effect.
pub(crate) fn remember_standard_error() {
    if !IS_KNOWN.swap(true, Relaxed) {
        // SAFETY: this is the first call, and every reader calls this function before.
        unsafe { *AT_START.0.get() = STANDARD_ERROR.status().ok() };
    }
}

/// Looks at standard error before a seccomp filter may forbid the question.
#[cfg(all(feature = "start", not(test)))]
pub(crate) fn look_before_filter() {
    WAS_REPLACED.store(!is_for_lines(), Relaxed);
}

/// Whether a line may be written to descriptor 2: the descriptor is the same file as at the start, or a log.
fn is_for_lines() -> bool {
    remember_standard_error();
    // SAFETY: nobody writes the status any more.
    let Some(then) = (unsafe { &*AT_START.0.get() }) else { return false };
    match STANDARD_ERROR.status() {
        // A file that is open for appending is a log, to which the program has redirected its standard error.
        Ok(now) => now.is_same_file(then) || (now.is_regular() && STANDARD_ERROR.appends()),
        // A filter refuses the question. A pipe might have no reader, and the resulting signal could not be taken
        // back.
        Err(Errno::EPERM) => !WAS_REPLACED.load(Relaxed) && (then.is_regular() || then.is_character_device()),
        Err(_) => false,
    }
}

/// Writes `gmon: ` and the parts, as one line and in one write.
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

/// Writes a line with a number unless the number is 0: `gmon: gmon.out: 3 bins are full`. An empty name is left out.
pub(crate) fn say_count(name: &[u8], number: u64, what: &[u8]) {
    if number > 0 {
        let mut count = Digits::new();
        count.push_decimal(number);
        say(&[name, if name.is_empty() { b"" } else { b": " }, count.as_bytes(), what]);
    }
}

/// Writes the line if that does no harm. There is nobody to whom a failure could be reported.
fn write(line: &[u8]) {
    // A blocked SIGTTOU, which would stop a program in the background of its terminal, is not sent. If a filter
    // prevents blocking signals, signals could not be taken back either.
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

/// Writes what failed and the error: `gmon: gmon.out: cannot write: no space left on device (error 28)`.
pub(crate) fn say_error(parts: &[&[u8]], error: Errno) {
    say_cure(parts, error, &[]);
}

/// Writes what failed, the error, and what the user can do.
pub(crate) fn say_cure(parts: &[&[u8]], error: Errno, cure: &[&[u8]]) {
    let mut line = Text::<512>::new();
    push_error(&mut line, parts, error);
    for part in cure {
        line.push(part);
    }
    say(&[line.as_bytes()]);
}

/// Appends what failed, and the error: `cannot write: no space left on device (error 28)`.
pub(crate) fn push_error<const N: usize>(line: &mut Text<N>, parts: &[&[u8]], error: Errno) {
    let text = error.text();
    for part in parts {
        line.push(part);
    }
    line.push(b": ");
    line.push(text);
    line.push(if text.is_empty() { b"error " } else { b" (error " });
    line.push_decimal(u64::from(error.0.unsigned_abs()));
    line.push(if text.is_empty() { b"" } else { b")" });
}
