//! Programs that a timer interrupts anywhere. Each chain of callers must be right as far as it goes, and whole where the tables
//! of all its functions are known. The walk, the list of objects, and the cache are those of the runtime, in a library for C.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::compiled::programs;

/// Each function of the programs, and the functions that call it.
const CALLERS: &[(&str, &[&str])] = &[
    ("leaf", &["compare", "recursion", "jumps", "callback", "Guard::~Guard"]),
    (
        "recursion",
        &[
            "recursion",
            "small_thread",
            "on_usr2",
            "coroutine_body",
            "run_coroutine",
            "generated",
            "other_thread",
            "run_exceptions",
        ],
    ),
    ("compare", &["sort"]),
    ("sort", &["run_qsort"]),
    ("jumps", &["jumps", "run_longjmp"]),
    ("on_usr2", &["run_altstack"]),
    ("generated", &["run_jit"]),
    ("callback", &["plugin_middle"]),
    ("plugin_leaf", &["plugin_middle", "plugin_begins"]),
    ("plugin_middle", &["plugin_work"]),
    ("plugin_here", &["plugin_begins", "run_plugins"]),
    ("loaded_at", &["plugin_here"]),
    ("plugin_work", &["run_plugins"]),
    ("plugin_begins", &["run_plugins"]),
    ("plugin_ends", &["run_plugins"]),
    ("Guard::~Guard", &["throws"]),
    ("throws", &["throws", "run_exceptions"]),
    ("run_qsort", &["main"]),
    ("run_longjmp", &["main"]),
    ("run_small_thread", &["main"]),
    ("run_altstack", &["main"]),
    ("run_coroutine", &["main"]),
    ("run_jit", &["main"]),
    ("run_plugins", &["main"]),
    ("run_exceptions", &["main"]),
    ("main", &[]),
    ("small_thread", &[]),
    ("other_thread", &[]),
    ("coroutine_body", &[]),
];

/// The functions that no function of the programs calls.
const OUTERMOST: [&str; 4] = ["main", "small_thread", "other_thread", "coroutine_body"];

/// A machine and a C library.
struct Kit {
    compiler: &'static str,
    /// The target of the library.
    target: &'static str,
    /// The command that runs programs.
    runner: &'static [&'static str],
    nm: &'static str,
}

const GLIBC: Kit = Kit { compiler: "gcc", target: "x86_64-unknown-linux-gnu", runner: &[], nm: "nm" };
const MUSL: Kit = Kit { compiler: "musl-gcc", ..GLIBC };
const AARCH64: Kit = Kit {
    compiler: "aarch64-linux-gnu-gcc",
    target: "aarch64-unknown-linux-gnu",
    runner: &["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    nm: "aarch64-linux-gnu-nm",
};

/// Compiles one crate.
fn compile(name: &str, source: &Path, target: &str, folder: &Path, options: &[&str]) {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler)
        .args(["--edition", "2024", "--crate-name", name, "--target", target, "--cap-lints", "allow"])
        .args(["-C", "opt-level=s", "-C", "panic=abort", "-C", "codegen-units=1", "--out-dir"])
        .args([folder.as_os_str(), "-L".as_ref(), folder.as_os_str()])
        .args(options)
        .arg(source)
        .output()
        .unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The runtime's walk as a static library for C.
fn library(target: &'static str) -> PathBuf {
    static BUILT: [OnceLock<PathBuf>; 2] = [const { OnceLock::new() }; 2];
    let build = || {
        let folder = gmon_tests::directory(&format!("unwind_probe_{target}"));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let library = ["--crate-type", "rlib"];
        compile("gmon", &root.join("format/src/lib.rs"), target, &folder, &library);
        compile(
            "gmon_runtime",
            &root.join("runtime/src/lib.rs"),
            target,
            &folder,
            &[&library[..], &["--extern", "gmon"]].concat(),
        );
        let options = ["--crate-type", "staticlib", "-C", "lto", "--extern", "gmon_runtime"];
        compile("probe", &programs().join("probe.rs"), target, &folder, &options);
        folder.join("libprobe.a")
    };
    let [native, foreign] = &BUILT;
    (if target == GLIBC.target { native } else { foreign }).get_or_init(build).clone()
}

/// The functions of a file by their addresses, and the value of a symbol.
struct Names {
    functions: BTreeMap<usize, String>,
    start: usize,
    end: usize,
}

impl Names {
    fn of(nm: &str, file: &Path) -> Names {
        let output = Command::new(nm).args(["-C", "--defined-only"]).arg(file).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut names = Names { functions: BTreeMap::new(), start: 0, end: usize::MAX };
        for line in text.lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let Ok(address) = usize::from_str_radix(address, 16) else { continue };
            match name {
                "__executable_start" => names.start = address,
                "_end" => names.end = address,
                _ => {}
            }
            if "tTwW".contains(kind) {
                // Without arguments, and without the suffix of a copy.
                let name = name.split(['(', '.']).next().unwrap();
                names.functions.insert(address, name.to_owned());
            }
        }
        names
    }

    /// The function at an address, if it is one of `CALLERS`.
    fn at(&self, address: usize) -> Option<&'static str> {
        let (_, name) = self.functions.range(..=address).next_back().filter(|_| address < self.end)?;
        CALLERS.iter().map(|(known, _)| *known).find(|known| known == name)
    }
}

