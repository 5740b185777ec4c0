//! Messages on standard error do the program no harm, whatever standard error is.

use std::fs::{self, File};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::process::{Command, ExitStatus, Stdio};

use crate::support::Program;

/// A program that causes a message at the start and at each attempt to write its file.
fn compile(name: &str, flags: &[&str]) -> Program {
    let program = Program::compile(&format!("messages-{name}"), "messages.c", flags);
    fs::create_dir(program.directory.join("gmon.out")).unwrap();
    program
}

fn command(program: &Program, arguments: &[&str]) -> Command {
    let mut command = program.command(arguments);
    command.env("GMON_HZ", "none");
    command
}

fn status(program: &Program, arguments: &[&str], standard_error: impl Into<Stdio>) -> ExitStatus {
    command(program, arguments).stderr(standard_error).status().unwrap()
}

/// The end of a pipe that has no reader.
fn broken() -> PipeWriter {
    pipe().unwrap().1
}

/// A full pipe.
fn full(program: &Program) -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = pipe().unwrap();
    // Only a write to a nonblocking descriptor can tell that the pipe is full. `dd` makes the pipe nonblocking for all
    // its users and leaves it so.
    let mut filler = Command::new("dd");
    filler.args(["if=/dev/zero", "bs=4096", "oflag=nonblock"]).current_dir(&program.directory);
    let filled = filler.stdout(writer.try_clone().unwrap()).stderr(Stdio::null()).status().unwrap();
    assert!(!filled.success(), "dd must fail when the pipe is full");
    assert!(writer.write(&[0; 4096]).is_err(), "the pipe must be full and nonblocking");
    (reader, writer)
}

#[test]
fn a_pipe_without_a_reader_does_not_kill() {
    for flags in [&[][..], &["-static"]] {
        let program = compile("broken", flags);
        for what in ["", "pending", "handler"] {
            assert_eq!(status(&program, &[what], broken()).code(), Some(7), "{what}");
        }
    }
}

#[test]
fn a_full_pipe_does_not_block_the_program() {
    let program = compile("full", &[]);
    let (mut reader, writer) = full(&program);
    assert_eq!(status(&program, &[""], writer.try_clone().unwrap()).code(), Some(7), "a nonblocking pipe");
    // The same pipe, whose writers wait, opened again by a shell.
    let script = format!("exec 2>/proc/self/fd/2; exec {}", program.executable.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(&program.directory).env("GMON_HZ", "none").stderr(writer);
    assert_eq!(shell.status().unwrap().code(), Some(7), "the pipe must block");
    drop(shell);
    let mut content = Vec::new();
    reader.read_to_end(&mut content).unwrap();
    assert!(content.iter().all(|byte| *byte == 0), "nothing must be written");
}

#[test]
fn a_replaced_standard_error_gets_no_message() {
    let program = compile("other", &[]);
    let data = program.directory.join("data");
    assert_eq!(status(&program, &["file", "data"], Stdio::piped()).code(), Some(7));
    assert_eq!(fs::read(&data).unwrap(), b"data");
    assert_eq!(status(&program, &["socket"], Stdio::piped()).code(), Some(7));
    // Another file may get the number of a deleted file.
    let first = program.directory.join("first");
    let log = File::create(&first).unwrap();
    let shell = format!("rm first; exec {} file data", program.executable.display());
    let mut command = Command::new("sh");
    command.args(["-c", &shell]).current_dir(&program.directory).stderr(log);
    assert_eq!(command.status().unwrap().code(), Some(7));
    assert_eq!(fs::read(&data).unwrap(), b"data");
}

#[test]
fn a_log_opened_for_appending_gets_messages() {
    let program = compile("log", &[]);
    assert_eq!(status(&program, &["log", "log"], broken()).code(), Some(7));
    let log = fs::read_to_string(program.directory.join("log")).unwrap();
    assert_eq!(log, "begun\ngmon: gmon.out: cannot open: is a directory (error 21)\n");
}

#[test]
fn no_message_without_standard_error() {
    let program = compile("none", &[]);
    let script = format!("exec {} file data 2>&-", program.executable.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(&program.directory).env("GMON_HZ", "none");
    assert_eq!(shell.status().unwrap().code(), Some(7));
    assert_eq!(fs::read(program.directory.join("data")).unwrap(), b"data");
}

#[test]
fn a_file_that_may_not_grow_does_not_kill() {
    let program = compile("limit", &[]);
    let script = format!("ulimit -f 0; exec {} '' 2>>log", program.executable.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(&program.directory).env("GMON_HZ", "none");
    assert_eq!(shell.status().unwrap().code(), Some(7));
    assert_eq!(fs::metadata(program.directory.join("log")).unwrap().len(), 0);
}

#[test]
fn a_message_goes_to_a_pipe_with_a_reader() {
    let program = compile("said", &[]);
    let output = command(&program, &[""]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("gmon: GMON_HZ=none is not a number from 1 to "), "{said}");
    assert_eq!(lines[1], "gmon: gmon.out: cannot open: is a directory (error 21)");
}
