//! Programs without the index of unwind tables: reports name the option of the linker that makes it.

use std::process::Command;

use gmon_tests::read;
use serde_json::Value;

use crate::contexts::callers::{Kind, c, run};
use crate::support::{Program, library};

/// What gprof prints about a run, and how many stacks the run has: all, and those that are whole.
fn reported(program: &Program) -> (String, [u64; 2]) {
    run(program, &["ticks", "1"], &[]);
    let print = |words: &[&str]| {
        let output = read(gmon_tests::gprof(), &program.directory, &[words, &["program", "gmon.out"]].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let json: Value = serde_json::from_str(&print(&["--format=json"])).unwrap();
    let stacks = ["stacks", "whole"].map(|field| json["stacks"][field].as_u64().unwrap());
    (print(&["-b", "-p"]), stacks)
}

const NOTE: &str = "The program has no index of its unwind tables: link it with -Wl,--eh-frame-hdr";

/// Checks the report of a program whose stacks are cut because the program has no index.
fn check_note(kind: &Kind) {
    let Some(program) = kind.build("links") else { return };
    let (text, [all, whole]) = reported(&program);
    let mut lines = text.lines();
    let numbers: Vec<u64> =
        lines.next().unwrap().split(' ').skip(1).step_by(2).take(2).map(|word| word.parse().unwrap()).collect();
    // The ring may lose a stack on a busy machine. Such a sample has no whole stack either.
    assert!(numbers[0] + whole == numbers[1] && numbers[1] >= all, "{whole} of {all}: {text}");
    assert!(lines.next().unwrap().ends_with(NOTE), "{text}");
}

/// Checks the report of a program whose stacks are whole.
fn check_whole(kind: &Kind) {
    let Some(program) = kind.build("links") else { return };
    let (text, [all, whole]) = reported(&program);
    assert!(all > 0 && whole == all && !text.contains("warning"), "{whole} of {all}: {text}");
}

#[test]
fn the_report_of_a_static_program_names_the_missing_option() {
    check_note(&c("static-alone", "sorts.c", &["-O2", "-static"]));
    check_whole(&c("static", "sorts.c", &["-O2", "-static", "-Wl,--eh-frame-hdr"]));
}

/// Debian's musl has no unwind tables: stacks end at the caller of `main`, and are cut at `qsort`.
#[test]
fn stacks_of_programs_with_musl_are_whole_up_to_the_caller_of_main() {
    if Command::new("musl-gcc").arg("--version").output().is_err() {
        println!("\nSKIPPED: no musl-gcc here");
        return;
    }
    let object: &'static str = library().join("gmon.o").display().to_string().leak();
    for mode in ["-O2", "-static"] {
        let of = |name, source, option| Kind {
            name,
            source,
            compiler: "musl-gcc",
            flags: vec!["-O2", mode, object, option].leak(),
        };
        check_whole(&of("musl", "direct.c", "-Wl,--eh-frame-hdr"));
        check_note(&of("musl-alone", "sorts.c", "-O2"));
    }
}
