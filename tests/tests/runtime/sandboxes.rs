//! Programs that give up system calls or memory live as they would without us and leave a profile.

use std::fs;
use std::process::{Command, Output};
use std::sync::OnceLock;

use gmon::side_file::{ELSEWHERE, PROGRAM, Place};

use crate::support::{Program, compare, library, quiet, ticks};

fn compile(name: &str) -> Program {
    Program::compile(&format!("sandboxes-{name}"), "sandbox.c", &["-O1"])
}

/// The command that runs the program and keeps nothing outside it, because samples fall there by chance.
fn command(program: &Program, arguments: &[&str]) -> Command {
    let mut command = program.command(arguments);
    command.env("GMON_OBJECTS", "0");
    command
}

/// The output of a run whose standard error is a file. A pipe gets no line behind a filter that does not let the
/// runtime look at it.
fn with_file(program: &Program, mut command: Command) -> Output {
    let path = program.directory.join("stderr");
    let mut output = command.stderr(fs::File::create(&path).unwrap()).output().unwrap();
    assert_eq!(output.stderr, b"");
    output.stderr = fs::read(&path).unwrap();
    output
}

/// The message if threads cannot have timers.
const NO_TIMERS: &str = "gmon: cannot create a timer for each thread, or one for the process: some threads were not sampled: \
                         operation not permitted (error 1)\n";

/// Whether the kernel has filters.
fn has_filters() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let program = compile("has");
        let has = program.command(&["error"]).status().unwrap().code() != Some(77);
        if !has {
            println!("\nSKIPPED: system-call filters: this system has none");
        }
        has
    })
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Checks that the program ended by itself and that its profile is exact; returns the runtime's messages.
fn checked(program: &Program, output: &Output) -> String {
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    compare(text(&output.stdout), &program.profile(), program.symbols());
    text(&output.stderr).to_owned()
}

#[test]
fn of_all_but_four_calls() {
    if !has_filters() {
        return;
    }
    let program = compile("strict");
    for live in ["0", "1"] {
        let output = command(&program, &["strict"]).env("GMON_LIVE", live).output().unwrap();
        assert_eq!(checked(&program, &output), "", "GMON_LIVE={live}");
    }
    // As without us.
    let plain = Program::compile_with("cc", "sandboxes-plain", "sandbox.c", &["-O1"]);
    assert_eq!(plain.command(&["strict"]).status().unwrap().code(), Some(3));
}

#[test]
fn by_a_filter_that_kills_traps_or_refuses() {
    if !has_filters() {
        return;
    }
    for (mode, link) in [("pie", &["-O1"][..]), ("static", &["-O1", "-static"])] {
        let program = Program::compile(&format!("sandboxes-{mode}"), "sandbox.c", link);
        for how in ["kill", "trap", "error"] {
            for arguments in [&[how][..], &["all", how]] {
                for live in ["0", "1"] {
                    let output = command(&program, arguments).env("GMON_LIVE", live).output().unwrap();
                    assert_eq!(checked(&program, &output), "", "{mode} {arguments:?} GMON_LIVE={live}");
                }
            }
        }
    }
}

#[test]
fn threads_behind_a_filter_live_and_count() {
    if !has_filters() {
        return;
    }
    let program = compile("threads");
    for how in ["kill", "trap", "error"] {
        let output = with_file(&program, command(&program, &["threads", how]));
        assert_eq!(checked(&program, &output), NO_TIMERS);
        let output = command(&program, &["threads", how]).output().unwrap();
        assert_eq!(checked(&program, &output), "", "a pipe");
        // Counts outside and stacks can no longer be written, with a message if there are any.
        let output = with_file(&program, program.command(&["threads", how]));
        let lost = " lost: the program's seccomp filter forbids writing files\n";
        let whats = [
            "calling contexts are",
            "calling contexts and counts of shared objects are",
            "counts of shared objects are",
        ];
        let said = checked(&program, &output);
        let lines = whats.map(|what| format!("{NO_TIMERS}gmon: {what}{lost}"));
        assert!(said == NO_TIMERS || lines.contains(&said), "{said}");
    }
}

#[test]
fn samples_go_on_behind_a_filter() {
    if !has_filters() {
        return;
    }
    let program = Program::compile("sandboxes-samples", "sandbox.c", &["-O1", "-static"]);
    for what in ["all", "files"] {
        let output = command(&program, &[what, "busy"]).output().unwrap();
        checked(&program, &output);
        let sampled: u64 = ticks(&program.profile(), program.symbols()).values().sum();
        // The kernel notices 24 samples or more behind the filter, some of them in the C library.
        assert!(sampled >= 5, "{what}: {sampled}");
    }
}

