//! Walks where the kernel does not say which memory can be read, and stacks that cannot be written.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use gmon::side_file::{CutReason, SideFile};

use crate::contexts::{check_sums, side_file};
use crate::support::{Program, quiet, ticks};

fn compile(name: &str) -> Program {
    Program::compile(&format!("walks-{name}"), "walks.c", &["-O1"])
}

fn side(program: &Program) -> SideFile {
    let side = side_file(&program.directory.join("gmon.out.side"));
    check_sums(&side, &program.profile());
    side
}

/// The ticks without a stack, for one reason.
fn unwalked(side: &SideFile, reason: CutReason) -> u64 {
    side.unwalked().filter(|(found, _)| *found == reason).map(|(_, ticks)| ticks).sum()
}

fn said(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Whether the program ended because the kernel has no filters.
fn lacks_filters(output: &Output) -> bool {
    let lacks = output.status.code() == Some(77);
    if lacks {
        println!("\nSKIPPED: system-call filters: this system has none");
    }
    lacks
}

/// A walk that reads where the frame pointer leads would end the program by SIGSEGV.
#[test]
fn a_filter_that_answers_for_the_kernel_makes_no_memory_readable() {
    let program = compile("filters");
    quiet(&program.command(&["misled"]).output().unwrap());
    let in_function = || ticks(&program.profile(), program.symbols())["misled"];
    assert!(in_function() >= 5);
    assert!(side(&program).contexts().total() >= 5, "without a filter, the frames up to the garbage are known");
    for who in ["own", "inherited"] {
        // Success, EPERM, EFAULT, EINVAL.
        for error in ["0", "1", "14", "22"] {
            let output = program.command(&[who, error]).output().unwrap();
            if lacks_filters(&output) {
                return;
            }
            assert!(output.status.success(), "{who} {error}: {output:?}");
            assert!(in_function() >= 5, "{who} {error}");
            assert!(unwalked(&side(&program), CutReason::UNREADABLE) >= 5, "{who} {error}");
        }
    }
}

/// A walk asks only questions to which the kernel's answer is no error, because an error costs as much as a walk.
#[test]
fn walks_ask_about_memory_in_a_way_that_filters_know() {
    let program = compile("usual");
    let output = program.command(&["usual"]).output().unwrap();
    if lacks_filters(&output) {
        return;
    }
    quiet(&output);
    let side = side(&program);
    assert!(side.contexts().total() >= 5);
    assert_eq!(unwalked(&side, CutReason::UNREADABLE), 0);
}

/// The tick of a walk that never ends is in the bins, and not in the tree.
#[test]
fn a_walk_that_never_ends_delays_no_exit_and_loses_no_tick() {
    let program = compile("stalled");
    for words in [&["stalled"][..], &["stalled", "killed"]] {
        let output = program.command(words).output().unwrap();
        if lacks_filters(&output) {
            return;
        }
        assert_eq!((output.status.success(), said(&output)), (words.len() == 1, ""), "{output:?}");
        let side = side(&program);
        assert!(unwalked(&side, CutReason::STILL_WALKING) >= 1, "{words:?}");
        assert!(side.contexts().total() >= 5, "{words:?}: the walks of the other thread have ended");
    }
}

#[test]
fn valgrind_finds_no_error_in_a_profiled_program() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("\nSKIPPED: walks under valgrind: no valgrind here");
        return;
    }
    let program = Program::compile("walks-valgrind", "contexts.c", &["-O1"]);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["-q", "--error-exitcode=9"]).arg(&program.executable).args(["recursion", "50"]);
    quiet(&valgrind.current_dir(&program.directory).output().unwrap());
    let side = side_file(&program.directory.join("gmon.out.side"));
    assert!(side.contexts().nodes().is_empty());
    assert_eq!(side.unwalked().count(), 0);
}

#[test]
fn stacks_that_cannot_be_written_are_reported() {
    let program = compile("obstacle");
    let path = program.directory.join("gmon.out.side");
    fs::create_dir(&path).unwrap();
    let output = program.command(&["misled"]).output().unwrap();
    assert_eq!(said(&output), "gmon: gmon.out.side: cannot open: is a directory (error 21)\n");
    fs::remove_dir(&path).unwrap();

    let target = program.directory.join("target");
    fs::write(&target, "precious").unwrap();
    symlink(&target, &path).unwrap();
    let output = program.command(&["misled"]).output().unwrap();
    assert_eq!(said(&output), "gmon: gmon.out.side: cannot open: is a symbolic link (error 40)\n");
    assert_eq!(fs::read(&target).unwrap(), b"precious");

    let output = program.command(&["misled"]).env("GMON_OBJECTS", "0").output().unwrap();
    assert_eq!(said(&output), "", "no side file is wanted");
}

#[test]
fn stacks_that_a_filter_forbids_to_write_are_reported() {
    let program = compile("forbidden");
    let run = |what: &str, variables: &[(&str, &str)]| {
        let file = program.directory.join("stderr");
        let mut command = program.command(&[what]);
        let mut output =
            command.envs(variables.iter().copied()).stderr(fs::File::create(&file).unwrap()).output().unwrap();
        output.stderr = fs::read(&file).unwrap();
        output
    };
    let output = run("unwritable", &[]);
    if lacks_filters(&output) {
        return;
    }
    assert!(output.status.success(), "{output:?}");
    let lost = |what: &str| format!("gmon: {what} lost: the program's seccomp filter forbids writing files\n");
    // A sample in a shared object comes by chance.
    let expected = ["calling contexts are", "calling contexts and counts of shared objects are"].map(lost);
    assert!(expected.iter().any(|line| line == said(&output)), "{output:?}");
    assert_eq!(said(&run("unwritable", &[("GMON_OBJECTS", "0")])), "", "no side file is wanted");
}

/// The bins get no tick without a stack at the end, because a handler announces its walk and then looks whether ticks
/// are counted. AArch64 keeps this order only if the look is a load-acquire.
#[test]
fn a_walk_is_announced_before_the_handler_looks_whether_ticks_are_counted() {
    let Some(library) = gmon_tests::start_objects_for("aarch64") else { return };
    let object = library.join("gcrt1.o");
    let disassembled = |tool: &&str| {
        let output = Command::new(tool).arg("-d").arg(&object).output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    // A hash follows the name in the older of Rust's two ways to mangle names.
    let is_start = |line: &str| {
        ["samples4bins5count>:", "samples4bins5count17h"].iter().any(|name| line.contains(name) && line.ends_with(">:"))
    };
    let tools = ["aarch64-linux-gnu-objdump", "llvm-objdump", "objdump"];
    let Some(listing) = tools.iter().filter_map(disassembled).find(|listing| listing.lines().any(is_start)) else {
        println!("\nSKIPPED: the order of loads: no disassembler for aarch64 here");
        return;
    };
    let mut lines = listing.lines().skip_while(|line| !is_start(line)).skip(1);
    let function: Vec<_> = lines.by_ref().take_while(|line| !line.trim().is_empty()).collect();
    assert!(function.iter().any(|line| line.contains("ldar")), "{function:#?}");
}
