//! The check of whole runs of gprof.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gprof::Terminal;

use crate::{Limits, parts};

/// The constants are for the templates of pages and the buffers of outputs.
const LIMITS: Limits = Limits { bytes_per_byte: 64, bytes: 4 << 20, steps_per_byte: 1_000, steps: 5_000_000 };

/// The options that the bits of an input choose. None of them writes a file, and none waits.
const WORDS: [&str; 24] = [
    "-b",
    "-z",
    "-c",
    "-l",
    "--inlines",
    "--compat=gnu",
    "--errors",
    "--stats",
    "-a",
    "-D",
    "--merge-clones",
    "-T",
    "--inline-file-names",
    "--no-demangle",
    "-p",
    "-q",
    "-C",
    "--bounds",
    "--contexts",
    "-r",
    "-i",
    "--propagate",
    "--top=3",
    "--min-percent=5",
];

/// The formats.
const FORMATS: [&str; 14] = [
    "text",
    "table",
    "json",
    "csv",
    "folded",
    "speedscope",
    "pprof",
    "firefox",
    "callgrind",
    "html",
    "flame",
    "svg",
    "dot",
    "markdown",
];

/// The files of a run.
struct Files {
    /// Holds the lock of the directory until the process ends.
    _lock: File,
    image: PathBuf,
    profile: PathBuf,
    side: PathBuf,
}

/// The input is a format, options, and three parts: an image, its profile, and a side file. If the third part is empty,
/// there is no side file. A run prints a report or fails with a message.
pub fn run(mut input: &[u8]) {
    let length = input.len();
    let format = FORMATS[usize::from(parts::byte(&mut input)) % FORMATS.len()];
    let bits = [0, 8, 16].map(|shift| u32::from(parts::byte(&mut input)) << shift).iter().sum::<u32>();
    let files = files();
    for path in [&files.image, &files.profile, &files.side] {
        let part = parts::take(&mut input).unwrap_or_default();
        if part.is_empty() && path == &files.side {
            let _ = fs::remove_file(path);
        } else {
            fs::write(path, part).expect("a file in memory");
        }
    }
    let chosen = WORDS.iter().enumerate().filter(|(at, _)| bits & 1 << at != 0).map(|(_, word)| OsString::from(word));
    let named = ["--format", format].map(OsString::from).into_iter();
    let words = [OsString::from("gprof")].into_iter().chain(named).chain(chosen);
    let words = words.chain([files.image.clone().into(), files.profile.clone().into()]);
    let (mut out, mut warnings) = (Vec::new(), Vec::new());
    let result = LIMITS.hold(length, || gprof::run(words, &mut out, &mut warnings, &Terminal::default()));
    match result {
        Ok(()) => assert!(!out.is_empty() || !warnings.is_empty() || format == "folded", "nothing about {format}"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The files of this process, in memory if the system has a directory in memory.
fn files() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let (directory, lock) = claim(&parent).expect("a directory in memory");
        let file = |name| directory.join(name);
        Files { _lock: lock, image: file("prog"), profile: file("gmon.out"), side: file("gmon.out.side") }
    })
}

/// Makes or finds a directory that no other process uses, and locks the directory by a file in it. libFuzzer ends a
/// process without a chance to remove files, so later processes use the directory again.
fn claim(parent: &Path) -> Option<(PathBuf, File)> {
    const MOST: usize = 1000;
    (0..MOST).find_map(|number| {
        let directory = parent.join(format!("gmon-fuzz-{number}"));
        fs::create_dir_all(&directory).ok()?;
        // Another user's directory cannot be used.
        let lock = File::create(directory.join("lock")).ok()?;
        lock.try_lock().ok()?;
        Some((directory, lock))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_do_not_accumulate() {
        let parent = std::env::temp_dir().join(format!("gmon-fuzz-test-{}", std::process::id()));
        let (first, lock) = claim(&parent).unwrap();
        let (second, _other) = claim(&parent).unwrap();
        assert_ne!(first, second, "two processes at once");
        // The system drops the lock of a process that ends.
        drop(lock);
        assert_eq!(claim(&parent).unwrap().0, first);
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 2);
        fs::remove_dir_all(parent).unwrap();
    }
}
