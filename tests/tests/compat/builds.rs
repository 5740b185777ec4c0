//! `gmon-cc` as the compiler of build systems, which pass `$CC` to the compiler and thereby tell gmon-cc to run itself.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::kit::{is_there, wrapper};
use crate::support::{directory, tool};

const SOURCE: &str = "int twice(int number) { return 2 * number; }\nint main(void) { return twice(0); }\n";

/// Whether a tool is available here; tests without their tool print SKIPPED.
pub(crate) fn has(name: &str) -> bool {
    let found = is_there(name);
    if !found {
        eprintln!("SKIPPED: gmon-cc with {name}: no {name} on this system");
    }
    found
}

/// An empty directory with a program's source, `work.c`.
fn project(name: &str) -> PathBuf {
    let place = directory(name);
    fs::write(place.join("work.c"), SOURCE).unwrap();
    place
}

/// A shell command in a directory, with gmon-cc in PATH, its path in `$WRAPPER`, and no CC except one that the command
/// sets. Compilers that start each other forever are stopped.
pub(crate) fn shell(place: &Path, script: &str) -> Output {
    let bin = Path::new(wrapper()).parent().unwrap().to_str().unwrap();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    let mut command = Command::new("timeout");
    command.args(["300", "sh", "-c", script]).current_dir(place);
    command.env("PATH", path).env("WRAPPER", wrapper()).env("CCACHE_DIR", place.join("cache"));
    let compilers = ["CC", "CXX", "FC", "F77", "GMON_CC", "GMON_CXX", "GMON_FC", "GMON_CC_RUNS", "GMON_CC_RUNS_FOR"];
    for variable in compilers.into_iter().chain(["CFLAGS", "LDFLAGS", "MAKEFLAGS", "MAKELEVEL"]) {
        command.env_remove(variable);
    }
    command.output().unwrap()
}

/// Runs the script that builds `program`. The program must then be profiled by our runtime.
pub(crate) fn builds(place: &Path, script: &str, program: &str) {
    let output = shell(place, script);
    let said = || [&output.stdout[..], &output.stderr].concat().escape_ascii().to_string();
    assert!(output.status.success(), "{script}: {:?} {}", output.status, said());
    let program = place.join(program);
    let names = tool("nm", &[program.to_str().unwrap()]);
    assert!(names.contains(" gmon_thread\n"), "{script}: not our runtime; {}", said());
    let ran = Command::new(&program).current_dir(place).status().unwrap();
    assert!(ran.success() && fs::remove_file(place.join("gmon.out")).is_ok(), "{script}: no profile");
}

/// Values of `$CC`: the wrapper by name, by path, with options, and behind another wrapper.
fn compilers() -> Vec<&'static str> {
    let mut compilers = vec!["gmon-cc", "$WRAPPER", "gmon-cc -O1 -g"];
    if has("ccache") {
        compilers.extend(["ccache gmon-cc", "ccache $WRAPPER -O1"]);
    }
    compilers
}

#[test]
fn make() {
    let place = project("builds-make");
    fs::write(place.join("Makefile"), "work: work.c\n\t+$(MAKE) -f deeper.mk work\n").unwrap();
    fs::write(place.join("deeper.mk"), "work: work.o\n\t$(CC) -o $@ $^\n").unwrap();
    for compiler in compilers() {
        builds(&place, &format!("make CC=\"{compiler}\""), "work");
        builds(&place, &format!("rm work work.o; CC=\"{compiler}\" make"), "work");
        fs::remove_file(place.join("work")).unwrap();
        fs::remove_file(place.join("work.o")).unwrap();
    }
    if has("clang") {
        builds(&place, "make CC=gmon-cc GMON_CC=clang", "work");
        let comment = tool("readelf", &["-p", ".comment", place.join("work").to_str().unwrap()]);
        assert!(comment.contains("clang"), "{comment}");
    }
}

#[test]
fn cmake() {
    if !has("cmake") {
        return;
    }
    let place = project("builds-cmake");
    let lists = "cmake_minimum_required(VERSION 3.10)\nproject(work C)\nadd_executable(work work.c)\n";
    fs::write(place.join("CMakeLists.txt"), lists).unwrap();
    let mut ways = vec![
        "CC=gmon-cc cmake -B one".to_owned(),
        "cmake -B one -DCMAKE_C_COMPILER=gmon-cc".to_owned(),
        "CC=$WRAPPER cmake -B one -DCMAKE_C_COMPILER=$WRAPPER".to_owned(),
    ];
    if has("ccache") {
        ways.push("CC='ccache gmon-cc' cmake -B one".to_owned());
        ways.push("CC=gmon-cc cmake -B one -DCMAKE_C_COMPILER_LAUNCHER=ccache".to_owned());
    }
    for way in ways {
        builds(&place, &format!("rm -rf one; {way} && cmake --build one --verbose"), "one/work");
    }
}

