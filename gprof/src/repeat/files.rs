//! The directory of the profiles, and the file with the command line that reports on them again.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::turns::Side;
use crate::error::Error;
use crate::program::image::files;
use crate::question::files::ProfilePath;
use crate::sources;

/// The name of the file with the command line.
const REPORT: &str = "report";

/// The name of the file with what the last run wrote to its standard error.
const MESSAGES: &str = "messages";

/// The name of the directory in which gmon-run leaves the profiles of one run.
const COLLECTED: &str = "collected";

/// The directory of the profiles.
pub(super) struct Directory {
    /// The path that the user gave.
    path: PathBuf,
    /// The path that programs get, which may go to another directory.
    absolute: PathBuf,
}

impl Directory {
    /// Makes the directory, or takes an empty one.
    ///
    /// # Errors
    ///
    /// When the directory has files, or cannot be made.
    pub(super) fn make(path: &Path) -> Result<Directory, Error> {
        let fail = |source| Error::Write { file: path.display().to_string(), source };
        fs::create_dir_all(path).map_err(fail)?;
        if fs::read_dir(path).map_err(fail)?.next().is_some() {
            let path = path.display();
            return Err(Error::Usage(format!(
                "'--output {path}': the directory has files: name another, or remove it"
            )));
        }
        Ok(Directory { path: path.to_owned(), absolute: fs::canonicalize(path).map_err(fail)? })
    }

    /// The path of the profile of a run: `base.N` or `new.N`.
    pub(super) fn profile(&self, side: Side, number: usize) -> PathBuf {
        self.path.join(name(side, number))
    }

    /// The profiles of the first runs.
    pub(super) fn profiles(&self, side: Side, runs: usize) -> Vec<ProfilePath> {
        (1..=runs).map(|number| ProfilePath::File(self.profile(side, number))).collect()
    }

    /// The value of `GMON_OUT_PREFIX` for a run. The runtime of this project replaces `%` and a letter.
    pub(super) fn prefix(&self, side: Side, number: usize, is_own: bool) -> OsString {
        let prefix = self.absolute.join(name(side, number)).into_os_string();
        if !is_own {
            return prefix;
        }
        let doubled = prefix
            .as_bytes()
            .iter()
            .flat_map(|byte| if *byte == b'%' { &b"%%"[..] } else { std::slice::from_ref(byte) });
        OsStr::from_bytes(&doubled.copied().collect::<Vec<u8>>()).to_owned()
    }

    /// The file for what a program writes to its standard error.
    pub(super) fn messages(&self) -> PathBuf {
        self.path.join(MESSAGES)
    }

    /// The directory for gmon-run.
    pub(super) fn collected(&self) -> PathBuf {
        self.absolute.join(COLLECTED)
    }

    /// Keeps the profile that a process has written by itself, under the name of the run. Returns whether there is one.
    ///
    /// # Errors
    ///
    /// When the file cannot get the name.
    pub(super) fn keep(&self, side: Side, number: usize, process: u32) -> Result<bool, Error> {
        let name = name(side, number);
        self.rename(&self.absolute.join(format!("{name}.{process}")), side, number)
    }

    /// Keeps the profile of the program that gmon-run has collected, and removes those of other programs. Returns
    /// whether there is one.
    ///
    /// # Errors
    ///
    /// When the file cannot get the name.
    pub(super) fn keep_collected(&self, program: &Path, side: Side, number: usize) -> Result<bool, Error> {
        let collected = self.collected();
        let kept = match sources::named_by_runs::profile_in(&collected, program) {
            Some(profile) => self.rename(&profile, side, number)?,
            None => false,
        };
        // What stays is in nobody's way.
        let _ = fs::remove_dir_all(collected);
        Ok(kept)
    }

    fn rename(&self, from: &Path, side: Side, number: usize) -> Result<bool, Error> {
        let profile = self.profile(side, number);
        let fail = |source| Error::Write { file: profile.display().to_string(), source };
        let of_side = |path: &Path| files::companion(path, "side");
        let renamed = |from: &Path, to: &Path| match fs::rename(from, to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            done => done.map(|()| true),
        };
        let is_there = renamed(from, &profile).map_err(fail)?;
        renamed(&of_side(from), &of_side(&profile)).map_err(fail)?;
        Ok(is_there)
    }

    /// Returns the number of profiles that are not those of the runs: children of the programs have left them.
    pub(super) fn others(&self) -> usize {
        let names = fs::read_dir(&self.path).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.filter(|name| is_of_child(name.as_bytes())).count()
    }

