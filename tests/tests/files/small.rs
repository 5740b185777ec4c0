//! A small program with its profile, and what gprof prints of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gmon_tests::{directory, gprof};

/// A directory with a program without debug information, `prog`, and its profile, `gmon.out`.
pub(crate) fn profiled(name: &str) -> PathBuf {
    let (directory, data) = (directory(name), Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/bsd"));
    for (from, to) in [("knots", "prog"), ("knots.gmon", "gmon.out")] {
        fs::copy(data.join(from), directory.join(to)).unwrap();
    }
    directory
}

/// Runs gprof in a directory, with the words of a line.
pub(crate) fn run(directory: &Path, line: &str) -> Output {
    Command::new(gprof()).args(line.split(' ')).current_dir(directory).output().unwrap()
}

/// The standard output of a run that succeeds.
pub(crate) fn printed(directory: &Path, line: &str) -> String {
    let output = run(directory, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
