//! AArch64, cross-compiled and run by an emulator: glibc in four link modes, musl in two.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::{Kit, NO_PIE, PIE, STATIC, STATIC_PIE, exact, is_there, words, wrapper};
use crate::support::{Program, Symbols, calls, compare, directory, is_root, quiet, read, root, tool};

const CROSS: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";
/// The directory of the cross compiler's C library.
const SYSTEM: &str = "/usr/aarch64-linux-gnu";

/// Whether the runtime and its programs can be built and run here; prints SKIPPED if not.
fn can_be_had() -> bool {
    for tool in [CROSS, EMULATOR] {
        if !is_there(tool) {
            println!("\nSKIPPED: aarch64: no {tool} here");
            return false;
        }
    }
    gmon_tests::start_objects_for("aarch64").is_some()
}

fn kit(name: &str, compiler: &str, system: &str) -> Kit {
    Kit {
        name: format!("aarch64-{name}"),
        profiling: words(&["env", &format!("CC={compiler}"), wrapper()]),
        plain: words(&[compiler]),
        runner: words(&[EMULATOR, "-L", system]),
        modes: vec![PIE, NO_PIE, STATIC, STATIC_PIE],
    }
}

fn glibc_kit() -> Option<Kit> {
    can_be_had().then(|| kit("glibc", CROSS, SYSTEM))
}

fn musl_kit() -> Option<Kit> {
    let system = gmon_tests::distribution().parent().unwrap().join("musl-aarch64");
    let compiler = system.join("aarch64-musl-gcc");
    let (system, compiler) = (system.to_str().unwrap(), compiler.to_str().unwrap());
    if can_be_had() && is_there(compiler) {
        return Some(Kit { modes: vec![PIE, STATIC], ..kit("musl", compiler, system) });
    }
    println!("\nSKIPPED: aarch64 with musl: no {compiler}: tests/musl-aarch64.sh makes it");
    None
}

mod glibc {
    crate::core::core_tests!(super::glibc_kit);
}

mod musl {
    crate::core::core_tests!(super::musl_kit);
}

#[test]
fn as_clang_calls_it() {
    let Some(kit) = glibc_kit() else { return };
    for clang in ["clang", "clang-19"].into_iter().filter(|name| is_there(name)) {
        let compiler = [clang, "--target=aarch64-linux-gnu", "-Wno-attributes"].join(" ");
        let command = ["env", &format!("CC={compiler}"), wrapper()];
        for flags in [&["-O0"][..], &["-O2"], &["-O2", "-static"], &["-O2", "-mbranch-protection=standard"]] {
            let name = format!("aarch64-{clang}{}", flags.concat());
            let mut program = Program::build(&command, &name, "calls.c", flags).unwrap();
            program.runner.clone_from(&kit.runner);
            exact(&program, &["2", "100"]);
        }
    }
}

#[test]
fn return_addresses_that_are_signed() {
    let Some(kit) = glibc_kit() else { return };
    for flag in ["-mbranch-protection=standard", "-mbranch-protection=pac-ret+leaf+b-key"] {
        let program = kit.compile_as(&format!("signed{flag}"), "calls.c", &["-O2", flag]);
        exact(&program, &["2", "100"]);
    }
}

#[test]
fn other_processors() {
    let Some(kit) = glibc_kit() else { return };
    let mut program = kit.compile("processors", "extremes.c", &["-O1"]);
    // The first has neither newer atomic instructions nor signed addresses; the last has all known extensions.
    for processor in ["cortex-a53", "cortex-a76", "max"] {
        program.runner = [&kit.runner[..], &words(&["-cpu", processor])].concat();
        let printed = program.run(&["storm", "1000"]);
        compare(&printed, &program.profile(), program.symbols());
    }
}

/// The emulator delivers signals only between translated pieces of code, here single instructions, so a signal may come
/// between the two instructions that raise a count.
#[test]
fn signals_between_any_two_instructions() {
    for kit in [glibc_kit(), musl_kit()].into_iter().flatten() {
        let mut program = kit.compile("single", "extremes.c", &["-O1"]);
        program.runner.push("-singlestep".to_owned());
        let printed = program.run(&["same", "5000"]);
        compare(&printed, &program.profile(), program.symbols());
    }
}

