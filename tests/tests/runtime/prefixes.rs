//! The conversions in `GMON_OUT_PREFIX`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use gmon::side_file::property;
use gmon_tests::side::Side;

use crate::support::{Program, calls, quiet, read};

/// The variables with ranks, in the order in which the runtime prefers them.
const RANKS: [&str; 5] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"];

/// The names of the profiles in a directory, without their side files.
fn profiles(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".side")).collect();
    names.sort_unstable();
    names
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned()
}

/// A program whose children make 100 calls of `kept` each, and an empty directory for its profiles.
fn program(name: &str) -> (Program, std::path::PathBuf) {
    let program = Program::compile(&format!("prefixes-{name}"), "children.c", &["-Wl,--build-id=0x1234abcd00ff"]);
    let place = program.directory.join("place");
    fs::create_dir_all(&place).unwrap();
    (program, place)
}

/// The command with this prefix in the directory `place`.
fn prefixed(program: &Program, prefix: &str, children: &str) -> Command {
    let mut command = program.command(&[children]);
    command.env("GMON_OUT_PREFIX", format!("place/{prefix}"));
    command
}

/// Runs the command; returns its process number and its output.
fn run(command: &mut Command) -> (u32, Output) {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    (child.id(), child.wait_with_output().unwrap())
}

