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
