//! Calls that are counted on demand, in code with room at the entries of functions.

use std::fs;
use std::process::Command;

use crate::contexts::{chains, check_sums, side_file};
use crate::objects_closed::{assert_exact, with_objects};
use crate::support::{Program, calls, compare, is_root, library, ours, quiet, read, root};

/// The room at the entries of functions that gmon-cc asks the compiler for.
#[cfg(target_arch = "x86_64")]
pub(crate) const ROOM: &str = "-fpatchable-function-entry=7,5";
#[cfg(target_arch = "aarch64")]
pub(crate) const ROOM: &str = "-fpatchable-function-entry=4,2";

/// Compiles on_demand.c with room and with the start-up object as a further object.
fn compile(compiler: &str, name: &str, flags: &[&str]) -> Program {
    compile_file(compiler, name, "on_demand.c", flags)
}

/// Compiles one of `tests/programs` with room and with the start-up object as a further object.
pub(crate) fn compile_with_room(name: &str, source: &str, flags: &[&str]) -> Program {
    compile_file("cc", name, source, flags)
}

fn compile_file(compiler: &str, name: &str, source: &str, flags: &[&str]) -> Program {
    let [_, _, include] = ours();
    let object = library().join("gmon.o");
    let all = ["-O2", ROOM, &include, object.to_str().unwrap()];
    Program::compile_with(compiler, name, source, &[&all, flags].concat())
}

#[test]
fn calls_in_intervals_are_exact_in_all_kinds_of_programs() {
    let kinds: [(&str, &[&str]); 8] = [
        ("cc", &[]),
        ("cc", &["-fcf-protection=none"]),
        ("cc", &["-fcf-protection=full"]),
        ("cc", &["-no-pie", "-fno-pie"]),
        ("cc", &["-static"]),
        ("cc", &["-static-pie"]),
        ("clang", &[]),
        ("clang", &["-fcf-protection=full"]),
    ];
    for (number, (compiler, flags)) in kinds.into_iter().enumerate() {
        let program = compile(compiler, &format!("on-demand-exact-{number}"), flags);
        for live in ["0", "1"] {
            let printed = quiet(&program.command(&["exact"]).env("GMON_LIVE", live).output().unwrap());
            compare(&printed, &program.profile(), program.symbols());
        }
    }
}

/// The program has all forms of calls that compilers make, with all kinds of arguments.
#[test]
fn calls_of_all_forms_are_exact_from_the_start_on() {
    let object = library().join("gmon.o");
    let preloaded = library().join("libgmon-run.so");
    let linked = ["-O1", "-O2", "-O3", "-Os"].map(|level| vec![level, object.to_str().unwrap()]);
    let more = [vec!["-O2", "-fcf-protection=full"], vec!["-O2", "-static"]].map(|mut flags| {
        flags.push(object.to_str().unwrap());
        flags
    });
    for (number, flags) in linked.into_iter().chain(more).chain([vec!["-O2"]]).enumerate() {
        let program = Program::compile_with(
            "cc",
            &format!("on-demand-calls-{number}"),
            "calls.c",
            &[&[ROOM], &flags[..]].concat(),
        );
        for threads in ["1", "4"] {
            let mut command = program.command(&[threads, "100"]);
            if !flags.contains(&object.to_str().unwrap()) {
                command.env("LD_PRELOAD", &preloaded);
            }
            let printed = quiet(&command.env("GMON_CALLS", "on").output().unwrap());
            compare(&printed, &program.profile(), program.symbols());
        }
    }
}

/// Switches 10,000 times in all. A mutation that tears an instruction, or that counts a call of two lists twice, fails.
#[test]
fn switching_beside_calls_forks_signals_and_objects_harms_nothing() {
    let program = with_object(compile("cc", "on-demand-switches", &[]));
    for (times, threads) in [("2000", "1"), ("8000", "8")] {
        check_switches(&program, program.command(&["switches", times, threads]));
    }
}

