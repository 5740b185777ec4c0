//! The program's view of its signals, and its exit as others see it, are as without a profiling runtime.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Program, calls, directory, library, read, ticks};

fn programs(name: &str, flags: &[&str]) -> [Program; 2] {
    let plain = Program::compile_with("cc", &format!("{name}-plain"), "dispositions.c", flags);
    [Program::compile(name, "dispositions.c", flags), plain]
}

fn counted(program: &Program) -> Option<u64> {
    calls(&program.profile(), program.symbols()).get("calls counted").copied()
}

#[test]
fn signals_report_what_the_program_set() {
    for (name, flags) in [("shared", &["-O1"][..]), ("static", &["-O1", "-static"])] {
        let [ours, plain] = programs(&format!("dispositions-{name}"), flags);
        let expected = plain.run(&[]);
        assert!(expected.lines().count() > 200 && !expected.contains("unknown"), "{expected}");
        for signals in ["all", "none"] {
            let output = ours.command(&[]).env("GMON_SIGNALS", signals).output().unwrap();
            let found = String::from_utf8(output.stdout).unwrap();
            let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
            assert_eq!((differs, found.len()), (None, expected.len()), "{name} {signals}");
        }
        // The signal that makes the runtime write the file is hidden too.
        let output = ours.command(&[]).env("GMON_DUMP_SIGNAL", "URG").output().unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        let line = |text: &str| text.lines().find(|line| line.starts_with("23: ")).map(str::to_owned);
        assert_eq!(line(&found), line(&expected));
    }
}

#[test]
fn signals_reset_to_the_default_still_leave_a_profile() {
    let [ours, plain] = programs("dispositions-ends", &["-O0"]);
    for (how, number) in [("again", "11"), ("again", "15"), ("again", "6"), ("restored", "10"), ("restored", "2")] {
        let _ = std::fs::remove_file(ours.directory.join("gmon.out"));
        let [found, expected] = [&ours, &plain].map(|program| program.command(&[how, number]).output().unwrap());
        assert_eq!(found, expected, "{how} {number}");
        assert_eq!(counted(&ours), Some(1), "{how} {number}");
    }
}

/// Launchers reset all signals before they execute something. This must neither end the program nor its sampling.
#[test]
fn resetting_all_signals_does_not_stop_sampling() {
    let [ours, _] = programs("dispositions-all", &["-O1"]);
    let output = ours.command(&["all"]).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(3), 0), "{output:?}");
    assert!(!ours.profile().histograms().is_empty());
}

/// Servers block everything in their first thread and wait for signals there or in another thread.
#[test]
fn a_thread_that_blocks_everything_is_sampled() {
    for (name, flags) in [("shared", &["-O1"][..]), ("static", &["-O1", "-static"])] {
        let [ours, plain] = programs(&format!("dispositions-wait-{name}"), flags);
        let output = ours.command(&["wait"]).output().unwrap();
        assert_eq!(output, plain.command(&["wait"]).output().unwrap());
        assert_eq!(String::from_utf8_lossy(&output.stdout), "15\n");
        assert!(ours.profile().histograms().iter().any(|histogram| histogram.total() > 0), "{name}");
    }
}

/// Signals that are sent to such a thread, also the sampling signal, are delivered as usual.
#[test]
fn blocked_signals_reach_only_waiting_threads() {
    let plain = Program::compile_with("cc", "dispositions-masks-plain", "masks.c", &["-O0"]);
    let ours = Program::compile("dispositions-masks", "masks.c", &["-O0"]);
    for (what, clock, expected) in [
        ("real-time", "cpu", "received 31\n"),
        ("all", "cpu", "received 31\n"),
        ("all", "wall", "received 31\n"),
        ("sleep", "cpu", "0 sleeps were cut short\n"),
        ("sleep", "wall", "0 sleeps were cut short\n"),
        ("own", "cpu", "handled 0\n"),
    ] {
        let [found, expected_too] = [&ours, &plain].map(|program| {
            let output = program.command(&[what]).env("GMON_CLOCK", clock).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        });
        assert_eq!(found, format!("{expected}60 is blocked: 1\n"), "{what} {clock}");
        assert_eq!(found, expected_too, "{what} {clock}");
    }
}

