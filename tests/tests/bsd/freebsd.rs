//! Tests of FreeBSD's start-up objects. Programs for amd64 run in the tests' kernel. Programs for arm64 run in an
//! emulator of the processor, where a host program serves FreeBSD's system calls by Linux's calls
//! (`tests/bsd-kernel/aarch64`). Counts and samples are exact, because programs request ticks with a system call.
//!
//! If an object cannot be built or an emulator is missing, the tests print SKIPPED.

use std::fs;

use gmon_tests::bsd::{Bsd, Ran, Start, System};
use gmon_tests::profiled::{Program, samples};
use gmon_tests::symbols::read;

const FILE: &str = "profiled.gmon";
/// The profile of the first child on amd64, where the tests' kernel numbers the processes.
const CHILD: &str = "profiled.1002.gmon";

/// Builds the program for each machine whose object and tools exist.
fn programs(test: &str) -> impl Iterator<Item = Program> {
    [System::FreeBsd, System::FreeBsdArm64].into_iter().filter_map(move |system| Program::build(system, test))
}

/// Builds the program for amd64.
fn build(test: &str) -> Option<Program> {
    Program::build(System::FreeBsd, test)
}

/// Runs a part of a program with environment variables. The runtime and the host must not print a message.
fn run(program: &Program, part: &str, environment: &[(&str, &str)], status: i32) -> Ran {
    let ran = program.run_with(&[], part, environment, status);
    assert_eq!(ran.stderr, "", "the runtime and the host print nothing");
    ran
}

/// The profiles of a program's children.
fn children(program: &Program) -> Vec<String> {
    program.profiles().into_iter().filter(|name| name != FILE).collect()
}

#[test]
fn calls_of_threads_handlers_constructors_and_destructors_are_exact() {
    for program in programs("counts") {
        let ran = run(&program, "counts", &[], 0);
        program.check_counts(&ran, FILE);
    }
}

#[test]
fn samples_are_exact_in_threads_too_and_both_readers_read_the_file() {
    for program in programs("samples") {
        run(&program, "samples", &[], 0);
        assert_eq!(program.ticks(FILE), samples(&[("light", 600), ("heavy", 1300)]));
        let bytes = fs::read(program.system.directory.join(FILE)).unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((word(20), word(24)), (0x0005_1879, 8128), "version and rate of the header");
        for words in [&["--bsd", "-b", "profiled", FILE][..], &["-b", "-p", "profiled", FILE]] {
            let output = gmon_tests::read(gmon_tests::gprof(), &program.system.directory, words);
            let text = String::from_utf8_lossy(&output.stdout);
            // 1300 of 1900 samples.
            assert!(text.lines().any(|line| line.contains(" 68.4") && line.contains("heavy")), "{text}");
        }
    }
}

#[test]
fn counters_of_16_bits_that_run_over_lose_nothing() {
    for program in programs("many") {
        run(&program, "many", &[], 0);
        assert_eq!(program.ticks(FILE), samples(&[("light", 500_000), ("heavy", 670_000)]));
    }
}

#[test]
fn forked_children_have_profiles_of_their_own() {
    for program in programs("forks") {
        run(&program, "forks", &[], 0);
        assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&112), "constructor 1, 10, 1, destructor 100");
        assert_eq!(program.ticks(FILE), samples(&[("light", 53)]));
        let children = children(&program);
        if program.system.system == System::FreeBsd {
            assert_eq!(children, [CHILD]);
        }
        // The host for arm64 serves vfork as fork, so the child of the vfork has a file without calls.
        let has_calls = |child: &&String| program.calls(child).contains_key("arc middle leaf");
        let child = children.iter().find(has_calls).unwrap();
        assert_eq!(program.calls(child).get("arc middle leaf"), Some(&104), "4, destructor 100");
        assert_eq!(program.ticks(child), samples(&[("light", 20)]));
    }
}

#[test]
fn the_name_of_a_profile_has_the_rank_the_machine_and_the_process() {
    let Some(program) = build("prefixes") else {
        return;
    };
    run(&program, "forks", &[("GMON_OUT_PREFIX", "%r.%h.%p.gmon"), ("SLURM_PROCID", "3")], 0);
    assert_eq!(program.profiles(), ["3.bsd.example.1001.gmon", "3.bsd.example.1002.gmon"]);
    assert_eq!(program.calls("3.bsd.example.1001.gmon").get("arc middle leaf"), Some(&112));
    assert_eq!(program.calls("3.bsd.example.1002.gmon").get("arc middle leaf"), Some(&104));
}

