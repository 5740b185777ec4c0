//! `gmon-cc`: one command, wherever it is installed and whatever the compiler is.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::kit::{exact, installed, is_there, wrapper};
use crate::support::{Program, compare, directory, root, tool};

/// Runs the wrapper with that compiler, or without one.
fn run(path: &str, compiler: Option<&str>, arguments: &[&str], place: &PathBuf) -> Output {
    let mut command = Command::new(path);
    match compiler {
        Some(compiler) => command.env("CC", compiler),
        None => command.env_remove("CC"),
    };
    command.args(arguments).current_dir(place).output().unwrap()
}

#[test]
fn every_compiler_in_every_link_mode() {
    let with = |compiler: &str| format!("CC={compiler}");
    let compilers = ["cc", "gcc -O2", "clang", "clang -O1 -g", "musl-gcc"];
    for compiler in compilers.into_iter().filter(|name| is_there(name.split(' ').next().unwrap())) {
        for mode in ["-O1", "-static", "-static-pie"] {
            let name = format!("wrapper-{}{mode}", compiler.replace(' ', ""));
            let (compiler, include) = (with(compiler), "-Wno-attributes");
            let command = ["env", &compiler, wrapper()];
            let program = Program::build(&command, &name, "calls.c", &[mode, include]).unwrap();
            exact(&program, &["2", "100"]);
        }
    }
    if is_there("gfortran") {
        let command = ["env", "CC=gfortran", wrapper()];
        let program = Program::build(&command, "wrapper-gfortran", "sums.f90", &["-O1", "-fno-inline"]).unwrap();
        program.run(&[]);
        compare("calls outer_ 40\ncalls inner_ 820\n", &program.profile(), program.symbols());
    }
    for compiler in ["c++", "clang++"].into_iter().filter(|name| is_there(name)) {
        let command = ["env", &with(compiler), wrapper()];
        let program = Program::build(&command, &format!("wrapper-{compiler}"), "exceptions.cc", &["-O1"]).unwrap();
        exact(&program, &[]);
    }
}

#[test]
fn from_anywhere_and_through_links() {
    let place = installed("wrapper moved");
    let bin = place.join("bin");
    fs::create_dir(&bin).unwrap();
    symlink("../a prefix/bin/gmon-cc", bin.join("first")).unwrap();
    symlink("first", bin.join("second")).unwrap();
    let source = root().join("tests/programs/control.c");
    // It finds its objects and gmon.h without help, through a link, by path, and by PATH.
    for (number, path) in ["bin/second", "a prefix/bin/gmon-cc", "./bin/first"].into_iter().enumerate() {
        let name = format!("program{number}");
        let path = place.join(path);
        let output = run(path.to_str().unwrap(), None, &[source.to_str().unwrap(), "-o", &name], &place);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let ran = Command::new(place.join(&name)).current_dir(&place).output().unwrap();
        assert!(ran.status.success() && place.join("gmon.out").exists());
        fs::remove_file(place.join("gmon.out")).unwrap();
    }
    let script = format!("PATH='{}':$PATH; CDPATH=/; export PATH CDPATH; second '{}'", bin.display(), source.display());
    let output = run("sh", None, &["-c", &script], &place);
    assert!(output.status.success() && output.stderr.is_empty() && output.stdout.is_empty(), "{output:?}");
}

#[test]
fn every_program_has_the_index_of_its_unwind_tables() {
    let place = directory("wrapper-index");
    let source = root().join("tests/programs/calls.c").to_str().unwrap().to_owned();
    for compiler in ["cc", "clang", "musl-gcc"].into_iter().filter(|name| is_there(name)) {
        for mode in ["-O1", "-static", "-static-pie"] {
            let output = run(wrapper(), Some(compiler), &["-w", mode, &source, "-o", "program"], &place);
            assert!(output.status.success() && output.stderr.is_empty(), "{compiler} {mode}: {output:?}");
            let headers = tool("readelf", &["-lW", place.join("program").to_str().unwrap()]);
            assert!(headers.contains("GNU_EH_FRAME"), "{compiler} {mode}: {headers}");
            // Without a link, the compiler must not get an option for the linker, about which clang warns.
            let output = run(wrapper(), Some(compiler), &["-w", mode, "-Werror", "-c", &source], &place);
            assert!(output.status.success() && output.stderr.is_empty(), "{compiler} {mode}: {output:?}");
        }
    }
}

