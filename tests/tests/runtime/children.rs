//! Files of fork children: `GMON_CHILDREN`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use gmon::side_file::{CutReason, PROGRAM};
use gmon_tests::side::Side;

use crate::support::{Program, calls, quiet, read, ticks};

/// The names of the files in a program's directory that begin with `gmon`.
fn files(program: &Program) -> Vec<String> {
    let names = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> =
        names.map(|name| name.into_string().unwrap()).filter(|name| name.starts_with("gmon")).collect();
    names.sort();
    names
}

/// The only sum of a program's children.
fn sum(program: &Program) -> PathBuf {
    let names = files(program);
    let sums: Vec<_> = names.iter().filter(|name| name.contains(".children-") && name.ends_with(".out")).collect();
    assert_eq!(sums.len(), 1, "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with(".new")), "no temporary file may remain: {names:?}");
    program.directory.join(sums[0])
}

/// The names of files that should have become sums.
fn unfinished(program: &Program) -> Vec<String> {
    files(program).into_iter().filter(|name| name.ends_with(".new")).collect()
}

fn summing(program: &Program, arguments: &[&str]) -> Command {
    let mut command = program.command(arguments);
    command.env("GMON_CHILDREN", "sum");
    command
}

#[test]
fn all_children_are_in_one_sum_in_every_form() {
    let program = Program::compile("children-forms", "children.c", &[]);
    for form in ["openbsd", "bsd", "freebsd", "gnu"] {
        quiet(&summing(&program, &["40"]).env("GMON_FORMAT", form).output().unwrap());
        let path = sum(&program);
        let names = files(&program);
        let of_children: Vec<&str> =
            names.iter().filter_map(|name| name.strip_prefix("gmon.program.children-")).collect();
        assert!(matches!(of_children[..], [_, side] if side.ends_with(".out.side")), "{names:?}");
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes.starts_with(b"gmon"), form == "gnu", "{form}");
        if form == "openbsd" {
            let bytes =
                |offset: usize| usize::try_from(i32::from_ne_bytes(bytes[offset..][..4].try_into().unwrap())).unwrap();
            assert_eq!(
                bytes(16) + bytes(28),
                fs::metadata(&path).unwrap().len() as usize,
                "the header must count all arcs"
            );
        }
        assert_eq!(calls(&read(&path), program.symbols())["calls kept"], 40 * 100, "{form}");
        // The next run adds to the sum, in its own form.
        quiet(&summing(&program, &["8"]).output().unwrap());
        assert_eq!(calls(&read(&path), program.symbols())["calls kept"], 48 * 100, "{form}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn the_name_tells_the_program_and_its_build() {
    let program = Program::compile("children-names", "children.c", &["-Wl,--build-id=0x1234abcd00ff"]);
    quiet(&summing(&program, &["3"]).output().unwrap());
    assert_eq!(sum(&program).file_name().unwrap(), "gmon.program.children-1234abcd.out");
    let place = program.directory.join("place");
    fs::create_dir(&place).unwrap();
    quiet(&summing(&program, &["3"]).env("PROFDIR", &place).output().unwrap());
    assert_eq!(calls(&read(&place.join("gmon.program.children-1234abcd.out")), program.symbols())["calls kept"], 300);
    quiet(&summing(&program, &["3"]).env("GMON_OUT_PREFIX", "place/prefix").output().unwrap());
    assert_eq!(calls(&read(&place.join("prefix.children-1234abcd")), program.symbols())["calls kept"], 300);
    // Without a build ID, the name has a hash of the headers.
    let without = Program::compile("children-nameless", "children.c", &["-Wl,--build-id=none"]);
    quiet(&summing(&without, &["3"]).output().unwrap());
    assert_eq!(calls(&read(&sum(&without)), without.symbols())["calls kept"], 300);
}

#[test]
fn a_child_adds_its_counts_if_the_sum_was_replaced_while_it_waited() {
    let program = Program::compile("children-overtaken", "children.c", &[]);
    // There, files that others may use are not overwritten.
    let private = || {
        let mut command = summing(&program, &["1"]);
        command.env("PROFDIR", &program.directory);
        command
    };
    quiet(&private().output().unwrap());
    let new = PathBuf::from(format!("{}.new", sum(&program).display()));
    let locked = fs::File::create(&new).unwrap();
    locked.lock().unwrap();
    let mut command = private().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let waits = |process: &fs::DirEntry| {
        let descriptors = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        let is_program = fs::read_link(process.path().join("exe")).is_ok_and(|path| path == program.executable);
        is_program && descriptors.into_iter().any(|one| fs::read_link(one.path()).is_ok_and(|target| target == new))
    };
    while !fs::read_dir("/proc").unwrap().flatten().any(|process| waits(&process)) {
        assert!(command.try_wait().unwrap().is_none(), "the program ended before the child waited for the lock");
        sleep(Duration::from_millis(1));
    }
    // Two other children were faster: the file became the sum, and then another file became the sum.
    fs::remove_file(&new).unwrap();
    drop(locked);
    quiet(&command.wait_with_output().unwrap());
    assert_eq!(calls(&read(&sum(&program)), program.symbols())["calls kept"], 200);
}

#[test]
fn killed_children_cost_other_children_nothing() {
    const KILLED: u64 = 300;
    let program = Program::compile("children-killed", "children.c", &[]);
    quiet(&summing(&program, &["600", &KILLED.to_string()]).output().unwrap());
    // The next child overwrites what the last killed child left.
    quiet(&summing(&program, &["1"]).output().unwrap());
    let found = calls(&read(&sum(&program)), program.symbols());
    assert_eq!(found["calls kept"], 601 * 100);
    let doomed = found.get("calls doomed").copied().unwrap_or(0);
    assert!(
        doomed <= KILLED * 100 && doomed.is_multiple_of(100),
        "a killed child must count completely or not at all: {doomed}"
    );
}

#[test]
fn samples_outside_the_program_are_added_up_beside_the_sum() {
    let program = Program::compile("children-outside", "children.c", &[]);
    quiet(&summing(&program, &["10"]).env("SAMPLES", "500").output().unwrap());
    let side = Side::of(&sum(&program));
    let own: u64 = ticks(&read(&sum(&program)), program.symbols()).values().sum();
    assert!((5000..5000 + 200).contains(&(side.samples_outside() + own)), "{side:?} {own}");
    assert_eq!((side.runs(), side.path(PROGRAM)), (10, program.executable.as_path()));
    // A sum has no stacks, and says so of every tick.
    let cuts: Vec<_> = side.unwalked().collect();
    assert_eq!(cuts, [(CutReason::NOT_KEPT, side.samples_outside() + own)]);
}

#[test]
fn a_childs_snapshot_is_removed_after_adding_to_the_sum() {
    let program = Program::compile("children-snapshots", "children.c", &[]);
    quiet(&summing(&program, &["5"]).env("DUMPS", "1").env("SAMPLES", "20").output().unwrap());
    let names = files(&program);
    assert!(names.iter().all(|name| name.starts_with("gmon.out") || name.contains(".children-")), "{names:?}");
    assert_eq!(calls(&read(&sum(&program)), program.symbols())["calls kept"], 500);
}

#[test]
fn other_files_than_the_childs_snapshot_are_not_removed() {
    let program = Program::compile("children-heirs", "children.c", &[]);
    let own = |name: &String| name.starts_with("gmon.program.") && !name.contains(".children-");
    quiet(&summing(&program, &["3"]).env("DUMPS", "1").env("HEIRS", "1").output().unwrap());
    let letters: Vec<_> = files(&program).into_iter().filter(own).collect();
    assert_eq!(letters.len(), 3, "a child of a child with a snapshot must have no snapshot: {letters:?}");
    for letter in letters {
        let path = program.directory.join(letter);
        assert_eq!(fs::read(&path).unwrap(), b"a letter");
        fs::remove_file(path).unwrap();
    }
    let output = summing(&program, &["3"]).env("DUMPS", "1").env("PIPES", "1").output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains(".out: cannot open: "));
    let pipes: Vec<_> = files(&program).into_iter().filter(own).collect();
    assert_eq!(pipes.len(), 3, "the snapshots must not be writable: {pipes:?}");
    assert_eq!(calls(&read(&sum(&program)), program.symbols())["calls kept"], 600);
}

#[test]
fn counts_above_a_bin_are_exact_in_the_sum() {
    // Samples fall in the C library or the kernel here. In a static program, the C library is part of the program.
    let program = Program::compile("children-overflow", "children.c", &["-static"]);
    quiet(&summing(&program, &["4"]).env("SAMPLES", "40000").output().unwrap());
    let profile = read(&sum(&program));
    let own: u64 = ticks(&profile, program.symbols()).values().sum();
    assert!((160_000..160_400).contains(&own), "{own}");
    assert!(profile.histograms().len() > 1 || profile.histograms()[0].hit().any(|(_, count)| count > 65_535));
}

#[test]
fn files_that_are_not_sums_of_this_program_are_left_alone() {
    let program = Program::compile("children-foreign", "children.c", &["-Wl,--build-id=0x1234abcd"]);
    let place = program.directory.join("gmon.program.children-1234abcd.out");
    fs::write(&place, "a letter").unwrap();
    let output = summing(&program, &["1"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("gmon: gmon.program.children-1234abcd.out: using gmon.program."), "{said}");
    let why = " instead: cannot add to, not a sum of this program: invalid argument (error 22)\n";
    assert!(said.ends_with(why), "{said}");
    assert_eq!(fs::read(&place).unwrap(), b"a letter");
    assert_eq!(unfinished(&program), [""; 0]);
    let own = files(&program)
        .into_iter()
        .find(|name| name.starts_with("gmon.program.") && !name.contains("children") && name.ends_with(".out"));
    assert_eq!(calls(&read(&program.directory.join(own.unwrap())), program.symbols())["calls kept"], 100);
}

#[test]
fn children_with_another_rate_leave_files_of_their_own() {
    let program = Program::compile("children-rate", "children.c", &["-Wl,--build-id=0x1234abcd"]);
    for form in ["openbsd", "gnu"] {
        quiet(&summing(&program, &["3"]).env("GMON_FORMAT", form).output().unwrap());
        let before = fs::read(sum(&program)).unwrap();
        let output = summing(&program, &["2"]).envs([("GMON_HZ", "50"), ("GMON_FORMAT", form)]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let why = " instead: cannot add to, samples of another rate: invalid argument (error 22)";
        assert_eq!(said.lines().filter(|line| line.ends_with(why)).count(), 2, "{said}");
        assert_eq!(said.lines().count(), 2, "{said}");
        assert_eq!((fs::read(sum(&program)).unwrap() == before, unfinished(&program)), (true, vec![]));
        let is_own =
            |name: &String| name.starts_with("gmon.program.") && !name.contains("children") && name.ends_with(".out");
        let own: Vec<_> = files(&program).into_iter().filter(is_own).map(|name| program.directory.join(name)).collect();
        let kept: Vec<_> = own.iter().map(|path| calls(&read(path), program.symbols())["calls kept"]).collect();
        assert_eq!(kept, [100, 100], "{form}");
        own.iter().chain([&sum(&program)]).for_each(|path| fs::remove_file(path).unwrap());
    }
}

#[test]
fn children_can_leave_nothing_or_a_file_each() {
    let program = Program::compile("children-none", "children.c", &[]);
    let run = |value: &str| {
        let output = program.command(&["5"]).env("GMON_CHILDREN", value).output().unwrap();
        (
            String::from_utf8(output.stderr).unwrap(),
            files(&program).iter().filter(|name| name.starts_with("gmon.program.") && name.ends_with(".out")).count(),
        )
    };
    assert_eq!(run("none"), (String::new(), 0));
    // The message appears once, because fork children do not start up again.
    assert_eq!(run("all"), ("gmon: GMON_CHILDREN=all is not separate, sum or none: using separate\n".to_owned(), 5));
}

#[test]
fn any_reader_takes_the_sum() {
    let Some(gprof) = gmon_tests::system_gprof() else { return };
    let program = Program::compile("children-judge", "children.c", &[]);
    quiet(&summing(&program, &["12"]).output().unwrap());
    let path = sum(&program);
    let words = ["-b", "-p", "program", path.to_str().unwrap()];
    let printed = quiet(&gmon_tests::read(gprof, &program.directory, &words));
    assert!(printed.lines().any(|line| line.ends_with(" kept") && line.contains(" 1200 ")), "{printed}");
}

#[test]
fn calls_of_a_vfork_child_in_a_new_thread_are_reported() {
    let program = Program::compile("children-vfork", "vfork_thread.c", &[]);
    let output = program.command(&[]).output().unwrap();
    assert!(output.status.success());
    let expected =
        "gmon: 7 calls were not recorded: children of vfork made them in threads without earlier profiled calls\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
}

#[test]
fn fstat_is_used_if_statx_is_forbidden() {
    let program = Program::compile("children-statx", "children.c", &[]);
    let forbid = Program::compile_with("cc", "children-forbid", "forbid.c", &[]);
    for (variable, value) in [("PROFDIR", "."), ("GMON_LIVE", "1"), ("GMON_CHILDREN", "sum")] {
        for path in files(&program) {
            fs::remove_file(program.directory.join(path)).unwrap();
        }
        let mut command = forbid.command(&["statx", program.executable.to_str().unwrap(), "3"]);
        let output = command.current_dir(&program.directory).env(variable, value).output().unwrap();
        if output.status.code() == Some(77) {
            println!("\nSKIPPED: forbidden system calls: no system-call filters here");
            return;
        }
        quiet(&output);
        let outs = files(&program).into_iter().filter(|name| name.ends_with(".out"));
        let kept = |name: String| calls(&read(&program.directory.join(name)), program.symbols()).remove("calls kept");
        assert_eq!(outs.filter_map(kept).sum::<u64>(), 300, "{variable}={value}");
    }
}

#[test]
fn a_truncated_sum_is_left_alone() {
    let program = Program::compile("children-cut", "children.c", &[]);
    for form in ["openbsd", "gnu"] {
        quiet(&summing(&program, &["2"]).env("GMON_FORMAT", form).output().unwrap());
        let path = sum(&program);
        let whole = fs::read(&path).unwrap();
        for length in [1, 19, 39, 41, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            let output = summing(&program, &["1"]).output().unwrap();
            assert!(output.status.success());
            assert!(fs::read(&path).unwrap() == whole[..length], "{form} {length}");
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.contains(" instead: cannot add to, not a sum of this program: "), "{said}");
            assert_eq!(unfinished(&program), [""; 0]);
        }
        fs::remove_file(&path).unwrap();
    }
}