/// Without membarrier and without /proc/self/mem, code is changed in other ways: see docs/on-demand.md.
#[test]
fn what_the_kernel_refuses_is_done_in_another_way() {
    let launcher = Program::compile_with("cc", "on-demand-launcher", "refused.c", &[]);
    let program = with_object(compile("cc", "on-demand-refused", &[]));
    let refused: &[&str] =
        if is_root("calls on demand without /proc/self/mem") { &["membarrier", "mem"] } else { &["membarrier"] };
    for what in refused {
        let command = |words: &[&str]| {
            let mut command = launcher.command(&[what, program.executable.to_str().unwrap()]);
            command.args(words).current_dir(&program.directory);
            command
        };
        let printed = quiet(&command(&["exact"]).output().unwrap());
        compare(&printed, &program.profile(), program.symbols());
        check_switches(&program, command(&["switches", "300", "4"]));
    }
}

/// Compiles the object that the program opens and closes.
fn with_object(program: Program) -> Program {
    let object = program.directory.join("object.so");
    let source = root().join("tests/programs/on_demand.c");
    let words = ["-O1", "-shared", "-fPIC", "-DOBJECT", ROOM, "-o", object.to_str().unwrap(), source.to_str().unwrap()];
    quiet(&Command::new("cc").args(words).output().unwrap());
    program
}

/// Runs the program with the mode `switches`, and compares the profile with what the program has counted.
fn check_switches(program: &Program, mut command: Command) {
    let printed = quiet(&command.env("GMON_CHILDREN", "none").output().unwrap());
    let found = calls(&program.profile(), program.symbols());
    for line in printed.lines() {
        let (what, count) = line.rsplit_once(' ').unwrap();
        let count: u64 = count.parse().unwrap();
        let of = |name: &str| found.get(&format!("calls {name}")).copied().unwrap_or(0);
        match what.split_once(' ').unwrap() {
            ("calls", name) => assert_eq!(of(name), count, "{name}"),
            (_, name) => assert!((1..=count).contains(&of(name)), "{name}: {} of {count}", of(name)),
        }
    }
}

#[test]
fn objects_that_threads_open_and_close_at_the_same_addresses_lose_no_call() {
    let dynamic = format!("-Wl,--dynamic-list={}", library().join("on-demand.txt").display());
    let [_, _, include] = ours();
    let object = library().join("gmon.o");
    let flags = [ROOM, &include, object.to_str().unwrap(), "-rdynamic", &dynamic];
    let program = Program::compile_with("cc", "on-demand-closers", "closers.c", &flags);
    let tells = library().join("gmon-shared.o");
    let program = with_objects(program, &[ROOM, tells.to_str().unwrap()]);
    for threads in ["0", "2", "4"] {
        let mut command = program.command(&[threads, "100"]);
        let printed = quiet(&command.env("GMON_CALLS", "on").output().unwrap());
        let all = assert_exact(&program, &printed);
        assert_eq!(calls(&program.profile(), program.symbols())["calls count"], all, "{threads} threads");
    }
}

#[test]
fn a_child_counts_as_its_parent_does_from_the_fork_on() {
    let program = compile("cc", "on-demand-children", &[]);
    quiet(&program.command(&["children"]).output().unwrap());
    let parent = calls(&program.profile(), program.symbols());
    let of = |calls: &std::collections::BTreeMap<String, u64>| {
        ["calls branch", "calls leaf", "arc branch leaf"].map(|what| calls.get(what).copied().unwrap_or(0))
    };
    assert_eq!(of(&parent), [2, 11, 11]);
    let mut children: Vec<_> = fs::read_dir(&program.directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("gmon.program.") && name.ends_with(".out")
        })
        .map(|path| of(&calls(&read(&path), program.symbols())))
        .collect();
    children.sort_unstable();
    assert_eq!(children, [[1, 0, 0], [1, 7, 7]]);
}

