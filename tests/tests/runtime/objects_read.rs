//! The reader finds the files that a run left beside its profile.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use crate::objects_outside::shared_object;
use crate::support::{Program, quiet};

/// A program that used a shared object, opened and closed it, with this many calls and samples.
fn ran(name: &str, times: &str, samples: &str) -> (Program, PathBuf) {
    let program = Program::compile(name, "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    program.run(&[object.to_str().unwrap(), times, samples]);
    (program, object)
}

fn gprof(program: &Program, words: &[&str]) -> Output {
    gmon_tests::read(gmon_tests::gprof(), &program.directory, words)
}

/// The row of a function in the flat profile: its self time and its calls.
fn row(printed: &str, name: &str) -> (f64, u64) {
    let rows = printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let found =
        rows.into_iter().find(|words| words.last() == Some(&name)).unwrap_or_else(|| panic!("{name}: {printed}"));
    (found[2].parse().unwrap(), found.get(3).and_then(|calls| calls.parse().ok()).unwrap_or(0))
}

/// The entry of a function in the call graph: the lines above and below its own, without times.
fn entry(printed: &str, name: &str) -> (Vec<String>, Vec<String>) {
    let graph = printed.split("index % time").nth(1).unwrap();
    let short = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().filter(|word| !word.starts_with('[')).collect();
        words[words.len().saturating_sub(2)..].join(" ")
    };
    for entry in graph.split("-----------------------------------------------\n") {
        let mut lines = entry.lines().skip_while(|line| line.trim().is_empty() || line.starts_with("index"));
        let above: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with('[')).collect();
        let own = entry.lines().find(|line| line.starts_with('['));
        if own.is_some_and(|own| own.split_whitespace().rev().nth(1) == Some(name)) {
            let rest = entry.lines().skip_while(|line| !line.starts_with('[')).skip(1);
            return (above.into_iter().map(short).collect(), rest.map(short).collect());
        }
    }
    panic!("no entry of {name}: {printed}")
}

/// The number at the start of a footer line.
fn statistic(printed: &str, text: &str) -> Option<f64> {
    let line = printed.split("Statistics:").nth(1)?.lines().find(|line| line.contains(text))?;
    line.split_whitespace().next()?.parse().ok()
}

#[test]
fn all_objects_in_one_report() {
    let (program, _) = ran("read-whole", "40", "3000");
    let output = gprof(&program, &["program"]);
    let printed = quiet(&output);
    let (seconds, calls) = row(&printed, "sampled_here");
    assert!((30.0..30.5).contains(&seconds) && calls == 1, "{seconds} {calls}");
    assert_eq!((row(&printed, "stride").1, row(&printed, "back").1, row(&printed, "serve").1), (40, 40, 1));
    let (callers, called) = entry(&printed, "serve");
    assert_eq!(callers, ["1/1 use"], "calls from the program to the object must be counted once");
    assert!(called.contains(&"40/40 back".to_owned()) && called.contains(&"40/40 stride".to_owned()), "{called:?}");
    assert_eq!(entry(&printed, "back").0, ["40/40 serve"], "calls from the object to the program must be counted");
    assert_eq!([statistic(&printed, "more samples outside"), statistic(&printed, "more calls")], [None, None]);
    assert!(statistic(&printed, "samples at a profrate").unwrap() >= 3000.0);
}

#[test]
fn only_if_requested() {
    let (program, _) = ran("read-not", "40", "3000");
    // The side file also has the CPU time of the run, and the stacks, which `--propagate` leaves out.
    let with = |words: &[&str]| {
        let report = quiet(&gprof(&program, words));
        report.lines().filter(|line| !line.contains(" seconds of CPU time are worth ")).collect::<Vec<_>>().join("\n")
    };
    let commands = [&["--no-objects", "--propagate", "program"][..], &["--compat=gnu", "-b", "program"]];
    let without = commands.map(with);
    fs::remove_file(program.directory.join("gmon.out.side")).unwrap();
    assert_eq!(without[0], with(&["--propagate", "program"]));
    assert_eq!(without[1], with(&["--compat=gnu", "-b", "program"]));
    assert!(!without[0].contains("stride"));
}

#[test]
fn runs_are_summed_object_by_object() {
    let (program, object) = ran("read-sum", "40", "1000");
    for (name, times, samples) in [("one", "5", "100"), ("two", "600", "200")] {
        let mut command = program.command(&[object.to_str().unwrap(), times, samples]);
        quiet(&command.env("GMON_OUT_PREFIX", name).output().unwrap());
    }
    let names = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().file_name());
    let is_profile = |name: &String| {
        let number = name.strip_prefix("one.").or_else(|| name.strip_prefix("two."));
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let profiles: Vec<String> = names.map(|name| name.into_string().unwrap()).filter(is_profile).collect();
    let printed = quiet(&gprof(&program, &["program", "gmon.out", &profiles[0], &profiles[1]]));
    assert_eq!((row(&printed, "stride").1, row(&printed, "back").1), (645, 645));
    assert!((13.0..13.9).contains(&row(&printed, "sampled_here").0));
    assert_eq!(entry(&printed, "serve").0, ["3/3 use"]);
    assert_eq!(statistic(&printed, "runs merged"), Some(3.0));
}

