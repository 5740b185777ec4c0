//! One line on standard error.

use crate::system::{Errno, Fd};
use crate::text::Text;

const STANDARD_ERROR: Fd = Fd(2);

/// Says `gmon: ` and the parts, on a line of its own and in one write.
pub(crate) fn say(parts: &[&[u8]]) {
    let mut line = Text::<512>::new();
    line.push(b"gmon: ");
    for part in parts {
        line.push(part);
    }
    line.end();
    // Where there is no standard error there is nobody to tell.
    let _ = STANDARD_ERROR.write_all(line.as_bytes());
}

/// Says what failed with which error: `gmon: gmon.out: cannot write: no space left on device (error 28)`.
pub(crate) fn say_error(parts: &[&[u8]], error: Errno) {
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
    say(&[line.as_bytes()]);
}