#[test]
fn a_program_that_ends_early_leaves_its_profile() {
    for program in programs("ends") {
        for (part, status) in [("leave", 3), ("die", 128 + 15)] {
            let _ = fs::remove_file(program.system.directory.join(FILE));
            run(&program, part, &[], status);
            assert_eq!(program.ticks(FILE), samples(&[("light", 60)]), "{part}");
            assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&7), "{part}");
        }
    }
}

#[test]
fn a_thread_that_ends_the_process_leaves_the_calls_of_all_threads() {
    for program in programs("thread_leaves") {
        run(&program, "thread_leaves", &[], 3);
        let calls = program.calls(FILE);
        assert_eq!(calls.get("arc middle leaf"), Some(&1001), "constructor 1, threads 100 + 200 + 300 + 400");
        assert_eq!(calls.get("arc leaving_worker middle"), Some(&4));
        assert_eq!(program.ticks(FILE), samples(&[("light", 1000)]));
    }
}

#[test]
fn threads_fork_children_of_their_own() {
    for program in programs("forking_threads") {
        run(&program, "forking_threads", &[], 0);
        assert_eq!(
            program.calls(FILE).get("arc middle leaf"),
            Some(&301),
            "constructor 1, 200 in threads, destructor 100"
        );
        let children = children(&program);
        assert_eq!(children.len(), 4, "{children:?}");
        for child in children {
            assert_eq!(program.calls(&child).get("arc middle leaf"), Some(&7), "{child}");
            assert_eq!(program.ticks(&child), samples(&[("light", 9)]), "{child}");
        }
    }
}

#[test]
fn an_executed_program_is_profiled_for_itself() {
    for program in programs("executes") {
        run(&program, "executes", &[], 3);
        assert_eq!(program.ticks(FILE), samples(&[("light", 60)]));
        assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&7));
    }
}

#[test]
fn moncontrol_stops_and_starts() {
    for program in programs("control") {
        run(&program, "control", &[], 0);
        assert_eq!(program.ticks(FILE), samples(&[("light", 20)]));
        assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&103), "constructor 1, 2, destructor 100");
    }
}

#[test]
fn a_live_file_has_all_calls_of_a_killed_program() {
    for program in programs("live") {
        run(&program, "killed", &[("GMON_LIVE", "1")], 128 + 9);
        assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&7));
        // The program uses three seconds of CPU time before SIGKILL, and the runtime's reader collects ticks at least
        // every two seconds. The remaining ticks wait until the woken reader sleeps again, so scheduling has no
        // influence.
        let ticks = program.ticks(FILE);
        let light = ticks.get("light").copied().unwrap_or(0);
        assert!((8128..=24_384).contains(&light), "{ticks:?}");
        assert_eq!(ticks.values().sum::<u64>(), light, "{ticks:?}");
    }
}

#[test]
fn capability_mode_and_another_directory_keep_the_profile() {
    let Some(program) = build("places") else {
        return;
    };
    run(&program, "confined", &[], 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 30)]));
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&105));
    fs::remove_file(program.system.directory.join(FILE)).unwrap();
    run(&program, "elsewhere", &[], 0);
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&110));
}

#[test]
fn names_follow_the_environment_and_set_id_programs_write_nothing() {
    let Some(program) = build("names") else {
        return;
    };
    let ran = program.run_with(&["--set-id"], "leave", &[], 3);
    assert_eq!(ran.stderr, "");
    assert_eq!(program.profiles(), [""; 0]);
    run(&program, "leave", &[("PROFIL_USE_PID", "")], 3);
    assert_eq!(program.profiles(), ["profiled.1001.gmon"]);
}

#[test]
fn a_program_has_its_own_timer() {
    let Some(program) = build("timer") else {
        return;
    };
    run(&program, "own_timer", &[], 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 8128)]));
}

#[test]
fn another_rate_is_the_interval_timers() {
    let Some(program) = build("rate") else {
        return;
    };
    // At 8128 ticks per second, 600 and 1300 ticks are 73 and 159 ms. The timer expires every 10 ms of the sum, in
    // either function.
    run(&program, "samples", &[("GMON_HZ", "100")], 0);
    let ticks = program.ticks(FILE);
    assert_eq!(ticks.values().sum::<u64>(), 23, "{ticks:?}");
    assert_eq!(read(&program.system.directory.join(FILE)).histograms()[0].unit().profrate, 100);
}

