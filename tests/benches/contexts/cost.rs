//! What stacks cost, in pairs of runs with and without them.

use std::process::Command;

use crate::programs::Program;
use crate::time::{children_seconds, median};

/// Samples per second, and the number of pairs, for ten minutes in all. The cost at the higher rate, divided by ten,
/// shows the cost at the lower rate with a tenth of the noise.
const RATES: [(&str, usize); 2] = [("1000", 320), ("10000", 60)];

pub(crate) fn print(program: &Program) {
    println!(
        "| {}, samples per second | seconds of CPU time, GMON_STACKS=0 | with stacks | difference | at 1,000 Hz |",
        program.name
    );
    println!("|---|---|---|---|---|");
    for (rate, pairs) in RATES {
        let seconds =
            |stacks| cpu_seconds(program, &[("GMON_CLOCK", "wall"), ("GMON_HZ", rate), ("GMON_STACKS", stacks)]);
        // The other way first in every second pair: what a run leaves behind, and a machine that becomes slower, weigh
        // on both alike.
        let pair = |number: usize| {
            if number.is_multiple_of(2) {
                ["0", "1"].map(seconds)
            } else {
                let [with, without] = ["1", "0"].map(seconds);
                [without, with]
            }
        };
        let pairs: Vec<[f64; 2]> = (0..pairs).map(pair).collect();
        let [without, with] = [0, 1].map(|way| median(pairs.iter().map(|pair| pair[way]).collect()));
        let (ratio, error) = estimate(pairs.iter().map(|pair| (pair[1] / pair[0] - 1.0) * 100.0).collect());
        let scale = 1000.0 / rate.parse::<f64>().unwrap();
        let [scaled, scaled_error] = [ratio, error].map(|figure| figure * scale);
        println!(
            "| {rate} | {without:.3} | {with:.3} | {ratio:+.2} ± {error:.2} % | **{scaled:+.2} ± {scaled_error:.2} %** |"
        );
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

/// The median, and its standard error. The error follows from the median distance from the median, as for a normal
/// distribution, so a few runs that other programs disturbed do not count.
fn estimate(figures: Vec<f64>) -> (f64, f64) {
    /// The standard deviation divided by the median distance from the middle, and the standard error of a median
    /// divided by that of a mean.
    const DEVIATION: f64 = 1.4826;
    const OF_MEDIAN: f64 = 1.2533;
    let number = figures.len() as f64;
    let middle = median(figures.clone());
    let distance = median(figures.into_iter().map(|figure| (figure - middle).abs()).collect());
    (middle, OF_MEDIAN * DEVIATION * distance / number.sqrt())
}
