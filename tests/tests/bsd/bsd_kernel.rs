//! Tests of the tests' kernel: small programs, built without profiling, check each rule of FreeBSD's kernel that the
//! tests' kernel implements.

use std::fs;
use std::path::Path;

use gmon_tests::bsd::{Bsd, Ran, Start, System};

/// Builds and runs a program.
fn ran(name: &str, options: &[&str], arguments: &[&str], environment: &[(&str, &str)]) -> Option<Ran> {
    let system = Bsd::new(System::FreeBsd, &format!("bsd_kernel_{name}"))?;
    let image = system.build(name, &[&format!("{name}.c")], &["-O1"], Start::Plain);
    Some(system.run(&image, options, arguments, environment))
}

/// Builds and runs a program that checks everything itself and exits with status 0.
fn passes(name: &str) -> Option<Ran> {
    ran(name, &[], &[], &[]).map(|ran| ran.expect(0))
}

#[test]
fn a_program_starts_and_calls_as_the_kernel_and_libc_have_it() {
    let environments: [&[(&str, &str)]; 2] =
        [&[("GREETING", "hello there")], &[("GREETING", "hello there"), ("A", "")]];
    for environment in environments {
        let Some(ran) = ran("entry", &[], &["one", ""], environment) else {
            return;
        };
        assert_eq!(ran.status, 5, "{}{}", ran.stderr, ran.stdout);
        assert_eq!(ran.stdout, "atexit\ndestructor\n");
    }
    let environment = [("GREETING", "hello there"), ("SETUGID", "1")];
    assert_eq!(ran("entry", &["--set-id"], &["one", ""], &environment).unwrap().status, 5);
}

#[test]
fn an_unknown_call_is_recorded() {
    let Some(ran) = ran("unknown", &[], &[], &[]) else {
        return;
    };
    assert_eq!(ran.status, 0);
    let events = ran.events("unknown-call");
    assert!(events.len() == 1 && events[0].starts_with("unknown-call process 1001: 1999 from pc 0x"), "{events:?}");
    assert!(ran.stderr.contains("unknown-call"), "{}", ran.stderr);
    assert!(std::panic::catch_unwind(|| ran.expect(0)).is_err(), "a test of a program sees the call");
}

#[test]
fn profil_counts_as_the_kernel_does() {
    let Some(ran) = passes("kernel_profil") else {
        return;
    };
    let stops = ran.events("profil").into_iter().filter(|event| event.contains("stopped")).count();
    assert_eq!(stops, 1, "{}", ran.record);
}

#[test]
fn processes_inherit_share_and_drop_what_they_should() {
    passes("processes");
}

#[test]
fn handlers_get_contexts_and_bring_them_back() {
    let Some(ran) = ran("signals", &[], &[], &[]) else {
        return;
    };
    assert_eq!(ran.status, 128 + 31, "ended by SIGUSR2: {}{}", ran.stderr, ran.stdout);
}

#[test]
fn handlers_keep_the_vector_registers() {
    passes("vectors");
}

#[test]
fn ticks_move_time_and_timers() {
    passes("timers");
}

#[test]
fn a_tick_interrupts_all_processors() {
    if let Some(ran) = ran("processors", &["--processors", "4"], &[], &[]) {
        let _ = ran.expect(0);
    }
}

#[test]
fn threads_have_storage_ticks_and_signals_of_their_own() {
    passes("threads");
}

#[test]
fn capability_mode_refuses_what_it_must() {
    let Some(ran) = ran("capsicum", &[], &[], &[]) else {
        return;
    };
    assert_eq!(ran.status, 0, "{}{}", ran.stderr, ran.stdout);
    assert_eq!(ran.events("refused").len(), 6, "{}", ran.record);
}

#[test]
fn a_jail_without_rights_lists_no_mappings_and_changes_no_root() {
    let Some(ran) = ran("jail", &["--user", "0", "--jail"], &[], &[]) else {
        return;
    };
    assert_eq!(ran.status, 0, "{}{}", ran.stderr, ran.stdout);
    assert_eq!(ran.events("refused").len(), 3, "{}", ran.record);
}

#[test]
fn memory_and_files_are_as_on_the_system() {
    passes("memory");
}

#[test]
fn a_program_that_waits_for_nothing_ends() {
    let Some(ran) = ran("stuck", &[], &[], &[]) else {
        return;
    };
    assert_eq!((ran.status, ran.events("deadlock").len()), (128 + 9, 1));
}

/// Whether a comment says if a real kernel was seen to follow a rule.
fn says_if_seen(comment: &str) -> bool {
    ["Seen on FreeBSD 15.1", "Not seen on a real kernel"].iter().any(|said| comment.contains(said))
}

#[test]
fn each_rule_names_its_source_and_says_if_a_real_kernel_was_seen() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("bsd-kernel/src");
    let mut files: Vec<_> = fs::read_dir(source.join("freebsd")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let shared = ["clock", "delivery", "ending", "posting", "profil", "returning", "ticks", "waits"];
    files.extend(shared.map(|name| source.join(name).with_extension("rs")));
    files.extend(["fork", "exec"].map(|name| source.join("calls").join(name).with_extension("rs")));
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let mut sources = 0;
        // A comment is one line here; the marks of its lines are not part of the comment.
        let lines: Vec<_> =
            text.lines().map(|line| line.trim().trim_start_matches('/').trim_start_matches('!')).collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.contains("Source: ")) {
            let paragraph: Vec<_> = lines[at..].iter().take_while(|line| !line.is_empty()).take(5).copied().collect();
            assert!(says_if_seen(&paragraph.join(" ").replace("  ", " ")), "{}: {line}", file.display());
            sources += 1;
        }
        assert!(sources > 0, "{}: no source", file.display());
    }
    let calls = fs::read_to_string(source.join("freebsd/numbers.rs")).unwrap();
    for call in calls.lines().filter(|line| line.starts_with("    free(") || line.starts_with("    shut(")) {
        assert!(call.split_once(" // ").is_some_and(|(_, file)| file.ends_with(".c")), "no source: {call}");
    }
}

#[test]
fn a_program_of_linux_is_not_executed() {
    let Some(system) = Bsd::new(System::FreeBsd, "bsd_kernel_linux") else {
        return;
    };
    let ran = system.run(&std::env::current_exe().unwrap(), &[], &[], &[]);
    assert_eq!(ran.status, 125, "{}", ran.stderr);
    assert!(ran.stderr.contains("Exec format error"), "{}", ran.stderr);
}