#[test]
fn the_interval_timer_survives_ticks_that_come_late() {
    let Some(program) = build("late") else {
        return;
    };
    run(&program, "late", &[("GMON_HZ", "100")], 0);
    let ticks = program.ticks(FILE);
    // 2.1 seconds in one function. Each late tick has one signal.
    assert_eq!(ticks.get("delayed"), Some(&2), "{ticks:?}");
    let light = ticks.get("light").copied().unwrap_or(0);
    assert!((208..=211).contains(&light), "{ticks:?}");
}

#[test]
fn system_time_counts_at_once_and_more_than_a_counter_holds_is_reported() {
    let Some(program) = build("system_time") else {
        return;
    };
    // 7.5 seconds: the largest part of a counter.
    run(&program, "system_time", &[], 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 110), ("in_system", 60_992)]));
    let ran = program.run_with(&[], "long_system_time", &[], 0);
    let message = "samples may be missing: a system call may have used more CPU time than a counter holds\n";
    assert!(ran.stderr.ends_with(message), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches(message).count(), 1, "the child has no system time: {}", ran.stderr);
    assert_eq!(program.ticks(FILE), samples(&[("in_system", 70_400 - 65_536)]));
    // A large difference between readings that found changes may be a decrement too.
    let ran = program.run_with(&[], "both_times", &[], 0);
    assert!(ran.stderr.ends_with(message), "{}", ran.stderr);
    assert_eq!(program.ticks(FILE), samples(&[("light", 140)]));
}

#[test]
fn a_process_ends_with_its_last_thread() {
    let Some(program) = build("last_thread") else {
        return;
    };
    run(&program, "last_thread", &[], 0);
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&21), "constructor 1, thread 20");
    assert_eq!(program.ticks(FILE), samples(&[("light", 40)]));
}

#[test]
fn a_program_without_start_up_object_profiles_itself() {
    let Some(object) = System::FreeBsd.start_object() else {
        return;
    };
    let library = object.with_file_name("libgmon.a");
    let Some(system) = Bsd::new(System::FreeBsd, "freebsd_by_hand") else {
        return;
    };
    let image = system.build("by_hand", &["by_hand.c"], &["-O1", "-pg"], Start::Library(&library));
    let program = Program::built(system, image);
    for (environment, file) in [(&[][..], "by_hand.gmon"), (&[("PROFIL_USE_PID", "")], "by_hand.1001.gmon")] {
        let ran = program.system.run(&program.image, &[], &[], environment).expect(0);
        assert_eq!(ran.stderr, "", "the runtime says nothing");
        let mut names = [file, "by_hand.1002.gmon"];
        names.sort_unstable();
        assert_eq!(program.profiles(), names);
        let files = [(file, [None, Some(30), None], 70_000), ("by_hand.1002.gmon", [None, None, Some(40)], 20)];
        for (file, expected, ticks) in files {
            let calls = program.calls(file);
            let counts = ["before", "parents", "childs"].map(|name| calls.get(&format!("calls {name}")).copied());
            assert_eq!((counts, program.ticks(file)), (expected, samples(&[("light", ticks)])), "{file}");
            fs::remove_file(program.system.directory.join(file)).unwrap();
        }
    }
    // A process with other rights than its user's is not profiled.
    let _ = program.system.run(&program.image, &["--set-id"], &[], &[]).expect(0);
    assert_eq!(program.profiles(), [""; 0]);
}

#[test]
fn gprof_and_gnu_gprof_read_gnus_form() {
    let Some(program) = build("readers") else {
        return;
    };
    run(&program, "samples", &[("GMON_FORMAT", "gnu")], 0);
    let words = ["-b", "-p", "profiled", FILE];
    let bsd = gmon_tests::read(gmon_tests::gprof(), &program.system.directory, &["--bsd", "-b", "profiled", FILE]);
    let ours = gmon_tests::read(gmon_tests::gprof(), &program.system.directory, &words);
    for output in [&bsd, &ours] {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    // 1300 of 1900 samples.
    let has_heavy = |text: &str| text.lines().any(|line| line.contains(" 68.4") && line.contains("heavy"));
    assert!(has_heavy(&String::from_utf8_lossy(&bsd.stdout)), "{}", String::from_utf8_lossy(&bsd.stdout));
    assert!(has_heavy(&String::from_utf8_lossy(&ours.stdout)), "{}", String::from_utf8_lossy(&ours.stdout));
    let directory = &program.system.directory;
    gmon_tests::compare(&program.image, &[&directory.join(FILE)], &["-b"]);
}
