//! The perf map files of processes: the names of the code that programs generate while they run.
//!
//! Any user can make a file in `/tmp`. So a map counts only if it is a regular file of the process's user, with no
//! other name, and no older than the process.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gmon::side_file::{SideFile, property};
use rustix::fs::OFlags;

/// Where programs write their maps.
pub(crate) const DIRECTORY: &str = "/tmp";

/// The length of the longest map in bytes that is read.
const LONGEST: u64 = 128 << 20;

/// The time of a file may be earlier than the clock by this much.
const COARSE: Duration = Duration::from_secs(1);

/// Why a map is not used.
#[derive(Debug)]
pub(crate) enum Refusal {
    NotRegular,
    OtherOwner,
    OtherNames,
    TooLong,
    Unreadable(io::Error),
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotRegular => out.write_str("not a regular file"),
            Refusal::OtherOwner => out.write_str("a file of another user than the process"),
            Refusal::OtherNames => out.write_str("a file that has other names too"),
            Refusal::TooLong => write!(out, "longer than {} megabytes", LONGEST >> 20),
            Refusal::Unreadable(error) => error.fmt(out),
        }
    }
}

/// The path of the map of a process.
pub(crate) fn path(directory: &Path, process: i32) -> PathBuf {
    directory.join(format!("perf-{process}.map"))
}

/// Reads the map of a process that has left this side file. `None` if there is no map, or only that of an earlier
/// process with the same number.
///
/// # Errors
///
/// When there is a map that must not be used.
pub(crate) fn read(path: &Path, side: &SideFile, side_status: &Metadata) -> Result<Option<Vec<u8>>, Refusal> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Refusal::Unreadable(error)),
    };
    if !found.is_file() {
        return Err(Refusal::NotRegular);
    }
    // Another process may have replaced the file since the check: a link is not followed, and nothing waits for the
    // writer of a pipe.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags as i32).open(path).map_err(Refusal::Unreadable)?;
    let status = file.metadata().map_err(Refusal::Unreadable)?;
    if !status.is_file() {
        return Err(Refusal::NotRegular);
    }
    if status.uid() != side_status.uid() {
        return Err(Refusal::OtherOwner);
    }
    if status.nlink() != 1 {
        return Err(Refusal::OtherNames);
    }
    if !is_of(&status, side) {
        return Ok(None);
    }
    content(file, LONGEST).map(Some)
}

/// Whether the process wrote the file, and not an earlier process with the same number.
fn is_of(status: &Metadata, side: &SideFile) -> bool {
    let start = side.property(property::START).and_then(|start| str::from_utf8(start).ok()?.parse().ok());
    let start = start.and_then(|start| SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(start)));
    let written = status.modified().ok().and_then(|written| written.checked_add(COARSE));
    start.zip(written).is_some_and(|(start, written)| start <= written)
}

/// The content of a file with a limited length.
fn content(file: File, longest: u64) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    file.take(longest + 1).read_to_end(&mut bytes).map_err(Refusal::Unreadable)?;
    if bytes.len() as u64 > longest { Err(Refusal::TooLong) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, symlink};
    use std::process::Command;

    use gmon::Word;

    use super::*;

    /// A side file of a process that started so many seconds after 1970.
    fn side(start: u64) -> SideFile {
        let mut side = SideFile::new(Word::W64);
        side.add_property(property::START, format!("{}", start * 1_000_000_000).as_bytes()).unwrap();
        side
    }

    #[test]
    fn only_the_own_map_of_the_process_counts() {
        let directory = std::env::temp_dir().join(format!("gmon-run-maps-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        let map = path(&directory, 4711);
        assert_eq!(map, directory.join("perf-4711.map"));
        let own = fs::metadata(&directory).unwrap();
        let found = |start| read(&map, &side(start), &own);
        assert!(matches!(found(0), Ok(None)), "there is no map");
        fs::write(&map, "1000 10 name\n").unwrap();
        assert_eq!(found(0).unwrap().unwrap(), b"1000 10 name\n");
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        File::options().write(true).open(&map).unwrap().set_modified(written).unwrap();
        assert!(found(1000).unwrap().is_some() && found(1001).unwrap().is_some());
        assert!(found(1002).unwrap().is_none(), "a map of an earlier process");
        assert!(read(&map, &SideFile::new(Word::W64), &own).unwrap().is_none(), "no start is known");
        fs::hard_link(&map, directory.join("other")).unwrap();
        assert!(matches!(found(0), Err(Refusal::OtherNames)));
        fs::remove_file(&map).unwrap();
        symlink(directory.join("other"), &map).unwrap();
        assert!(matches!(found(0), Err(Refusal::NotRegular)), "a symbolic link");
        fs::remove_file(&map).unwrap();
        assert!(Command::new("mkfifo").arg(&map).status().unwrap().success());
        assert!(matches!(found(0), Err(Refusal::NotRegular)), "a pipe");
        fs::remove_file(&map).unwrap();
        fs::create_dir(&map).unwrap();
        assert!(matches!(found(0), Err(Refusal::NotRegular)), "a directory");
        fs::remove_dir(&map).unwrap();
        fs::write(&map, "1000 10 name\n").unwrap();
        // Only the superuser can give a file to somebody else.
        if chown(&map, Some(own.uid() + 1), None).is_ok() {
            assert!(matches!(found(0), Err(Refusal::OtherOwner)));
        }
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_map_is_not_longer_than_the_limit() {
        let file = std::env::temp_dir().join(format!("gmon-run-long-map-{}", std::process::id()));
        fs::write(&file, "12345").unwrap();
        let content = |longest| content(File::open(&file).unwrap(), longest);
        assert_eq!(content(5).unwrap(), b"12345");
        assert!(matches!(content(4), Err(Refusal::TooLong)));
        fs::remove_file(file).unwrap();
    }
}
