//! Requirements for every C library and every machine: the essential tests of the runtime.

use std::fs;
use std::os::unix::process::ExitStatusExt;

use crate::kit::{Kit, counted, exact, shares_are_fair};
use crate::support::{compare, quiet, read, ticks};

/// Makes one test of each, with the kit that the named function makes, if the kit is available here.
macro_rules! core_tests {
    ($kit:path) => {
        $crate::core::core_tests!(
            $kit: calls_are_exact, from_the_first_constructor_to_the_last_destructor, children, endings, signals, dispositions,
            calls_in_signal_handlers, a_live_file, extremes, places, threads_that_outlive_main, samples, shares
        );
    };
    ($kit:path: $($name:ident),+) => {
        $(#[test]
        fn $name() {
            if let Some(kit) = $kit() {
                $crate::core::$name(&kit);
            }
        })+
    };
}
pub(crate) use core_tests;

pub(crate) fn calls_are_exact(kit: &Kit) {
    for (mode, link) in &kit.modes {
        for level in ["-O0", "-O2"] {
            let program = kit.compile_as(&format!("calls-{mode}{level}"), "calls.c", &[&[level], *link].concat());
            exact(&program, &["1"]);
            exact(&program, &["4", "500"]);
        }
    }
}

pub(crate) fn from_the_first_constructor_to_the_last_destructor(kit: &Kit) {
    let include = format!("-I{}", gmon_tests::distribution().join("include").display());
    for (mode, link) in &kit.modes {
        let program = kit.compile_as(&format!("control-{mode}"), "control.c", &[&[&*include], *link].concat());
        exact(&program, &[]);
        let output = program.command(&["snapshot"]).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(7), 0), "{output:?}");
        compare(&String::from_utf8(output.stdout).unwrap(), &program.profile(), program.symbols());
    }
}

pub(crate) fn children(kit: &Kit) {
    let program = kit.compile("forks", "forks.c", &[]);
    // An emulator makes a fork of a vfork, and such a child's calls are counted in its parent's live file.
    let ways = if kit.runner.is_empty() { &["0", "1"][..] } else { &["0"] };
    for live in ways {
        let printed = quiet(&program.command(&["3"]).env("GMON_LIVE", live).output().unwrap());
        compare(&printed, &program.profile(), program.symbols());
        for line in printed.lines().filter_map(|line| line.strip_prefix("child ")) {
            let (pid, counted) = line.split_once(' ').unwrap();
            let profile = read(&program.directory.join(format!("gmon.program.{pid}.out")));
            compare(counted, &profile, program.symbols());
            let sampled: u64 = ticks(&profile, program.symbols()).values().sum();
            assert!(sampled >= 5, "the kernel notices 24 samples or more: {sampled}");
        }
    }
}

pub(crate) fn endings(kit: &Kit) {
    let (ours, plain) = (kit.compile("ends", "ends.c", &[]), kit.compile_plain("ends", "ends.c", &[]));
    let ways: [(&[&str], u64); 16] = [
        (&["return"], 5),
        (&["exit"], 5),
        (&["_exit"], 5),
        (&["_Exit"], 5),
        (&["quick_exit"], 5),
        (&["abort"], 5),
        (&["pthread_exit"], 8),
        (&["null"], 5),
        (&["illegal"], 5),
        (&["raise", "15"], 5),
        (&["raise", "10"], 5),
        (&["kill", "2"], 5),
        (&["kill", "6"], 5),
        (&["kill", "31"], 5),
        (&["own"], 6),
        (&["ignored"], 5),
    ];
    for (arguments, calls) in ways {
        let _ = fs::remove_file(ours.directory.join("gmon.out"));
        let output = ours.command(arguments).output().unwrap();
        let expected = plain.command(arguments).output().unwrap();
        assert_eq!(output.status, expected.status, "{}: {arguments:?}", kit.name);
        assert_eq!(output.stderr, expected.stderr, "{}: {arguments:?}", kit.name);
        assert_eq!(counted(&ours), calls, "{}: {arguments:?}", kit.name);
    }
}

pub(crate) fn signals(kit: &Kit) {
    let program = kit.compile("corners", "corners.c", &["-O1"]);
    assert_eq!(program.command(&["waits"]).status().unwrap().signal(), Some(15));
    assert_eq!(program.command(&["small", "16384"]).status().unwrap().signal(), Some(15));
    assert_eq!(counted(&program), 1);
    assert_eq!(program.command(&["chains"]).status().unwrap().signal(), Some(15));
    for _ in 0..5 {
        let status = program.command(&["twice"]).status().unwrap();
        assert!(matches!(status.signal(), Some(2 | 15)), "{status:?}");
        assert_eq!(counted(&program), 1);
    }
}

