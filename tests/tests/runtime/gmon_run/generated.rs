//! Code that programs generate while they run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use gmon::side_file::{SideFile, function_addresses};
use gmon_tests::has_program;

use super::Place;

/// The samples of a process that come from a clock: one at its start, one at its end, and one more.
const OF_CLOCK: u64 = 3;

/// The samples of each function of generated code in a side file, by name.
fn functions(profile: &Path) -> BTreeMap<String, u64> {
    let mut path = profile.as_os_str().to_owned();
    path.push(".side");
    let side = SideFile::parse(&fs::read(path).unwrap()).unwrap();
    let mut found = BTreeMap::new();
    for samples in side.samples() {
        for (index, name) in side.functions(samples.object()).iter().enumerate() {
            let addresses = function_addresses(index);
            let bins = samples.bins().filter(|(bin, _)| addresses.contains(&bin.start));
            *found.entry(String::from_utf8_lossy(name).into_owned()).or_insert(0) +=
                bins.map(|(_, ticks)| ticks).sum::<u64>();
        }
    }
    found
}

/// Whether functions have the samples that a program has sent itself, and hardly any of a clock.
fn check(found: &BTreeMap<String, u64>, expected: &[(&str, u64)], processes: u64) {
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.iter().map(|(name, _)| name).collect::<Vec<_>>());
    for (name, ticks) in expected {
        assert!((*ticks..=ticks + processes * OF_CLOCK).contains(&found[*name]), "{name}: {found:?}");
    }
}

/// Removes the perf map files of processes, whose numbers are in the lines of a text.
fn remove_maps(printed: &str) {
    printed.lines().for_each(|process| fs::remove_file(format!("/tmp/perf-{process}.map")).unwrap());
}

/// What gprof prints about the program of the run.
fn report(place: &Place, arguments: &[&str]) -> String {
    let output =
        Command::new(gmon_tests::gprof()).args(arguments).arg("program").current_dir(&place.0).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn generated_code_has_its_time_and_its_names() {
    let place = Place::new("generated");
    let program = place.compile("generated.c", "cc", &[]);
    for options in [&["--hz=1"][..], &["--hz=1", "--children=each"]] {
        remove_maps(&place.quiet(options, &program, &["1", "outer=30", "in ner=20"]));
        let profiles = place.profiles();
        let [profile] = profiles.values().collect::<Vec<_>>()[..] else { panic!("{profiles:?}") };
        check(&functions(profile), &[("in ner", 20), ("outer", 30)], 1);
        let flat = report(&place, &["-b", "-p"]);
        let row = |name: &str| flat.lines().find(|line| line.ends_with(name)).unwrap_or_else(|| panic!("{flat}"));
        let time = |name: &str| row(name).split_whitespace().nth(2).unwrap().parse::<f64>().unwrap();
        // One sample stands for a second.
        assert!((30.0..34.0).contains(&time(" outer")) && (20.0..24.0).contains(&time(" in ner")), "{flat}");
        // The stacks lead to the program's functions.
        let folded = report(&place, &["--format=folded"]);
        assert!(folded.lines().any(|line| line.contains("main;outer ")), "{folded}");
    }
}

#[test]
fn generated_code_without_names_has_its_time() {
    let place = Place::new("generated-nameless");
    let program = place.compile("generated.c", "cc", &[]);
    place.quiet(&["--hz=1"], &program, &["0", "one=30", "two=20"]);
    let profiles = place.profiles();
    check(&functions(profiles.values().next().unwrap()), &[("[jit]", 50)], 1);
    let flat = report(&place, &["-b", "-p"]);
    let row = flat.lines().find(|line| line.ends_with(" [jit]")).unwrap_or_else(|| panic!("{flat}"));
    assert!(row.split_whitespace().nth(2).unwrap().parse::<f64>().unwrap() >= 50.0, "{flat}");
}

#[test]
fn a_sum_has_the_functions_of_all_processes_by_name() {
    let place = Place::new("generated-sum");
    let program = place.compile("generated.c", "cc", &[]);
    // The same function is at another address in the second process.
    let script = format!("{0} 1 a=3 b=5; {0} 1 b=7 c=11; {0} 0 a=13", program.display());
    let output = place.run(&["--hz=1"]).args(["bash", "-c", &script]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let (with_maps, _) = printed.trim_end().rsplit_once('\n').unwrap();
    remove_maps(with_maps);
    let profiles = place.profiles();
    let (_, profile) = profiles.iter().find(|(name, _)| name.starts_with("program.")).unwrap();
    check(&functions(profile), &[("[jit]", 13), ("a", 3), ("b", 12), ("c", 11)], 3);
}

#[test]
fn functions_of_node_have_their_names() {
    if !has_program("node", "names of the code that node generates") {
        return;
    }
    let place = Place::new("generated-node");
    let script = "function sums(n) { let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum; }
        while (process.cpuUsage().user < 1e6) sums(1e6);
        console.log(process.pid);";
    remove_maps(&place.quiet(&[], Path::new("node"), &["--perf-basic-prof", "-e", script]));
    check_sums(&place, "node.");
}

/// Checks that the function `sums` has the most time of a program with generated code.
fn check_sums(place: &Place, program: &str) {
    let profiles = place.profiles();
    let (_, profile) = profiles.iter().find(|(name, _)| name.starts_with(program)).unwrap();
    let found = functions(profile);
    let of = |text: &str| found.iter().filter(|(name, _)| name.contains(text)).map(|(_, ticks)| ticks).sum::<u64>();
    assert!(of("sums") * 2 >= of("") && of("sums") > 0, "{found:?}");
}

#[test]
fn functions_of_java_have_their_names() {
    const WHAT: &str = "names of the code that Java generates";
    if !has_program("java", WHAT) || !has_program("javac", WHAT) {
        return;
    }
    let place = Place::new("generated-java");
    let source = "class Sums {
        static long sums(long n) { long sum = 0; for (long i = 0; i < n; i++) sum += i % 7; return sum; }
        public static void main(String[] words) {
            var thread = java.lang.management.ManagementFactory.getThreadMXBean();
            long result = 0;
            while (thread.getCurrentThreadCpuTime() < 1000000000L) result += sums(1000000);
            System.out.println(ProcessHandle.current().pid());
        }
    }";
    fs::write(place.0.join("Sums.java"), source).unwrap();
    let compiled = Command::new("javac").arg("Sums.java").current_dir(&place.0).output().unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let options = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", "Sums"];
    remove_maps(&place.quiet(&[], Path::new("java"), &options));
    check_sums(&place, "java.");
}