#[test]
fn separate_steps_and_links_that_are_not_programs() {
    let place = directory("wrapper-steps");
    let source = root().join("tests/programs/calls.c").to_str().unwrap().to_owned();
    let compilers = ["cc", "clang", "musl-gcc"].into_iter().filter(|name| is_there(name));
    for compiler in compilers {
        let run = |arguments: &[&str]| {
            let output = run(wrapper(), Some(compiler), arguments, &place);
            assert!(output.status.success(), "{compiler} {arguments:?}: {output:?}");
            output.stdout
        };
        run(&["-w", "-O1", "-c", &source, "-o", "calls.o"]);
        let names = tool("nm", &[place.join("calls.o").to_str().unwrap()]);
        assert!(names.contains("U mcount") && !names.contains("T mcount"), "{names}");
        assert!(run(&["-w", "-E", &source]).starts_with(b"# "));
        run(&["-w", "-fPIC", "-shared", &source, "-o", "calls.so"]);
        let names = tool("nm", &["-D", place.join("calls.so").to_str().unwrap()]);
        assert!(names.contains("U mcount"), "a shared object must use the program's mcount: {names}");
        run(&["calls.o", "-lpthread", "-o", "program"]);
        let ran = Command::new(place.join("program")).current_dir(&place).status().unwrap();
        assert!(ran.success() && place.join("gmon.out").exists());
        fs::remove_file(place.join("gmon.out")).unwrap();
    }
}

#[test]
fn missing_features_are_reported() {
    let place = directory("wrapper-lacks");
    let output = run(wrapper(), Some("/nowhere/cc -O1"), &["x.c"], &place);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "gmon-cc: cannot find the compiler /nowhere/cc -O1: set CC\n");
    // A machine without objects.
    let foreign = place.join("foreign-cc");
    gmon_tests::write_script(&foreign, "#!/bin/sh\necho sparc64-unknown-linux-gnu\n");
    let output = run(wrapper(), Some(foreign.to_str().unwrap()), &["x.c"], &place);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("gmon-cc: no start-up objects for sparc64: there is no "), "{said}");
}

/// Start-up objects for the BSDs: the directories, and the compiler's option.
const BSDS: [(&str, &str, &str); 4] = [
    ("freebsd-amd64", "gcrt1.o", "x86_64-unknown-freebsd14"),
    ("freebsd-aarch64", "gcrt1.o", "aarch64-unknown-freebsd14"),
    ("openbsd-amd64", "gcrt0.o", "x86_64-unknown-openbsd7.8"),
    ("openbsd-aarch64", "gcrt0.o", "aarch64-unknown-openbsd7.8"),
];

/// Says which start-up object clang links for a BSD and how, without linking: the objects are empty files.
fn for_bsd(place: &PathBuf, target: &str, arguments: &[&str]) -> Output {
    let compiler = format!("clang --target={target}");
    let path = place.join("a prefix/bin/gmon-cc");
    run(path.to_str().unwrap(), Some(&compiler), &[&["-###"], arguments].concat(), place)
}

