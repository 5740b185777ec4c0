//! The file that the path of an output stands for.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// The number of symbolic links that one path may lead through. The system has about the same limit.
const MOST_LINKS: u32 = 40;

/// Returns the path of the file that symbolic links lead to, so that the links stay. The file need not exist. The links of the
/// system to open files are not followed.
pub(super) fn target(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        if is_open_file(&target) {
            break;
        }
        let Ok(link) = fs::read_link(&target) else { break };
        target = target.parent().unwrap_or(Path::new("")).join(link);
    }
    target
}

/// Whether a path names an open file of a process, as `/dev/stdout` does. The file may have any name, or none.
pub(super) fn is_open_file(path: &Path) -> bool {
    let Some(parent) = path.parent() else { return false };
    let is_standard = ["/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name));
    let is_of_process = path.starts_with("/proc") && parent.file_name() == Some("fd".as_ref());
    is_standard || parent == Path::new("/dev/fd") || is_of_process
}

/// Opens a device, a pipe, or an open file of a process. What an open file has stays.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let is_number =
        |number: &str| ["/dev/fd", "/proc/self/fd"].iter().any(|parent| path == Path::new(parent).join(number));
    // To open a file again gives another position in the file.
    if path == Path::new("/dev/stdout") || is_number("1") {
        return Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?));
    }
    if path == Path::new("/dev/stderr") || is_number("2") {
        return Ok(File::from(io::stderr().as_fd().try_clone_to_owned()?));
    }
    OpenOptions::new().append(is_open_file(path)).write(true).open(path)
}
