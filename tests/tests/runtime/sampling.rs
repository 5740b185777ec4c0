//! Sampling: its rate, its sources, and the rest of the program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt;
use std::process::Output;

use gmon::Profile;
use gmon_tests::chance::DEVIATIONS;

use crate::support::{Program, calls, directory, quiet, read, ticks, tool};

const SAMPLERS: [&str; 3] = ["timer", "itimer", "perf"];

fn compile(name: &str) -> Program {
    Program::compile(&format!("sampling-{name}"), "sampled.c", &["-O1"])
}

/// Whether the kernel takes the samples with these variables.
fn is_by_ring(variables: &[(&str, &str)]) -> bool {
    // No kernel has so many ticks per second.
    variables.iter().any(|variable| matches!(variable, ("GMON_SAMPLER", "perf") | ("GMON_HZ", "1500" | "2000")))
}

/// Runs the program with these variables set; prints a message and returns `None` if a ring was wanted and there cannot
/// be one here.
///
/// A ring has no stacks. So the ring has room for the samples of four seconds of a processor, more than these programs
/// use at a high rate, and cannot overflow, even if the machine is too busy to let the program read the ring.
fn run(program: &Program, what: &[&str], variables: &[(&str, &str)]) -> Option<Output> {
    let mut command = program.command(what);
    if is_by_ring(variables) {
        command.env("GMON_STACKS", "0");
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{variables:?}: {output:?}");
    if String::from_utf8_lossy(&output.stderr).contains("cannot use the perf_event ring") {
        println!("\nSKIPPED: the ring: perf_event_open is forbidden here");
        return None;
    }
    Some(output)
}

/// A run that must print nothing on standard error.
struct Sampled {
    printed: String,
    profile: Profile,
    ticks: BTreeMap<String, u64>,
    /// The ticks outside the program's functions with known names: in other functions, the C library, the vDSO, and the
    /// kernel.
    outside: u64,
}

impl Sampled {
    fn read(program: &Program, printed: String) -> Sampled {
        let profile = program.profile();
        let ticks = ticks(&profile, program.symbols());
        let others: u64 =
            ticks.iter().filter(|(name, _)| !matches!(&***name, "first" | "second")).map(|(_, ticks)| ticks).sum();
        Sampled { printed, profile, ticks, outside: others + program.side().samples_outside() }
    }
}

fn sampled(program: &Program, what: &[&str], variables: &[(&str, &str)]) -> Option<Sampled> {
    let printed = quiet(&run(program, what, variables)?);
    Some(Sampled::read(program, printed))
}

/// What a function has that was the only work of its thread.
struct Share {
    ticks: f64,
    /// The ticks that the thread's time without pauses would have.
    due: f64,
}

/// Checks the ticks of functions. Each was the only work of its thread, and the program printed the threads' times.
///
/// A timer expires in equal distances, so the number of ticks follows from the time: chance only decides where in a
/// period the thread begins and ends. The kernel notices the ticks of timers late on a busy machine, and the last ticks
/// of a thread that ends not at all. The samples of a ring need nobody to notice them, but there are none while a
/// virtual machine is paused, and the kernel may lose one when a thread loses the processor. When one thread of the
/// process takes the processor from another, the kernel lets both exchange their clocks, so chance decides which of the
/// two gets a sample.
fn check_shares<const N: usize>(run: &Sampled, names: [&str; N], rate: u32, is_by_ring: bool) -> [Share; N] {
    let (rate, outside) = (f64::from(rate), run.outside as f64);
    // One period at the beginning and one at the end. With the ring, the first tick of the kernel may count for the
    // samples of a tick of the kernel, of which there are at least 100 in a second.
    let ends = 2.0 + if is_by_ring { rate / 100.0 } else { 0.0 };
    let context = || format!("{outside} outside: {}{:?}", run.printed, run.ticks);
    let (mut missing, mut surplus) = (-outside, 0.0);
    let shares = names.map(|name| {
        let times = run.printed.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        let times: Vec<f64> = times.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let [used, unpaused, noticed, switches] = times[..] else { panic!("{}", run.printed) };
        let least = if is_by_ring { rate * unpaused - switches } else { rate * noticed };
        let ticks = of(&run.ticks, name) as f64;
        let exchanged = if is_by_ring && N > 1 { DEVIATIONS * (rate * used).sqrt() } else { 0.0 };
        assert!(ticks <= rate * used + ends + exchanged, "{name}: {}", context());
        // The thread reads the clock outside these functions.
        assert!(ticks + outside >= least - ends, "{name}: {}", context());
        missing += least - ends - ticks;
        surplus += ticks - rate * used - ends;
        Share { ticks, due: rate * unpaused }
    });
    assert!(missing <= 0.0, "{missing} ticks are missing: {}", context());
    assert!(surplus <= 0.0, "{surplus} ticks too many: {}", context());
    shares
}

fn of(ticks: &BTreeMap<String, u64>, name: &str) -> u64 {
    ticks.get(name).copied().unwrap_or(0)
}

/// The kernel's ticks per second, as the coarse clock shows them.
fn kernel_rate(program: &Program) -> i32 {
    // More than any kernel has, so timers use their maximum.
    let output =
        program.command(&["alone", "0"]).env("GMON_HZ", "10000").env("GMON_SAMPLER", "timer").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let rate = program.profile().histograms()[0].unit().profrate;
    assert_eq!(said, format!("gmon: GMON_HZ=10000 is more than timers can do here: using {rate}\n"));
    i32::try_from(rate).unwrap()
}

#[test]
fn the_header_has_the_actual_rate() {
    let program = compile("rates");
    let kernel = kernel_rate(&program);
    assert!((24..=1200).contains(&kernel), "{kernel}");
    let kernels = kernel.to_string();
    let wishes =
        [("timer", "40"), ("timer", &kernels), ("itimer", "50"), ("perf", "100"), ("perf", "1500"), ("", "2000")];
    for (sampler, rate) in wishes {
        let variables = [("GMON_SAMPLER", sampler), ("GMON_HZ", rate)];
        let Some(run) = sampled(&program, &["alone", "1"], &variables) else { continue };
        let found = run.profile.histograms()[0].unit().profrate;
        assert_eq!(found.to_string(), rate);
        check_shares(&run, ["first"], found, is_by_ring(&variables));
    }
}

#[test]
fn two_equal_threads_have_equal_shares() {
    let program = compile("two");
    for variables in [&[][..], &[("GMON_SAMPLER", "perf")], &[("GMON_HZ", "1500")]] {
        let Some(run) = sampled(&program, &["two"], variables) else { continue };
        let rate = run.profile.histograms()[0].unit().profrate;
        let is_by_ring = is_by_ring(variables);
        let [first, second] = check_shares(&run, ["first", "second"], rate, is_by_ring);
        assert!(first.ticks > 50.0 && second.ticks > 50.0 || !is_by_ring, "{:?}", run.ticks);
        // The standard deviation of the difference of two such numbers is the square root of their sum. Ticks of timers
        // come together on a busy machine: their limits are those of `check_shares`.
        let sigma = (first.ticks + second.ticks).sqrt();
        let difference = first.ticks - second.ticks * first.due / second.due;
        assert!(
            difference.abs() <= DEVIATIONS * sigma || !is_by_ring,
            "{variables:?}: {:?}: {}",
            run.ticks,
            run.printed
        );
    }
}

#[test]
fn a_busy_thread_does_not_interrupt_a_sleeping_one() {
    let program = compile("poll");
    for sampler in SAMPLERS {
        let Some(output) = run(&program, &["poll"], &[("GMON_SAMPLER", sampler)]) else { continue };
        assert_eq!(quiet(&output), "woken 0\n", "{sampler}");
        assert!(of(&ticks(&program.profile(), program.symbols()), "first") > 30, "{sampler}");
    }
}

#[test]
fn the_programs_own_interval_timer_is_its_own() {
    let program = compile("own");
    for sampler in SAMPLERS {
        let Some(output) = run(&program, &["own"], &[("GMON_SAMPLER", sampler)]) else { continue };
        let printed = quiet(&output);
        // At most one signal for each 20 ms of the clock of interval timers; with ours there would be a hundred more
        // per second.
        let (own, times) = printed.trim().strip_prefix("own ").and_then(|told| told.split_once(" in ")).unwrap();
        let (by_ticks, by_thread) = times.split_once(" and ").unwrap();
        let [own, by_ticks, by_thread]: [u64; 3] = [own, by_ticks, by_thread].map(|number| number.parse().unwrap());
        assert!(own >= 2 && own * 20 <= by_ticks + 20, "{sampler}: {printed}");
        let ticks = ticks(&program.profile(), program.symbols());
        let both = of(&ticks, "first") + of(&ticks, "on_signal");
        // A hundred ticks per second of the thread.
        assert!((by_thread * 60 / 1000..by_thread * 120 / 1000).contains(&both), "{sampler}: {printed} {ticks:?}");
    }
}

#[test]
fn a_program_that_handles_our_signal_by_a_system_call_gets_a_message() {
    let program = compile("thief");
    for sampler in SAMPLERS {
        let Some(output) = run(&program, &["thief"], &[("GMON_SAMPLER", sampler)]) else { continue };
        let expected = "gmon: the program handles signal 60, which the sampler needs: samples are missing\n";
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected, "{sampler}");
    }
}