/// Where the handlers cannot be hidden, the runtime installs none for the signals that programs query: INT, BUS, SEGV
/// and ALRM.
#[test]
fn signals_whose_handlers_are_visible_are_left_alone() {
    let ours = Program::compile("dispositions-seen", "own_sigaction.c", &["-O1"]);
    let output = ours.command(&[]).output().unwrap();
    // Signals that the test runner ignores stay ignored, as shells do with INT and QUIT in the background. Only this
    // process ignores PIPE.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    let ignored = u64::from_str_radix(ignored, 16).unwrap() & !(1 << 12);
    let caught = [1, 3, 4, 5, 6, 8, 10, 12, 13, 15, 16, 24, 26, 27, 29, 30, 31_u32];
    let expected = caught.iter().filter(|signal| ignored & 1 << (**signal - 1) == 0);
    let expected: String = expected.map(|signal| format!("{signal} ")).collect();
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{expected}\n"));
    assert_eq!((output.status.signal(), output.stderr.len()), (Some(15), 0), "{output:?}");
    assert_eq!(counted(&ours), Some(1));
}

/// A core dump has the kernel's signal information and the registers of the interrupted place.
#[test]
fn a_core_dump_has_the_original_signal_and_registers() {
    let [ours, plain] = programs("dispositions-core", &["-O0"]);
    let tracer = Program::compile_with("cc", "dispositions-tracer", "last_stop.c", &[]);
    let last_stop = |program: &Program, words: &[&str]| {
        let output = tracer.command(&[&[program.executable.to_str().unwrap()], words].concat()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let ways: [&[&str]; 12] = [
        &["fault"],
        &["again", "11"],
        &["late"],
        &["abort"],
        &["raise", "11"],
        &["raise", "3"],
        &["raise", "5"],
        &["kill", "11"],
        &["kill", "31"],
        &["queue", "6"],
        &["queue", "24"],
        &["deep"],
    ];
    for words in ways {
        let expected = last_stop(&plain, words);
        let place = expected.contains("at the same place");
        assert!(place && (expected.contains("code") && !expected.contains("signal 0")), "{words:?}: {expected}");
        if words == ["deep"] {
            // There is no room for a handler: the core has the kernel's code instead of the address.
            let found = last_stop(&ours, words);
            assert_eq!(found.split(", code").next(), expected.split(", code").next());
            continue;
        }
        assert_eq!(last_stop(&ours, words), expected, "{words:?}");
    }
}

/// Rust's standard library looks for the default action before it installs its stack-overflow handler.
#[test]
fn rust_reports_a_stack_overflow() {
    let place = directory("dispositions-rust");
    let source = place.join("deep.rs");
    let text = "fn deep(n: u64) -> u64 { let a = std::hint::black_box([n; 64]); deep(n + 1) + a[(n % 64) as usize] }\n\
                fn main() { println!(\"{}\", deep(0)); }\n";
    std::fs::write(&source, text).unwrap();
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let build = |name: &str, flags: &[String]| {
        let output = Command::new(&compiler)
            .args(["--cap-lints", "allow", "-o", name])
            .args(flags)
            .arg(&source)
            .current_dir(&place)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        Command::new(Path::new(&place).join(name)).current_dir(&place).output().unwrap()
    };
    let plain = build("plain", &[]);
    let library = format!("-Clink-arg=-B{}", library().display());
    let ours = build("profiled", &["-Clink-arg=-pg".to_owned(), library]);
    assert!(String::from_utf8_lossy(&plain.stderr).contains("overflowed its stack"), "{plain:?}");
    assert_eq!(ours.status, plain.status);
    let without_number = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>()
    };
    assert_eq!(without_number(&ours.stderr), without_number(&plain.stderr));
    assert!(place.join("gmon.out").exists());
}

/// The first process of a namespace gets only signals that it handles.
#[test]
fn the_first_process_of_a_namespace_keeps_its_signals() {
    let [ours, plain] = programs("dispositions-first", &["-O1"]);
    let first = |program: &Program, words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--pid", "--fork"]).arg(&program.executable).args(words);
        command.current_dir(&program.directory).stderr(Stdio::null()).status().unwrap()
    };
    if first(&plain, &["kill", "15"]).code() != Some(3) {
        println!("\nSKIPPED: the first process of a namespace: unshare is forbidden here");
        return;
    }
    for words in [&["kill", "15"][..], &["raise", "11"], &["again", "2"], &["queue", "6"], &["fault"]] {
        let [found, expected] = [&ours, &plain].map(|program| first(program, words));
        assert_eq!((found.code(), found.signal()), (expected.code(), expected.signal()), "{words:?}");
    }
}

