//! gprof detects profiles of another program.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::live::wait_until_stopped;
use crate::objects_outside::shared_object;
use crate::support::{Program, quiet, tool};

/// gprof's standard error and standard output; gprof must succeed.
fn gprof(program: &Program, words: &[&str]) -> (String, String) {
    let output = gmon_tests::read(gmon_tests::gprof(), &program.directory, words);
    assert!(output.status.success(), "{output:?}");
    [output.stderr, output.stdout].map(|text| String::from_utf8(text).unwrap()).into()
}

/// A program that ran, and beside it `other`, another build of the program. The other build has more code, so that all
/// addresses of the profile fit.
fn ran(name: &str, flags: &[&str]) -> Program {
    let other = Program::compile(&format!("{name}-other"), "host.c", flags);
    let program = Program::compile(name, "host.c", &[flags, &["-O1"]].concat());
    fs::copy(&other.executable, program.directory.join("other")).unwrap();
    program.run(&["libc", "100"]);
    program
}

fn build_id(program: &Program, name: &str) -> String {
    let notes = tool("readelf", &["-n", program.directory.join(name).to_str().unwrap()]);
    notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).unwrap().to_owned()
}

#[test]
fn a_warning_names_both_builds() {
    let program = ran("mismatch-builds", &[]);
    assert_eq!(gprof(&program, &["-b", "program"]).0, "");
    let expected = format!(
        "gprof: warning: gmon.out: written by another build or program: build {} ran ({}), other is build {}\n",
        build_id(&program, "program"),
        program.executable.display(),
        build_id(&program, "other")
    );
    let options: [&[&str]; 4] = [&["-b"], &["--no-objects"], &["--compat=gnu", "-b"], &["--bsd"]];
    for options in options {
        assert_eq!(gprof(&program, &[options, &["other"]].concat()).0, expected, "{options:?}");
    }
    // A sum of no profile is an error.
    let sum = gmon_tests::read(gmon_tests::gprof(), &program.directory, &["-s", "other"]);
    let left_out = expected.replace("gmon.out: written", "gmon.out: left out of the sum: written");
    let why =
        "gprof: no sum: all profiles are of other programs or builds than other: name the program that wrote them\n";
    assert_eq!(String::from_utf8(sum.stderr).unwrap(), format!("{left_out}{why}"));
    assert!(sum.status.code() == Some(1) && !program.directory.join("gmon.sum").exists());
    // strip leaves the program the same.
    fs::copy(&program.executable, program.directory.join("stripped")).unwrap();
    tool("strip", &["--strip-debug", program.directory.join("stripped").to_str().unwrap()]);
    assert_eq!(gprof(&program, &["-b", "stripped"]).0, "");
    // The report is the same as without the side file.
    let with = gprof(&program, &["--compat=gnu", "-b", "other"]).1;
    fs::remove_file(program.directory.join("gmon.out.side")).unwrap();
    assert_eq!(gprof(&program, &["--compat=gnu", "-b", "other"]), (String::new(), with));
}

#[test]
fn programs_without_build_id_differ_by_their_headers() {
    let program = ran("mismatch-headers", &["-Wl,--build-id=none"]);
    assert_eq!(gprof(&program, &["-b", "program"]).0, "");
    fs::copy(&program.executable, program.directory.join("stripped")).unwrap();
    tool("strip", &["--strip-debug", program.directory.join("stripped").to_str().unwrap()]);
    assert_eq!(gprof(&program, &["-b", "stripped"]).0, "");
    let other = Program::compile("mismatch-headers-other", "control.c", &["-Wl,--build-id=none"]);
    let said = gprof(&program, &["-b", other.executable.to_str().unwrap()]).0;
    assert!(
        said.contains("gmon.out: written by another build or program: a program without build ID (headers "),
        "{said}"
    );
    // A program that got a build ID is another program.
    let said = gprof(&ran("mismatch-got", &[]), &["-b", program.executable.to_str().unwrap()]).0;
    assert!(said.contains(": build ") && said.contains(" is a program without build ID (headers "), "{said}");
}

