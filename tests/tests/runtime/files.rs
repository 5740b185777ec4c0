//! The file: its name, its place, and obstacles.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Output, Stdio};

use gmon_tests::has_program;

use crate::support::{Program, compare, directory, quiet, read};

/// Runs `control`, which changes its directory and ends with status 7. Its own output must be complete and its status
/// 7, whatever happened to its profile. Returns its standard error.
fn said(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(output.stdout.ends_with(b"calls uncounted 0\n"));
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn it_is_gmon_out_in_the_directory_where_the_program_started() {
    let program = Program::compile("files-plain", "control.c", &[]);
    assert_eq!(said(&program.command(&["x"]).output().unwrap()), "");
    assert_eq!(read(&program.directory.join("gmon.out")).histograms().len(), 1);
}

#[test]
fn it_has_the_number_of_the_process_behind_a_prefix() {
    let program = Program::compile("files-prefix", "control.c", &[]);
    let elsewhere = directory("files-prefix-elsewhere");
    for prefix in ["here".to_owned(), elsewhere.join("there").to_str().unwrap().to_owned()] {
        let child = program.command(&[]).env("GMON_OUT_PREFIX", &prefix).stdout(Stdio::piped()).spawn().unwrap();
        let name = format!("{prefix}.{}", child.id());
        let printed = quiet(&child.wait_with_output().unwrap());
        compare(&printed, &read(&program.directory.join(name)), program.symbols());
    }
    assert!(!program.directory.join("gmon.out").exists());
}

#[test]
fn it_is_the_users_own_in_profdir() {
    let program = Program::compile("files-profdir", "control.c", &[]);
    let elsewhere = directory("files-profdir-elsewhere");
    let child = program.command(&[]).env("PROFDIR", &elsewhere).stdout(Stdio::piped()).spawn().unwrap();
    let path = elsewhere.join(format!("gmon.program.{}.out", child.id()));
    let printed = quiet(&child.wait_with_output().unwrap());
    compare(&printed, &read(&path), program.symbols());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    assert!(!program.directory.join("gmon.out").exists());
}

#[test]
fn an_invalid_profdir_is_reported_and_the_current_directory_used() {
    let program = Program::compile("files-no-profdir", "control.c", &[]);
    let child =
        program.command(&["x"]).env("PROFDIR", "/nowhere").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap();
    let name = format!("gmon.program.{}.out", child.id());
    let line =
        "gmon: PROFDIR=/nowhere: cannot open, using the current directory: no such file or directory (error 2)\n";
    assert_eq!(said(&child.wait_with_output().unwrap()), line);
    read(&program.directory.join(name));
}

#[test]
fn the_final_profile_replaces_a_snapshot() {
    let program = Program::compile("files-snapshot", "control.c", &[]);
    let output = program.command(&["x"]).output().unwrap();
    assert_eq!(said(&output), "");
    compare(&String::from_utf8(output.stdout).unwrap(), &program.profile(), program.symbols());
}

#[test]
fn a_longer_existing_file_is_replaced() {
    let program = Program::compile("files-replace", "control.c", &[]);
    let path = program.directory.join("gmon.out");
    fs::write(&path, vec![b'x'; 1 << 20]).unwrap();
    program.run(&[]);
    assert!(fs::metadata(&path).unwrap().len() < 1 << 20);
    program.profile();
}

#[test]
fn files_that_are_not_regular_are_left_alone() {
    let program = Program::compile("files-in-the-way", "control.c", &[]);
    let path = program.directory.join("gmon.out");

    let target = program.directory.join("target");
    fs::write(&target, "precious").unwrap();
    symlink(&target, &path).unwrap();
    let line = "gmon: gmon.out: cannot open: is a symbolic link (error 40)\n";
    assert_eq!(said(&program.command(&["x"]).output().unwrap()), line.repeat(2), "at the snapshot and at the end");
    assert_eq!(fs::read(&target).unwrap(), b"precious");
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    let line = "gmon: gmon.out: cannot open: is a directory (error 21)\n";
    assert_eq!(said(&program.command(&["x"]).output().unwrap()), line.repeat(2));
    fs::remove_dir(&path).unwrap();

    if !has_program("mkfifo", "profiles in pipes") {
        return;
    }
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let line = "gmon: gmon.out: cannot open: no such device or address (error 6)\n";
    assert_eq!(said(&program.command(&["x"]).output().unwrap()), line.repeat(2), "a pipe without a reader");
}

#[test]
fn a_directory_without_write_permission_is_reported() {
    let program = Program::compile("files-unwritable", "control.c", &[]);
    let output = program.command(&["x"]).current_dir("/proc").output().unwrap();
    assert_eq!(said(&output), "gmon: gmon.out: cannot open: no such file or directory (error 2)\n".repeat(2));
}

#[test]
fn a_partial_write_is_reported_and_leaves_an_empty_file() {
    let program = Program::compile("files-limit", "control.c", &[]);
    // One block of 512 bytes; without care the process would end by SIGXFSZ.
    let script = format!("ulimit -f 1; exec {} x", program.executable.display());
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(&program.directory).env_remove("PROFDIR").env_remove("GMON_OUT_PREFIX");
    let output = command.output().unwrap();
    assert_eq!(said(&output), "gmon: gmon.out: cannot write: file too large (error 27)\n".repeat(2));
    assert_eq!(fs::metadata(program.directory.join("gmon.out")).unwrap().len(), 0);
}

#[test]
fn a_full_disk_is_reported() {
    let program = Program::compile("files-full", "control.c", &[]);
    let mount = directory("files-full-mount");
    // A mount in a namespace of its own, if the machine allows one. The mount ends with the command.
    let script = format!(
        "mount -t tmpfs -o size=4k none {0} && cd {0} && head -c 4096 /dev/zero >full || exit 99; exec {1} x",
        mount.display(),
        program.executable.display()
    );
    let output = std::process::Command::new("unshare").args(["-rm", "sh", "-c", &script]).output();
    match output {
        Ok(output) if output.status.code() == Some(7) => {
            let line = "gmon: gmon.out: cannot write: no space left on device (error 28)\n";
            assert_eq!(said(&output), line.repeat(2));
        }
        other => println!("\nSKIPPED: a full disk: this user cannot mount ({other:?})"),
    }
}
