//! Functions in assembly that have no unwind tables and no frame: their callers have the time of the functions.

use gmon::side_file::CutReason;

use crate::contexts::run::Run;
use crate::support::{Program, directory, library, quiet, root, tool};

/// Runs the program until a sample hits the loop in assembly: a busy machine may look at its timers seldom.
fn sampled(program: &Program, variables: &[(&str, &str)]) -> Option<Run> {
    for seconds in ["1", "4", "16", "64", "256"] {
        let output = program.command(&[seconds]).envs(variables.iter().copied()).output().unwrap();
        if String::from_utf8_lossy(&output.stderr).contains("cannot use the perf_event ring") {
            println!("\nSKIPPED: perf_event_open is forbidden here, no samples of the ring");
            return None;
        }
        quiet(&output);
        let run = Run::read(program, &program.directory.join("gmon.out"));
        if run.inclusive().contains_key("spin") {
            return Some(run);
        }
    }
    panic!("no sample");
}

fn check(program: &Program, variables: &[(&str, &str)]) {
    let Some(run) = sampled(program, variables) else { return };
    run.check_sums();
    let inclusive = run.inclusive();
    let of = |name| inclusive.get(name).copied().unwrap_or(0);
    for caller in ["caller", "other", "main"] {
        assert!(of(caller) >= of("spin"), "{caller}, cut: {:?}, {inclusive:?}", run.cuts());
    }
    assert!(!run.cuts().contains_key(&CutReason::NO_TABLE), "{:?}", run.cuts());
}

const SOURCE: &str = "contexts/leaves.c";

#[test]
fn callers_of_leaves_without_tables_are_found() {
    let library = format!("-B{}", library().display());
    let program = Program::compile_with("cc", "contexts-leaves", SOURCE, &["-pg", &library, "-O1"]);
    check(&program, &[]);
    check(&program, &[("GMON_SAMPLER", "perf"), ("GMON_HZ", "1000")]);
}

#[test]
fn callers_of_leaves_in_shared_objects_without_tables_are_found() {
    let (library, object) = (format!("-B{}", library().display()), directory("contexts-leaves-object").join("leaf.so"));
    let source = root().join("tests/programs").join(SOURCE);
    let words = ["-O1", "-fPIC", "-shared", "-nostdlib", "-DOBJECT", "-o"];
    tool("cc", &[&words[..], &[object.to_str().unwrap(), source.to_str().unwrap()]].concat());
    for (name, option) in [("stub", "-fplt"), ("slot", "-fno-plt")] {
        let flags = ["-pg", &library, "-O1", "-DELSEWHERE", option, object.to_str().unwrap()];
        let program = Program::compile_with("cc", &format!("contexts-leaves-{name}"), SOURCE, &flags);
        check(&program, &[]);
    }
}
