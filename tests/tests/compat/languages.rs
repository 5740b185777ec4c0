//! One build with several languages: `gmon-cc`, `gmon-c++`, and `gmon-fortran` are one script, whose name chooses the
//! compiler.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::builds::{builds, has, shell};
use crate::kit::wrapper;
use crate::support::{directory, root};

/// A directory with sources in C, C++, and Fortran, and with these files; `None` if this system lacks a compiler.
fn project(name: &str, files: &[(&str, &str)]) -> Option<PathBuf> {
    if !has("c++") || !has("gfortran") {
        return None;
    }
    let place = directory(name);
    for source in ["main.c", "more.cc", "part.f90"] {
        fs::copy(root().join("tests/programs/languages").join(source), place.join(source)).unwrap();
    }
    for (path, text) in files {
        fs::create_dir_all(place.join(path).parent().unwrap()).unwrap();
        fs::write(place.join(path), text).unwrap();
    }
    Some(place)
}

/// Runs the script that builds `program`. The program must then have our runtime, and its profile the calls of the
/// functions in each language.
fn counts_in_each_language(place: &Path, script: &str, program: &str) {
    builds(place, script, program);
    let program = place.join(program);
    let ran = Command::new(&program).current_dir(place).output().unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    let words = ["-b", "-p", "-z", "--no-demangle", program.to_str().unwrap(), "gmon.out"];
    let report = gmon_tests::read(gmon_tests::gprof(), place, &words);
    let report = String::from_utf8(report.stdout).unwrap();
    let rows: Vec<Vec<&str>> = report.lines().map(|row| row.split_whitespace().collect()).collect();
    let calls: Vec<_> = printed.lines().filter_map(|line| line.strip_prefix("calls ")?.split_once(' ')).collect();
    assert_eq!(calls.len(), 3, "{script}: {printed}");
    for (function, expected) in calls {
        let row = rows.iter().find(|row| row.len() > 4 && row.last() == Some(&function));
        assert_eq!(row.map(|row| row[3]), Some(expected), "{script}: {function} in\n{report}");
    }
    fs::remove_file(place.join("gmon.out")).unwrap();
}

/// The three commands as make's variables or as those of the environment: by name, by path, and with options.
const COMMANDS: [&str; 3] = [
    "CC=gmon-cc CXX=gmon-c++ FC=gmon-fortran",
    "CC=$WRAPPER CXX=${WRAPPER%cc}c++ FC=${WRAPPER%cc}fortran",
    "CC='gmon-cc -O1 -g' CXX='gmon-c++ -O1 -g' FC='gmon-fortran -O1 -g'",
];

// Each test fails if gmon-c++ or gmon-fortran runs cc (missing libraries), or does not add -pg (no calls), and if one
// of them takes the name of another in a variable for a compiler (a loop).
#[test]
fn make() {
    let rules = "%.o: %.f90\n\t$(FC) $(FFLAGS) -c $< -o $@\n%.o: %.cc\n\t$(CXX) -c $< -o $@\n\
        work: main.o more.o part.o\n\t$(CXX) $^ -lgfortran -o $@\n\
        other: main.o more.o part.o\n\t$(FC) $^ -lstdc++ -o $@\n";
    let Some(place) = project("languages-make", &[("Makefile", rules)]) else { return };
    for commands in COMMANDS {
        counts_in_each_language(&place, &format!("rm -f *.o; make {commands} work"), "work");
        counts_in_each_language(&place, &format!("rm -f *.o; {commands} make -e other"), "other");
    }
    if has("clang") {
        // Each command has a variable of its own.
        let compilers = "GMON_CC=clang GMON_CXX=clang++ GMON_FC='gfortran -O1'";
        counts_in_each_language(&place, &format!("rm -f *.o; make {} {compilers} work", COMMANDS[0]), "work");
        let comment =
            shell(&place, "readelf -p .comment main.o; readelf -p .comment more.o; readelf -p .comment part.o");
        let comment = String::from_utf8(comment.stdout).unwrap();
        let told = |name: &str| comment.matches(name).count();
        assert_eq!((told("clang version"), told("GCC: ")), (2, 1), "{comment}");
    }
}

#[test]
fn cmake() {
    if !has("cmake") {
        return;
    }
    let lists = "cmake_minimum_required(VERSION 3.10)\nproject(work C CXX Fortran)\n\
        add_executable(work main.c more.cc part.f90)\n";
    let Some(place) = project("languages-cmake", &[("CMakeLists.txt", lists)]) else { return };
    let defined = "-DCMAKE_C_COMPILER=gmon-cc -DCMAKE_CXX_COMPILER=gmon-c++ -DCMAKE_Fortran_COMPILER=gmon-fortran";
    for way in [format!("{} cmake -B one", COMMANDS[0]), format!("cmake -B one {defined}")] {
        counts_in_each_language(&place, &format!("rm -rf one; {way} && cmake --build one"), "one/work");
    }
}

#[test]
fn meson() {
    if !has("meson") || !has("ninja") {
        return;
    }
    let build = "project('work', 'c', 'cpp', 'fortran')\nexecutable('work', 'main.c', 'more.cc', 'part.f90')\n";
    let native = "[binaries]\nc = 'gmon-cc'\ncpp = 'gmon-c++'\nfortran = 'gmon-fortran'\n";
    let Some(place) = project("languages-meson", &[("meson.build", build), ("native.ini", native)]) else { return };
    for way in [format!("{} meson setup one", COMMANDS[0]), "meson setup --native-file native.ini one".to_owned()] {
        counts_in_each_language(&place, &format!("rm -rf one; {way} && ninja -C one"), "one/work");
    }
}