pub(crate) fn dispositions(kit: &Kit) {
    for (mode, link) in &kit.modes {
        let ours = kit.compile_as(&format!("dispositions-{mode}"), "dispositions.c", &[&["-O0"], *link].concat());
        let plain =
            kit.compile_plain_as(&format!("dispositions-{mode}"), "dispositions.c", &[&["-O0"], *link].concat());
        let (found, expected) = (ours.run(&[]), plain.run(&[]));
        let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        assert_eq!((differs, found.len()), (None, expected.len()), "{mode}");
        for arguments in [&["again", "11"][..], &["again", "15"], &["restored", "10"], &["queue", "6"], &["kill", "3"]]
        {
            let _ = fs::remove_file(ours.directory.join("gmon.out"));
            let [found, expected] = [&ours, &plain].map(|program| program.command(arguments).output().unwrap());
            assert_eq!(found, expected, "{mode}: {arguments:?}");
            assert_eq!(counted(&ours), 1, "{mode}: {arguments:?}");
        }
    }
}

pub(crate) fn calls_in_signal_handlers(kit: &Kit) {
    let program = kit.compile("storm", "extremes.c", &["-O1"]);
    for what in ["storm", "same"] {
        let printed = program.run(&[what, "5000"]);
        compare(&printed, &program.profile(), program.symbols());
    }
    let program = kit.compile("handlers", "corners.c", &["-O1"]);
    // A signal that comes before the handler of the last signal has returned would leave the threads no time. An
    // emulator needs longer.
    let period = if kit.runner.is_empty() { "20" } else { "500" };
    let printed = program.run(&["first", "500", period]);
    compare(&printed, &program.profile(), program.symbols());
    // An emulator may need longer for a fork than the time to the next signal, and then start over.
    let period = if kit.runner.is_empty() { "200" } else { "5000" };
    for live in ["0", "1"] {
        let printed = quiet(&program.command(&["forks", "50", period]).env("GMON_LIVE", live).output().unwrap());
        compare(&printed, &program.profile(), program.symbols());
    }
}

pub(crate) fn a_live_file(kit: &Kit) {
    for (mode, link) in &kit.modes {
        let program = kit.compile_as(&format!("live-{mode}"), "calls.c", &[&["-O1"], *link].concat());
        let printed = quiet(&program.command(&["4"]).env("GMON_LIVE", "1").output().unwrap());
        compare(&printed, &program.profile(), program.symbols());
    }
    let program = kit.compile("live-killed", "live.c", &["-O1"]);
    let counters = program.directory.join("counters");
    let own = || fs::read(&counters).map_or(0, |bytes| bytes.chunks_exact(8).map(word).sum());
    for round in 1..=10 {
        let _ = fs::remove_file(&counters);
        let mut child = program.command(&["counters", "2"]).env("GMON_LIVE", "1").spawn().unwrap();
        while own() < 1000 * round {
            assert!(child.try_wait().unwrap().is_none(), "the program ended by itself");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let (own, counted) = (own(), counted(&program));
        assert!((own..=own + 2).contains(&counted), "own {own}, profile {counted}");
    }
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

pub(crate) fn extremes(kit: &Kit) {
    let program = kit.compile("extremes", "extremes.c", &["-O1"]);
    for what in [&["sequence", "1000"][..], &["deep"], &["arcs"], &["jumps"], &["cancel"], &["forks", "200"]] {
        let printed = program.run(what);
        compare(&printed, &program.profile(), program.symbols());
    }
}

pub(crate) fn places(kit: &Kit) {
    let include = format!("-I{}", gmon_tests::distribution().join("include").display());
    let program = kit.compile("places", "places.c", &[&include]);
    for what in [&["chdir", "/proc"][..], &["close", "/proc"], &["reuse"], &["removed"]] {
        let _ = fs::remove_file(program.directory.join("gmon.out"));
        exact(&program, what);
    }
    program.run(&["again"]);
    assert_eq!(counted(&program), 5);
    let said = |variable, value| {
        let output = program.command(&[]).env(variable, value).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(said("GMON_LIVE", "yes"), "gmon: GMON_LIVE=yes is not 0 or 1: using 0\n");
    assert_eq!(said("GMON_OUT_PREFIX", "prefix"), "");
    let prefixed = |entry: fs::DirEntry| entry.file_name().to_str().unwrap().starts_with("prefix.");
    assert!(fs::read_dir(&program.directory).unwrap().any(|entry| prefixed(entry.unwrap())));
}

pub(crate) fn threads_that_outlive_main(kit: &Kit) {
    let program = kit.compile("threads", "ends.c", &["-O1"]);
    for _ in 0..30 {
        assert_eq!(program.command(&["threads"]).status().unwrap().code(), Some(3));
        assert!(counted(&program) >= 5);
    }
}

pub(crate) fn samples(kit: &Kit) {
    for (mode, link) in &kit.modes {
        let program = kit.compile_as(&format!("ticks-{mode}"), "ticks.c", &[&["-O1"], *link].concat());
        program.run(&["300", "100"]);
        let ticks = ticks(&program.profile(), program.symbols());
        let found = ["here", "there"].map(|name| ticks.get(name).copied().unwrap_or(0));
        // The rest comes from the timer; the program takes less than a second.
        assert!((300..400).contains(&found[0]) && (100..200).contains(&found[1]), "{mode}: {found:?}");
    }
}

pub(crate) fn shares(kit: &Kit) {
    let program = kit.compile("shares", "shares.c", &["-O1"]);
    shares_are_fair(&program);
}
