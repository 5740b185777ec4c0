//! What the kernel tells of this process.

use std::fs;

/// The value of a line of `/proc/self/status`.
pub(crate) fn field(name: &str) -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
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
