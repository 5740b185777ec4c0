//! Calls that are counted in short windows (`GMON_CALLS=1%`), and the estimates for the whole run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gmon::side_file::{Estimates, PROGRAM, SideFile};

use crate::objects_closed::with_objects;
use crate::on_demand::{ROOM, compile_with_room};
use crate::support::{Program, calls, library, ours, quiet, read};

fn estimates(profile: &Path) -> Estimates {
    let mut side = profile.as_os_str().to_owned();
    side.push(".side");
    let side = SideFile::parse(&fs::read(Path::new(&side)).unwrap()).unwrap();
    side.estimates().expect("estimates").clone()
}

/// What the program has printed: the calls of each function. The parent's come before the child's.
fn truth(printed: &str) -> Vec<BTreeMap<String, u64>> {
    let lines: Vec<_> = printed.lines().map(|line| line.split_once(' ').unwrap()).collect();
    let counts = |lines: &[(&str, &str)]| {
        lines.iter().map(|(name, count)| ((*name).to_owned(), count.parse().unwrap())).collect()
    };
    lines.chunks(6).map(counts).collect()
}

/// The estimated calls of each function from all callers: the windows with calls, the calls, and the standard error.
fn by_name(program: &Program, estimates: &Estimates) -> BTreeMap<String, (u64, f64, f64)> {
    let own = estimates.rows().iter().filter(|row| row.caller.is_none() && row.callee.object == PROGRAM);
    own.map(|row| {
        let name = program.symbols().function(row.callee.address).to_owned();
        (name, (row.seen, row.calls as f64, (row.variance as f64).sqrt()))
    })
    .collect()
}

/// Compares estimates with what the program knows. The limits are ten standard errors and half of the calls: a machine
/// that is busy does not run at one speed. A mutation of the scale by a factor of two fails, and so does one that
/// counts only a part of a window.
fn check(program: &Program, profile: &Path, truth: &BTreeMap<String, u64>, share: f64) {
    let estimates = estimates(profile);
    let windows = estimates.windows();
    let covered = windows.covered as f64 / windows.time as f64;
    assert!(windows.number >= 5 && covered > share / 3.0 && covered < share * 3.0, "{windows:?}");
    let found = by_name(program, &estimates);
    for name in ["leaf", "branch", "seldom", "burst", "phase"] {
        let known = truth[name] as f64;
        let Some((seen, estimate, error)) = found.get(name).copied() else {
            assert_eq!(name, "phase", "{found:?}");
            continue;
        };
        assert!(seen <= windows.number);
        if seen >= 5 {
            assert!((estimate - known).abs() <= 10.0 * error + known / 2.0, "{name}: {estimate} ±{error}, {known}");
        }
    }
    assert!(!found.contains_key("never"), "{found:?}");
    // In each window, `leaf` was called three times as often as `branch`, but for calls at both ends.
    let [(_, leaf, _), (_, branch, _)] = ["leaf", "branch"].map(|name| found[name]);
    let at_the_ends = 2.0 * 3.0 * 16.0 * windows.time as f64 / windows.covered as f64 * windows.number as f64;
    assert!((leaf - 3.0 * branch).abs() <= at_the_ends, "{leaf} and {branch}: {windows:?}");
    // No estimated call is among exact ones.
    assert_eq!(calls(&read(profile), program.symbols()), BTreeMap::new());
}

#[test]
fn estimates_are_near_what_the_program_has_counted() {
    let program = compile_with_room("windows-near", "estimated.c", &[]);
    for (share, threads) in [("20%", "1"), ("10%", "4")] {
        let mut command = program.command(&["1500", threads]);
        let printed = quiet(&command.env("GMON_CALLS", share).output().unwrap());
        let share = share.trim_end_matches('%').parse::<f64>().unwrap() / 100.0;
        check(&program, &program.directory.join("gmon.out"), &truth(&printed)[0], share);
    }
}

#[test]
fn a_list_selects_functions_for_windows() {
    let program = compile_with_room("windows-list", "estimated.c", &[]);
    let mut command = program.command(&["600"]);
    quiet(&command.env("GMON_CALLS", "50%,*ea*,!seldom").output().unwrap());
    let found = by_name(&program, &estimates(&program.directory.join("gmon.out")));
    assert_eq!(found.into_keys().collect::<Vec<_>>(), ["leaf"]);
}

#[test]
fn a_child_has_windows_of_its_own() {
    let program = compile_with_room("windows-fork", "estimated.c", &[]);
    let mut command = program.command(&["800", "2", "fork"]);
    let printed = quiet(&command.env("GMON_CALLS", "20%").output().unwrap());
    let [parent, child] = &truth(&printed)[..] else { panic!("{printed}") };
    check(&program, &program.directory.join("gmon.out"), parent, 0.2);
    let files = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().path());
    let of_child = files.filter(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("gmon.program.") && name.ends_with(".out")
    });
    let of_child: Vec<_> = of_child.collect();
    assert_eq!(of_child.len(), 1);
    for profile in of_child {
        check(&program, &profile, child, 0.2);
    }
}

/// Every second run has a fault if a window may open between the end of `dlclose` and the look at the objects.
#[test]
fn objects_may_be_closed_between_windows() {
    let dynamic = format!("-Wl,--dynamic-list={}", library().join("on-demand.txt").display());
    let object = library().join("gmon.o");
    let flags = [ROOM, &ours()[2], object.to_str().unwrap(), "-rdynamic", &dynamic];
    let program = Program::compile_with("cc", "windows-closers", "closers.c", &flags);
    let tells = library().join("gmon-shared.o");
    let program = with_objects(program, &[ROOM, tells.to_str().unwrap()]);
    let mut command = program.command(&["4", "1500"]);
    let output = command.env("GMON_CALLS", "50%").env("GMON_HZ", "250").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // Windows that end with an object do not count.
    let is_known =
        |line: &str| line.ends_with("windows of calls were left out, because objects were closed meanwhile (dlclose)");
    assert!(output.status.success() && said.lines().all(is_known), "{:?} {said}", output.status);
    assert_eq!(calls(&program.profile(), program.symbols()), BTreeMap::new());
    estimates(&program.directory.join("gmon.out"));
}

#[test]
fn what_is_not_possible_has_a_message() {
    let program = compile_with_room("windows-messages", "estimated.c", &[]);
    for (calls, variable, message) in [
        ("0.01%", ("GMON_HZ", "100"), "is not a share from 0.1% to 50%"),
        ("60%", ("GMON_HZ", "100"), "is not a share from 0.1% to 50%"),
        ("1%leaf", ("GMON_HZ", "100"), "is not a share from 0.1% to 50%"),
        ("1%", ("GMON_CLOCK", "wall"), "windows need GMON_CLOCK=cpu"),
        ("1%", ("GMON_SAMPLER", "itimer"), ""),
        // The kernel's sampler is the default for this rate, but a timer serves windows.
        ("1%", ("GMON_HZ", "10000"), "GMON_HZ=10000 is more than timers can do here"),
        ("1%", ("GMON_LIVE", "1"), "windows are not possible with GMON_LIVE=1"),
        ("1%,nothing*", ("GMON_HZ", "100"), "no function with room at its entry matches nothing*"),
    ] {
        let output = program.command(&["10"]).env("GMON_CALLS", calls).env(variable.0, variable.1).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success()
                && text.contains(message)
                && text.lines().count() == usize::from(!message.is_empty()),
            "{calls}: {text}"
        );
    }
}
