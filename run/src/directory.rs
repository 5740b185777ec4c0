//! The directory of the profiles, which one gmon-run uses at a time.
//!
//! In a parallel job, many gmon-runs start at the same time, and none of them may clear what another has written. So
//! the gmon-run of each rank has a directory of its own, `rank.NUMBER`, in the common directory.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::error::Error;
use crate::job::Rank;
use crate::message::say;
use crate::names::{is_ours, with_ending};

/// The file that says that a directory is gmon-run's. A gmon-run that uses the directory holds a lock on the file.
const MARKER: &str = ".gmon-run";

/// How many gmon-runs may use directories of one name at the same time.
const MOST_DIRECTORIES: u32 = 1000;

/// The start of the name of a rank's directory.
const OF_RANK: &str = "rank.";

/// Makes the directory, and removes the profiles of an earlier run from the directory. If another gmon-run uses the
/// directory, opens a directory with a number at the end of its name. The result is the path, and the file that is
/// locked.
///
/// # Errors
///
/// When the directory cannot be made, or has files and is not gmon-run's.
pub(crate) fn open(wanted: &Path, rank: Option<Rank>) -> Result<(PathBuf, File), Error> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        |error: io::Error| Error::Directory(path, error)
    };
    let own = match rank {
        Some(rank) => {
            prepare(wanted, rank).map_err(fail(wanted))?;
            wanted.join(format!("{OF_RANK}{}", rank.number))
        }
        None => wanted.to_owned(),
    };
    for number in 1..=MOST_DIRECTORIES {
        let path = if number == 1 { own.clone() } else { with_ending(&own, &format!(".{number}")) };
        let Some((directory, marker)) = take(&path).map_err(fail(&path))? else { continue };
        remove_profiles(&directory).map_err(fail(&path))?;
        if number > 1 {
            say(&format!("another gmon-run uses {}: the profiles are in {}", own.display(), path.display()));
        }
        remove_ranks(&directory, 0).map_err(fail(&path))?;
        return Ok((directory, marker));
    }
    Err(Error::Directory(own, io::ErrorKind::AlreadyExists.into()))
}

/// Makes the common directory of a job. The first rank removes what an earlier run has left there, unless a gmon-run
/// that is in no job uses the directory. The other ranks clear their own directories.
fn prepare(wanted: &Path, rank: Rank) -> io::Result<()> {
    let (directory, marker) = claim(wanted)?;
    if rank.number == 0 && marker.try_lock().is_ok() {
        remove_profiles(&directory)?;
        rank.ranks.map_or(Ok(()), |ranks| remove_ranks(&directory, ranks))?;
    }
    Ok(())
}

/// Makes a directory gmon-run's. The result is its path and the marker.
fn claim(path: &Path) -> io::Result<(PathBuf, File)> {
    fs::create_dir_all(path)?;
    let directory = fs::canonicalize(path)?;
    let marker = directory.join(MARKER);
    // Another gmon-run may make the directory at this moment: it makes the marker before any other file.
    let has_files = fs::read_dir(&directory)?.any(|entry| entry.is_ok_and(|entry| entry.file_name() != MARKER));
    if has_files && !marker.exists() {
        return Err(io::Error::other("it has files of others"));
    }
    // The marker may be a link that somebody else has made: the link is not followed.
    let marker = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(marker)?;
    Ok((directory, marker))
}

/// Makes a directory gmon-run's, or locks a directory that a gmon-run has made before. The result is `None` if another
/// gmon-run uses the directory.
pub(crate) fn take(path: &Path) -> io::Result<Option<(PathBuf, File)>> {
    loop {
        let (directory, marker) = claim(path)?;
        match marker.try_lock() {
            Ok(()) if is_at(&marker, &directory.join(MARKER)) => return Ok(Some((directory, marker))),
            // Another gmon-run has removed the directory before this one had the lock.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Whether an open file is the file at a path.
fn is_at(file: &File, path: &Path) -> bool {
    let key = |status: fs::Metadata| (status.dev(), status.ino());
    file.metadata().ok().map(key) == fs::symlink_metadata(path).ok().map(key)
}

/// The regular files of a directory.
pub(crate) fn files(directory: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            files.push((String::from_utf8_lossy(entry.file_name().as_bytes()).into_owned(), entry.path()));
        }
    }
    Ok(files)
}

/// Removes the profiles of an earlier run.
fn remove_profiles(directory: &Path) -> io::Result<()> {
    files(directory)?.into_iter().filter(|(name, _)| is_ours(name)).try_for_each(|(_, path)| fs::remove_file(path))
}

/// Removes the directories of an earlier job's ranks, from this rank on, unless a gmon-run uses them.
fn remove_ranks(directory: &Path, first: u32) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let rank = rank_of(&entry.file_name().to_string_lossy());
        let is_wanted = entry.file_type().is_ok_and(|kind| kind.is_dir()) && rank.is_some_and(|rank| rank >= first);
        // Only a directory with a marker is gmon-run's.
        if !is_wanted || !entry.path().join(MARKER).exists() {
            continue;
        }
        if let Some((directory, _marker)) = take(&entry.path())? {
            remove_profiles(&directory)?;
            // Files of others stay, and so do the directory and its marker then.
            if fs::read_dir(&directory)?.count() == 1 {
                fs::remove_file(directory.join(MARKER))?;
                // Another gmon-run that wants the directory may make a file in it at this moment: the directory stays.
                let _ = fs::remove_dir(directory);
            }
        }
    }
    Ok(())
}