#[test]
fn autotools() {
    if !has("autoconf") || !has("automake") {
        return;
    }
    // configure finds the libraries of Fortran in what gmon-fortran -v prints.
    let configure = "AC_INIT([work], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_PROG_CXX\nAC_PROG_FC\n\
        AC_FC_SRCEXT([f90])\nAC_FC_LIBRARY_LDFLAGS\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n";
    let made = "bin_PROGRAMS = work\nwork_SOURCES = main.c more.cc part.f90\nwork_LDADD = $(FCLIBS)\n";
    let files = [("configure.ac", configure), ("Makefile.am", made)];
    let Some(place) = project("languages-autotools", &files) else { return };
    let configured = format!("autoreconf --install && ./configure {} && make", COMMANDS[0]);
    counts_in_each_language(&place, &configured, "work");
}

#[test]
fn build_scripts_of_cargo() {
    // The crate cc, in the version that the workspace has locked and cargo therefore has here.
    let manifest = "[package]\nname = 'work'\nversion = '1.0.0'\nedition = '2021'\nbuild = 'build.rs'\n\
        [build-dependencies]\ncc = '1'\n[workspace]\n";
    let script = r#"fn main() {
        cc::Build::new().file("main.c").define("NO_MAIN", None).compile("part_in_c");
        cc::Build::new().cpp(true).file("more.cc").compile("part_in_cxx");
        cc::Build::new().compiler(std::env::var("FC").unwrap()).file("part.f90").compile("part_in_fortran");
        println!("cargo:rustc-link-lib=gfortran");
    }"#;
    let main = r#"extern "C" { fn call_all() -> i32; }
    fn main() {
        assert!(unsafe { call_all() } > 0);
        println!("calls in_c 11\ncalls in_cxx 22\ncalls in_fortran 33");
    }"#;
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let files = [("Cargo.toml", manifest), ("Cargo.lock", &lock), ("build.rs", script), ("src/main.rs", main)];
    let Some(place) = project("languages-cargo", &files) else { return };
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let build = format!(
        "export {} RUSTFLAGS=-Clinker=gmon-cc CARGO_TARGET_DIR=$PWD/target; unset CARGO_ENCODED_RUSTFLAGS; \
         '{cargo}' build --offline",
        COMMANDS[0]
    );
    counts_in_each_language(&place, &build, "target/debug/work");
}

// Fails if the name of a link tells no language, or if the link of the default name is run forever.
#[test]
fn under_the_compilers_own_names() {
    let Some(place) = project("languages-names", &[]) else { return };
    let links = place.join("links");
    fs::create_dir(&links).unwrap();
    let names = ["c++", "g++", "clang++-99", "x86_64-linux-gnu-g++", "gfortran", "f95", "flang"];
    for name in names {
        symlink(wrapper(), links.join(name)).unwrap();
    }
    symlink(Path::new(wrapper()).with_file_name("gmon-c++"), links.join("profiled")).unwrap();
    let path = "PATH=$PWD/links:$PATH";
    shell(&place, "gmon-cc -c main.c; gmon-c++ -c more.cc; gmon-fortran -c part.f90");
    for name in names.into_iter().chain(["profiled"]) {
        let [library, source] = if name.starts_with('f') || name.starts_with("gf") {
            ["stdc++", "part.f90"]
        } else {
            ["gfortran", "more.cc"]
        };
        let object = Path::new(source).with_extension("o").display().to_string();
        let others = ["main.o", "more.o", "part.o"].into_iter().filter(|name| *name != object);
        let objects = others.collect::<Vec<_>>().join(" ");
        counts_in_each_language(&place, &format!("{path}; {name} {source} {objects} -l{library} -o work"), "work");
    }
}

#[test]
fn what_the_commands_say() {
    let Some(place) = project("languages-messages", &[]) else { return };
    gmon_tests::write_script(&place.join("other"), "#!/bin/sh\nexec gmon-cc \"$@\"\n");
    for (command, variable, compiler) in [("gmon-c++", "CXX", "c++"), ("gmon-fortran", "FC", "gfortran")] {
        let told = |script: &str| {
            let output = shell(&place, script);
            let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            (output.status.code(), stdout, stderr)
        };
        let (_, theirs, _) = told(&format!("{compiler} --version"));
        let (_, target, _) = told(&format!("{compiler} -dumpmachine"));
        let ours = format!("{theirs}{command} (gmon toolchain) {} for {target}", env!("CARGO_PKG_VERSION"));
        // $CC is for gmon-cc alone.
        assert_eq!(told(&format!("CC=false {command} --version")), (Some(0), ours, String::new()));
        let missing = format!("{command}: cannot find the compiler ./missing: set {variable}\n");
        assert_eq!(told(&format!("{variable}=./missing {command} -v")), (Some(1), String::new(), missing));
        let loops =
            format!("gmon-cc: the compiler ./other runs gmon-cc again: set GMON_{variable} to the compiler itself\n");
        assert_eq!(told(&format!("GMON_{variable}=./other {command} -v")), (Some(1), String::new(), loops));
        // The only compiler in PATH is a link to the command.
        let none =
            format!("{command}: every {compiler} in PATH is {command} itself: set GMON_{variable} to the compiler\n");
        let links = format!(
            "mkdir {variable}; ln -s \"$(command -v {command})\" {variable}/{compiler}; \
             ln -s \"$(command -v readlink)\" {variable}/; export PATH=$PWD/{variable}; {compiler} -v"
        );
        assert_eq!(told(&links), (Some(1), String::new(), none));
    }
}
