//! The one file beside a profile: what real programs leave in it.

use std::fs;
use std::os::unix::process::ExitStatusExt;

use gmon::side_file::{ELSEWHERE, PROGRAM, property};

use crate::objects_outside::shared_object;
use crate::support::{Program, Symbols, calls, compare, quiet, ticks};

/// The names of the files that a run left.
fn left(program: &Program) -> Vec<String> {
    let names = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.starts_with("gmon"));
    names.sort_unstable();
    names
}

#[test]
fn a_run_with_five_objects_leaves_two_files() {
    let program = Program::compile("side-five", "host.c", &[]);
    let names = ["one.so", "two.so", "three.so", "four.so", "five.so"];
    let mut words = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let object = program.directory.join(name);
        shared_object(&object);
        // Every second object stays open.
        let stays = if number % 2 == 0 { "!" } else { "" };
        words.extend([format!("{stays}{}", object.display()), (number + 3).to_string(), (100 * number).to_string()]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for _ in 0..2 {
        program.run(&words);
        assert_eq!(left(&program), ["gmon.out", "gmon.out.side"]);
        let side = program.side();
        for (number, name) in names.iter().enumerate() {
            let profile = side.profile_of_object(name);
            let symbols = Symbols::of(&program.directory.join(name));
            assert_eq!(calls(&profile, &symbols)["calls stride"], number as u64 + 3, "{name}");
            let found = ticks(&profile, &symbols).get("sampled_here").copied().unwrap_or(0);
            assert!((100 * number as u64..100 * number as u64 + 50).contains(&found), "{name}: {found}");
            assert_eq!(side.object(side.number(name)).unwrap().is_closed, number % 2 == 1, "{name}");
        }
        compare(&format!("calls back {}", 3 + 4 + 5 + 6 + 7), &program.profile(), program.symbols());
    }
}

#[test]
fn the_side_file_says_which_cpu_time_the_samples_stand_for() {
    let program = Program::compile("side-cpu-time", "lives.c", &["-O1"]);
    let ways = [
        (&[][..], "timer"),
        (&[("GMON_LIVE", "1")], "timer"),
        (&[("GMON_SAMPLER", "itimer")], "itimer"),
        (&[("GMON_SAMPLER", "perf")], "perf"),
        (&[("GMON_CLOCK", "wall")], "timer"),
    ];
    for (variables, sampler) in ways {
        let output = program.command(&["20000", "2", "20", "100"]).envs(variables.iter().copied()).output().unwrap();
        if String::from_utf8_lossy(&output.stderr).contains("cannot use the perf_event ring") {
            println!("\nSKIPPED: the ring: perf_event_open is forbidden here");
            continue;
        }
        let printed = quiet(&output);
        let used: f64 = printed.split_whitespace().last().unwrap().parse().unwrap();
        let side = program.side();
        assert_eq!(side.property(property::SAMPLER), Some(sampler.as_bytes()), "{variables:?}");
        match side.cpu_time() {
            // The time before the sampler's start is not in it, and the time of the exit is.
            Some(time) => assert!((used / 2.0..used * 2.0 + 1.0).contains(&(time as f64 * 1e-9)), "{time}: {printed}"),
            // The wall clock says nothing about CPU time, nor does a ring that must not look into the kernel.
            None => assert!(matches!(variables, [("GMON_CLOCK", _) | ("GMON_SAMPLER", "perf")]), "{variables:?}"),
        }
        assert!(variables != [("GMON_CLOCK", "wall")] || side.cpu_time().is_none());
    }
}

#[test]
fn a_file_that_is_replaced_is_another_generation() {
    let program = Program::compile("side-generations", "host.c", &[]);
    let path = |name: &str| program.directory.join(name);
    let (old, new) = (path("plug.so"), path("new.so"));
    shared_object(&old);
    let source = crate::support::root().join("tests/programs/plug.c");
    // Other code, so that the build ID differs.
    let words = ["-pg", "-O2", "-shared", "-fPIC", "-o", new.to_str().unwrap(), source.to_str().unwrap()];
    quiet(&std::process::Command::new("cc").args(words).output().unwrap());
    let symbols = [&old, &new].map(|object| Symbols::of(object));
    let rename = format!("@{}", new.display());
    let old = old.to_str().unwrap();
    program.run(&[old, "9", "100", &rename, old, "-", old, "20", "200"]);
    let side = program.side();
    let mut numbers = side.numbers("plug.so");
    numbers.sort_unstable_by_key(|number| side.object(*number).unwrap().generation);
    let generations: Vec<u32> = numbers.iter().map(|number| side.object(*number).unwrap().generation).collect();
    assert_eq!(generations, [0, 1], "{side:?}");
    for ((number, symbols), times) in numbers.into_iter().zip(&symbols).zip([9, 20]) {
        assert_eq!(calls(&side.profile_of_number(number), symbols)["calls stride"], times);
        assert!(side.object(number).unwrap().is_closed);
    }
}

#[test]
fn samples_in_code_of_no_object_are_elsewhere() {
    let program = Program::compile("side-made", "host.c", &[]);
    program.run(&["made", "500"]);
    let side = program.side();
    // A sample of the timer may add to those that the program sends.
    assert!((500..550).contains(&side.samples_of(ELSEWHERE)), "{side:?}");
    let samples = side.samples().iter().filter(|samples| samples.object() == ELSEWHERE);
    let with_addresses = samples.flat_map(gmon::side_file::Samples::bins).filter(|(bin, _)| bin.start != 0);
    assert!(with_addresses.map(|(_, ticks)| ticks).sum::<u64>() >= 500, "{side:?}");
    assert!(left(&program) == ["gmon.out", "gmon.out.side"]);
}

#[test]
fn a_killed_live_run_says_which_objects_it_had() {
    let program = Program::compile("side-killed", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    let stay = format!("!{}", object.display());
    let mut command = program.command(&[&stay, "9", "300"]);
    let mut child =
        command.env("GMON_LIVE", "1").env("STOPS", "1").stdout(std::process::Stdio::null()).spawn().unwrap();
    crate::live::wait_until_stopped(&mut child);
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    assert_eq!(left(&program), ["gmon.out", "gmon.out.side"]);
    let side = program.side();
    assert!(side.is_live() && side.path(PROGRAM) == program.executable);
    assert!(side.numbers("libc.so.6").len() == 1 && side.calls().is_empty(), "{side:?}");
    compare("calls back 9", &program.profile(), program.symbols());
}
