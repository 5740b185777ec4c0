//! Programs of many shapes on each BSD: recursion, calls by address, threads, signals at any instruction, C++. The
//! programs print the counts that the profile must have.
//!
//! The subjects are those of the programs for Linux in `tests/programs` that the BSDs' start-up objects and the tests'
//! C library allow: static programs without exceptions, standard library, `dlopen`, and filters of system calls.

use std::fs;
use std::path::{Path, PathBuf};

use gmon_tests::bsd::{Bsd, Start, System};
use gmon_tests::gprof;
use gmon_tests::symbols::{Symbols, read};

/// A profiled program on a system.
struct Program {
    bsd: Bsd,
    image: PathBuf,
    /// The name of the first process's profile.
    file: String,
}

/// The systems whose start-up objects the tests can run.
const SYSTEMS: [System; 3] = [System::FreeBsd, System::OpenBsd, System::FreeBsdArm64];

/// Builds a program for each system.
fn build(test: &str, source: &str) -> Vec<Program> {
    build_for(&SYSTEMS, test, source)
}

/// Builds a program for those of the systems whose tools and start-up object exist.
fn build_for(systems: &[System], test: &str, source: &str) -> Vec<Program> {
    let build = |system: &System| {
        let object = system.start_object()?;
        let bsd = Bsd::new(*system, &format!("bsd_programs_{test}_{}", system.name()))?;
        let name = source.split('.').next().unwrap();
        // The tests have no C++ library.
        let is_cpp = source.ends_with(".cc");
        let flags = if is_cpp { &["-O1", "-pg", "-fno-rtti", "-fno-exceptions"][..] } else { &["-O1", "-pg"] };
        let image = bsd.build(name, &[source], flags, Start::Object(&object));
        Some(Program { bsd, image, file: system.profile_of(name) })
    };
    systems.iter().filter_map(build).collect()
}

/// Builds a C++ program for FreeBSD on amd64 as a static, a dynamic and a position-independent program.
fn build_all_kinds(test: &str, source: &str) -> Vec<Program> {
    let system = System::FreeBsd;
    let Some(object) = system.start_object() else {
        return Vec::new();
    };
    let kinds = [
        ("static", Start::Object(&object)),
        ("dynamic", Start::Dynamic(&object)),
        ("pie", Start::PositionIndependent(&object)),
        ("old_dynamic_linker", Start::OldDynamicLinker(&object)),
    ];
    let build = |(kind, start): (&str, Start)| {
        let bsd = Bsd::new(system, &format!("bsd_programs_{test}_{kind}"))?;
        let name = source.split('.').next().unwrap();
        let image = bsd.build(name, &[source], &["-O1", "-pg", "-fno-rtti", "-fno-exceptions"], start);
        Some(Program { bsd, image, file: system.profile_of(name) })
    };
    kinds.into_iter().filter_map(build).collect()
}

impl Program {
    fn profile(&self) -> PathBuf {
        self.bsd.directory.join(&self.file)
    }

