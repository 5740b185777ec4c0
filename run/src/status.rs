//! What the kernel tells of this process.

use std::fs;

/// The value of a line of `/proc/self/status`.
pub(crate) fn field(name: &str) -> Option<String> {
    // The name of the process may be of any bytes.
    let status = String::from_utf8_lossy(&fs::read("/proc/self/status").ok()?).into_owned();
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_process_has_its_own_number() {
        assert_eq!(super::field("Pid"), Some(std::process::id().to_string()));
        assert_eq!(super::field("Pi"), None, "only a whole name");
    }
}