/// The program's handler gets the signals that the program or its timers send, with its own mask and flags, and no
/// sample.
#[test]
fn a_program_that_handles_our_signal_is_sampled_and_does_not_see_samples() {
    for (name, flags) in [("shared", &["-O1"][..]), ("static", &["-O1", "-static"])] {
        let plain = Program::compile_with("cc", &format!("sharing-{name}-plain"), "sharing.c", flags);
        let ours = Program::compile(&format!("sharing-{name}"), "sharing.c", flags);
        let expected = plain.command(&[]).output().unwrap();
        assert!(expected.status.success() && expected.stdout.len() > 200, "{expected:?}");
        for sampler in SAMPLERS {
            let Some(output) = run(&ours, &[], &[("GMON_SAMPLER", sampler)]) else { continue };
            assert_eq!(output, expected, "{name} {sampler}");
            let found = ticks(&ours.profile(), ours.symbols());
            let all = found.values().sum::<u64>() + ours.side().samples_outside();
            // The kernel notices 48 expiries or more of a timer with the same period, twice. Each time, a period at the
            // beginning and one at the end may lack theirs. The ring may lose samples when the thread loses the
            // processor.
            let least = if sampler == "perf" { 1 } else { 2 * (48 - 2) };
            assert!(of(&found, "busy") > 0 && all >= least, "{name} {sampler}: {all}: {found:?}");
        }
    }
}