#[test]
fn samples_at_each_instruction_of_the_code_that_counts_have_whole_stacks() {
    if cfg!(not(target_arch = "x86_64")) {
        return;
    }
    for (name, flags) in
        [("plain", &[][..]), ("static", &["-static", "-Wl,--eh-frame-hdr"]), ("endbr", &["-fcf-protection=full"])]
    {
        let program = compile("cc", &format!("on-demand-steps-{name}"), flags);
        let printed = program.run(&["steps"]);
        let instructions: u64 = printed.trim().parse().unwrap();
        let side = side_file(&program.directory.join("gmon.out.side"));
        check_sums(&side, &program.profile());
        let chains = chains(&side, program.symbols());
        let below = |functions: &str| -> u64 {
            let functions = format!(" {functions} ");
            chains.iter().filter(|(chain, _)| format!(" {chain} ").contains(&functions)).map(|(_, ticks)| ticks).sum()
        };
        assert!(instructions > 100 && below("main") >= instructions, "{instructions}: {chains:#?}");
        // The code by which the program begins its steps has no unwind table. The function whose call is being counted
        // is in each other chain of the program's own samples. A tick of the timer may come in other functions too.
        let mut own = 0;
        for (chain, ticks) in &chains {
            let is_cut = chain.contains("cut") && chain != "cut(7) main";
            let mut called = chain.split(' ').skip_while(|name| *name != "main");
            let has_main = called.next().is_some();
            let has_function = called.next().is_none_or(|name| name == "branch");
            let is_counted = chain.split(' ').any(|name| ["branch", "leaf", "mcount"].contains(&name));
            assert!(!is_cut && (has_function || !is_counted), "{chains:#?}");
            own += if has_main && has_function { *ticks } else { 0 };
        }
        assert!(own >= instructions, "{own} of {instructions}: {chains:#?}");
        // A call of three has at least the jumps, the thunk, and the code that counts.
        assert!(below("branch") > below("branch leaf") && below("branch leaf") >= 3 * 12, "{chains:#?}");
    }
}