/// The functions of a chain that are known, the innermost first.
struct Chain {
    names: Vec<&'static str>,
    /// Whether the innermost frame of all is known.
    is_innermost_known: bool,
    is_whole: bool,
}

impl Kit {
    /// Compiles one of the programs; `None` if there is no such compiler.
    fn build(&self, name: &str, source: &str, options: &[&str]) -> Option<PathBuf> {
        let tools = [self.compiler, self.nm].into_iter().chain(self.runner.first().copied());
        let is_there = |tool: &&str| Command::new(tool).arg("--version").output().is_ok();
        if !tools.into_iter().all(|tool| is_there(&tool)) {
            println!("SKIPPED: {name}: no {} here", self.compiler);
            return None;
        }
        let folder = gmon_tests::directory(&format!("unwind_sampled_{name}"));
        let (object, program) = (folder.join("program.o"), folder.join("program"));
        let run = |command: &mut Command| {
            let output = command.output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        };
        let compiler = || Command::new(self.compiler);
        let flags = ["-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused-command-line-argument", "-c", "-o"];
        run(compiler().args(flags).arg(&object).args(options).arg(programs().join(source)));
        // Programs that call `mcount` have none of the runtime, and their own `__fentry__`.
        let options = options.iter().filter(|option| !["-pg", "-mfentry", "-x", "c++"].contains(option));
        let library = (source != "plugin.c").then(|| library(self.target));
        run(compiler().arg("-o").args([&program, &object]).args(library).args(options));
        Some(program)
    }

    /// Runs a scenario, and returns the chains of the samples.
    fn run(&self, program: &Path, scenario: &str, plugins: &[PathBuf]) -> Vec<Chain> {
        let mut words = self.runner.iter().map(Path::new).chain([program, Path::new(scenario)]);
        let mut command = Command::new(words.next().unwrap());
        let output = command.args(words).args(plugins).output().unwrap();
        assert!(output.status.success(), "{}: {scenario}: {output:?}", program.display());
        let text = String::from_utf8(output.stdout).unwrap();
        let number = |word: &str| usize::from_str_radix(word, 16).unwrap();
        let mut lines = text.lines();
        let start = number(lines.next().unwrap().strip_prefix("start ").unwrap());
        let own = Names::of(self.nm, program);
        let plugins: Vec<_> = plugins.iter().map(|plugin| Names::of(self.nm, plugin)).collect();
        let chains = lines.map(|line| {
            let words: Vec<_> = line.split(' ').map(number).collect();
            let [ending, object, base, frames @ ..] = words.as_slice() else { panic!("{line}") };
            let name = |address: &usize| {
                let in_plugin = plugins.get(object.wrapping_sub(1)).filter(|_| address >= base);
                let found = in_plugin.and_then(|plugin| plugin.at(address - base));
                found.or_else(|| own.at(address.checked_sub(start)? + own.start))
            };
            let known: Vec<_> = frames.iter().map(name).collect();
            Chain {
                is_innermost_known: known.first().is_some_and(Option::is_some),
                names: known.into_iter().flatten().collect(),
                is_whole: *ending == 0,
            }
        });
        let chains: Vec<_> = chains.collect();
        assert!(chains.len() >= 150, "{}", chains.len());
        chains
    }
}

