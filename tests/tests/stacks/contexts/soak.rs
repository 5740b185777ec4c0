//! Threads, forks, and shared objects that come and go: no sample is lost, neither in the profile nor in the stacks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gmon::side_file::{Calls, PROGRAM};

use crate::contexts::callers::profile_name;
use crate::contexts::run::Run;
use crate::support::{Program, directory, library, root, tool};

/// Makes a shared object of a source.
fn make_object(source: &str, flags: &[&str], object: &Path) {
    let source = root().join("tests/programs/contexts").join(source);
    let words = ["-O2", "-fPIC", "-shared", "-o", object.to_str().unwrap(), source.to_str().unwrap()];
    tool("cc", &[&words[..], flags].concat());
}

/// The program, with the objects that it opens.
pub(crate) fn build(test: &str, source: &str, plugs: u32, flags: &[&str]) -> Program {
    let library = format!("-B{}", library().display());
    let name = format!("contexts-soak-{test}");
    let flags = [&["-pg", &library, "-O2"], flags].concat();
    let program = Program::compile_with("cc", &name, &format!("contexts/{source}"), &flags);
    for plug in 0..plugs {
        let object = program.directory.join(format!("plug{plug}.so"));
        make_object("object.c", &["-pg", &format!("-DPLUG={plug}")], &object);
    }
    program
}

/// Runs the program; returns what each process sent, by its number, and what was sent in each object.
fn run(program: &Program, words: &[&str], variables: &[(&str, &str)]) -> (BTreeMap<u32, u64>, BTreeMap<u32, u64>) {
    let all = [&["ticks"], words].concat();
    let output = program.command(&all).env("GMON_SAMPLER", "timer").envs(variables.iter().copied()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    // Timers have the highest rate that the kernel permits.
    let unexpected = said.lines().find(|line| !line.contains(" is more than timers can do here: using "));
    assert!(output.status.success() && unexpected.is_none(), "{:?}: {said}", output.status);
    let (mut sent, mut plugs) = (BTreeMap::new(), BTreeMap::new());
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let [what, number, samples] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let numbers = if what == "sent" { &mut sent } else { &mut plugs };
        numbers.insert(number.parse().unwrap(), samples.parse().unwrap());
    }
    (sent, plugs)
}

/// Checks the sums of all processes, and that each has at least what it sent.
fn check(program: &Program, words: &[&str], variables: &[(&str, &str)]) {
    let (sent, plugs) = run(program, words, variables);
    assert!(sent.len() > 2, "no forks: {sent:?}");
    for (process, sent) in &sent {
        let run = Run::read(program, &program.directory.join(profile_name(*process)));
        run.check_sums();
        assert!(run.total() >= *sent, "process {process}: {} samples, sent {sent}", run.total());
        let burnt = run.inclusive().get("burn").copied().unwrap_or(0);
        assert!(burnt + run.not_whole() >= *sent, "process {process}: {burnt} samples in burn, sent {sent}");
    }
    check_plugs(program, plugs);
}

/// Checks that each object has the samples that were sent there.
fn check_plugs(program: &Program, plugs: BTreeMap<u32, u64>) {
    let run = Run::read(program, &program.directory.join("gmon.out"));
    run.check_sums();
    for (plug, sent) in plugs {
        let file = format!("plug{plug}.so");
        let objects = run
            .side
            .objects()
            .filter(|(_, object)| Path::new(&*String::from_utf8_lossy(&object.path)).ends_with(&file));
        let found: u64 = objects.map(|(number, _)| run.samples_in(number)).sum();
        assert!(found >= sent, "{file}: {found} samples, sent {sent}");
    }
}

/// With `SOAK=long` in the environment, a hundred threads send more than a million samples.
#[test]
fn no_sample_is_lost_by_threads_forks_and_objects() {
    let program = build("timers", "soak.c", 4, &[]);
    let is_long = std::env::var_os("SOAK").is_some_and(|value| value == "long");
    let words = if is_long { ["100", "100", "60"] } else { ["16", "16", "50"] };
    check(&program, &words, &[("GMON_HZ", "1000")]);
}

/// The calls of all threads together are the calls of each process.
#[test]
fn no_call_is_lost_if_threads_are_told_apart() {
    let program = build("by-thread", "soak.c", 4, &[]);
    check(&program, &["16", "16", "20"], &[("GMON_THREADS", "1"), ("GMON_HZ", "1000")]);
    let files = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().path());
    let sides: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "side")).collect();
    assert!(sides.len() > 2, "{sides:?}");
    for side in sides {
        let run = Run::read(&program, &side.with_extension(""));
        let of_threads = run.side.calls().iter().filter(|calls| calls.thread().is_some()).flat_map(Calls::calls);
        let calls: u64 = of_threads.filter(|call| call.callee.object == PROGRAM).map(|call| call.count).sum();
        assert_eq!(calls, run.profile.arcs().iter().map(|arc| arc.count).sum::<u64>(), "{}", side.display());
        let listed: u64 = run.side.threads().iter().map(|thread| thread.calls).sum();
        assert!(listed >= calls && calls > 0, "{listed} {calls}");
    }
}

#[test]
fn no_sample_is_lost_in_a_live_file() {
    let program = build("live", "soak.c", 4, &[]);
    check(&program, &["8", "16", "20"], &[("GMON_LIVE", "1")]);
}

/// Another thread loads an object where one was, and is sampled there in the context in which it was sampled before,
/// while the runtime has not yet seen that the first object is gone.
#[test]
fn an_object_that_takes_the_place_of_another_has_its_own_samples() {
    let directory = directory("contexts-soak-hook");
    let hook = directory.join("libhook.so");
    make_object("window.c", &["-DHOOK"], &hook);
    let rpath = format!("-Wl,-rpath,{}", directory.display());
    let program = build("window", "window.c", 2, &[hook.to_str().unwrap(), &rpath, "-pthread"]);
    let (_, plugs) = run(&program, &[], &[("GMON_HZ", "1")]);
    assert_eq!(plugs.len(), 2);
    check_plugs(&program, plugs);
}