/// The rank in the name `rank.RANK` or `rank.RANK.NUMBER` of a directory.
fn rank_of(name: &str) -> Option<u32> {
    let numbers = name.strip_prefix(OF_RANK)?;
    let (rank, number) = numbers.split_once('.').unwrap_or((numbers, "0"));
    number.parse::<u32>().ok()?;
    rank.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// An empty place for the directories of a test.
    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("gmon-run-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        fs::canonicalize(place).unwrap()
    }

    fn rank(number: u32, ranks: u32) -> Option<Rank> {
        Some(Rank { number, ranks: Some(ranks) })
    }

    #[test]
    fn a_directory_with_files_of_others_is_not_taken_and_a_locked_one_neither() {
        let place = place("taken");
        let _taken = take(&place).unwrap().unwrap();
        assert!(take(&place).unwrap().is_none(), "another gmon-run uses the directory");
        let others = place.join("others");
        fs::create_dir(&others).unwrap();
        fs::write(others.join("backup.20261127"), b"mine").unwrap();
        for rank in [None, rank(0, 1)] {
            assert!(open(&others, rank).unwrap_err().to_string().contains("files of others"));
        }
        assert!(others.join("backup.20261127").exists());
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn gmon_runs_that_start_together_get_different_directories() {
        let place = place("together");
        let open = |rank: &dyn Fn(u32) -> Option<Rank>| {
            let ranks: Vec<Option<Rank>> = (0..16).map(rank).collect();
            let run = place.join("run");
            let threads: Vec<_> = thread::scope(|scope| {
                let started: Vec<_> = ranks.iter().map(|rank| scope.spawn(|| open(&run, *rank).unwrap())).collect();
                started.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let mut paths: Vec<PathBuf> = threads.iter().map(|(path, _)| path.clone()).collect();
            paths.sort();
            paths.dedup();
            assert_eq!(paths.len(), 16, "{paths:?}");
            fs::remove_dir_all(&place).unwrap();
        };
        open(&|number| rank(number, 16));
        open(&|_| None);
    }

    /// Runs a test in a process of its own; whether this is that process. Other tests fork, and a child has all locks
    /// of this process until the child executes its program.
    fn is_alone(test: &str) -> bool {
        const ALONE: &str = "GMON_RUN_TEST_IS_ALONE";
        if std::env::var_os(ALONE).is_some() {
            return true;
        }
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let output = command.args([test, "--exact"]).env(ALONE, "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        false
    }

    #[test]
    fn a_rank_that_starts_late_removes_nothing_of_the_others() {
        if !is_alone("directory::tests::a_rank_that_starts_late_removes_nothing_of_the_others") {
            return;
        }
        let place = place("late");
        let run = place.join("run");
        fs::create_dir(&run).unwrap();
        fs::write(run.join(MARKER), b"").unwrap();
        // An earlier run without ranks, and an earlier job with more ranks.
        fs::write(run.join("prog.0123abcd"), b"old").unwrap();
        for number in 0..3 {
            let (own, _) = open(&run, rank(number, 9)).unwrap();
            fs::write(own.join("prog.0123abcd"), b"old").unwrap();
        }
        assert!(!run.join("prog.0123abcd").exists(), "the first rank removes what no rank has left");
        let profile = |number: u32| run.join(format!("rank.{number}/prog.0123abcd"));
        // Rank 1 of a job of two ranks has ended before rank 0 starts.
        let (own, marker) = open(&run, rank(1, 2)).unwrap();
        assert_eq!(own, run.join("rank.1"));
        fs::write(profile(1), b"new").unwrap();
        drop(marker);
        let (_, first) = open(&run, rank(0, 2)).unwrap();
        assert_eq!(fs::read(profile(1)).unwrap(), b"new");
        assert!(!profile(0).exists() && !run.join("rank.2").exists());
        // Another job, and a run without ranks, leave alone what is in use.
        let (second, _) = open(&run, rank(0, 2)).unwrap();
        assert_eq!(second, run.join("rank.0.2"));
        fs::write(run.join("rank.1/notes"), b"mine").unwrap();
        open(&run, None).unwrap();
        assert!(run.join("rank.0").exists() && !second.exists() && !profile(1).exists());
        assert!(run.join("rank.1/notes").exists());
        drop(first);
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn names_of_ranks() {
        assert_eq!([rank_of("rank.0"), rank_of("rank.12.3")], [Some(0), Some(12)]);
        for other in ["rank", "rank.", "rank.x", "rank.1.x", "rank.1.", "ranks.1", "prog.0123abcd.12"] {
            assert_eq!(rank_of(other), None, "{other}");
        }
    }
}
