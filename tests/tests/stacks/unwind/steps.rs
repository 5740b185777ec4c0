//! Programs that run instruction by instruction: at each instruction, the walk's chain is the true chain.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon_unwind::{Cache, Ending, Frame, Objects, Tables, Walk, X86_64};

use crate::unwind::compiled::programs;
use crate::unwind::shadow::{Kind, Shadow, kind};
use crate::unwind::signals::SIGNALS;
use crate::unwind::tracee::{CONTEXT, Tracee};

/// The outcome of a run.
#[derive(Default)]
struct Outcome {
    steps: usize,
    deepest: usize,
    signals: usize,
    /// Steps in functions without a table, whose caller can be missing.
    without_table: usize,
    /// Steps in which longjmp describes the stack as it will be.
    jumping: usize,
    /// Steps in which an exception overwrites the return address of the unwinder with that of a handler.
    throwing: usize,
    /// The other steps whose chain was not the true one, by function: their number and an example.
    wrong: BTreeMap<String, (usize, String)>,
}

/// Compiles a program; `None` if there is no such compiler.
fn build(name: &str, compiler: &str, source: &str, options: &[&str]) -> Option<PathBuf> {
    let program = gmon_tests::directory(&format!("unwind_steps_{name}")).join("program");
    let object = program.with_extension("o");
    // With -pg, the compiler would link the start-up object of a profiling runtime.
    let link: Vec<_> = options.iter().filter(|option| !["-pg", "-mfentry"].contains(option)).collect();
    let mut commands = [Command::new(compiler), Command::new(compiler)];
    commands[0].args(options).args(["-fPIE", "-c"]).arg(programs().join(source)).arg("-o").arg(&object);
    commands[1].args(link).arg(&object).arg("-o").arg(&program);
    for command in &mut commands {
        match command.output() {
            Ok(made) => assert!(made.status.success(), "{name}: {}", String::from_utf8_lossy(&made.stderr)),
            Err(error) => {
                eprintln!("SKIPPED: {compiler}: {error}");
                return None;
            }
        }
    }
    Some(program)
}

/// Runs a program and compares the chains before each instruction.
fn run(program: &Path) -> Outcome {
    let (mut tracee, mut shadow, mut outcome) = (Tracee::start(program), Shadow::default(), Outcome::default());
    let cache = Box::new(Cache::<4096>::new());
    let (mut generation, mut signal, mut kinds) = (0, None, BTreeMap::new());
    loop {
        let before = *tracee.registers();
        let pc = before.rip as usize;
        if Objects::new(&tracee.objects, 0).find(pc).is_none() {
            generation += 1;
            tracee.find_objects();
        }
        let expected = shadow.chain(before.rip);
        let tables =
            Tables { objects: Objects::new(&tracee.objects, generation), thread: 0, cache: &cache, signals: &SIGNALS };
        let mut walk = Walk::<X86_64, _, _, _>::new(&tables, &tracee, CONTEXT);
        let found: Vec<_> = walk.by_ref().collect();
        if found != expected || walk.ending() != Some(Ending::Outermost) {
            // Where a table is missing, a caller can be missing, or the chain is cut.
            let has_table = |frame: &Frame| {
                let pc = frame.pc - usize::from(!frame.is_exact);
                tables.objects.find(pc).is_some_and(|object| object.rule::<X86_64>(pc).is_some())
            };
            let has_tables = found.first().is_some_and(has_table) && found.last().is_some_and(has_table);
            if !has_tables && is_part(&found, &expected) {
                outcome.without_table += 1;
            } else if tracee.name(pc).contains("longjmp") && expected.ends_with(&found[2..]) {
                outcome.jumping += 1;
            } else if is_overwritten(&tracee.name(pc), &found, &expected) {
                outcome.throwing += 1;
            } else {
                let what = format!("{:?}: {}\n    expected {}", walk.ending(), shown(&found), shown(&expected));
                outcome.wrong.entry(tracee.name(pc)).or_insert_with(|| (0, what)).0 += 1;
            }
        }
        outcome.steps += 1;
        outcome.deepest = outcome.deepest.max(expected.len());
        // The code of these programs does not change.
        let is_return = *kinds.entry(pc).or_insert_with(|| kind(&tracee));
        let ran = if is_return == Kind::Other { is_return } else { kind(&tracee) };
        match (tracee.step(signal), signal) {
            (Err(status), _) => {
                assert_eq!(status, 0, "{}", program.display());
                return outcome;
            }
            (Ok(next), Some(_)) => {
                outcome.signals += 1;
                shadow.signal(&before, &tracee);
                signal = next;
            }
            (Ok(next), None) => {
                if next.is_none() {
                    shadow.ran(ran, &before, &tracee);
                }
                signal = next;
            }
        }
    }
}