/// The emulator does not see changes of code that the kernel makes for the process. Where the kernel refuses these, the
/// runtime makes them itself, and the emulator sees them. The gate may be behind a `bti`.
#[test]
fn calls_on_demand() {
    let Some(kit) = glibc_kit() else { return };
    if !is_root("calls on demand on aarch64") {
        return;
    }
    let launcher = Program::compile_with("cc", "aarch64-on-demand-launcher", "refused.c", &[]);
    let emulator = gmon_tests::arm64::emulator();
    let launched = [launcher.executable.to_str().unwrap(), "mem", emulator.to_str().unwrap(), "-L", SYSTEM];
    let protected: &[&str] = &["-mbranch-protection=standard"];
    let modes = kit.modes.iter().copied().chain([("protected", protected)]);
    for (mode, link) in modes {
        let compile = |what: &str, source: &str| {
            let flags = [&["--on-demand", "-O2"], link].concat();
            let mut program = kit.compile_as(&format!("on-demand-{what}-{mode}"), source, &flags);
            program.runner = words(&launched);
            program
        };
        let program = compile("intervals", "on_demand.c");
        for what in ["exact", "less", "keeps"] {
            let printed = program.run(&[what]);
            compare(&printed, &program.profile(), program.symbols());
        }
        // All forms of calls, from the start.
        let program = compile("calls", "calls.c");
        let printed = quiet(&program.command(&["2", "100"]).env("GMON_CALLS", "on").output().unwrap());
        compare(&printed, &program.profile(), program.symbols());
    }
}

/// The emulator would be gmon-run's program, so the emulator loads the object into the emulated program itself. A
/// processor is emulated here, and the kernel's signals: the test takes all samples itself.
#[test]
fn the_object_of_gmon_run() {
    let (true, Some(library)) = (can_be_had(), gmon_tests::start_objects_for("aarch64")) else { return };
    let directory = directory("aarch64-preloaded");
    let place = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let compile = |source: &str, output: &str, flags: &[&str]| {
        let source = root().join("tests/programs").join(source);
        let words = ["-O1", "-g", "-o", &place(output), source.to_str().unwrap()];
        tool(CROSS, &[&words[..], flags].concat());
    };
    let run = |program: &str| {
        let mut command = Command::new(EMULATOR);
        command.args(["-L", SYSTEM, "-E", "GMON_HZ=1", "-E"]);
        command.arg(format!("LD_PRELOAD={}", library.join("libgmon-run.so").display()));
        command.args(["-E", &format!("GMON_OUT_PREFIX={}", place(&format!("{program}.profile")))]);
        let printed = quiet(&command.arg(place(program)).current_dir(&directory).output().unwrap());
        let files = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
        let is_profile = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(&format!("{program}.profile.")) && !name.ends_with(".side")
        };
        (printed, files.into_iter().find(is_profile).unwrap())
    };

    compile("preloaded_calls.c", "calls", &["-pg", "-pthread"]);
    let (printed, profile) = run("calls");
    assert_eq!(printed, "2002000\n");
    let calls = calls(&read(&profile), &Symbols::of(Path::new(&place("calls"))));
    let of = |name: &str| calls.get(&format!("calls {name}")).copied();
    assert_eq!((of("counted"), of("in_thread"), of("at_end")), (Some(2_002_000), Some(2), Some(1)), "{calls:?}");
    assert!(!directory.join("gmon.out").exists(), "the C library wrote a profile too");

    compile("constructed.c", "libconstructed.so", &["-shared", "-fPIC", "-DLIBRARY=30"]);
    let [search, run_path] = ["-L", "-Wl,-rpath,"].map(|option| format!("{option}{}", directory.display()));
    compile("constructed.c", "program", &[&search, "-lconstructed", &run_path]);
    let (printed, profile) = run("program");
    assert_eq!(printed, "30\n");
    let words = ["--format=folded", &place("program"), profile.to_str().unwrap()];
    let folded = tool(gmon_tests::gprof().to_str().unwrap(), &words);
    // The timer may take another sample elsewhere.
    let has = |start: &str, end: &str| folded.lines().any(|line| line.starts_with(start) && line.ends_with(end));
    assert!(has("", ";constructor;called_by_constructor 30"), "{folded}");
    assert!(has("_start;", ";destructor;called_by_destructor 20"), "{folded}");
}

