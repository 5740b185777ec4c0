//! Threads that live for less than a sampling period, and longer ones.

use std::time::Instant;

use gmon_tests::chance::DEVIATIONS;

use crate::support::{Program, ticks};

/// The microseconds of a life of many periods.
const LONG: u32 = 1_000_000;

/// Checks the ticks of threads that live for so many microseconds, `at_once` of them together, at `rate` ticks per
/// second. The result is false if the kernel forbids the ring.
///
/// The program itself knows at which moments ticks of the kernel met its threads, and computes how many ticks the
/// runtime counts for these moments on average, and the variance of that number. So no scheduler changes the limits.
fn check(program: &Program, microseconds: u32, at_once: u32, rate: u32, wanted: u32) -> bool {
    let arguments = [microseconds, at_once, wanted, rate].map(|number| number.to_string());
    let arguments = arguments.each_ref().map(String::as_str);
    // A ring has room for the samples of this program if they have no stacks.
    let has_ring = rate > 250;
    let variables = [("GMON_HZ", rate.to_string()), ("GMON_STACKS", u8::from(!has_ring).to_string())];
    let start = Instant::now();
    let output = program.command(&arguments).envs(variables).output().unwrap();
    let elapsed = start.elapsed().as_secs_f64();
    let what = format!("{microseconds} us, {at_once} at once, {rate} Hz");
    if String::from_utf8_lossy(&output.stderr).contains("cannot use the perf_event ring") {
        println!("\nSKIPPED: the ring: perf_event_open is forbidden here");
        return false;
    }
    // The ends of threads are not sampled, which a message may say where there is little else.
    assert!(output.status.success(), "{what}: {output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<f64> = printed.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let &[kernel_tick, meetings, .., threads, used] = &numbers[..] else { panic!("{printed}") };
    let functions = numbers.get(2..8).expect("least, most, and variance of two functions").as_chunks::<3>().0;
    assert!(meetings >= f64::from(wanted), "{what}: the kernel did not look: {printed}");
    let profile = program.profile();
    let found = ticks(&profile, program.symbols());
    assert_eq!(profile.histograms()[0].unit().profrate, rate, "{what}");
    let worth = kernel_tick * f64::from(rate);
    // Both timers of a thread start within microseconds of each other, so one look in a thousand may see only one
    // expire.
    const APART: f64 = 0.01;
    let variance = worth.fract() * (1.0 - worth.fract()) + APART * worth.max(1.0).powi(2);
    for (name, &[least, most, of_name]) in ["first", "second"].into_iter().zip(functions) {
        let ticks = found.get(name).copied().unwrap_or(0) as f64;
        // Rates above the kernel's have a whole number of ticks at each look, or one more.
        let of_looks = if worth > 1.0 { most / worth * variance } else { most * APART };
        let limit = DEVIATIONS * (of_name + of_looks).sqrt() + worth.max(1.0);
        assert!(
            (least - limit..=most + limit).contains(&ticks),
            "{what}: {name} has {ticks} ticks, expected {least:.1} to {most:.1} +- {limit:.1}: {printed}{found:?}"
        );
    }
    // No time appears that never was. Behind its first sample, a thread has at most one in each period of its CPU time.
    // The first one needs a tick of the kernel that meets the thread, and each of the threads that run at once is met
    // by one tick at a time.
    let side = program.side();
    let all = found.values().sum::<u64>() + side.samples_outside();
    // A ring that must not look into the kernel leaves out the time there, so the side file has no CPU time.
    let cpu_time = side.cpu_time().map_or(used, |time| time as f64 * 1e-9);
    let met = (elapsed / kernel_tick + 1.0) * f64::from(at_once + 1);
    let firsts = (threads * worth.ceil()).min(met * worth + DEVIATIONS * (met * variance).sqrt());
    // The first sample sets the timer anew, with a phase by chance: a thread of 9.4 periods has 9, 10, or 11 samples
    // with the first one. On average the phase adds nothing; both phases together have a variance of a sixth.
    let phases = threads.min(DEVIATIONS * (threads / 6.0).sqrt());
    let most = cpu_time * f64::from(rate) + firsts + phases;
    assert!((all as f64) <= most, "{what}: {all} ticks, expected {most:.1} at most in {cpu_time} seconds: {printed}");
    // No time is lost either, where a thread lives for many periods and ends when the kernel has looked: at most a tick
    // at the start and two at the end.
    if microseconds >= LONG {
        let least = cpu_time * f64::from(rate) - 3.0 * threads;
        assert!(
            (all as f64) >= least,
            "{what}: {all} ticks, expected {least:.1} at least in {cpu_time} seconds: {printed}"
        );
    }
    true
}

/// The length of the kernel's tick in seconds.
fn kernel_tick(program: &Program) -> f64 {
    program.run(&["1", "1", "0", "100"]).split_whitespace().next().unwrap().parse().unwrap()
}

fn check_lives(name: &str, lives: &[(u32, u32)]) {
    let program = Program::compile(&format!("lives-{name}"), "lives.c", &["-O1"]);
    // At the higher rate, each tick of a kernel with 250 ticks per second is one of the sampler's.
    let most = kernel_tick(&program).recip().round();
    for (microseconds, wanted) in lives {
        for at_once in [1, 16] {
            for rate in [100, 250].into_iter().filter(|rate| f64::from(*rate) <= most) {
                // Sixteen threads for a second each would take sixteen seconds.
                if *microseconds < LONG || at_once == 1 {
                    check(&program, *microseconds, at_once, rate, *wanted);
                }
            }
        }
    }
}

#[test]
fn threads_that_live_for_less_than_a_period_have_their_share_of_the_ticks() {
    check_lives("short", &[(50, 120), (300, 160), (3000, 200)]);
}

#[test]
fn threads_that_live_for_several_periods_have_their_share_of_the_ticks() {
    check_lives("long", &[(20_000, 300), (LONG, 400)]);
}

#[test]
fn the_ring_samples_threads_that_live_for_less_than_a_period() {
    let program = Program::compile("lives-ring", "lives.c", &["-O1"]);
    // The threads do not live for half a period, so the kernel itself takes no sample.
    for (microseconds, at_once) in [(50, 1), (50, 16), (300, 1), (300, 16)] {
        if !check(&program, microseconds, at_once, 1000, 120) {
            return;
        }
    }
}
