//! The names of the files that gmon-run and its runtime write.

use std::path::{Path, PathBuf};

/// What the name of a side file has behind the name of the profile.
pub(crate) const SIDE: &str = ".side";
/// The ending of a sum that is not complete yet.
pub(crate) const NEW: &str = ".new";

/// Adds an ending to the name of a file.
pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// The executable and the process in the name `NAME.BUILD.PROCESS` or `NAME.BUILD.PROCESS-ATTEMPT` of a profile.
pub(crate) fn parse_name(name: &str) -> Option<(&str, i32)> {
    let (executable, process) = name.rsplit_once('.')?;
    let process = process.split_once('-').map_or(process, |(process, _)| process);
    let process: i32 = process.parse().ok()?;
    is_sum_name(executable).then_some((executable, process))
}

/// Whether a name is `NAME.BUILD`.
fn is_sum_name(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(name, build)| {
        !name.is_empty() && build.len() == 8 && build.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Whether gmon-run or its runtime gives files such names.
pub(crate) fn is_ours(name: &str) -> bool {
    let name = name.strip_suffix(NEW).unwrap_or(name);
    let name = name.strip_suffix(SIDE).unwrap_or(name);
    is_sum_name(name) || parse_name(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_executable_and_the_process() {
        assert_eq!(parse_name("cc1.0123abcd.4711"), Some(("cc1.0123abcd", 4711)));
        assert_eq!(parse_name("python3.11.0123abcd.4711-2"), Some(("python3.11.0123abcd", 4711)));
        for other in ["cc1.0123abcd", "cc1.4711", "cc1.0123abcg.4711", ".0123abcd.4711", "cc1.0123abcd.4711.side"] {
            assert_eq!(parse_name(other), None, "{other}");
        }
        assert!(is_ours("cc1.0123abcd.4711.side") && is_ours("cc1.0123abcd") && is_ours("cc1.0123abcd.side.new"));
        assert!(!is_ours("main.c") && !is_ours("notes.side") && !is_ours("0123abcd"));
    }
}
