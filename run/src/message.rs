//! Messages to the user.

use std::io::{self, Write};

/// Writes one line to standard error, if somebody can read the line. Control characters of names do not reach the
/// terminal.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "gmon-run: {}", text.replace(char::is_control, "?"));
}