#[test]
fn each_profile_is_compared_by_its_own_side_file() {
    let program = ran("mismatch-several", &[]);
    // The same code with another build ID, whose length is not a multiple of a word.
    let other = Program::compile("mismatch-several-other", "host.c", &["-Wl,--build-id=0x0102030405", "-O1"]);
    other.run(&[]);
    assert_eq!(gprof(&other, &["-b", "program"]).0, "");
    for (ran, prefix) in [(&program, "a"), (&program, "b"), (&other, "c"), (&other, "d"), (&other, "e")] {
        let mut command = ran.command(&[]);
        quiet(&command.current_dir(&program.directory).env("GMON_OUT_PREFIX", prefix).output().unwrap());
    }
    let names = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.split_once('.').is_some_and(|(_, pid)| pid.bytes().all(|byte| byte.is_ascii_digit())));
    names.sort_unstable();
    assert_eq!(names.len(), 5);
    let words: Vec<&str> = ["-b", "program"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let said = gprof(&program, &words).0;
    let of = |what: &str| said.lines().filter(|line| line.contains(what)).count();
    assert_eq!(
        (said.lines().count(), of(&format!("{} and 2 more: written by another build", names[2]))),
        (1, 1),
        "{said}"
    );
}

#[test]
fn without_a_side_file_a_newer_program_causes_a_warning() {
    let program = ran("mismatch-younger", &[]);
    fs::remove_file(program.directory.join("gmon.out.side")).unwrap();
    let set = |name: &str, seconds: u64| {
        let file = fs::File::options().append(true).open(program.directory.join(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + seconds)).unwrap();
    };
    set("gmon.out", 100);
    for (seconds, expected) in [
        (50, ""),
        (101, ""),
        (103, "gprof: warning: gmon.out: older than program: was the program rebuilt after the run?\n"),
    ] {
        set("program", seconds);
        assert_eq!(gprof(&program, &["-b", "program"]).0, expected, "{seconds}");
    }
    // The side file overrides the clock.
    program.run(&["libc", "100"]);
    set("gmon.out", 100);
    assert_eq!(gprof(&program, &["-b", "program"]).0, "");
}

#[test]
fn a_live_profile_is_identified_before_the_end() {
    let program = ran("mismatch-live", &[]);
    let mut command = program.command(&[]);
    let mut child = command.env("GMON_LIVE", "1").env("STOPS", "1").spawn().unwrap();
    wait_until_stopped(&mut child);
    assert_eq!(gprof(&program, &["-b", "program"]).0, "");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(gprof(&program, &["-b", "program"]).0, "");
    let said = gprof(&program, &["-b", "other"]).0;
    assert!(said.contains("written by another build or program"), "{said}");
}

/// Puts the lengths and marks of all files in a list of an older runtime right, after these files were changed.
fn put_right(program: &Program) {
    let path = program.directory.join("gmon.out.objects");
    let known = |name: &str| {
        let bytes = fs::read(program.directory.join(name)).unwrap();
        let marks = (0..).zip(&bytes).map(|(at, byte)| gmon::layout::mark(at, *byte));
        format!("{} {:016x}", bytes.len(), marks.fold(0, u64::wrapping_add))
    };
    let text = fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["object", number, twins, _, _, id, path] => {
                let name = path.rsplit('/').next().unwrap();
                format!("object {number} {twins} {} {id} {path}\n", known(&format!("gmon.out.{name}")))
            }
            _ => format!("{line}\n"),
        }
    });
    fs::write(&path, lines.collect::<String>()).unwrap();
}

#[test]
fn an_object_of_an_older_list_that_cannot_be_added_is_left_out() {
    let program = Program::compile("mismatch-rate", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    program.run(&[object.to_str().unwrap(), "40", "3000"]);
    assert_eq!(gprof(&program, &["program"]).0, "");
    program.side().replace_by_list(&program.directory.join("gmon.out"));
    assert_eq!(gprof(&program, &["program"]).0, "");
    let path = program.directory.join("gmon.out.plug.so");
    let good = fs::read(&path).unwrap();
    // Samples of another length; no profile at all.
    let mut rate = good.clone();
    rate[20 + 21] ^= 1;
    for (bytes, why) in [(rate, "gmon.out.plug.so: "), (b"text".to_vec(), "gmon.out.plug.so: ")] {
        fs::write(&path, bytes).unwrap();
        put_right(&program);
        let (said, printed) = gprof(&program, &["program"]);
        assert!(
            said.contains(why) && said.ends_with(": the time in this object counts as outside the program\n"),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(printed.contains("back") && !printed.contains("stride"), "{printed}");
    }
}

#[test]
fn an_object_that_got_or_lost_its_build_id_is_another() {
    let program = Program::compile("mismatch-object", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    program.run(&[object.to_str().unwrap(), "40", "3000"]);
    let id = build_id(&program, "plug.so");
    tool("objcopy", &["--remove-section=.note.gnu.build-id", object.to_str().unwrap()]);
    let (said, _) = gprof(&program, &["program"]);
    let expected = format!(
        "plug.so: another build (no build ID) than in the run ({id}): the time in this object counts as outside the program\n"
    );
    assert!(said.ends_with(&expected), "{said}");
}