/// Whether all frames of a chain are in the true chain, in this order.
fn is_part(found: &[Frame], expected: &[Frame]) -> bool {
    let mut left = expected.iter();
    found.iter().all(|frame| left.any(|expected| expected == frame))
}

/// Whether a chain is part of the true chain, except the caller of the unwinder that throws an exception. The chain can
/// be cut there.
fn is_overwritten(function: &str, found: &[Frame], expected: &[Frame]) -> bool {
    let caller = match function {
        _ if function.starts_with("uw_install_context") || function.starts_with("_Unwind_DebugHook") => 2,
        _ if function.starts_with("_Unwind_") => 1,
        _ => return false,
    };
    let kept: Vec<_> =
        found.iter().enumerate().filter(|(index, _)| *index != caller).map(|(_, frame)| *frame).collect();
    is_part(&kept, expected)
}

fn shown(chain: &[Frame]) -> String {
    let frames = chain.iter().map(|frame| format!("{:#x}{}", frame.pc, if frame.is_exact { "!" } else { "" }));
    frames.collect::<Vec<_>>().join(" ")
}

/// Runs a program, if it can be built. All chains must be true, except where tables are missing or say something else.
fn check(name: &str, compiler: &str, source: &str, options: &[&str]) {
    let Some(program) = build(name, compiler, source, options) else { return };
    let outcome = run(&program);
    println!(
        "{name}: {} steps, {} without a table, {} in longjmp, {} in a throw, {} signals, {} frames at most",
        outcome.steps, outcome.without_table, outcome.jumping, outcome.throwing, outcome.signals, outcome.deepest
    );
    assert!(outcome.steps > 5000, "{name}: {}", outcome.steps);
    let wrong: Vec<_> =
        outcome.wrong.iter().map(|(at, (count, example))| format!("{at}: {count} steps: {example}")).collect();
    // The functions without a table are those of the start-up objects of gcc.
    let excused = outcome.without_table + outcome.jumping + outcome.throwing;
    assert!(excused * 50 < outcome.steps, "{name}: {excused}");
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}

#[test]
fn chains_are_true_at_each_instruction_when_functions_are_resolved_lazily() {
    check("lazy", "gcc", "steps.c", &["-O2", "-Wl,-z,lazy"]);
}

#[test]
fn chains_are_true_at_each_instruction_without_optimization() {
    check("plain", "gcc", "steps.c", &["-O0", "-static-pie"]);
}

#[test]
fn chains_are_true_at_each_instruction_with_mcount() {
    check("mcount", "gcc", "steps.c", &["-O2", "-pg", "-static-pie"]);
}

#[test]
fn chains_are_true_at_each_instruction_with_fentry() {
    check("fentry", "gcc", "steps.c", &["-O2", "-pg", "-mfentry", "-static-pie"]);
}

#[test]
fn chains_are_true_at_each_instruction_of_clang() {
    check("clang", "clang", "steps.c", &["-O2", "-fomit-frame-pointer", "-static-pie"]);
}

#[test]
fn chains_are_true_at_each_instruction_of_exceptions() {
    check("exceptions", "g++", "throws.cc", &["-O2", "-static-pie"]);
}

// Debian's musl has no unwind tables, so most chains inside the library are cut.
#[test]
fn chains_have_no_wrong_frames_with_a_c_library_without_tables() {
    let Some(program) = build("musl", "musl-gcc", "steps.c", &["-O2", "-pie"]) else { return };
    let outcome = run(&program);
    println!("musl: {} steps, {} without a table, {} signals", outcome.steps, outcome.without_table, outcome.signals);
    assert!(outcome.steps > 5000 && outcome.signals == 2, "{} {}", outcome.steps, outcome.signals);
    assert!(outcome.wrong.is_empty(), "{:#?}", outcome.wrong);
}