fn said(output: &Output) -> &str {
    assert!(output.status.success(), "{output:?}");
    str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn the_program_and_its_build_can_be_in_the_name() {
    let (program, place) = program("builds");
    let (number, output) = run(&mut prefixed(&program, "%n.%p", "0"));
    assert_eq!(said(&output), "");
    let names = profiles(&place);
    let [name] = &names[..] else { panic!("{names:?}") };
    let build = Side::of(&place.join(name)).build_id(0)[..8].to_owned();
    let file = program.executable.file_name().unwrap().to_str().unwrap();
    assert_eq!(*name, format!("{file}.{build}.{number}"));
    // This conversion does not tell processes apart.
    let (number, output) = run(&mut prefixed(&program, "all-%n", "0"));
    assert_eq!(said(&output), "");
    assert!(place.join(format!("all-{file}.{build}.{number}")).is_file(), "{:?}", profiles(&place));
}

#[test]
fn each_variable_of_a_launcher_has_the_rank() {
    let (program, place) = program("ranks");
    let mut command = prefixed(&program, "r%r", "0");
    for (number, variable) in RANKS.iter().enumerate().rev() {
        // Each variable is preferred to those before.
        quiet(&command.env(variable, number.to_string()).output().unwrap());
        let profile = place.join(format!("r{number}"));
        let side = Side::of(&profile);
        assert_eq!(side.property(property::RANK), Some(number.to_string().as_bytes()), "{variable}");
        assert_eq!(side.property(property::HOST), Some(host().as_bytes()), "{variable}");
    }
    assert_eq!(profiles(&place), ["r0", "r1", "r2", "r3", "r4"]);
    // As with gmon.out, the next run replaces the file, also while the program runs.
    for live in ["0", "1"] {
        quiet(&command.env("GMON_LIVE", live).output().unwrap());
        assert_eq!(profiles(&place).len(), 5);
    }
    // gprof lists the rank and the host of each profile.
    let words = ["-i", "program", "place/r3", "place/r1"];
    let text = quiet(&gmon_tests::read(gmon_tests::gprof(), &program.directory, &words));
    for rank in [1, 3] {
        let (_, info) = text.split_once(&format!("File `place/r{rank}'")).unwrap();
        assert_eq!(info.lines().nth(1), Some(format!("\trank {rank}, host {}", host()).as_str()), "{text}");
    }
    let words = ["--format=json", "program", "place/r3", "place/r1"];
    let json = quiet(&gmon_tests::read(gmon_tests::gprof(), &program.directory, &words));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let profile = |rank: u32| serde_json::json!({"path": format!("place/r{rank}"), "rank": rank, "host": host()});
    assert_eq!(json["profiles"], serde_json::json!([profile(3), profile(1)]));
}

#[test]
fn the_host_and_the_process_are_in_the_name() {
    let (program, place) = program("host");
    let (pid, output) = run(prefixed(&program, "%h-%p-%%%p", "0").env("PMI_RANK", "1"));
    quiet(&output);
    assert_eq!(profiles(&place), [format!("{}-{pid}-%{pid}", host())]);
    fs::remove_dir_all(&place).unwrap();
    // Names without a conversion, and with percent signs alone, are GNU's.
    fs::create_dir(&place).unwrap();
    let [(plain, _), (percent, _)] = ["x", "y%%"].map(|prefix| run(&mut prefixed(&program, prefix, "0")));
    assert_eq!(profiles(&place), [format!("x.{plain}"), format!("y%.{percent}")]);
}

#[test]
fn children_of_forks_have_files_of_their_own() {
    let (program, place) = program("children");
    let has_calls_of_a_child =
        |name: &String| calls(&read(&place.join(name)), program.symbols()).get("calls kept").copied() == Some(100);
    let (pid, output) = run(&mut prefixed(&program, "p%p.end", "3"));
    quiet(&output);
    let own = format!("p{pid}.end");
    let names = profiles(&place);
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(names.iter().all(|name| name.starts_with('p') && name.ends_with(".end")), "{names:?}");
    assert!(names.iter().all(|name| (*name == own) != has_calls_of_a_child(name)), "{names:?}");
    // Without %p, the child's number is at the end of its file's name.
    fs::remove_dir_all(&place).unwrap();
    fs::create_dir(&place).unwrap();
    for _ in 0..2 {
        quiet(&prefixed(&program, "r%r", "3").env("PMIX_RANK", "7").output().unwrap());
    }
    let names = profiles(&place);
    assert!(names.len() == 7 && names[0] == "r7", "{names:?}");
    assert!(names.iter().skip(1).all(|name| name.starts_with("r7.") && has_calls_of_a_child(name)), "{names:?}");
    // The sum of all children is that of the process that started.
    fs::remove_dir_all(&place).unwrap();
    fs::create_dir(&place).unwrap();
    let (pid, output) = run(prefixed(&program, "s%p", "3").env("GMON_CHILDREN", "sum"));
    quiet(&output);
    assert_eq!(profiles(&place), [format!("s{pid}"), format!("s{pid}.children-1234abcd")]);
    let sum = read(&place.join(format!("s{pid}.children-1234abcd")));
    assert_eq!(calls(&sum, program.symbols())["calls kept"], 300);
}

#[test]
fn what_cannot_be_replaced_is_reported() {
    let (program, place) = program("wrong");
    for (prefix, wrong) in [("a%x", "%x"), ("b%r%", "% at the end"), ("c%p% ", "% ")] {
        let (pid, output) = run(prefixed(&program, prefix, "0").env("PMI_RANK", "1"));
        let line = format!(
            "gmon: GMON_OUT_PREFIX=place/{prefix}: {wrong} is not %r, %h, %p, %n or %% (a percent sign): using the value as it is, and \
             the process number\n"
        );
        assert_eq!(said(&output), line);
        assert!(place.join(format!("{prefix}.{pid}")).exists(), "{:?}", profiles(&place));
    }
    // A rank that is no number is no rank.
    for rank in [None, Some("seven")] {
        let mut command = prefixed(&program, "rank%r", "0");
        rank.map(|rank| command.env("SLURM_PROCID", rank));
        let line = "gmon: GMON_OUT_PREFIX=place/rank%r: no variable of a launcher has the rank: using 0 for %r (%p tells processes apart)\n";
        assert_eq!(said(&command.output().unwrap()), line);
        let side = Side::of(&place.join("rank0"));
        assert_eq!(side.property(property::RANK), None);
    }
}

#[test]
fn a_name_that_is_too_long_is_reported() {
    let (program, place) = program("long");
    let error = "file name too long (error 36), shorten GMON_OUT_PREFIX\n";
    let part = "x".repeat(300);
    let (pid, output) = run(&mut prefixed(&program, &part, "0"));
    assert!(said(&output).ends_with(error), "{output:?}");
    assert!(said(&output).starts_with(&format!("gmon: place/{part}.{pid}: cannot open")), "{output:?}");
    // Longer than any path, also by what the conversions stand for.
    for prefix in ["/y".repeat(2500), "%h/../".repeat(1500)] {
        let output = prefixed(&program, &prefix, "0").output().unwrap();
        assert_eq!(said(&output), format!("gmon: the profile: cannot form the name: {error}"));
    }
    assert_eq!(profiles(&place), [""; 0]);
}
