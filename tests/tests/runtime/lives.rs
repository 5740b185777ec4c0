//! Threads that live for less than a sampling period, and longer ones.

use gmon_tests::chance::DEVIATIONS;

use crate::support::{Program, quiet, ticks};

/// Checks the ticks of threads that live for so many microseconds, `at_once` of them together, at `rate` ticks per second.
///
/// The program's own timers expire at each tick of the kernel that meets a thread. Each of these expiries is one of the runtime's with a
/// chance of `share`. So the number of ticks has the variance of that many throws of a coin at most, and no scheduler changes the limits.
fn check(program: &Program, microseconds: u32, at_once: u32, rate: u32, wanted: u32) {
    let arguments = [microseconds, at_once, wanted].map(|number| number.to_string());
    let arguments = arguments.each_ref().map(String::as_str);
    let output = program.command(&arguments).env("GMON_HZ", rate.to_string()).output().unwrap();
    let what = format!("{microseconds} us, {at_once} at once, {rate} Hz");
    let printed = quiet(&output);
    let numbers: Vec<f64> = printed.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [kernel_tick, in_first, in_second, cpu_time] = numbers[..] else { panic!("{printed}") };
    assert!(in_first + in_second >= f64::from(wanted), "{what}: the kernel did not look: {printed}");
    let profile = program.profile();
    let found = ticks(&profile, program.symbols());
    assert_eq!(profile.histograms()[0].unit().profrate, rate, "{what}");
    let share = kernel_tick * f64::from(rate);
    // Both timers of a thread start within microseconds of each other, so one look in a thousand may see only one expire.
    const APART: f64 = 0.01;
    for (name, expiries) in [("first", in_first), ("second", in_second)] {
        let ticks = found.get(name).copied().unwrap_or(0) as f64;
        let sigma = (expiries * (share * (1.0 - share) + APART)).sqrt();
        let limit = DEVIATIONS * sigma + 1.0;
        let expected = expiries * share;
        assert!(
            (ticks - expected).abs() <= limit,
            "{what}: {name} has {ticks} ticks, expected {expected:.1} +- {limit:.1}: {printed}{found:?}"
        );
    }
    // No time appears that never was. The kernel's ticks may meet a process more often than its CPU time says, but not far more often.
    let all = found.values().sum::<u64>() + program.side().samples_outside();
    let most = 1.5 * cpu_time * f64::from(rate);
    assert!((all as f64) <= most + DEVIATIONS * most.sqrt(), "{what}: {all} ticks in {cpu_time} seconds");
}

/// The length of the kernel's tick in seconds.
fn kernel_tick(program: &Program) -> f64 {
    program.run(&["1", "1", "0"]).split_whitespace().next().unwrap().parse().unwrap()
}

fn check_lives(name: &str, lives: &[(u32, u32)]) {
    let program = Program::compile(&format!("lives-{name}"), "lives.c", &["-O1"]);
    // At the higher rate, each tick of a kernel with 250 ticks per second is one of the sampler's.
    let most = kernel_tick(&program).recip().round();
    for (microseconds, wanted) in lives {
        for at_once in [1, 16] {
            for rate in [100, 250].into_iter().filter(|rate| f64::from(*rate) <= most) {
                // Sixteen threads for a second each would take sixteen seconds.
                if *microseconds < 1_000_000 || at_once == 1 {
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
    check_lives("long", &[(20_000, 300), (1_000_000, 400)]);
}