#[test]
fn the_ring_sees_threads_that_call_no_profiled_function() {
    let program = compile("quiet");
    let Some(run) = sampled(&program, &["quiet", "0.3"], &[("GMON_SAMPLER", "perf")]) else { return };
    assert!(of(&run.ticks, "uncalled") > 30, "{:?}", run.ticks);
}

#[test]
fn a_profile_without_most_samples_is_reported() {
    let program = compile("silent");
    let output = program.command(&["quiet", "2.8"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let why = "threads that block signal 60 or call no profiled function are sampled only by GMON_SAMPLER=perf";
    let numbers = said.strip_prefix("gmon: ").and_then(|said| said.split_once(" samples are missing: ")).expect(&said);
    assert_eq!(numbers.1.trim_end(), why);
    let [missing, of, expected] = numbers.0.split(' ').collect::<Vec<_>>()[..] else { panic!("{said}") };
    let (missing, expected): (u32, u32) = (missing.parse().unwrap(), expected.parse().unwrap());
    assert!(of == "of" && missing <= expected && missing > 500 && expected < 700, "{said}");
}

#[test]
fn a_profile_without_samples_is_reported() {
    let program = compile("mute");
    let often = "threads that block signal 60 or call no profiled function are";
    // Half a second may pass on a busy machine before the kernel checks a CPU-time timer.
    let busy = "the machine was too busy to take them, or ";
    let ways = [
        (("GMON_SAMPLER", "timer"), format!("{busy}{often} sampled only by GMON_SAMPLER=perf\n")),
        (
            ("GMON_SAMPLER", "itimer"),
            format!("{busy}threads that block signal 60 are sampled only by GMON_SAMPLER=perf\n"),
        ),
        (("GMON_CLOCK", "wall"), format!("{often} not sampled\n")),
    ];
    for ((variable, value), why) in ways {
        // Half a second of work without anything to sample.
        let output = program.command(&["mute", "0.5"]).env(variable, value).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let numbers = said.strip_prefix("gmon: ").and_then(|said| said.split_once(" samples are missing: "));
        let (numbers, reason) = numbers.unwrap_or_else(|| panic!("{value}: {said:?}"));
        let numbers: Vec<u32> = numbers.split(" of ").map(|number| number.parse().unwrap()).collect();
        assert!(numbers[0] == numbers[1] && numbers[0] > 20, "{said}");
        assert_eq!(reason, why, "{value}");
        // A tick that is over before it is due does not count.
        let output = program.command(&["mute", "0.05"]).env(variable, value).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{value}");
    }
}

#[test]
fn the_time_before_a_second_start_counts() {
    let program = compile("again");
    let output = program.command(&["again", "0.5"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(" samples are missing: "), "{said:?}");
}

#[test]
fn threads_made_while_every_signal_is_blocked_are_sampled() {
    let program = compile("blocked");
    for sampler in SAMPLERS {
        let Some(run) = sampled(&program, &["blocked"], &[("GMON_SAMPLER", sampler)]) else { continue };
        assert!(of(&run.ticks, "first") > 20 && of(&run.ticks, "second") > 20, "{sampler}: {:?}", run.ticks);
    }
}

#[test]
fn a_full_ring_is_reported() {
    let program = compile("deaf");
    let variables = [("GMON_SAMPLER", "perf"), ("GMON_HZ", "10000"), ("GMON_STACKS", "1")];
    let Some(output) = run(&program, &["deaf", "3"], &variables) else { return };
    let said = String::from_utf8(output.stderr).unwrap();
    if said.contains("paused") {
        println!("\nSKIPPED: a full ring: the kernel limits the sampling rate too much");
        return;
    }
    let missing = said.strip_prefix("gmon: the perf_event ring overflowed: ").expect(&said);
    let missing: u64 = missing.strip_suffix(" samples are missing\n").expect(&said).parse().unwrap();
    let ticks = ticks(&program.profile(), program.symbols());
    let all = of(&ticks, "first") + missing;
    assert!(missing > 1000 && (20_000..33_000).contains(&all), "{missing} of {all}");
}

#[test]
fn the_child_of_a_fork_is_sampled_for_itself() {
    let program = compile("fork");
    for sampler in SAMPLERS {
        let Some(output) = run(&program, &["fork"], &[("GMON_SAMPLER", sampler)]) else { continue };
        let printed = quiet(&output);
        let child = printed.trim().strip_prefix("child ").unwrap();
        let child = ticks(&read(&program.directory.join(format!("gmon.program.{child}.out"))), program.symbols());
        let parent = ticks(&program.profile(), program.symbols());
        assert!(of(&child, "second") > 20 && of(&child, "first") == 0, "{sampler}: {child:?}");
        assert!(of(&parent, "first") > 5 && of(&parent, "second") == 0, "{sampler}: {parent:?}");
    }
}

#[test]
fn an_executed_program_inherits_no_resources() {
    let program = compile("exec");
    let left = Program::compile_with("cc", "sampling-left", "left.c", &[]);
    let expected = quiet(&left.command(&[]).output().unwrap());
    for sampler in SAMPLERS {
        let what = ["exec", left.executable.to_str().unwrap()];
        let Some(output) = run(&program, &what, &[("GMON_SAMPLER", sampler)]) else { continue };
        assert_eq!(quiet(&output), expected, "{sampler}");
    }
}

#[test]
fn sleep_counts_with_the_wall_clock() {
    let program = compile("asleep");
    let asleep = |clock| of(&sampled(&program, &["asleep"], &[("GMON_CLOCK", clock)]).unwrap().ticks, "asleep");
    assert!(asleep("wall") > 30);
    assert!(asleep("cpu") <= 5);
}

#[test]
fn nothing_is_counted_while_counting_is_stopped() {
    let program = compile("stopped");
    for sampler in SAMPLERS {
        let Some(run) = sampled(&program, &["stopped"], &[("GMON_SAMPLER", sampler)]) else { continue };
        // The one tick that is being counted may be missing.
        assert!(of(&run.ticks, "first") > 30 && of(&run.ticks, "second") <= 1, "{sampler}: {:?}", run.ticks);
    }
}

#[test]
fn ticks_that_are_due_when_counting_stops_are_counted() {
    let program = compile("late");
    // With this clock, expirations come in time, however busy the machine is.
    let output = run(&program, &["late"], &[("GMON_CLOCK", "wall")]).unwrap();
    let printed = quiet(&output);
    let (turns, milliseconds) = printed.trim().split_once(' ').unwrap();
    let (turns, milliseconds): (u64, u64) = (turns.parse().unwrap(), milliseconds.parse().unwrap());
    let ticks = ticks(&program.profile(), program.symbols());
    assert!(of(&ticks, "first") + 4 * turns >= milliseconds / 10, "{printed}: {ticks:?}");
}

#[test]
fn a_thread_that_has_ended_gets_no_late_ticks() {
    let program = compile("ended");
    let output = run(&program, &["ended"], &[("GMON_CLOCK", "wall")]).unwrap();
    let milliseconds: u64 = quiet(&output).trim().parse().unwrap();
    let ticks = ticks(&program.profile(), program.symbols());
    assert!(of(&ticks, "first") <= milliseconds / 10 + 2, "{milliseconds} ms: {ticks:?}");
}

#[test]
fn invalid_values_are_named_and_defaults_are_used() {
    let program = compile("nonsense");
    let said = |variables: &[(&str, &str)]| {
        let output = program.command(&["alone", "0"]).envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success());
        let rate = program.profile().histograms()[0].unit().profrate;
        (String::from_utf8(output.stderr).unwrap(), rate)
    };
    let line = |what: &str| (format!("gmon: {what}\n"), 100);
    for rate in ["0", "10001", "1e3", "-5", "+5", "99999999999999999999"] {
        let expected = line(&format!("GMON_HZ={rate} is not a number from 1 to 10000: using 100"));
        assert_eq!(said(&[("GMON_HZ", rate)]), expected);
    }
    assert_eq!(said(&[("GMON_CLOCK", "sun")]), line("GMON_CLOCK=sun is not cpu or wall: using cpu"));
    let expected = line("GMON_SAMPLER=dtrace is not perf, timer or itimer: using the default");
    assert_eq!(said(&[("GMON_SAMPLER", "dtrace")]), expected);
    for sampler in ["perf", "itimer"] {
        let what = "cannot sample sleeping threads, as GMON_CLOCK=wall requires: using timer";
        let expected = line(&format!("GMON_SAMPLER={sampler} {what}"));
        assert_eq!(said(&[("GMON_SAMPLER", sampler), ("GMON_CLOCK", "wall")]), expected);
    }
}

/// Runs the program without a system call; returns its standard error and the run.
fn without(program: &Program, call: &str, what: &str, variables: &[(&str, &str)]) -> Option<(String, Sampled)> {
    let forbid = Program::compile_with("cc", &format!("sampling-forbid-{call}"), "forbid.c", &[]);
    let mut command = forbid.command(&[call, program.executable.to_str().unwrap(), what]);
    let output = command.current_dir(&program.directory).envs(variables.iter().copied()).output().unwrap();
    if output.status.code() == Some(77) {
        println!("\nSKIPPED: forbidden system calls: no system-call filters here");
        return None;
    }
    assert!(output.status.success(), "{output:?}");
    let [printed, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    Some((said, Sampled::read(program, printed)))
}

#[test]
fn timers_at_their_maximum_rate_replace_a_forbidden_ring() {
    let program = compile("no-ring");
    let kernel = u32::try_from(kernel_rate(&program)).unwrap();
    for (variable, value, rate) in [("GMON_SAMPLER", "perf", kernel.min(100)), ("GMON_HZ", "5000", kernel)] {
        let Some((said, run)) = without(&program, "perf", "two", &[(variable, value)]) else { return };
        let expected = "gmon: cannot use the perf_event ring, using timers and";
        let error = "operation not permitted (error 1)";
        assert_eq!(said, format!("{expected} GMON_HZ={rate}: {error}\n"));
        assert_eq!(run.profile.histograms()[0].unit().profrate, rate);
        check_shares(&run, ["first", "second"], rate, false);
    }
    // The default needs none.
    assert_eq!(without(&program, "perf", "two", &[]).unwrap().0, "");
}

#[test]
fn the_interval_timer_replaces_forbidden_timers() {
    let program = compile("no-timers");
    let line = "gmon: cannot create a timer for each thread, used one for the process: shares of threads are approximate: operation not \
                permitted (error 1)\n";
    let Some((said, run)) = without(&program, "timers", "long", &[]) else { return };
    // On a busy machine it misses many, which a message may say too.
    assert!(said.starts_with(line), "{said}");
    assert!(of(&run.ticks, "first") + of(&run.ticks, "second") > 10, "{:?}", run.ticks);
    // A program that sets the signal itself keeps it and gets a message.
    let (said, _) = without(&program, "timers", "own", &[]).unwrap();
    let taken = "gmon: the program uses SIGPROF or ITIMER_PROF, which the sampler needs: samples are missing\n";
    assert_eq!(said, format!("{line}{taken}"));
    // A program that was only stopped and went on gets none.
    let (said, _) = without(&program, "timers", "stopped", &[]).unwrap();
    assert!(said.starts_with(line) && !said.contains(taken), "{said}");
}

#[test]
fn a_large_program_that_ran_little_code_leaves_a_small_file() {
    let place = directory("sampling-large-code");
    let filler = place.join("filler.s");
    let mut code = String::from(".text\n.globl filler\n.type filler, @function\nfiller:\n");
    writeln!(code, "    .skip 40000000, 0x90\n    ret\n.section .note.GNU-stack,\"\",@progbits").unwrap();
    std::fs::write(&filler, code).unwrap();
    let object = place.join("filler.o");
    tool("as", &["-o", object.to_str().unwrap(), filler.to_str().unwrap()]);
    let program = Program::compile("sampling-large", "ticks.c", &["-O1", object.to_str().unwrap()]);
    for form in ["openbsd", "gnu", "bsd", "freebsd"] {
        quiet(&program.command(&["70", "30"]).env("GMON_FORMAT", form).output().unwrap());
        let file = std::fs::metadata(program.directory.join("gmon.out")).unwrap();
        assert!(file.len() > 20_000_000, "{form}: all bins must be present, {} bytes", file.len());
        assert!(file.blocks() * 512 < 1_000_000, "{form}: {} bytes on the disk", file.blocks() * 512);
        let profile = program.profile();
        let ticks = ticks(&profile, program.symbols());
        assert!(of(&ticks, "here") >= 70 && of(&ticks, "there") >= 30, "{form}: {ticks:?}");
        assert_eq!(calls(&profile, program.symbols())["calls nowhere"], 1);
    }
}
