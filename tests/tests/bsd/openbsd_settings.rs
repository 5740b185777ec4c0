//! The environment variables on OpenBSD: each has its effect, or the runtime prints one message that says why not.
//!
//! `make runtime-openbsd-amd64` builds the object. If the object cannot be built, the tests print SKIPPED.

use std::fs;

use gmon_tests::bsd::System;
use gmon_tests::profiled::{Program, samples};

const FILE: &str = "gmon.settings.1001.out";
const CHILD: &str = "gmon.settings.1002.out";

fn built(name: &str) -> Option<Program> {
    Program::of(System::OpenBsd, &format!("settings_{name}"), "settings")
}

#[test]
fn a_variable_without_effect_gets_one_message() {
    let Some(program) = built("messages") else {
        return;
    };
    let all = [
        (
            ("GMON_OUT_PREFIX", "other"),
            "GMON_OUT_PREFIX=other has no effect on OpenBSD: the kernel names the file, and PROFDIR sets the directory",
        ),
        (
            ("GMON_FORMAT", "gnu"),
            "GMON_FORMAT=gnu has no effect on OpenBSD: the kernel writes the file in OpenBSD's form",
        ),
        (("GMON_FORMAT", "xml"), "GMON_FORMAT=xml is not openbsd, freebsd, bsd or gnu: using the default"),
        (("GMON_FORMAT", "openbsd"), ""),
        (
            ("GMON_CHILDREN", "sum"),
            "GMON_CHILDREN=sum has no effect on OpenBSD: the kernel writes a file for each process",
        ),
        (("GMON_CHILDREN", "separate"), ""),
        (("GMON_CHILDREN", "some"), "GMON_CHILDREN=some is not separate, sum or none: using separate"),
        (("GMON_CLOCK", "wall"), "GMON_CLOCK=wall is not possible on OpenBSD: using cpu"),
        (("GMON_CLOCK", "cpu"), ""),
        // The kernel writes the file after all signals, and gmon catches none.
        (("GMON_SIGNALS", "all"), ""),
        (("GMON_SIGNALS", "none"), ""),
        (("GMON_SIGNALS", "some"), "GMON_SIGNALS=some is not all or none: using all"),
        (("GMON_SAMPLER", "perf"), "GMON_SAMPLER=perf is not profil or itimer: using the default"),
        (("GMON_HZ", "0"), "GMON_HZ=0 is not a number from 1 to 10000: using the default"),
        (("GMON_LIVE", "2"), "GMON_LIVE=2 is not 0 or 1: using 0"),
        (("GMON_DUMP_SIGNAL", "KILL"), "GMON_DUMP_SIGNAL=KILL is a signal that cannot write the file: using none"),
    ];
    for (variable, message) in all {
        let ran = program.run_with(&[], "runs", &[variable], 0);
        let expected = if message.is_empty() { String::new() } else { format!("gmon: {message}\n") };
        assert_eq!(ran.stderr, expected, "{variable:?}");
        assert_eq!(program.profiles(), [FILE], "{variable:?}");
        assert_eq!(program.ticks(FILE), samples(&[("light", 20)]), "{variable:?}");
        fs::remove_file(program.system.directory.join(FILE)).unwrap();
    }
}

#[test]
fn children_leave_nothing_if_the_user_says_so() {
    let Some(program) = built("children") else {
        return;
    };
    let ran = program.run_with(&[], "forks", &[("GMON_CHILDREN", "none")], 0);
    assert_eq!((ran.stderr.as_str(), program.profiles()), ("", vec![FILE.to_owned()]));
    assert_eq!(program.ticks(FILE), samples(&[("light", 20)]));
    program.run("forks", 0);
    assert_eq!(program.profiles(), [FILE, CHILD]);
}

#[test]
fn the_interval_timer_samples_at_the_rate_of_the_user() {
    let Some(program) = built("rates") else {
        return;
    };
    let rate = || u32::from_le_bytes(program.bytes(FILE)[24..28].try_into().unwrap());
    // 200 ticks of the profiling clock are 0.2 seconds; calls of moncontrol start a new period.
    for (hz, expected) in [("100", 4 + 6), ("50", 2 + 3)] {
        let ran = program.run_with(&[], "controls", &[("GMON_HZ", hz)], 0);
        assert_eq!((ran.stderr.as_str(), rate()), ("", hz.parse().unwrap()));
        assert_eq!(program.ticks(FILE), samples(&[("light", expected)]), "{hz}");
    }
    let ran = program.run_with(&[], "controls", &[("GMON_SAMPLER", "itimer"), ("GMON_HZ", "250")], 0);
    assert_eq!(ran.stderr, "gmon: GMON_HZ=250 is not possible with GMON_SAMPLER=itimer: using 100\n");
    let ran = program.run_with(&[], "controls", &[("GMON_SAMPLER", "profil"), ("GMON_HZ", "50")], 0);
    assert_eq!(ran.stderr, "gmon: GMON_HZ=50 is not possible with GMON_SAMPLER=profil: using 1000\n");
    assert_eq!((rate(), program.ticks(FILE)), (1000, samples(&[("light", 100)])));
    let ran = program.run_with(&[], "own_timer", &[("GMON_HZ", "50")], 0);
    let uses = "samples are missing: the program uses ITIMER_PROF or SIGPROF, which GMON_SAMPLER=itimer needs";
    assert_eq!(ran.stderr, format!("gmon: {uses}\n"));
}

#[test]
fn the_interval_timer_stops_before_another_program_runs() {
    let Some(program) = built("executes") else {
        return;
    };
    let ran = program.run_with(&[], "executes", &[("GMON_HZ", "100")], 5);
    assert_eq!(ran.stderr, "");
    assert_eq!(program.ticks(FILE), samples(&[("light", 100)]), "the other program's, without the variable");
}