#[test]
fn an_object_of_another_build_counts_as_outside() {
    let (program, object) = ran("read-changed", "40", "3000");
    let printed = |why: &str| {
        let output = gprof(&program, &["program"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success());
        assert!(said.starts_with(&format!("gprof: warning: {}: {why}", object.display())), "{said}");
        assert!(
            said.ends_with(": the time in this object counts as outside the program\n") && said.lines().count() == 1,
            "{said}"
        );
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(statistic(&printed, "more samples outside").unwrap() >= 3000.0, "{printed}");
        assert_eq!(statistic(&printed, "more calls"), Some(1.0));
        assert_eq!(row(&printed, "back").1, 40, "all calls of the program's functions must be counted");
    };
    fs::copy(&program.executable, &object).unwrap();
    printed("another build (");
    fs::write(&object, "text").unwrap();
    printed("not an ELF, PE, or Mach-O executable");
    fs::remove_file(&object).unwrap();
    printed("No such file");
}

/// A report of the latest run, and one warning.
fn assert_ignored(program: &Program, times: u64, warning: &str) {
    let output = gprof(program, &["program"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains(warning) && said.lines().count() == 1, "{said}");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(!printed.contains("stride"), "{printed}");
    assert_eq!(row(&printed, "back").1, times);
}

#[test]
fn a_side_file_of_another_run_is_ignored() {
    let (program, object) = ran("read-other", "40", "3000");
    let path = program.directory.join("gmon.out.side");
    let older = fs::read(&path).unwrap();
    program.run(&[object.to_str().unwrap(), "41", "3000"]);
    fs::write(&path, older).unwrap();
    assert_ignored(&program, 41, "gmon.out.side: belongs to another run than gmon.out; gprof ignores the side file");
}

#[test]
fn older_lists_and_profiles_of_another_run_are_ignored() {
    let (program, object) = ran("read-stale", "40", "3000");
    let path = |name: &str| program.directory.join(name);
    let keep = |name: &str| fs::read(path(name)).unwrap();
    let flat = quiet(&gprof(&program, &["-b", "-p", "program"]));
    program.side().replace_by_list(&path("gmon.out"));
    assert_eq!(quiet(&gprof(&program, &["-b", "-p", "program"])), flat, "the older form must say the same");
    let (list, profile) = (keep("gmon.out.objects"), keep("gmon.out.plug.so"));
    program.run(&[object.to_str().unwrap(), "41", "3000"]);
    program.side().replace_by_list(&path("gmon.out"));
    let newer = keep("gmon.out.objects");
    fs::write(path("gmon.out.objects"), &list).unwrap();
    assert_ignored(&program, 41, "gmon.out.objects: belongs to another run than gmon.out; gprof ignores the list");
    fs::write(path("gmon.out.objects"), &newer).unwrap();
    fs::write(path("gmon.out.plug.so"), &profile).unwrap();
    assert_ignored(&program, 41, "plug.so: left out: gmon.out.plug.so belongs to another run");
    fs::write(path("gmon.out.objects"), &newer[..newer.len() - 4]).unwrap();
    assert_ignored(&program, 41, "is not a line of a list of shared objects");
}

#[test]
fn sums_and_profiles_of_one_object() {
    let (program, object) = ran("read-summed", "40", "1000");
    for name in ["gmon.out", "gmon.out.side"] {
        fs::copy(program.directory.join(name), program.directory.join(name.replace("gmon.out", "first"))).unwrap();
    }
    program.run(&[object.to_str().unwrap(), "5", "100"]);
    let with = |words: &[&str]| quiet(&gprof(&program, words));
    assert_eq!(with(&["-s", "program", "first", "gmon.out"]), "");
    assert_eq!(with(&["-b", "program", "gmon.sum"]), with(&["-b", "program", "first", "gmon.out"]));
    let info = with(&["-i", "program", "gmon.sum"]);
    assert!(info.contains("(2 runs) contains:") && info.contains(&format!(": {} (", object.display())), "{info}");
    assert_eq!(with(&["--extract=plug.so", "program", "first", "gmon.out"]), "");
    let alone = with(&["plug.so", "first.plug.so"]);
    assert_eq!((row(&alone, "stride").1, row(&alone, "serve").1), (45, 2));
    assert!((11.0..11.5).contains(&row(&alone, "sampled_here").0), "{alone}");
}
