//! Tests of what gprof says about real processes that it does not ask, and that they live on.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;

use gmon::layout::request::{NOTE_OWNER, NOTE_TYPE, VERSION};

use crate::program::image::note_files::note;
use crate::terminal::Terminal;

/// What gprof says about a process.
fn said(pid: u32) -> String {
    let (mut out, mut warnings) = (Vec::new(), Vec::new());
    let words = ["gprof", "--attach", &pid.to_string(), "--seconds=0.001"].map(OsString::from);
    let error = crate::run(words, &mut out, &mut warnings, &Terminal::default()).unwrap_err().to_string();
    assert_eq!((out.len(), String::from_utf8(warnings).unwrap()), (0, String::new()), "{error}");
    let start = format!("process {pid}: ");
    error.strip_prefix(&start).unwrap_or_else(|| panic!("{error}")).to_owned()
}

/// Waits until a process has this state.
fn wait_for_state(pid: u32, state: &str) {
    while !fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(&format!(") {state} ")) {
        thread::yield_now();
    }
}

/// Ends a process that must be running still.
fn end(mut child: Child) {
    assert_eq!(child.try_wait().unwrap(), None, "gprof has left the process alone");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Starts a shell that waits for its input.
fn shell(commands: &str) -> Child {
    Command::new("sh").args(["-c", commands]).stdin(Stdio::piped()).spawn().unwrap()
}

#[test]
fn processes_that_are_not_there() {
    assert_eq!(said(u32::MAX), "there is no such process");
    let mut child = Command::new("true").spawn().unwrap();
    wait_for_state(child.id(), "Z");
    assert_eq!(said(child.id()), "it has ended");
    child.wait().unwrap();
    assert_eq!(said(child.id()), "there is no such process");
}

#[test]
fn processes_without_a_runtime() {
    let child = shell("read line");
    assert!(said(child.id()).starts_with("it has none of this toolchain's runtimes: "));
    end(child);
}

#[test]
fn processes_that_are_stopped() {
    let child = shell("kill -STOP $$; read line");
    let pid = child.id();
    wait_for_state(pid, "T");
    assert_eq!(said(pid), format!("it is stopped: continue it first ('kill -CONT {pid}')"));
    end(child);
}

#[test]
fn threads_of_processes() {
    let ((number, numbers), (end, ended)) = (channel(), channel::<()>());
    let thread = thread::spawn(move || {
        number.send(fs::read_link("/proc/thread-self").unwrap()).unwrap();
        ended.recv().unwrap_err();
    });
    let number = numbers.recv().unwrap().file_name().unwrap().to_str().unwrap().parse().unwrap();
    assert_eq!(said(number), format!("it is a thread of process {}: attach to that process", std::process::id()));
    drop(end);
    thread.join().unwrap();
}

/// The machine of an ELF file, and code that waits for signals for ever.
const CODE: (u64, &[u32]) = if cfg!(target_arch = "aarch64") {
    // movz x0 to x3, #0; movz x8, #73 (ppoll); svc #0; b to the start
    (183, &[0xd280_0000, 0xd280_0001, 0xd280_0002, 0xd280_0003, 0xd280_0928, 0xd400_0001, 0x17ff_fffa])
} else {
    // mov $34 (pause), %eax; syscall; jmp to the start
    (62, &[0x0000_22b8, 0xeb05_0f00, 0x0000_00f7])
};

/// A program for this machine with this note.
fn program(note: &[u8]) -> Vec<u8> {
    const START: u64 = 0x40_0000;
    let at_note = 64 + 2 * 56;
    let at_code = at_note + note.len() as u64;
    let end = at_code + 4 * CODE.1.len() as u64;
    let mut bytes = [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 9]].concat();
    let mut fields = vec![(2, 2), (CODE.0, 2), (1, 4), (START + at_code, 8), (64, 8), (0, 8), (0, 4)];
    fields.extend([(64, 2), (56, 2), (2, 2), (0, 2), (0, 2), (0, 2)]);
    for (kind, flags, start, end) in [(1, 5, 0, end), (4, 4, at_note, at_code)] {
        let length = end - start;
        fields.extend([(kind, 4), (flags, 4), (start, 8), (START + start, 8), (START + start, 8), (length, 8)]);
        fields.extend([(length, 8), (if kind == 1 { 0x1_0000 } else { 4 }, 8)]);
    }
    fields.iter().for_each(|(value, size)| bytes.extend(&value.to_le_bytes()[..*size]));
    bytes.extend(note);
    bytes.extend(CODE.1.iter().flat_map(|word| word.to_le_bytes()));
    bytes
}

/// Starts a program from its bytes.
fn start(path: &Path, program: &[u8]) -> Child {
    fs::write(path, program).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    loop {
        match Command::new(path).spawn() {
            // Another test forks while this one writes the file: the child has the file open until it executes.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => thread::yield_now(),
            child => return child.unwrap(),
        }
    }
}

/// Catches a note that does not make a process one with a runtime, and a signal to a process without a handler, which
/// would end the process.
#[test]
fn processes_with_a_runtime_that_does_not_answer() {
    let own = "it is not profiled: GMON_ONLY excludes it, ";
    let other = format!(
        "its runtime is that of another release (version {} of requests instead of {VERSION}): use the gprof of that release",
        VERSION + 1
    );
    let path = std::env::current_exe().unwrap().with_file_name(format!("gprof-attach-{}", std::process::id()));
    for (owner, version, expected) in [
        (&NOTE_OWNER[..], VERSION, own),
        (&NOTE_OWNER[..], VERSION + 1, &other),
        (b"other\0", VERSION, "it has none of this toolchain's runtimes: "),
    ] {
        let child = start(&path, &program(&note(owner, NOTE_TYPE, &version.to_ne_bytes())));
        // The system maps the program after the process has begun to execute it.
        wait_for_state(child.id(), "S");
        let said = said(child.id());
        end(child);
        assert!(said.starts_with(expected), "{said}");
    }
    fs::remove_file(path).unwrap();
}