#[test]
fn handlers_that_may_not_return_do_not_run() {
    if !has_filters() {
        return;
    }
    let program = compile("silent");
    for how in ["kill", "trap", "error"] {
        let output = command(&program, &["silent", how]).output().unwrap();
        let said = checked(&program, &output);
        let expected = "gmon: no samples from now on: the program's seccomp filter forbids rt_sigreturn\n";
        assert_eq!(said, expected);
    }
}

#[test]
fn a_filter_that_allows_writing_delays_the_file_to_the_end() {
    if !has_filters() {
        return;
    }
    let program = compile("files");
    let output = command(&program, &["files", "kill"]).output().unwrap();
    assert_eq!(checked(&program, &output), "");
    // The default form of a profile, and no further message: nothing was prepared for an emergency.
    let bytes = fs::read(program.directory.join("gmon.out")).unwrap();
    let totarc = u32::from_ne_bytes(bytes[28..32].try_into().unwrap());
    assert!(totarc > 0 && bytes.len() < 100_000, "{totarc} of {}", bytes.len());
}

#[test]
fn a_child_behind_the_filter_leaves_its_parents_file_alone() {
    if !has_filters() {
        return;
    }
    let program = compile("child");
    for how in ["kill", "error"] {
        for live in ["0", "1"] {
            let output = command(&program, &["child", how]).env("GMON_LIVE", live).output().unwrap();
            checked(&program, &output);
        }
    }
}

#[test]
fn a_strict_thread_does_not_restrict_the_others() {
    if !has_filters() {
        return;
    }
    let program = compile("worker");
    let output = command(&program, &["worker"]).output().unwrap();
    assert_eq!(checked(&program, &output), NO_TIMERS);
    // The file is written at the end, and no file was prepared for a strict program.
    assert!(fs::metadata(program.directory.join("gmon.out")).unwrap().len() < 100_000);
}

#[test]
fn an_invalid_filter_changes_nothing() {
    if !has_filters() {
        return;
    }
    let program = compile("probe");
    let output = command(&program, &["probe"]).output().unwrap();
    assert_eq!(checked(&program, &output), "");
}

#[test]
fn a_reserve_is_not_locked() {
    let program = compile("locked");
    let output = command(&program, &["locked"]).output().unwrap();
    checked(&program, &output);
    let printed = text(&output.stdout);
    let words: Vec<&str> = printed.lines().find(|line| line.starts_with("locked")).unwrap().split(' ').collect();
    let [_, _, _, before, _, behind] = words[..] else { panic!("{printed}") };
    let [before, behind] = [before, behind].map(|kilobytes| kilobytes.parse::<u32>().unwrap());
    assert!(before >= 1000 && behind <= 500, "{before} and {behind} kilobytes");
}

#[test]
fn a_copy_of_the_process_takes_nothing_from_it() {
    let library_flags = ["-O1", "-pg", "-shared", "-fPIC"];
    let objects = format!("-B{}", library().display());
    let plug = Program::compile_with("cc", "sandboxes-plug", "plug.c", &library_flags);
    let plug = plug.executable;
    let has_fork = Command::new("sh").args(["-c", "nm -D $(cc -print-file-name=libc.so.6) | grep -q _Fork"]).status();
    let has_fork = if has_fork.is_ok_and(|status| status.success()) { "-DHAS_FORK" } else { "-O1" };
    let flags = ["-O1", "-pg", &objects, has_fork, plug.to_str().unwrap(), "-Wl,-rpath,/"];
    let program = Program::compile_with("cc", "sandboxes-copies", "copies.c", &flags);
    for how in ["fork", "clone", "vfork"] {
        for live in ["0", "1"] {
            let output = program.command(&[how]).env("GMON_LIVE", live).output().unwrap();
            compare(&quiet(&output), &program.profile(), program.symbols());
            // The calls of the program in the shared object, and of the object in the program, twice each. (The C
            // library, which calls `main`, is listed if a sample fell there.)
            let side = program.side();
            let is_theirs = |place: Place| place.object == PROGRAM || side.path(place.object) == plug;
            let known =
                side.all_calls().filter(|call| call.caller.object != ELSEWHERE && call.callee.object != ELSEWHERE);
            let between = known.filter(|call| call.caller.object != call.callee.object);
            let between = between.filter(|call| is_theirs(call.caller) && is_theirs(call.callee));
            let calls: u64 = between.map(|call| call.count).sum();
            let files = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().file_name());
            let others = files.filter(|name| name.to_str().unwrap().starts_with("gmon.program.")).count();
            assert_eq!((calls, others), (2 + 2 * 10, 0), "{how} GMON_LIVE={live}: {side:?}");
        }
    }
}