/// Checks the chains of a program. `may_be_cut` gets the outermost known function of a chain that is cut.
fn check(what: &str, chains: &[Chain], expected: &[&str], may_be_cut: impl Fn(&str) -> bool) {
    let callers = |name: &str| CALLERS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, callers)| callers);
    for Chain { names, is_innermost_known, is_whole } in chains {
        for pair in names.windows(2) {
            assert!(
                callers(pair[0]).contains(&pair[1]),
                "{what}: {} was not called by {}: {names:?}",
                pair[0],
                pair[1]
            );
        }
        let Some(outermost) = names.last() else { continue };
        if *is_whole {
            assert!(OUTERMOST.contains(outermost), "{what}: {names:?}");
        } else {
            assert!(!is_innermost_known || may_be_cut(outermost), "{what}: cut: {names:?}");
        }
    }
    assert!(chains.iter().any(|chain| chain.names == expected), "{what}: no sample in {expected:?}");
}

const IN_QSORT: [&str; 5] = ["leaf", "compare", "sort", "run_qsort", "main"];
const IN_LONGJMP: [&str; 8] = ["leaf", "jumps", "jumps", "jumps", "jumps", "jumps", "run_longjmp", "main"];
const IN_THREAD: [&str; 8] =
    ["leaf", "recursion", "recursion", "recursion", "recursion", "recursion", "recursion", "small_thread"];
const IN_HANDLER: [&str; 5] = ["leaf", "recursion", "on_usr2", "run_altstack", "main"];
const IN_COROUTINE: [&str; 6] = ["leaf", "recursion", "recursion", "recursion", "recursion", "coroutine_body"];
const IN_JIT: [&str; 6] = ["leaf", "recursion", "recursion", "generated", "run_jit", "main"];
const IN_PLUGIN: [&str; 5] = ["plugin_leaf", "plugin_middle", "plugin_work", "run_plugins", "main"];
const IN_CLEANUP: [&str; 7] = ["leaf", "Guard::~Guard", "throws", "throws", "throws", "run_exceptions", "main"];

/// No sibling calls, so that the chains are those of the source.
const O1: &[&str] = &["-O1", "-fno-optimize-sibling-calls"];
const STATIC: &[&str] = &["-O1", "-fno-optimize-sibling-calls", "-static", "-Wl,--eh-frame-hdr"];

/// Runs scenarios whose chains are all whole.
fn all_whole(name: &str, kit: &Kit, options: &[&str], scenarios: &[(&str, &[&str])]) {
    let Some(program) = kit.build(name, "sampled.c", options) else { return };
    for (scenario, expected) in scenarios {
        check(&format!("{name} {scenario}"), &kit.run(&program, scenario, &[]), expected, |_| false);
    }
}

const SCENARIOS: [(&str, &[&str]); 5] = [
    ("qsort", &IN_QSORT),
    ("longjmp", &IN_LONGJMP),
    ("small_thread", &IN_THREAD),
    ("altstack", &IN_HANDLER),
    ("coroutine", &IN_COROUTINE),
];

#[test]
fn chains_are_whole_wherever_a_program_is_interrupted() {
    all_whole("dynamic", &GLIBC, O1, &SCENARIOS);
}

#[test]
fn chains_of_static_programs_are_whole() {
    all_whole("static", &GLIBC, STATIC, &SCENARIOS);
    all_whole("static-pie", &GLIBC, &[O1, &["-static-pie"]].concat(), &SCENARIOS[..1]);
}

