//! The bin of the runtime's own code, which start-up objects keep in a section of its own.

use std::process::Command;

use crate::support::{Program, compare, library, ours, ticks, tool};

/// The addresses of symbols.
fn addresses<const N: usize>(program: &Program, names: [&str; N]) -> [u64; N] {
    let printed = tool("nm", &[program.executable.to_str().unwrap()]);
    names.map(|wanted| {
        let mut symbols = printed.lines().filter_map(|line| line.split_once(' '));
        let found = symbols.find(|(_, symbol)| symbol.split_once(' ').is_some_and(|(_, name)| name == wanted));
        u64::from_str_radix(found.unwrap_or_else(|| panic!("no symbol {wanted}")).0, 16).unwrap()
    })
}

/// The samples of the functions, in the runtime and in the rest of the program.
fn parts(program: &Program) -> (u64, u64) {
    let profile = program.profile();
    let found = ticks(&profile, program.symbols());
    let [start, end] = addresses(program, ["gmon_text_start", "gmon_text_end"]);
    for histogram in profile.histograms() {
        let size = (histogram.highpc() - histogram.lowpc()) / histogram.len();
        for (bin, _) in histogram.hit() {
            let at = histogram.lowpc() + bin * size;
            assert!(
                at == start || !(start..end).contains(&at),
                "a sample at {at:#x} inside the runtime's code: {found:?}"
            );
        }
    }
    let runtime = found.get("mcount").or(found.get("_mcount")).copied().unwrap_or(0);
    (runtime, found.values().sum::<u64>() - runtime)
}

/// Runs the program until there are samples in the runtime, which takes about two thirds of the time, and in the rest
/// of the program. On a busy machine all ten samples of a run can count at one place; a hundred such runs at the same
/// place have a chance below 10⁻¹².
fn check(program: &Program) {
    let mut all = (0, 0);
    for _ in 0..100 {
        let printed = program.run(&["0.1"]);
        compare(&printed, &program.profile(), program.symbols());
        let (runtime, other) = parts(program);
        all = (all.0 + runtime, all.1 + other);
        if all.0 > 0 && all.1 > 0 {
            return;
        }
    }
    panic!("{} samples in the runtime, and {} in the rest", all.0, all.1);
}

/// The flags of a program that `linker` links with our start-up object; `None`, with SKIPPED, if the compiler has no
/// such linker.
fn linked_by(linker: &str) -> Option<Vec<String>> {
    let found = tool("cc", &[&format!("-print-prog-name=ld.{linker}")]);
    if Command::new(found.trim()).arg("--version").output().is_err() {
        println!("\nSKIPPED: the runtime's section: no ld.{linker} here");
        return None;
    }
    Some([&ours()[..], &["-O1".to_owned(), format!("-fuse-ld={linker}")]].concat())
}

/// Builds the program as `flags` say.
fn compile(name: &str, flags: &[String], more: &[&str]) -> Program {
    let flags: Vec<&str> = flags.iter().map(String::as_str).chain(more.iter().copied()).collect();
    Program::compile_with("cc", &format!("own-code-{name}"), "own_code.c", &flags)
}

#[test]
fn the_file_ends_with_one_bin_for_the_runtime() {
    for (linker, more) in [("bfd", &["-no-pie"][..]), ("bfd", &["-pie", "-fPIE"]), ("mold", &[])] {
        let Some(flags) = linked_by(linker) else { continue };
        let program = compile("last", &flags, more);
        check(&program);
        let [start] = addresses(&program, ["gmon_text_start"]);
        let high = program.profile().histograms()[0].highpc();
        assert_eq!(high, (start + 4).next_multiple_of(16), "ranges end at a multiple of 16");
        // Other linkers have more before the program's code.
        let length = std::fs::metadata(program.directory.join("gmon.out")).unwrap().len();
        assert!(linker != "bfd" || length < 8192, "{length} bytes");
    }
}

#[test]
fn code_in_another_section_behind_the_runtime_has_its_calls() {
    let mut programs = Vec::new();
    if let Some(flags) = linked_by("bfd") {
        programs.push(compile("long", &flags, &["-DOTHER"]));
        // Only x86-64 has -mfentry. A function with -mfentry is as short as a function that is counted can be.
        if cfg!(target_arch = "x86_64") {
            programs.push(compile("short", &flags, &["-DOTHER", "-Os", "-mfentry"]));
        }
    }
    // The section `.fini` of musl is shorter than others.
    if !cfg!(target_arch = "x86_64") {
        // Only the shortest function shows the difference.
    } else if Command::new("musl-gcc").arg("--version").output().is_ok() {
        let wrapper = library().parent().unwrap().parent().unwrap().join("bin/gmon-cc");
        let compiler = ["env", "CC=musl-gcc", wrapper.to_str().unwrap()];
        let flags = ["-DOTHER", "-Os", "-mfentry"];
        programs.push(Program::build(&compiler, "own-code-musl", "own_code.c", &flags).unwrap());
    } else {
        println!("\nSKIPPED: the runtime's section with musl: no musl-gcc here");
    }
    for program in programs {
        check(&program);
        let [far_away, end] = addresses(&program, ["far_away", "gmon_text_end"]);
        let name = program.directory.display();
        assert!(far_away > end && program.profile().histograms()[0].highpc() > far_away, "{name}");
    }
}

#[test]
fn linkers_that_place_the_runtime_first_leave_samples_at_its_start() {
    for linker in ["gold", "lld"] {
        let Some(flags) = linked_by(linker) else { continue };
        check(&compile(linker, &flags, &[]));
    }
}