    /// Runs a part of the program, and compares each line of the output with the profile. gprof must read the profile.
    fn check(&self, words: &[&str]) {
        let ran = self.bsd.run(&self.image, &[], words, &[]).expect(0);
        assert_eq!(ran.stderr, "", "{words:?}: the runtime prints nothing");
        let (symbols, profile) = (Symbols::of(&self.image), read(&self.profile()));
        let (calls, ticks) = (symbols.calls(&profile), symbols.ticks(&profile));
        assert!(!ran.stdout.is_empty(), "{words:?}");
        for line in ran.stdout.lines() {
            let (what, count) = line.rsplit_once(' ').unwrap();
            let found = match what.strip_prefix("ticks ") {
                Some(name) => ticks.get(name),
                None => calls.get(what),
            };
            assert_eq!(found.copied().unwrap_or(0), count.parse().unwrap(), "{words:?}: {what}: {calls:?} {ticks:?}");
        }
        let name = self.image.file_name().unwrap().to_str().unwrap();
        let output = gmon_tests::read(gprof(), &self.bsd.directory, &["--bsd", "-b", name, &self.file]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn is_arm64(&self) -> bool {
        self.bsd.system == System::FreeBsdArm64
    }
}

#[test]
fn recursion_calls_by_address_and_arguments() {
    for program in build("calls", "shapes.c") {
        for part in ["recursion", "pointers", "arguments"] {
            program.check(&[part]);
        }
        if !program.is_arm64() {
            gmon_tests::compare(&program.image, &[&program.profile()], &["-b"]);
        }
    }
}

#[test]
fn threads_in_turns_and_threads_that_never_end() {
    for program in build("threads", "shapes.c") {
        program.check(&["waves"]);
        program.check(&["left"]);
    }
}

#[test]
fn signals_in_handlers_at_any_instruction_and_jumps_out_of_handlers() {
    for program in build("signals", "shapes.c") {
        program.check(&["nested"]);
        program.check(&["storm"]);
        // clang has no jumps for arm64.
        if !program.is_arm64() {
            program.check(&["jumped"]);
        }
    }
}

#[test]
fn virtual_functions_static_objects_and_templates() {
    for program in build("classes", "classes.cc") {
        program.check(&[]);
    }
}

#[test]
fn constructors_and_destructors_of_static_dynamic_and_independent_programs() {
    for program in build_all_kinds("destructors", "destructors.cc") {
        program.check(&[]);
    }
}

#[test]
fn a_program_leaves_its_whole_profile_at_any_end_that_the_runtime_sees() {
    for program in build("endings", "endings.c") {
        let mut parts = vec![
            ("aborts", 128 + 6, 1),
            ("leaves", 4, 1),
            ("leaves_quickly", 6, 1),
            ("closes", 0, 1),
            ("fails_to_execute", 5, 2),
        ];
        // The host for arm64 has no chroot.
        if !program.is_arm64() {
            parts.push(("jailed", 0, 2));
            fs::create_dir(program.bsd.directory.join("below")).unwrap();
        }
        for (part, status, times) in parts {
            let _ = fs::remove_file(program.profile());
            let options = if part == "jailed" { &["--user", "0"][..] } else { &[] };
            let ran = program.bsd.run(&program.image, options, &[part], &[]).expect(status);
            assert_eq!(ran.stderr, "", "{part}: the runtime prints nothing");
            let (symbols, profile) = (Symbols::of(&program.image), read(&program.profile()));
            let found =
                (symbols.calls(&profile).get("calls leaf").copied(), symbols.ticks(&profile).get("light").copied());
            assert_eq!(found, (Some(6 * times), Some(60 * times)), "{part}: {}", program.file);
        }
    }
}

/// The number of arcs in the table of the program `many_arcs`, and the arc of `main`.
const ARCS: usize = 90_001;

#[test]
fn freebsds_file_has_all_of_many_arcs() {
    for program in build_for(&SYSTEMS[..1], "arcs", "many_arcs.c") {
        let _ = program.bsd.run(&program.image, &[], &["end"], &[]).expect(0);
        assert_eq!(read(&program.profile()).arcs().len(), ARCS, "{}", program.file);
    }
}

/// The bytes of a number at an offset.
fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().unwrap()
}

#[test]
fn openbsds_file_is_as_the_kernel_writes_it() {
    const HEADER: usize = 40;
    const ARC: usize = 24;
    for program in build_for(&SYSTEMS[1..2], "bytes", "shapes.c") {
        program.check(&["waves"]);
        let bytes = fs::read(program.profile()).unwrap();
        let profile = read(&program.profile());
        assert_eq!(rebuilt(&bytes, &profile), bytes);
        let (low, high) = (u64::from_le_bytes(bytes_at(&bytes, 0)), u64::from_le_bytes(bytes_at(&bytes, 8)));
        let [start, end] = text(&program.image);
        assert!(low <= start && end <= high && high - end < 16, "{low:#x}..{high:#x} has {start:#x}..{end:#x}");
        assert_eq!(bytes.len(), HEADER + (high - low) as usize / 2 + profile.arcs().len() * ARC);
    }
}

/// Builds the bytes of a file of OpenBSD from the profile: header, counters of 16 bits, arcs in the file's order.
fn rebuilt(original: &[u8], profile: &gmon::Profile) -> Vec<u8> {
    let histogram = &profile.histograms()[0];
    let mut bytes = [histogram.lowpc().to_le_bytes(), histogram.highpc().to_le_bytes()].concat();
    let counters = histogram.len() as usize * 2;
    let arcs = (original.len() - 40 - counters) as u32;
    for field in [40 + counters as u32, 0x51879, 1000, arcs, 0, 0] {
        bytes.extend(field.to_le_bytes());
    }
    let counts = (0..histogram.len()).map(|bin| u16::try_from(histogram.count(bin)).unwrap());
    bytes.extend(counts.flat_map(u16::to_le_bytes));
    for arc in profile.arcs() {
        bytes.extend([arc.frompc, arc.selfpc, arc.count].iter().flat_map(|word| word.to_le_bytes()));
    }
    bytes
}

/// The addresses of the first function of the program itself and of the end of the text.
fn text(image: &Path) -> [u64; 2] {
    let output = std::process::Command::new("nm").arg(image).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let address = |name: &str| {
        let line = text.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    };
    [address("leaf"), address("etext")]
}
