//! What orders of functions change: the pages of code that a program touches, and the misses of a simulated cache of
//! instructions. `make bench`, or `cargo bench --package gmon-tests --bench orders`.
//!
//! valgrind's callgrind counts both, so the figures do not depend on the machine's load. The programs are SQLite, which
//! runs the demo, and gprof, which prints the flat profile of its own run.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The readers of orders, with lld's options for their files.
const READERS: [(&str, &str); 2] =
    [("symbols", "--symbol-ordering-file"), ("lld-callgraph", "--call-graph-ordering-file")];

fn main() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("orders");
    fs::create_dir_all(&directory).unwrap();
    println!("| program | order of functions | pages of code touched | misses of the instruction cache |");
    println!("|---|---|---|---|");
    for program in [sqlite(&directory), gprof(&directory)] {
        program.measure("lld's own", "");
        program.call(Command::new(&program.profiled).args(&program.words));
        for (reader, option) in READERS {
            let order = program.directory.join(reader);
            let mut command = Command::new(gmon_tests::gprof());
            command.arg(format!("--order={reader}")).arg("-o").arg(&order).arg(&program.profiled).arg("gmon.out");
            program.call(&mut command);
            program.measure(&format!("`--order={reader}`"), &format!("-Wl,{option}={}", order.display()));
        }
    }
}

/// A program that lld links.
struct Program {
    name: &'static str,
    directory: PathBuf,
    /// The program that counts its calls.
    profiled: PathBuf,
    words: Vec<String>,
    /// Links the program with these options of the compiler, and returns the result.
    link: Box<dyn Fn(&str) -> PathBuf>,
}

impl Program {
    fn call(&self, command: &mut Command) {
        call(command.current_dir(&self.directory));
    }

    /// Links the program with an option, runs the result, and prints a row of the table.
    fn measure(&self, order: &str, option: &str) {
        let image = (self.link)(option);
        let costs = self.directory.join("callgrind.out");
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--cache-sim=yes", "--dump-instr=yes", "--compress-pos=no"]);
        valgrind.args(["--compress-strings=no", &format!("--callgrind-out-file={}", costs.display())]);
        self.call(valgrind.arg(&image).args(&self.words).env("GMON_OUT_PREFIX", self.directory.join("measured")));
        let text = fs::read_to_string(costs).unwrap();
        let Touched { pages, misses } = touched(&text, &image);
        println!("| {} | {order} | {pages} | {misses} |", self.name);
    }
}

/// What a run touched of the program's own code.
struct Touched {
    /// The number of pages of 4 KiB.
    pages: usize,
    /// The number of lines of code that were not in the first cache of instructions.
    misses: u64,
}

/// Adds up the lines of an object: `0xADDRESS LINE Ir Dr Dw I1mr ...`. The line after `calls=` has the costs of the
/// called function.
fn touched(text: &str, image: &Path) -> Touched {
    let object = format!("ob={}", image.display());
    let (mut is_in_object, mut is_call) = (false, false);
    let (mut pages, mut misses) = (BTreeSet::new(), 0);
    for line in text.lines() {
        if line.starts_with("ob=") {
            is_in_object = line == object;
        }
        let address = line.strip_prefix("0x").and_then(|rest| rest.split(' ').next());
        if let Some(address) = address.filter(|_| is_in_object && !is_call) {
            pages.insert(u64::from_str_radix(address, 16).unwrap() >> 12);
            misses += line.split(' ').nth(5).map_or(0, |count| count.parse::<u64>().unwrap());
        }
        is_call = line.starts_with("calls=");
    }
    Touched { pages: pages.len(), misses }
}

/// SQLite with and without -pg, compiled with a section for each function.
fn sqlite(directory: &Path) -> Program {
    let directory = directory.join("sqlite");
    fs::create_dir_all(&directory).unwrap();
    let sqlite = gmon_tests::crate_of("libsqlite3-sys").join("sqlite3");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/driver.c");
    let objects = |kind: &str, flags: &[&str]| {
        [sqlite.join("sqlite3.c"), driver.clone()].map(|source| {
            let object = directory.join(format!("{kind}-{}.o", source.file_stem().unwrap().display()));
            let mut cc = Command::new("cc");
            cc.args(["-O2", "-w", "-ffunction-sections", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"]);
            call(cc.args(flags).arg("-I").arg(&sqlite).arg("-c").arg(source).arg("-o").arg(&object));
            object
        })
    };
    let (plain, counted) = (objects("plain", &[]), objects("counted", &["-pg"]));
    let profiled = directory.join("profiled");
    let ours = format!("-B{}", gmon_tests::start_objects().display());
    call(Command::new("cc").args(["-pg", &ours]).args(counted).args(["-lm", "-o"]).arg(&profiled));
    let image = directory.join("plain");
    let link = Box::new(move |option: &str| {
        let options = option.split_whitespace();
        call(Command::new("cc").arg("-fuse-ld=lld").args(options).args(&plain).args(["-lm", "-o"]).arg(&image));
        image.clone()
    });
    Program { name: "SQLite", directory, profiled, words: Vec::new(), link }
}

/// gprof itself. The compiler counts calls by an unstable option. The measured programs count too: without the option,
/// all symbols would have other names.
fn gprof(directory: &Path) -> Program {
    let directory = directory.join("gprof");
    fs::create_dir_all(&directory).unwrap();
    let linker = directory.join("linker");
    let wrapper = gmon_tests::distribution().join("bin/gmon-cc");
    fs::write(&linker, format!("#!/bin/sh\nexec '{}' \"$@\" -fuse-ld=lld $ORDER_OPTIONS\n", wrapper.display()))
        .unwrap();
    call(Command::new("chmod").arg("+x").arg(&linker));
    let built = directory.join("target");
    let image = built.join("x86_64-unknown-linux-gnu/release/gprof");
    let flags = format!("-C linker={} -Z instrument-mcount", linker.display());
    let place = image.clone();
    let link = move |option: &str| {
        // cargo does not see that the options changed.
        for part in fs::read_dir(place.with_file_name("deps")).into_iter().flatten().map(Result::unwrap) {
            if part.file_name().to_string_lossy().starts_with("gprof-") {
                fs::remove_file(part.path()).unwrap();
            }
        }
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args([
            "build",
            "--release",
            "--package",
            "gprof",
            "--target",
            "x86_64-unknown-linux-gnu",
            "--target-dir",
        ]);
        cargo.arg(&built).env("RUSTFLAGS", &flags).env("RUSTC_BOOTSTRAP", "1").env("ORDER_OPTIONS", option);
        call(&mut cargo);
        place.clone()
    };
    let profiled = directory.join("profiled");
    fs::copy(link(""), &profiled).unwrap();
    // The first run has a profile of another program to read.
    let words = vec!["-b".to_owned(), "-p".to_owned(), "profiled".to_owned(), "first.out".to_owned()];
    let program = Program { name: "gprof", directory, profiled, words, link: Box::new(link) };
    program.call(Command::new(&program.profiled).arg("--help=all"));
    fs::rename(program.directory.join("gmon.out"), program.directory.join("first.out")).unwrap();
    program
}

fn call(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