/// The children of the first process get signals as all processes do, and leave profiles when signals end them.
#[test]
fn children_of_the_first_process_of_a_namespace_leave_profiles() {
    let [ours, plain] = programs("dispositions-second", &["-O0"]);
    let run = |program: &Program, words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--pid", "--fork"]).arg(&program.executable).args(words);
        command.current_dir(&program.directory).output().unwrap()
    };
    for words in [&["children"][..], &["children", "nested"], &["see"]] {
        for (_, name) in profiles(&ours) {
            std::fs::remove_file(ours.directory.join(name)).unwrap();
        }
        let expected = run(&plain, words);
        if !matches!(expected.status.code(), Some(0 | 3)) {
            println!("\nSKIPPED: the first process of a namespace: unshare is forbidden here");
            return;
        }
        assert_eq!(run(&ours, words), expected, "{words:?}");
        if words[0] == "children" {
            let counts: Vec<_> = profiles(&ours).into_iter().map(|(count, _)| count).collect();
            assert_eq!(counts, [Some(1); 3], "{words:?}");
        }
    }
}

/// The calls and the names of the profiles that children have left.
fn profiles(program: &Program) -> Vec<(Option<u64>, String)> {
    let names = std::fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    let childs = names.filter(|name| name.starts_with("gmon.program.") && name.ends_with(".out"));
    let count = |name: &String| calls(&read(&program.directory.join(name)), program.symbols()).remove("calls counted");
    childs.map(|name| (count(&name), name)).filter(|(count, _)| count.is_some()).collect()
}

/// Handlers of the runtime use the alternate stack if they can, because a coroutine's stack may be small, and leave the
/// stack alone if its memory is too small or gone. The program dies in no case, and sees no difference.
#[test]
fn alternate_stacks_of_any_kind_are_no_danger() {
    // The dynamic linker would need more than the small stack of the coroutine to look a function up at its first call.
    for (name, flags) in [("shared", &["-O1", "-Wl,-z,now"][..]), ("static", &["-O1", "-static"])] {
        let plain = Program::compile_with("cc", &format!("alternates-{name}-plain"), "alternates.c", flags);
        let ours = Program::compile(&format!("alternates-{name}"), "alternates.c", flags);
        for how in ["smallest", "small", "unmapped", "partly", "coroutine"] {
            let expected = plain.command(&[how]).output().unwrap();
            assert_eq!(expected.status.signal(), Some(15), "{expected:?}");
            let asked = ours.command(&[how, "0", "flags"]).output().unwrap();
            let flags = if how == "coroutine" { "SIG60 has 0x8000000\n" } else { "SIG60 has 0\n" };
            assert!(String::from_utf8_lossy(&asked.stdout).ends_with(flags), "{name} {how}: {asked:?}");
            for sampler in ["timer", "itimer"] {
                let _ = std::fs::remove_file(ours.directory.join("gmon.out"));
                let output = ours.command(&[how, "300"]).env("GMON_SAMPLER", sampler).output().unwrap();
                assert_eq!(output, expected, "{name} {how} {sampler}");
                let ticks = ticks(&ours.profile(), ours.symbols());
                let sent = if how == "unmapped" { 600 } else { 300 };
                assert!(ticks.get("here").is_some_and(|ticks| *ticks >= sent), "{name} {how} {sampler}: {ticks:?}");
            }
        }
    }
}
