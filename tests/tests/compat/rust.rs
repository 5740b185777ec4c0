//! The example of docs/rust.md, built as described there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::wrapper;
use crate::support::{directory, library, read, root};

/// A copy of the example, built by cargo with these flags; `None` if the compiler refuses them.
fn build(name: &str, flags: &str, arguments: &[&str]) -> Option<PathBuf> {
    let place = directory(name);
    let example = root().join("docs/examples/rust");
    fs::create_dir(place.join("src")).unwrap();
    for file in ["Cargo.toml", "src/main.rs"] {
        fs::copy(example.join(file), place.join(file)).unwrap();
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--offline"]).args(arguments).current_dir(&place);
    command.env("CARGO_TARGET_DIR", place.join("target")).env("RUSTFLAGS", flags).env_remove("CARGO_ENCODED_RUSTFLAGS");
    // The way that the documentation describes for a stable compiler.
    command.env("RUSTC_BOOTSTRAP", "1");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("unknown unstable option") || said.contains("can't find crate for") {
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(place)
}

/// Runs the built program; returns its output and our reader's flat profile.
fn run(place: &Path, program: &str, argument: &str) -> (String, String) {
    let output = Command::new(place.join(program))
        .arg(argument)
        .current_dir(place)
        .env("GMON_SAMPLER", "perf")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // Otherwise only the first thread is sampled here, and a message reports the other thread's samples as missing.
    let has_ring = !said.contains("cannot use the perf_event ring");
    if !has_ring {
        println!("\nSKIPPED: all threads of Rust programs: perf_event_open is forbidden here");
    }
    assert!(output.status.success() && (said.is_empty() || !has_ring), "{output:?}");
    let report = gmon_tests::read(gmon_tests::gprof(), place, &["-b", "-p", "-z", program, "gmon.out"]);
    assert!(report.status.success(), "{report:?}");
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(report.stdout).unwrap())
}

fn compare_calls(printed: &str, report: &str) {
    for line in printed.lines().filter_map(|line| line.strip_prefix("calls ")) {
        let (name, count) = line.split_once(' ').unwrap();
        let name = format!("hailstones::{name}");
        let row = report.lines().find(|line| line.ends_with(&name)).unwrap_or_else(|| panic!("{name}: {report}"));
        assert_eq!(row.split_whitespace().nth(3), Some(count), "{row}");
    }
}

#[test]
fn it_is_sampled_without_compiler_options() {
    let by_wrapper = format!("-Clinker={}", wrapper());
    let by_arguments = format!("-Clink-arg=-pg -Clink-arg=-B{}", library().display());
    for (name, flags) in [("rust-wrapper", by_wrapper), ("rust-arguments", by_arguments)] {
        let place = build(name, &flags, &[]).unwrap();
        // The first thread alone takes a fifth of a second for this.
        let (_, report) = run(&place, "target/release/hailstones", "3000000");
        let rows: Vec<_> = report.lines().filter(|line| line.contains("hailstones::")).collect();
        let seconds: f64 = rows.iter().map(|row| row.split_whitespace().nth(2).unwrap().parse::<f64>().unwrap()).sum();
        assert!(seconds >= 0.05, "{report}");
        let profile = read(&place.join("gmon.out"));
        assert!(profile.arcs().is_empty(), "no code calls mcount");
    }
}

#[test]
fn it_counts_its_calls_where_the_compiler_can_say_so() {
    let flags = format!("-Clinker={} -Zinstrument-mcount", wrapper());
    let Some(place) = build("rust-calls", &flags, &[]) else {
        println!("\nSKIPPED: calls of Rust programs: the compiler has no -Z instrument-mcount");
        return;
    };
    let (printed, report) = run(&place, "target/release/hailstones", "100000");
    compare_calls(&printed, &report);
}

#[test]
fn with_musl() {
    let object = library().join("gmon.o");
    let flags = format!("-Clink-arg={} -Clink-arg=-lc -Zinstrument-mcount", object.display());
    let Some(place) = build("rust-musl", &flags, &["--target", "x86_64-unknown-linux-musl"]) else {
        println!("\nSKIPPED: Rust with musl: the compiler has no library for it: rustup target add");
        return;
    };
    let (printed, report) = run(&place, "target/x86_64-unknown-linux-musl/release/hailstones", "100000");
    compare_calls(&printed, &report);
}

/// The room at the entries of functions, as rustc's option spells it.
#[cfg(target_arch = "x86_64")]
const ROOM: &str = "-Zpatchable-function-entry=7,5";
#[cfg(target_arch = "aarch64")]
const ROOM: &str = "-Zpatchable-function-entry=4,2";

/// A mutation that takes the return address into a thunk for a caller, or that loses a register across one, fails. Code
/// of the standard library has room only where it is compiled with the program, as generic functions are. A list by
/// source file leaves this code out.
#[test]
fn its_calls_are_counted_on_demand() {
    let object = format!("-Clink-arg={}", library().join("gmon.o").display());
    let all = ["leaf", "Parser::parse", "convert", "of_thread"];
    let by_file: [(&[&str], &[&str]); 4] = [
        (&[], &all),
        (&["on_demand.rs:*"], &all),
        (&["programs/on_demand.rs:*,!*4leaf*"], &all[1..]),
        (&["!on_demand.rs:*"], &[]),
    ];
    let by_name: [(&[&str], &[&str]); 2] =
        [(&["on_demand::*"], &all), (&["on_demand.rs:on_demand::Parser::*"], &all[1..2])];
    let manglings = [("v0", by_file.to_vec()), ("legacy", [&by_file[..], &by_name].concat())];
    for (mangling, lists) in manglings {
        let place = directory(&format!("rust-on-demand-{mangling}"));
        let mangling = format!("-Csymbol-mangling-version={mangling}");
        let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        command.args(["--edition=2024", "-O", "-g", "-Zunstable-options", ROOM, &mangling, &object, "-o", "on_demand"]);
        command.arg(root().join("tests/programs/on_demand.rs")).env("RUSTC_BOOTSTRAP", "1").current_dir(&place);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("unknown unstable option") || said.contains("incorrect value") {
            println!("\nSKIPPED: calls on demand of Rust programs: the compiler has no {ROOM}");
            return;
        }
        assert!(output.status.success(), "{said}");
        for (list, selected) in lists {
            let output = Command::new(place.join("on_demand")).args(list).current_dir(&place).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            let report = gmon_tests::read(gmon_tests::gprof(), &place, &["-b", "-p", "-z", "on_demand", "gmon.out"]);
            let report = String::from_utf8(report.stdout).unwrap();
            // The name of a generic function may end with its type, and that of a method may have its type in brackets.
            let counted = |name: &str| -> u64 {
                let name = format!(" on_demand::{name}");
                let plain = |row: &str| row.replace(['<', '>'], "");
                let is_row = |row: &str| ["", "::u8", "::u64"].iter().any(|end| row.ends_with(&format!("{name}{end}")));
                let rows = report.lines().map(plain).filter(|row| is_row(row));
                rows.filter_map(|row| row.split_whitespace().nth(3)?.parse::<u64>().ok()).sum()
            };
            for line in String::from_utf8(output.stdout).unwrap().lines() {
                let (name, count) = line.strip_prefix("calls ").unwrap().rsplit_once(' ').unwrap();
                let expected = if selected.contains(&name) { count.parse().unwrap() } else { 0 };
                assert_eq!(counted(name), expected, "{mangling} {list:?} {name}: {report}");
            }
        }
    }
}