#[test]
fn chains_without_frame_pointers_are_whole() {
    let fentry = ["-pg", "-mfentry", "-DFENTRY"];
    all_whole("gcc-fentry", &GLIBC, &[O1, &fentry].concat(), &SCENARIOS[..2]);
    let clang = Kit { compiler: "clang", ..GLIBC };
    all_whole("clang-fentry", &clang, &[O1, &fentry, &["-fomit-frame-pointer"]].concat(), &SCENARIOS[..2]);
}

#[test]
fn chains_on_aarch64_are_whole() {
    all_whole("aarch64", &AARCH64, O1, &SCENARIOS);
    all_whole("aarch64-static", &AARCH64, STATIC, &SCENARIOS[..1]);
}

/// Whether a chain may be cut behind a function: at code that keeps no frame pointer and has no table.
fn calls_generated_code(outermost: &str) -> bool {
    ["generated", "run_jit"].contains(&outermost)
}

#[test]
fn generated_code_cuts_chains_and_makes_none_wrong() {
    for (name, kit) in [("jit", &GLIBC), ("jit-aarch64", &AARCH64)] {
        let Some(program) = kit.build(name, "sampled.c", O1) else { continue };
        check(name, &kit.run(&program, "jit", &[]), &IN_JIT, calls_generated_code);
    }
}

#[test]
fn exceptions_make_no_chain_wrong() {
    let kit = Kit { compiler: "g++", ..GLIBC };
    let Some(program) = kit.build("exceptions", "sampled.c", &[O1, &["-x", "c++"]].concat()) else { return };
    let mut chains = kit.run(&program, "exceptions", &[]);
    // While libgcc installs the context of a handler, its tables describe return addresses that it has overwritten.
    chains.retain(|chain| chain.is_innermost_known);
    check("exceptions", &chains, &IN_CLEANUP, |_| false);
}

/// Runs a program that loads and closes two objects, while another thread is sampled too.
fn plugins(name: &str, kit: &Kit, may_be_cut: impl Fn(&str) -> bool) {
    let options = [O1, &["-fPIC", "-shared", "-Wl,--eh-frame-hdr"]].concat();
    let plugin = |number: u32| {
        let number = format!("-DNUMBER={number}");
        kit.build(&format!("{name}{number}"), "plugin.c", &[&options[..], &[&*number]].concat())
    };
    let (Some(first), Some(second)) = (plugin(1), plugin(2)) else { return };
    let Some(program) = kit.build(name, "sampled.c", &[O1, &["-DPLUGINS", "-rdynamic", "-Wl,--eh-frame-hdr"]].concat())
    else {
        return;
    };
    check(name, &kit.run(&program, "plugins", &[first, second]), &IN_PLUGIN, may_be_cut);
}

#[test]
fn objects_that_come_and_go_are_walked_through() {
    // A destructor runs while the object is being closed.
    let is_closing = |outermost: &str| outermost == "plugin_ends";
    plugins("plugins", &GLIBC, is_closing);
    plugins("plugins-aarch64", &AARCH64, is_closing);
}

// Debian's musl has no unwind tables, so each chain is cut at the C library.
#[test]
fn chains_are_right_with_a_c_library_without_tables() {
    let is_called_by_libc = |outermost: &str| {
        OUTERMOST.contains(&outermost) || ["compare", "on_usr2", "plugin_begins", "plugin_ends"].contains(&outermost)
    };
    // musl-gcc leaves the index out of dynamic programs too, and gmon-cc adds it.
    for (name, options) in [("musl", &[O1, &["-Wl,--eh-frame-hdr"]].concat()[..]), ("musl-static", STATIC)] {
        let Some(program) = MUSL.build(name, "sampled.c", options) else { continue };
        let scenarios: [(&str, &[&str]); 4] = [
            ("qsort", &["leaf", "compare"]),
            ("longjmp", &IN_LONGJMP),
            ("small_thread", &IN_THREAD),
            ("altstack", &["leaf", "recursion", "on_usr2"]),
        ];
        for (scenario, expected) in scenarios {
            check(&format!("{name} {scenario}"), &MUSL.run(&program, scenario, &[]), expected, is_called_by_libc);
        }
    }
    plugins("plugins-musl", &MUSL, is_called_by_libc);
}
