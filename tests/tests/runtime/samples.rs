//! Samples are all kept, where they fell.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gmon::{Counter, CounterWidth, DataModel, Encoding, Form, Hints, Order};

use crate::support::{Program, quiet, read, ticks};

/// The ticks of `here` and `there`.
fn own(ticks: &BTreeMap<String, u64>) -> [u64; 2] {
    ["here", "there"].map(|name| ticks.get(name).copied().unwrap_or(0))
}

/// The samples that timers may add: a program that sends itself a few samples uses far less than a second of CPU time,
/// at 100 ticks. A program that sends itself many runs with [`SLOW`].
const TIMER: u64 = 100;
/// One tick of the timers in a second.
const SLOW: (&str, &str) = ("GMON_HZ", "1");

fn assert_close(found: [u64; 2], sent: [u64; 2]) {
    for (found, sent) in found.into_iter().zip(sent) {
        assert!((sent..=sent + TIMER).contains(&found), "found {found}, sent {sent}");
    }
}

#[test]
fn each_sample_counts_in_its_function() {
    for (mode, link) in [("pie", &["-O1"][..]), ("static", &["-O1", "-static"]), ("no-pie", &["-O1", "-no-pie"])] {
        let program = Program::compile(&format!("ticks-{mode}"), "ticks.c", link);
        program.run(&["300", "100"]);
        let profile = program.profile();
        assert_eq!(profile.histograms().len(), 1);
        assert_eq!(profile.histograms()[0].unit().profrate, 100);
        assert_close(own(&ticks(&profile, program.symbols())), [300, 100]);
    }
}

#[test]
fn a_bin_above_sixteen_bits_loses_no_sample() {
    let program = Program::compile("ticks-many", "ticks.c", &["-O1"]);
    quiet(&program.command(&["70000", "200"]).envs([SLOW]).output().unwrap());
    let bytes = std::fs::read(program.directory.join("gmon.out")).unwrap();
    assert!(bytes.starts_with(b"gmon"), "the form of the buffer cannot hold these counts");
    assert_close(own(&ticks(&program.profile(), program.symbols())), [70000, 200]);
}

#[test]
fn a_child_of_a_program_with_a_live_file_loses_nothing_either() {
    let program = Program::compile("ticks-child", "ticks.c", &["-O1"]);
    quiet(&program.command(&["70000", "200", "child"]).envs([SLOW, ("GMON_LIVE", "1")]).output().unwrap());
    let is_childs = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("gmon.program.") && name.ends_with(".out")
    };
    let files = std::fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().path());
    let [file] = &files.filter(is_childs).collect::<Vec<_>>()[..] else { panic!("not one file of the child") };
    assert_close(own(&ticks(&read(file), program.symbols())), [70000, 200]);
    assert_close(own(&ticks(&program.profile(), program.symbols())), [0, 0]);
}

#[test]
fn the_form_is_the_requested_one() {
    let program = Program::compile("ticks-forms", "ticks.c", &["-O1"]);
    let wide = |width| Form::FreeBsd(Counter { width, signed: false });
    let all = [
        ("openbsd", Form::OpenBsd, Form::OpenBsd, 65535),
        ("bsd", Form::Bsd, Form::Bsd, 65535),
        ("freebsd", wide(CounterWidth::Bits16), wide(CounterWidth::Bits32), 66000),
        ("gnu", Form::Gnu, Form::Gnu, 66000),
    ];
    let path = program.directory.join("gmon.out");
    let detected = |path| gmon::detect(&std::fs::read(path).unwrap(), &Hints::default()).unwrap().encoding();
    let encoding = |form| Encoding::new(form, DataModel::Lp64, Order::Little);
    for (name, form, form_of_many, most) in all {
        quiet(&program.command(&["1000", "10"]).env("GMON_FORMAT", name).output().unwrap());
        assert_eq!(detected(&path), encoding(form));
        assert_close(own(&ticks(&read(&path), program.symbols())), [1000, 10]);

        let output = program.command(&["66000", "10"]).envs([SLOW, ("GMON_FORMAT", name)]).output().unwrap();
        assert!(output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.contains("overflowed"), most == 65535, "{name}: {said}");
        assert_eq!(detected(&path), encoding(form_of_many));
        assert_close(own(&ticks(&read(&path), program.symbols())), [most, 10]);
    }
}

#[test]
fn an_unknown_form_is_named_and_the_default_used() {
    let program = Program::compile("ticks-no-form", "ticks.c", &["-O1"]);
    let output = program.command(&["5", "5"]).env("GMON_FORMAT", "elf").output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "gmon: GMON_FORMAT=elf is not openbsd, freebsd, bsd or gnu: using the default\n");
    assert_close(own(&ticks(&program.profile(), program.symbols())), [5, 5]);
}

#[test]
fn a_busy_program_is_sampled_in_all_its_threads() {
    let program = Program::compile("busy", "busy.c", &["-O1"]);
    for (threads, least) in [("1", 25), ("3", 75)] {
        program.run(&[threads]);
        let profile = program.profile();
        // Each thread works until the kernel has noticed 50 ticks. Half of the ticks may be outside the program.
        let all: u64 = ticks(&profile, program.symbols()).values().sum();
        assert!(all >= least, "{threads} threads: {all}");
    }
}