    /// Writes the words of a command line. Returns the command that reads the file.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub(super) fn write_report(&self, words: &[OsString]) -> Result<String, Error> {
        let path = self.path.join(REPORT);
        let text: Vec<u8> = words.iter().flat_map(|word| [&quoted(word)[..], b"\n"].concat()).collect();
        fs::write(&path, text).map_err(|source| Error::Write { file: path.display().to_string(), source })?;
        // Nobody needs an empty file.
        if fs::metadata(self.messages()).is_ok_and(|messages| messages.len() == 0) {
            let _ = fs::remove_file(self.messages());
        }
        Ok(format!("gprof @{}", path.display()))
    }
}

fn name(side: Side, number: usize) -> String {
    match side {
        Side::Base => format!("base.{number}"),
        Side::New => format!("new.{number}"),
    }
}

/// Whether a name is that of the profile of a child: `new.N.PROCESS`, or `new.N.children-BUILD`.
fn is_of_child(name: &[u8]) -> bool {
    let parts: Vec<&[u8]> = name.split(|byte| *byte == b'.').collect();
    matches!(parts[..], [b"base" | b"new", _, last] if last != b"side")
}

/// Spells a word as files of arguments have it: a backslash stands before what would end a word or begin a quote.
fn quoted(word: &OsStr) -> Vec<u8> {
    if word.is_empty() {
        return b"\"\"".to_vec();
    }
    let mut quoted = Vec::with_capacity(word.len());
    for byte in word.as_bytes() {
        if byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'\'' | b'"') {
            quoted.push(b'\\');
        }
        quoted.push(*byte);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("gprof-repeat-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        place
    }

    /// Catches a directory whose files are written over, and one that is not made.
    #[test]
    fn a_directory_with_files_stays_as_it_is() {
        let place = place("directory").join("deep");
        let directory = Directory::make(&place).unwrap();
        Directory::make(&place).unwrap();
        fs::write(directory.profile(Side::New, 1), "").unwrap();
        let error = Directory::make(&place).err().unwrap().to_string();
        assert!(error.contains("deep': the directory has files: name another, or remove it"), "{error}");
    }

    /// Catches a side file without its profile, a profile of another process, and a missing profile that counts.
    #[test]
    fn a_run_keeps_its_profile_and_its_side_file() {
        let place = place("kept");
        let directory = Directory::make(&place).unwrap();
        for name in ["base.2.77", "base.2.77.side", "base.2.78", "new.3.5", "new.3.children-0123abcd"] {
            fs::write(place.join(name), name).unwrap();
        }
        assert!(directory.keep(Side::Base, 2, 77).unwrap() && directory.keep(Side::New, 3, 5).unwrap());
        assert!(!directory.keep(Side::New, 4, 77).unwrap());
        let content = |name: &str| fs::read_to_string(place.join(name)).unwrap();
        assert_eq!(
            [content("base.2"), content("base.2.side"), content("new.3")],
            ["base.2.77", "base.2.77.side", "new.3.5"]
        );
        assert_eq!(directory.others(), 2, "of two children");
        assert!(!place.join("new.3.side").exists());
    }

    /// Catches a percent sign that the runtime would take for a conversion, and one that the C library would write.
    #[test]
    fn a_percent_sign_is_doubled_for_the_runtime_that_replaces_it() {
        let place = place("100%p");
        let directory = Directory::make(&place).unwrap();
        let spelled = |is_own| directory.prefix(Side::New, 1, is_own).into_string().unwrap();
        assert!(spelled(true).contains("100%%p-") && spelled(false).contains("100%p-"));
        assert!(spelled(true).ends_with("/new.1"));
    }

    /// Catches a word that the reader of the file would split, and messages that disappear.
    #[test]
    fn the_command_line_has_each_word_once() {
        let place = place("report");
        let directory = Directory::make(&place).unwrap();
        fs::write(directory.messages(), "text").unwrap();
        let words = ["--base=a b", "x\\y", "it's \"it\"", ""].map(OsString::from);
        let command = directory.write_report(&words).unwrap();
        assert_eq!(command, format!("gprof @{}", place.join("report").display()));
        let text = fs::read_to_string(place.join("report")).unwrap();
        assert_eq!(text, "--base=a\\ b\nx\\\\y\nit\\'s\\ \\\"it\\\"\n\"\"\n");
        assert!(directory.messages().exists());
        fs::write(directory.messages(), "").unwrap();
        directory.write_report(&words).unwrap();
        assert!(!directory.messages().exists());
    }
}
