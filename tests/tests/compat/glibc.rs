//! glibc on x86-64: every compiler with every linker in every link mode.

use std::path::PathBuf;
use std::{fs, iter};

use crate::kit::{
    Mode, NO_PIE, PIE, STATIC, STATIC_PIE, exact, has_our_runtime, is_there, reader_agrees, shares_are_fair,
};
use crate::support::{Program, compare, library};

const MODES: [Mode; 4] = [PIE, NO_PIE, STATIC, STATIC_PIE];

/// The path of a command, with all links resolved.
fn path_of(command: &str) -> Option<PathBuf> {
    let places = std::env::var_os("PATH")?;
    std::env::split_paths(&places).find_map(|place| fs::canonicalize(place.join(command)).ok())
}

/// The available compilers of one family, each once: `clang` may be the same as `clang-14`.
fn compilers(name: &str, versions: std::ops::Range<u32>) -> Vec<String> {
    let numbered = versions.map(|version| format!("{name}-{version}"));
    let mut found = Vec::<(String, PathBuf)>::new();
    for name in iter::once(name.to_owned()).chain(numbered).filter(|name| is_there(name)) {
        if let Some(path) = path_of(&name).filter(|path| found.iter().all(|(_, other)| other != path)) {
            found.push((name, path));
        }
    }
    found.into_iter().map(|(name, _)| name).collect()
}

/// The available linkers, by the names that `-fuse-ld=` takes.
fn linkers() -> Vec<&'static str> {
    let all = ["bfd", "gold", "lld", "mold"];
    let (found, missing): (Vec<_>, Vec<_>) = all.into_iter().partition(|name| is_there(&format!("ld.{name}")));
    for name in missing {
        println!("\nSKIPPED: the linker {name} with every compiler: not on this system");
    }
    found
}

/// Start-up objects for clang's static PIEs are in a directory of their own, because clang looks for `gcrt1.o` there
/// too.
fn objects(mode: &str) -> String {
    let directory = if mode == "static-pie" { library().join("static-pie") } else { library() };
    format!("-B{}", directory.display())
}

/// Builds the program with each compiler, linker, and mode and passes it to `check` with the three names. Only
/// combinations that the linker cannot build without us may fail.
fn each(compilers: &[String], source: &str, flags: &[&str], check: impl Fn(&Program, [&str; 3])) {
    for compiler in compilers {
        for linker in linkers() {
            let mut built = 0;
            for (mode, link) in MODES {
                let (objects, linker_flag) = (objects(mode), format!("-fuse-ld={linker}"));
                let own = [&["-O1", "-Wno-attributes", &*linker_flag], flags, link].concat();
                let name = format!("glibc-{source}-{compiler}-{linker}-{mode}");
                let profiled = [&["-pg", "-Wno-unknown-warning-option", &*objects], &own[..]].concat();
                match Program::build(&[compiler], &name, source, &profiled) {
                    Ok(program) => {
                        check(&program, [compiler, linker, mode]);
                        built += 1;
                    }
                    Err(error) => {
                        let plain = Program::build(&[compiler], &format!("{name}-plain"), source, &own);
                        assert!(plain.is_err(), "{name}: fails only with our objects: {error}");
                        println!(
                            "\nSKIPPED: {mode} programs with {linker}: {linker} cannot link them, without our objects either"
                        );
                    }
                }
            }
            assert!(built >= 3, "{compiler} with {linker}: built only {built} modes");
        }
    }
}

#[test]
fn c() {
    let compilers = [compilers("gcc", 9..20), compilers("clang", 14..30)].concat();
    if !compilers.iter().any(|name| name.starts_with("clang")) {
        println!("\nSKIPPED: clang in the matrix: no clang here");
    }
    each(&compilers, "calls.c", &[], |program, _| exact(program, &["2", "100"]));
}

#[test]
fn cpp() {
    let compilers = [compilers("g++", 9..20), compilers("clang++", 14..30)].concat();
    if compilers.is_empty() {
        println!("\nSKIPPED: C++ in the matrix: no compiler here");
    }
    each(&compilers, "exceptions.cc", &[], |program, _| exact(program, &[]));
}

#[test]
fn fortran() {
    let compilers = compilers("gfortran", 12..20);
    if compilers.is_empty() {
        println!("\nSKIPPED: Fortran in the matrix: no gfortran here");
    }
    // A program that cannot count its own calls and depends on nothing.
    let known = "calls outer_ 40\ncalls inner_ 820\narc outer_ inner_ 820\n";
    each(&compilers, "sums.f90", &["-fno-inline"], |program, _| {
        program.run(&[]);
        has_our_runtime(program);
        compare(known, &program.profile(), program.symbols());
        reader_agrees(known, program);
    });
}

#[test]
fn shares() {
    let compilers = [compilers("gcc", 9..20), compilers("clang", 14..30)].concat();
    // The distribution of samples does not depend on the linker, but on the position of the text.
    each(&compilers, "shares.c", &[], |program, [_, linker, _]| {
        if ["bfd", "lld"].contains(&linker) {
            shares_are_fair(program);
        }
    });
}

#[test]
fn a_static_pie_with_the_wrong_start_up_object_prints_a_message() {
    if !is_there("clang") {
        println!("\nSKIPPED: clang's static PIE: no clang here");
        return;
    }
    let objects = format!("-B{}", library().display());
    let flags = ["-pg", &objects, "-static-pie", "-Wno-unknown-attributes"];
    let program = Program::compile_with("clang", "glibc-not-relocated", "calls.c", &flags);
    let output = program.command(&[]).output().unwrap();
    let line =
        "gmon: this static PIE was linked with gcrt1.o: link it with gmon-cc, or with -B.../lib/gmon/static-pie\n";
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(127), line));
}
