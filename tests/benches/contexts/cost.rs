//! What stacks cost, in pairs of runs with and without them.

use std::process::Command;

use crate::programs::Program;

const PAIRS: usize = 15;

/// Samples per second. The cost at the higher rate, divided by ten, shows the cost at the lower rate with a tenth of the noise.
const RATES: [&str; 2] = ["1000", "10000"];

pub(crate) fn print(program: &Program) {
    println!(
        "| {}, samples per second | seconds of CPU time, GMON_STACKS=0 | with stacks | difference | at 1,000 Hz |",
        program.name
    );
    println!("|---|---|---|---|---|");
    for rate in RATES {
        let seconds =
            |stacks| cpu_seconds(program, &[("GMON_CLOCK", "wall"), ("GMON_HZ", rate), ("GMON_STACKS", stacks)]);
        let mut pairs: Vec<[f64; 2]> = Vec::new();
        for _ in 0..PAIRS {
            pairs.push(["0", "1"].map(seconds));
        }
        let [without, with] = [0, 1].map(|way| median(pairs.iter().map(|pair| pair[way]).collect()));
        let ratio = (median(pairs.iter().map(|pair| pair[1] / pair[0]).collect()) - 1.0) * 100.0;
        let scaled = ratio * 1000.0 / rate.parse::<f64>().unwrap();
        println!("| {rate} | {without:.3} | {with:.3} | {ratio:+.2} % | **{scaled:+.2} %** |");
    }
}

/// The CPU time of a run.
fn cpu_seconds(program: &Program, variables: &[(&str, &str)]) -> f64 {
    let before = children_seconds();
    let mut command = Command::new(&program.ours);
    let output = command.envs(variables.iter().copied()).current_dir(&program.directory).output().unwrap();
    assert!(output.status.success());
    children_seconds() - before
}

/// The CPU time of all children that have ended.
fn children_seconds() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the structure, which is valid with zeros too.
    let usage = unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()), 0);
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