#[test]
fn lists_of_patterns_select_functions() {
    let program = compile("cc", "on-demand-lists", &[]);
    for (list, expected) in [
        ("parse_*", &["parse_one", "parse_two"][..]),
        ("parse_*,!parse_two,leaf", &["leaf", "parse_one"]),
        ("!parse_*", &["branch", "leaf"]),
        ("?eaf", &["leaf"]),
    ] {
        let counted = |command: &mut Command| {
            quiet(&command.output().unwrap());
            let found = calls(&program.profile(), program.symbols());
            found.keys().filter_map(|what| what.strip_prefix("calls ")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(counted(&mut program.command(&["list", list])), expected, "{list}");
        // From the start, the program calls the functions without asking.
        let mut command = program.command(&["plainly"]);
        assert_eq!(counted(command.env("GMON_CALLS", list)), expected, "{list}");
    }
}

/// Samples that the program sends itself are inside or outside of the intervals.
#[test]
fn the_side_file_has_the_intervals_the_functions_and_the_samples_meanwhile() {
    let program = compile("cc", "on-demand-intervals", &[]);
    program.run(&["samples"]);
    let side = side_file(&program.directory.join("gmon.out.side"));
    let selections = side.selections().unwrap();
    let lists: Vec<_> = selections.iter().map(|selection| String::from_utf8_lossy(selection.pattern())).collect();
    assert_eq!(lists, ["parse_*", ""]);
    let names = |selection: &gmon::side_file::Selection| -> Vec<String> {
        let functions = selection.functions().iter();
        let mut names: Vec<_> = functions.map(|place| program.symbols().function(place.address).to_owned()).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names(&selections[0]), ["parse_one", "parse_two"]);
    let all = names(&selections[1]);
    for name in ["branch", "leaf", "inside", "outside", "handled", "parse_one", "parse_two"] {
        assert!(all.iter().any(|found| found == name), "{name}: {all:?}");
    }
    // Two intervals of the first list, with one of the second list in between, none of which overlap.
    let mut intervals: Vec<(u64, u64)> = Vec::new();
    for (selection, number) in selections.iter().zip([2, 1]) {
        assert_eq!(selection.intervals().len(), number);
        intervals.extend(selection.intervals().iter().map(|interval| (interval.start, interval.end)));
    }
    intervals.sort_unstable();
    assert!(intervals.iter().all(|(begin, end)| begin < end) && intervals.windows(2).all(|two| two[0].1 <= two[1].0));
    let elapsed = side.elapsed().unwrap();
    assert!(intervals[2].1 <= elapsed && side.counted_time().unwrap() <= elapsed);
    // The program takes 7 samples before, 5 and 3 in intervals, and 2 between them; the timer may add some.
    let counted: u64 = side.counted_samples().iter().map(gmon::side_file::Samples::total).sum();
    let in_all = side.contexts().total();
    assert!(counted >= 8 && in_all >= counted + 9, "{counted} of {in_all}");
}

#[test]
fn a_part_of_what_is_counted_can_be_switched_off() {
    // Without alignment, and with functions of three bytes.
    for (name, flags) in [("aligned", &[][..]), ("dense", &["-Os", "-fcf-protection=none"])] {
        let program = compile("cc", &format!("on-demand-less-{name}"), flags);
        let printed = program.run(&["less"]);
        compare(&printed, &program.profile(), program.symbols());
    }
}

/// The first call takes the slow path, and all others the fast path.
#[test]
fn registers_keep_their_values() {
    for flags in [&[][..], &["-O3"], &["-fcf-protection=none"]] {
        let program = compile("cc", "on-demand-keeps", flags);
        let printed = program.run(&["keeps"]);
        compare(&printed, &program.profile(), program.symbols());
    }
}

#[test]
fn forks_between_two_lists_and_objects_that_cannot_be_opened_lose_no_call() {
    let program = compile("cc", "on-demand-misled", &[]);
    let broken = program.directory.join("broken.so");
    let source = root().join("tests/programs/on_demand.c");
    let words = ["-O1", "-shared", "-fPIC", "-DOBJECT", "-DBROKEN", ROOM, "-o", broken.to_str().unwrap()];
    quiet(&Command::new("cc").args(words).arg(source).output().unwrap());
    let printed = program.run(&["misled", "300"]);
    compare(&printed, &program.profile(), program.symbols());
    let mut children = 0;
    for entry in fs::read_dir(&program.directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("gmon.program.") && name.ends_with(".out") {
            let found = calls(&read(&path), program.symbols());
            assert_eq!(found.get("calls branch"), Some(&1), "{name}: {found:?}");
            children += 1;
        }
    }
    assert!(children > 0);
}

#[test]
fn a_signal_switches_the_counting() {
    let program = compile("cc", "on-demand-signal", &[]);
    let printed = quiet(&program.command(&["toggle"]).env("GMON_CALLS_SIGNAL", "USR2").output().unwrap());
    compare(&printed, &program.profile(), program.symbols());
}

#[test]
fn what_cannot_be_counted_is_said_in_one_line() {
    let [_, _, include] = ours();
    let object = library().join("gmon.o");
    let all = [&include, object.to_str().unwrap(), "-O2"];
    let message = |program: &Program, list: &str| {
        let output = program.command(&["list", list]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8(output.stderr).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    let build = |name: &str, flags: &[&str]| {
        Program::compile_with("cc", &format!("on-demand-{name}"), "on_demand.c", &[&all, flags].concat())
    };
    let without = message(&build("without", &["-DPLAIN"]), "leaf");
    assert!(without.contains("no function has room at its entry: compile with gmon-cc --on-demand"), "{without}");
    if cfg!(target_arch = "x86_64") {
        let other = message(&build("other", &["-DPLAIN", "-fpatchable-function-entry=7"]), "leaf");
        assert!(other.contains("there is no room before functions"), "{other}");
    }
    let room = build("named", &[ROOM]);
    let nothing = message(&room, "nothing*");
    assert_eq!(nothing, "gmon: cannot count calls: no function with room at its entry matches nothing*");
    let long = message(&room, &"long,".repeat(300));
    assert_eq!(long, "gmon: cannot count calls: the list of patterns is too long");
}