#[test]
fn clang_links_the_object_of_each_bsd() {
    if !is_there("clang") {
        println!("\nSKIPPED: gmon-cc for the BSDs: no clang on this system");
        return;
    }
    let place = installed("wrapper-bsds");
    fs::write(place.join("x.o"), "").unwrap();
    let library = place.join("a prefix/lib/gmon");
    let text = |output: Output| String::from_utf8(output.stderr).unwrap();
    for (directory, object, target) in BSDS {
        let said = text(for_bsd(&place, target, &["x.o"]));
        let absent = library.join(directory).join(object);
        assert!(
            said.starts_with("gmon-cc: no start-up objects for ") && said.contains(absent.to_str().unwrap()),
            "{said}"
        );
        fs::create_dir(library.join(directory)).unwrap();
        fs::write(&absent, "").unwrap();
        for mode in ["-O1", "-static", "-nopie"] {
            let linked = for_bsd(&place, target, &["x.o", mode]);
            assert!(linked.status.success());
            let linked = text(linked);
            assert!(linked.contains(&format!("\"{}\"", absent.display())), "{target} {mode}: {linked}");
            // The kernel of OpenBSD samples only static programs.
            let is_static = mode == "-static" || object == "gcrt0.o";
            assert_eq!(linked.contains("\"-Bstatic\""), is_static, "{target} {mode}: {linked}");
        }
        let shared = text(for_bsd(&place, target, &["-shared", "x.o"]));
        assert!(!shared.contains(object) && !shared.contains("-Bstatic"), "{target}: {shared}");
    }
}

#[test]
fn links_that_freebsd_does_not_have_are_refused() {
    if !is_there("clang") {
        println!("\nSKIPPED: gmon-cc for FreeBSD: no clang on this system");
        return;
    }
    let place = installed("wrapper-freebsd");
    fs::write(place.join("x.o"), "").unwrap();
    fs::write(place.join("x.c"), "").unwrap();
    let library = place.join("a prefix/lib/gmon/freebsd-amd64");
    fs::create_dir(&library).unwrap();
    fs::write(library.join("gcrt1.o"), "").unwrap();
    for modes in [&["-static-pie"][..], &["-static", "-pie"], &["-pie", "-static"]] {
        let output = for_bsd(&place, "x86_64-unknown-freebsd14", &[&["x.o"], modes].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        let expected = "gmon-cc: FreeBSD has no static position-independent programs: use -static or -pie alone\n";
        assert_eq!((output.status.code(), said.as_str()), (Some(1), expected));
    }
    let old = "x86_64-unknown-freebsd13.2";
    let said = String::from_utf8(for_bsd(&place, old, &["x.o"]).stderr).unwrap();
    let expected = "gmon-cc: gmon needs FreeBSD 14 or later, but the compiler links for x86_64-unknown-freebsd13.2: use another, \
        such as clang --target=x86_64-unknown-freebsd14\n";
    assert_eq!(said, expected);
    assert!(for_bsd(&place, old, &["-c", "x.c"]).status.success());
}

#[test]
fn the_objects_of_freebsd_itself_are_in_the_usual_directory() {
    let place = installed("wrapper-native");
    let path = place.join("a prefix/bin/gmon-cc");
    let script = fs::read_to_string(root().join("runtime/gmon-cc.sh")).unwrap();
    let compiler = place.join("some-cc");
    for (host, machine) in
        [("amd64", "x86_64-unknown-freebsd14.2"), ("arm64", "aarch64-unknown-freebsd15.0"), ("amd64", "")]
    {
        gmon_tests::write_script(&path, &script.replace("@HOST@", host).replace("@SYSTEM@", "FreeBSD"));
        // Without a machine, the compiler does not know the option.
        let answer = if machine.is_empty() { "exit 1".to_owned() } else { format!("echo {machine}; exit") };
        let text = format!("#!/bin/sh\ncase $1 in -dumpmachine) {answer} ;; esac\nprintf '%s ' \"$@\"\n");
        gmon_tests::write_script(&compiler, &text);
        let output = run(path.to_str().unwrap(), Some(compiler.to_str().unwrap()), &["x.o"], &place);
        let said = String::from_utf8(output.stdout).unwrap();
        let library = place.join("a prefix/lib/gmon");
        let expected = format!("-pg -B{} -I{} x.o ", library.display(), place.join("a prefix/include").display());
        assert_eq!(said, expected, "{host} {machine}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
