//! Messages to the user.

/// Writes one line to standard error. Control characters of names do not reach the terminal.
pub(crate) fn say(text: &str) {
    eprintln!("gmon-run: {}", text.replace(char::is_control, "?"));
}
