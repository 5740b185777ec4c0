//! System-call filters that the program installs, or fails to install: its output and its end are the same as without
//! us.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Program, compare, is_root, library};

const FLAGS: [&str; 2] = ["-O1", "-Wno-deprecated-declarations"];

/// The program with profiling, and without.
struct Both {
    ours: Program,
    plain: Program,
}

/// The result is `None` if the kernel has no filters.
fn compiled(name: &str, flags: &[&str]) -> Option<Both> {
    let flags = [&FLAGS, flags].concat();
    let ours = Program::compile(&format!("filters-{name}"), "filters.c", &flags);
    let plain = Program::compile_with("cc", &format!("filters-{name}-plain"), "filters.c", &flags);
    if plain.command(&["many"]).status().unwrap().code() == Some(77) {
        println!("\nSKIPPED: system-call filters: this system has none");
        return None;
    }
    Some(Both { ours, plain })
}

impl Both {
    /// Runs both programs, which must print the same and end the same; returns our messages.
    fn run(&self, words: &[&str], environment: &[(&str, &str)]) -> String {
        let plain = self.plain.command(words).output().unwrap();
        let output = self.ours.command(words).envs(environment.iter().copied()).output().unwrap();
        assert_eq!(without_core(&output), without_core(&plain), "{words:?}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// A program's end, apart from a core dump, and its output.
fn without_core(output: &Output) -> (Option<i32>, Option<i32>, &str) {
    (output.status.code(), output.status.signal(), std::str::from_utf8(&output.stdout).unwrap())
}

const STOPPED: &str = "gmon: no samples from now on: the program's seccomp filter forbids rt_sigreturn\n";

#[test]
fn processes_without_a_profile_make_no_call_that_is_forbidden() {
    let Some(both) = compiled("own", &[]) else { return };
    assert_eq!(both.run(&["exit"], &[]), "");
    for children in ["none", "separate", "sum"] {
        assert_eq!(both.run(&["child"], &[("GMON_CHILDREN", children)]), "", "{children}");
    }
    assert_eq!(both.run(&["copy"], &[]), "");
    assert_eq!(both.run(&["strict-copy"], &[]), "");
}

#[test]
fn a_set_user_id_program_makes_no_call_that_is_forbidden() {
    if !is_root("set-user-id programs") {
        return;
    }
    let Some(both) = compiled("setuid", &[]) else { return };
    let copy = std::env::temp_dir().join(format!("gmon-filters-{}", std::process::id()));
    fs::copy(&both.ours.executable, &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755)).unwrap();
    let status = Command::new("setpriv").args(["--reuid=65534", "--clear-groups"]).arg(&copy).arg("exit").status();
    fs::remove_file(&copy).unwrap();
    match status {
        Ok(status) => assert_eq!((status.code(), status.signal()), (Some(4), None)),
        Err(error) => println!("\nSKIPPED: set-user-id programs: no setpriv here ({error})"),
    }
}

#[test]
fn the_programs_own_calls_are_subject_to_its_filter() {
    let Some(both) = compiled("masks", &[]) else { return };
    for call in ["mask", "set"] {
        for how in ["kill", "trap", "zero"] {
            assert_eq!(both.run(&[call, how], &[]), "", "{call} {how}");
        }
    }
}

#[test]
fn a_filter_that_the_kernel_refuses_changes_nothing() {
    let Some(both) = compiled("refused", &[]) else { return };
    // The program may become nobody, who may write neither file nor directory.
    for program in [&both.ours, &both.plain] {
        fs::set_permissions(&program.directory, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let check = |words: &[&str], expected: &str| {
        assert_eq!(both.run(words, &[("GMON_OBJECTS", "0")]), expected);
        compare("calls counted 1\n", &both.ours.profile(), both.ours.symbols());
    };
    check(&["refused"], "");
    // Only the kernel knows whether that is a filter.
    check(&["invalid"], &format!("{STOPPED}gmon: sampling continues: the kernel refused the filter\n"));
}

#[test]
fn probes_use_up_no_memory_or_disk() {
    let Some(both) = compiled("probes", &[]) else { return };
    for live in ["0", "1"] {
        assert_eq!(both.run(&["probes"], &[("GMON_LIVE", live)]), "", "GMON_LIVE={live}");
    }
}

#[test]
fn no_handler_runs_that_may_not_return() {
    let Some(both) = compiled("return", &[]) else { return };
    for (what, environment) in
        [("control", &[][..]), ("busy", &[]), ("fault", &[]), ("dump", &[("GMON_DUMP_SIGNAL", "USR1")])]
    {
        assert_eq!(both.run(&[what], environment), STOPPED, "{what}");
    }
}

#[test]
fn the_sampling_signal_gets_its_default_action() {
    let Some(both) = compiled("left", &[]) else { return };
    assert_eq!(both.run(&["ask"], &[]), STOPPED);
}

#[test]
fn a_snapshot_does_not_prevent_moving_the_profile_into_its_file() {
    let Some(both) = compiled("dumped", &[]) else { return };
    let output = both.ours.command(&["dumped"]).output().unwrap();
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(3), &b""[..]));
    compare(std::str::from_utf8(&output.stdout).unwrap(), &both.ours.profile(), both.ours.symbols());
    let bytes = fs::read(both.ours.directory.join("gmon.out")).unwrap();
    assert_eq!(bytes[28..32], [0; 4], "the header must not state arcs");
}

#[test]
fn files_of_an_earlier_run_beside_the_file_are_removed() {
    let Some(both) = with_plug("beside") else { return };
    let directory = &both.ours.directory;
    let side = directory.join("gmon.out.side");
    for (objects, has_side_file) in [("1", true), ("0", false)] {
        assert_eq!(both.run(&["outside"], &[]), "");
        assert!(!both.ours.side().is_live() && !both.ours.side().counted().is_empty());
        assert_eq!(both.run(&["strict"], &[("GMON_OBJECTS", objects)]), "");
        assert_eq!(side.exists(), has_side_file, "GMON_OBJECTS={objects}");
        if has_side_file {
            assert!(both.ours.side().is_live() && both.ours.side().counted().is_empty());
        }
    }
}

fn with_plug(name: &str) -> Option<Both> {
    let plug_flags = ["-O1", "-pg", "-shared", "-fPIC"];
    let plug = Program::compile_with("cc", &format!("filters-plug-{name}"), "plug.c", &plug_flags);
    let plug = plug.executable.display().to_string();
    let objects = format!("-B{}", library().display());
    compiled(name, &["-DHAS_PLUG", &plug, "-Wl,-rpath,/", &objects])
}

#[test]
fn inherited_filters_may_kill_for_process_vm_readv() {
    let Some(both) = with_plug("through") else { return };
    let number = if cfg!(target_arch = "x86_64") { "310" } else { "270" };
    let run = |program: &Program| {
        let executable = program.executable.to_str().unwrap();
        let mut command = both.plain.command(&["through", number, executable, "outside"]);
        command.current_dir(&program.directory).status().unwrap()
    };
    assert_eq!((run(&both.plain).code(), run(&both.ours).code()), (Some(3), Some(3)));
    assert!(both.ours.side().all_calls().count() > 0);
}

#[test]
fn many_filters_are_no_reason_to_end_the_profile() {
    let Some(both) = compiled("many", &[]) else { return };
    assert_eq!(both.run(&["many"], &[("GMON_OBJECTS", "0")]), "");
    compare("calls counted 801\n", &both.ours.profile(), both.ours.symbols());
    assert!(size(&both.ours.directory.join("gmon.out")) < 100_000, "the file must be made at the end");
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

#[test]
fn no_message_if_signals_cannot_be_taken_back() {
    let Some(both) = with_plug("limit") else { return };
    // A log that has the maximum size of the program's files.
    const LIMIT: u64 = 16 << 20;
    let path = both.ours.directory.join("stderr");
    fs::File::create(&path).unwrap().set_len(LIMIT).unwrap();
    let run = |program: &Program| {
        let log = fs::OpenOptions::new().append(true).open(&path).unwrap();
        program.command(&["limit"]).stderr(log).output().unwrap()
    };
    let (plain, ours) = (run(&both.plain), run(&both.ours));
    assert_eq!(without_core(&ours), without_core(&plain));
    assert_eq!((ours.status.code(), size(&path)), (Some(3), LIMIT));
}
