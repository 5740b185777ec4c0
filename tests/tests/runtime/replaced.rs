//! A file that this run has written before is replaced in one step, or stays as it was.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use gmon_tests::side::Side;

use crate::support::{Program, calls, quiet, read};

/// What a program lacks when it ends.
struct Lacks {
    program: Program,
    forbid: Program,
}

/// The samples of `last_moment` in each call of `counted`.
const SAMPLES: u64 = 100;

impl Lacks {
    fn new(name: &str) -> Lacks {
        let program = Program::compile(&format!("replaced-{name}"), "last_moment.c", &[]);
        let forbid = Program::compile_with("cc", &format!("replaced-{name}-forbid"), "forbid.c", &[]);
        Lacks { program, forbid }
    }

    /// Runs the program, to which renaming is forbidden in the manner `how`.
    fn without_rename(&self, how: &str, arguments: &[&str], live: &str) -> Output {
        let program = self.program.executable.to_str().unwrap();
        let mut command = self.forbid.command(&[&[how, program], arguments].concat());
        command.current_dir(&self.program.directory).env("GMON_LIVE", live).output().unwrap()
    }

    /// Runs the program, which fills the disk at its end. The result is the message, and a directory with the files;
    /// `None` if this user cannot mount a file system.
    fn on_full_disk(&self, arguments: &str, live: &str) -> Option<(String, std::path::PathBuf)> {
        // Another test must not have the directory of the mount: who removes the directory would end the mount.
        let [mount, place] = ["mount", "found"].map(|name| self.program.directory.join(name));
        fs::create_dir_all(&mount).unwrap();
        fs::create_dir_all(&place).unwrap();
        // A mount in a namespace of its own, which ends with the command.
        let script = format!(
            "mount -t tmpfs -o size=8m none {0} && cd {0} && [ $(stat -f -c %T .) = tmpfs ] || exit 99
             GMON_LIVE={live} {1} {arguments} full; cp gmon* {2}",
            mount.display(),
            self.program.executable.display(),
            place.display()
        );
        let output = Command::new("unshare").args(["-rm", "sh", "-c", &script]).output();
        match output {
            Ok(output) if output.status.success() => Some((String::from_utf8(output.stderr).unwrap(), place)),
            other => {
                println!("\nSKIPPED: a full disk: this user cannot mount ({other:?})");
                None
            }
        }
    }

    /// The files of the profile.
    fn left(&self) -> Vec<String> {
        left(&self.program.directory)
    }

    /// Checks that a run with all means replaces what an earlier run has left.
    fn runs_again(&self, arguments: &[&str], live: &str) {
        quiet(&self.program.command(arguments).env("GMON_LIVE", live).output().unwrap());
        assert_eq!(self.left(), ["gmon.out", "gmon.out.side"]);
        self.has_all();
    }

    /// Checks that the files are those of a whole run.
    fn has_all(&self) {
        assert_eq!(counted(&self.program, &self.program.directory), (5, false));
    }
}

fn left(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("gmon")).collect();
    names.sort_unstable();
    names
}

/// The calls in the profile, and whether its side file is live. The side file must have the stacks of the samples of
/// these calls.
fn counted(program: &Program, directory: &Path) -> (u64, bool) {
    let profile = directory.join("gmon.out");
    let side = Side::of(&profile);
    let calls = calls(&read(&profile), program.symbols())["calls counted"];
    assert!(side.contexts().total() >= SAMPLES * calls, "{side:?}");
    (calls, side.is_live())
}

/// The message about a file that stays.
fn stays(file: &str) -> String {
    format!("gmon: {file}: cannot replace, the file stays as it was: no space left on device (error 28)\n")
}

#[test]
fn a_live_side_file_stays_if_the_disk_is_full() {
    let lacks = Lacks::new("live-full");
    let Some((said, place)) = lacks.on_full_disk("", "1") else { return };
    assert_eq!(said, stays("gmon.out.side"));
    assert_eq!(left(&place), ["gmon.out", "gmon.out.side"]);
    assert_eq!(counted(&lacks.program, &place), (5, true));
}

#[test]
fn a_live_side_file_stays_if_the_process_is_killed_before_the_end() {
    let lacks = Lacks::new("live-killed");
    // The profile is made under its own name if there is an empty file, so only the end renames.
    fs::write(lacks.program.directory.join("gmon.out"), "").unwrap();
    let output = lacks.without_rename("kill", &[], "1");
    if output.status.code() == Some(77) {
        return println!("\nSKIPPED: a process that is killed before the end: no system-call filters here");
    }
    const SIGSYS: i32 = 31;
    assert_eq!(output.status.signal(), Some(SIGSYS), "{output:?}");
    assert_eq!(lacks.left(), ["gmon.out", "gmon.out.side", "gmon.out.side.new"]);
    assert_eq!(counted(&lacks.program, &lacks.program.directory), (5, true));
    lacks.runs_again(&[], "1");
}

#[test]
fn a_live_side_file_is_written_anew_if_it_cannot_be_renamed() {
    let lacks = Lacks::new("live-forbidden");
    let output = lacks.without_rename("rename", &[], "1");
    if output.status.code() == Some(77) {
        return println!("\nSKIPPED: a forbidden rename: no system-call filters here");
    }
    quiet(&output);
    assert_eq!(lacks.left(), ["gmon.out", "gmon.out.side"]);
    lacks.has_all();
}

#[test]
fn a_snapshot_stays_if_the_disk_is_full() {
    let lacks = Lacks::new("dump-full");
    let Some((said, place)) = lacks.on_full_disk("dump", "0") else { return };
    assert_eq!(said, stays("gmon.out"));
    assert_eq!(left(&place), ["gmon.out", "gmon.out.side"]);
    assert_eq!(counted(&lacks.program, &place), (3, false));
}

#[test]
fn a_snapshot_stays_if_the_process_is_killed_before_the_end() {
    let lacks = Lacks::new("dump-killed");
    let output = lacks.without_rename("kill", &["dump"], "0");
    if output.status.code() == Some(77) {
        return println!("\nSKIPPED: a snapshot of a process that is killed: no system-call filters here");
    }
    assert!(output.status.signal().is_some(), "{output:?}");
    assert_eq!(lacks.left(), ["gmon.out", "gmon.out.new", "gmon.out.side"]);
    assert_eq!(counted(&lacks.program, &lacks.program.directory), (3, false));
    lacks.runs_again(&["dump"], "0");
    quiet(&lacks.without_rename("rename", &["dump"], "0"));
    assert_eq!(lacks.left(), ["gmon.out", "gmon.out.side"]);
    lacks.has_all();
}
