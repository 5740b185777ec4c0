//! Exports tell threads apart: the program prints which thread called which function how often.

use std::process::Command;

use gmon_tests::{compile, gprof, read, start_objects};

use crate::clients::{self, Client, client};

#[test]
fn pprof_shows_the_calls_of_each_thread() {
    let Some(go) = Client::go().found() else { return };
    let ours = format!("-B{}", start_objects().display());
    let image = compile("exports_named", &["by_thread.c"], &["-O1", "-g", "-pthread", &ours]);
    let directory = image.parent().unwrap();
    let run = Command::new(&image).arg("named").current_dir(directory).env("GMON_THREADS", "1").output().unwrap();
    assert!(run.status.success());
    let path = directory.join("a.pb.gz").to_str().unwrap().to_owned();
    let output = read(gprof(), directory, &["--no-objects", "-o", &path, "a.out", "gmon.out"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let show = |thread: &str| {
        let focus = format!("-tagfocus=thread=^{thread} ");
        let words = ["tool", "pprof", "-sample_index=calls", &focus, "-nodecount=100000", "-nodefraction=0"];
        clients::pprof_calls(&client(&go, &[&words[..], &["-edgefraction=0", "-peek=.", &path]].concat()))
    };
    let said = String::from_utf8(run.stdout).unwrap();
    let mut compared = 0;
    for line in said.lines().filter_map(|line| line.strip_prefix("calls ")) {
        let [thread, function, count] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let calls = show(thread);
        let found = calls.iter().filter(|((_, callee), _)| callee == function).map(|(_, count)| count).sum::<u64>();
        assert_eq!(found.to_string(), count, "{thread} {function}: {calls:?}");
        compared += 1;
    }
    assert_eq!(compared, 12, "{said}");
}
