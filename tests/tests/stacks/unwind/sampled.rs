//! Programs that a timer interrupts anywhere. Each chain of callers must be right as far as it goes, and whole where
//! the tables of all its functions are known. The walk, the list of objects, and the cache are those of the runtime, in
//! a library for C.

use std::process::Command;

use crate::unwind::callers::{OUTERMOST, check};
use crate::unwind::kit::{AARCH64, GLIBC, Kit, MUSL};

const IN_QSORT: [&str; 5] = ["leaf", "compare", "sort", "run_qsort", "main"];
const IN_LONGJMP: [&str; 8] = ["leaf", "jumps", "jumps", "jumps", "jumps", "jumps", "run_longjmp", "main"];
const IN_THREAD: [&str; 8] =
    ["leaf", "recursion", "recursion", "recursion", "recursion", "recursion", "recursion", "small_thread"];
const IN_HANDLER: [&str; 5] = ["leaf", "recursion", "on_usr2", "run_altstack", "main"];
const IN_COROUTINE: [&str; 6] = ["leaf", "recursion", "recursion", "recursion", "recursion", "coroutine_body"];
const IN_JIT: [&str; 6] = ["leaf", "recursion", "recursion", "generated", "run_jit", "main"];
const IN_PLUGIN: [&str; 4] = ["leaf", "callback", "plugin_middle", "plugin_work"];
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
fn deep_recursion_keeps_the_outermost_callers() {
    for (name, kit) in [("deep", &GLIBC), ("deep-aarch64", &AARCH64)] {
        all_whole(name, kit, O1, &[("deep", &["recursion", "recursion", "recursion", "run_deep", "main"])]);
    }
}

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

#[test]
fn chains_through_the_dynamic_linker_are_whole() {
    for (name, kit) in [("lazy", &GLIBC), ("lazy-aarch64", &AARCH64)] {
        let options = [O1, &["-DLAZY", "-Wl,-z,lazy"]].concat();
        let Some(program) = kit.build(name, "sampled.c", &options) else { continue };
        let chains = kit.run(&program, "lazy", &[]);
        check(name, &chains, &["run_lazy", "main"], |_| false);
        let parts: Vec<_> = chains.iter().filter(|chain| !chain.is_whole).map(|chain| &chain.names).collect();
        assert!(parts.is_empty(), "{name}: {} of {} are cut: {parts:?}", parts.len(), chains.len());
    }
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
fn plugins(name: &str, kit: &Kit, scenario: &str, expected: &[&str], may_be_cut: impl Fn(&str) -> bool) {
    let options = [O1, &["-fPIC", "-shared", "-Wl,--eh-frame-hdr"]].concat();
    let plugin = |number: u32| {
        let number = format!("-DNUMBER={number}");
        kit.build(&format!("{name}{number}"), "plugin.c", &[&options[..], &[&*number]].concat())
    };
    let (Some(first), Some(second)) = (plugin(1), plugin(2)) else { return };
    let options = ["-DPLUGINS", "-rdynamic", "-Wl,--eh-frame-hdr"];
    let Some(program) = kit.build(name, "sampled.c", &[O1, &options].concat()) else { return };
    check(name, &kit.run(&program, scenario, &[first, second]), expected, may_be_cut);
}

#[test]
fn objects_that_come_and_go_are_walked_through() {
    let expected = [&IN_PLUGIN[..], &["load_and_close", "run_plugins", "main"]].concat();
    // A destructor runs while the object is being closed.
    let is_closing = |outermost: &str| outermost == "plugin_ends";
    plugins("plugins", &GLIBC, "plugins", &expected, is_closing);
    plugins("plugins-aarch64", &AARCH64, "plugins", &expected, is_closing);
}

#[test]
fn objects_that_two_threads_close_make_no_chain_wrong() {
    // While the other thread closes an object, no rule of an object that may be closed is used. A sample in loaded_at
    // can be earlier than the object's address, so that the caller, a function of the object, has no name.
    let is_in_plugin = |outermost: &str| outermost.starts_with("plugin_") || outermost == "loaded_at";
    plugins("plugins-of-two", &GLIBC, "plugins_of_two", &["leaf", "callback"], is_in_plugin);
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
    plugins("plugins-musl", &MUSL, "plugins", &IN_PLUGIN, is_called_by_libc);
}

#[test]
fn valgrind_finds_nothing_to_report() {
    let valgrind = Command::new("valgrind").arg("--version").output();
    let (Ok(_), Some(program)) = (valgrind, GLIBC.build("valgrind", "sampled.c", O1)) else {
        println!("SKIPPED: no valgrind here");
        return;
    };
    let output =
        Command::new("valgrind").args(["-q", "--error-exitcode=9"]).arg(program).arg("qsort").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