#[test]
fn meson() {
    if !has("meson") || !has("ninja") {
        return;
    }
    let place = project("builds-meson");
    fs::write(place.join("meson.build"), "project('work', 'c')\nexecutable('work', 'work.c')\n").unwrap();
    fs::write(place.join("native.ini"), "[binaries]\nc = 'gmon-cc'\n").unwrap();
    let ways = compilers().into_iter().map(|compiler| format!("CC=\"{compiler}\" meson setup one"));
    for way in ways.chain(["CC=gmon-cc meson setup --native-file native.ini one".to_owned()]) {
        builds(&place, &format!("rm -rf one; {way} && ninja -C one"), "one/work");
    }
}

#[test]
fn autotools() {
    if !has("autoconf") || !has("automake") {
        return;
    }
    let place = project("builds-autotools");
    let configure = "AC_INIT([work], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CHECK_FUNCS([memcpy])\n\
        AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n";
    fs::write(place.join("configure.ac"), configure).unwrap();
    fs::write(place.join("Makefile.am"), "bin_PROGRAMS = work\nwork_SOURCES = work.c\n").unwrap();
    let made = shell(&place, "autoreconf --install");
    assert!(made.status.success(), "{made:?}");
    let compilers = compilers();
    for compiler in &compilers {
        let clean = "rm -rf one && mkdir one && cd one";
        builds(&place, &format!("{clean} && ../configure CC=\"{compiler}\" && make"), "one/work");
    }
    let exported = "rm -rf one && mkdir one && cd one && export CC=gmon-cc && ../configure && make -e";
    builds(&place, exported, "one/work");
}

#[test]
fn under_the_compilers_own_name() {
    let place = project("builds-names");
    let links = place.join("links");
    fs::create_dir(&links).unwrap();
    for name in ["cc", "gcc", "profiled"] {
        symlink(wrapper(), links.join(name)).unwrap();
    }
    // A second copy that is not in PATH.
    tool("cp", &[wrapper(), place.join("gmon-cc").to_str().unwrap()]);
    for compile in ["cc", "gcc", "CC=gcc cc", "CC=links/profiled gmon-cc", "CC='env A=b profiled' $WRAPPER"] {
        builds(&place, &format!("PATH=$PWD/links:$PATH; {compile} work.c -o work"), "work");
    }
    builds(&place, "CC=./gmon-cc gmon-cc work.c -o work", "work");
}

#[test]
fn a_compiler_that_runs_the_wrapper_is_refused() {
    let place = project("builds-loop");
    let other = place.join("other-cc");
    gmon_tests::write_script(&other, "#!/bin/sh\nexec gmon-cc \"$@\"\n");
    for variable in ["CC", "GMON_CC"] {
        let output = shell(&place, &format!("{variable}=./other-cc gmon-cc work.c"));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let expected = "gmon-cc: the compiler ./other-cc runs gmon-cc again: set GMON_CC to the compiler itself\n";
        assert_eq!(said, expected);
    }
    builds(&place, "CC=./other-cc GMON_CC=cc gmon-cc work.c -o work", "work");
}

#[test]
fn the_version_follows_the_compilers() {
    let place = project("builds-version");
    for compiler in ["cc", "clang"].into_iter().filter(|name| has(name)) {
        let told = |command: &str| {
            let output = shell(&place, command);
            assert!(output.status.success(), "{command}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let target = told(&format!("{compiler} -dumpmachine"));
        let theirs = told(&format!("{compiler} --version"));
        let ours = format!("{theirs}gmon-cc (gmon toolchain) {} for {target}", env!("CARGO_PKG_VERSION"));
        assert_eq!(told(&format!("CC={compiler} gmon-cc --version")), ours);
    }
    // The status of a compiler that fails is the status of gmon-cc.
    let failing = shell(&place, "CC=false gmon-cc --version");
    assert_eq!((failing.status.code(), failing.stdout), (Some(1), Vec::new()));
}

#[test]
fn queries_and_compilations_work_as_with_the_compiler() {
    let place = project("builds-questions");
    for compiler in ["cc", "clang"].into_iter().filter(|name| has(name)) {
        for words in
            ["", "-c --version", "--help", "-v", "-###", "-dumpmachine", "-dumpversion", "-E", "-M", "-c missing.c"]
        {
            let ours = shell(&place, &format!("CC={compiler} gmon-cc {words}"));
            let theirs = shell(&place, &format!("{compiler} {words}"));
            assert_eq!(ours, theirs, "{compiler} {words}");
        }
        for words in ["-E work.c", "-dM -E work.c", "-M work.c", "-MM work.c", "-c work.c -v", "-E - <work.c"] {
            let ours = shell(&place, &format!("CC={compiler} gmon-cc {words}"));
            let theirs = shell(&place, &format!("{compiler} {words}"));
            assert_eq!((ours.status, ours.stdout), (theirs.status, theirs.stdout), "{compiler} {words}");
        }
        let assembly = shell(&place, &format!("CC={compiler} gmon-cc -S -o - -x c - <work.c"));
        assert!(String::from_utf8(assembly.stdout).unwrap().contains("mcount"), "{compiler}");
        let verbose = shell(&place, &format!("CC={compiler} gmon-cc -v work.c -o work"));
        assert!(String::from_utf8(verbose.stderr).unwrap().contains("gcrt1.o"), "{compiler}");
    }
}