#[test]
fn the_objects() {
    let Some(library) = gmon_tests::start_objects_for("aarch64") else { return };
    for file in ["gcrt1.o", "grcrt1.o", "gmon.o", "libgmon.a"] {
        let path = library.join(file);
        let names = tool("aarch64-linux-gnu-nm", &[path.to_str().unwrap()]);
        assert!(names.lines().any(|line| line.ends_with(" T _mcount")), "{file}");
        assert!(!names.contains("panic"), "{file}: contains a panic");
        let undefined: Vec<_> = names.lines().filter_map(|line| line.trim().strip_prefix("U ")).collect();
        assert!(undefined.iter().all(|name| !name.starts_with("__aarch64")), "{file}: {undefined:?}");
        let stack = tool("aarch64-linux-gnu-readelf", &["-SW", path.to_str().unwrap()]);
        let stack = stack.lines().find(|line| line.contains(".note.GNU-stack")).unwrap();
        assert!(!stack.contains(" X "), "{file}: {stack}");
    }
}

/// The instructions of each function of an executable, from `objdump`.
fn instructions(executable: &str) -> BTreeMap<String, Vec<String>> {
    let mut functions = BTreeMap::<String, Vec<String>>::new();
    let mut current = String::new();
    for line in tool("aarch64-linux-gnu-objdump", &["-d", "--no-show-raw-insn", executable]).lines() {
        if let Some((_, name)) = line.strip_suffix(">:").and_then(|head| head.split_once(" <")) {
            current = name.to_owned();
        } else if let Some((_, instruction)) = line.split_once('\t') {
            functions.entry(current.clone()).or_default().push(instruction.replace('\t', " "));
        }
    }
    functions
}

/// Whether an instruction names a vector register. Instructions with addresses do not, although an address may look
/// like one.
fn is_vector(instruction: &str) -> bool {
    if instruction.contains('<') {
        return false;
    }
    let operands = instruction.split_once(' ').map_or("", |(_, operands)| operands);
    operands.split(|letter: char| !letter.is_alphanumeric()).any(|word| {
        let number = word.strip_prefix(['q', 'v', 'd', 's', 'h', 'b', 'z']);
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    })
}

#[test]
fn no_call_leaves_the_object_below_mcount_or_in_the_signal_handler() {
    let (Some(kit), Some(library)) = (glibc_kit(), gmon_tests::start_objects_for("aarch64")) else { return };
    let program = kit.compile_as("calls-out", "calls.c", &["-static"]);
    let functions = instructions(program.executable.to_str().unwrap());
    let ours = tool("aarch64-linux-gnu-nm", &["--defined-only", library.join("gcrt1.o").to_str().unwrap()]);
    let ours: BTreeSet<_> = ours.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    let find = |parts: [&str; 2]| functions.keys().find(|name| parts.iter().all(|part| name.contains(part))).unwrap();
    let mcount = reached_from(&functions, &ours, &["_mcount"]);
    // The handler passes the address of the second function to `call_on_stack`.
    reached_from(&functions, &ours, &[find(["pass_on_expiry", ""]), find(["contexts", "on_stack"])]);
    // mcount's callers may have values in vector registers. The kernel saves those of interrupted code.
    for name in &mcount {
        let vector = functions[name].iter().find(|instruction| is_vector(instruction));
        assert_eq!(vector, None, "{name} uses a vector register");
    }
    // The walk reaches the slow path and the code that makes a thread's record.
    assert!(mcount.iter().any(|name| name.contains("threads13record_or_new")), "{mcount:?}");
}

/// The functions that are reached by branches, all of which must be in `ours`.
fn reached_from(functions: &BTreeMap<String, Vec<String>>, ours: &BTreeSet<&str>, roots: &[&str]) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut left: Vec<_> = roots.iter().map(|root| (*root).to_owned()).collect();
    while let Some(name) = left.pop() {
        if !reached.insert(name.clone()) {
            continue;
        }
        assert!(ours.contains(name.as_str()), "{name} is reached but not defined in the object");
        for instruction in &functions[&name] {
            let is_indirect = instruction.starts_with("br ") || instruction.starts_with("blr ");
            // The handler's entry jumps to a handler of the program that shares the signal.
            let is_known = name.contains("call_on_stack") && instruction == "blr x1"
                || name.contains("pass_on_expiry") && instruction == "br x16"
                // What the one writer does has run-time addresses: a tick that opens or closes a window takes the place
                // of the writer.
                || ["run_as_writer", "writing_thread3run8on_stack"].iter().any(|of| name.contains(of));
            assert!(!is_indirect || is_known, "{name}: unknown target of a call or jump: {instruction}");
            let is_branch = ["b", "c", "t"].iter().any(|first| instruction.starts_with(first));
            let target = instruction.rsplit_once('<').filter(|_| is_branch);
            left.extend(target.map(|(_, target)| target.trim_end_matches('>').split('+').next().unwrap().to_owned()));
        }
    }
    reached
}
