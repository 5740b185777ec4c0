//! How often the true inclusive time is within one standard error of the measured one, in runs of a program that knows
//! the truth.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::reports::Report;

const RUNS: u32 = 50;

/// CPU time of a run, in seconds.
const SECONDS: &str = "1";

pub(crate) fn print(directory: &Path) {
    let directory = directory.join("truth");
    fs::create_dir_all(&directory).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/contexts/direct.c");
    let library = format!("-B{}", gmon_tests::start_objects().display());
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-pg", &library, "-o"]).arg(directory.join("program")).arg(source);
    assert!(compiler.status().unwrap().success());
    let mut figures = Vec::new();
    for _ in 0..RUNS {
        figures.push(run(&directory));
    }
    let within = |errors: f64| {
        let hits =
            figures.iter().filter(|figure| (figure.measured - figure.truth).abs() <= errors * figure.error).count();
        hits as f64 * 100.0 / f64::from(RUNS)
    };
    let mean = |value: fn(&Figure) -> f64| figures.iter().map(value).sum::<f64>() / f64::from(RUNS);
    println!(
        "| {RUNS} runs of {SECONDS} second, `dear` | truth | measured | GNU's way | truth within one standard error | within two |"
    );
    println!("|---|---|---|---|---|---|");
    println!(
        "| mean | {:.3} | {:.3} ±{:.3} | {:.3} | **{:.0} %** | {:.0} % |",
        mean(|figure| figure.truth),
        mean(|figure| figure.measured),
        mean(|figure| figure.error),
        mean(|figure| figure.estimate),
        within(1.0),
        within(2.0)
    );
}

/// Inclusive times of `dear`, in seconds.
struct Figure {
    truth: f64,
    measured: f64,
    /// The standard error of a binomial share of the samples.
    error: f64,
    estimate: f64,
}

fn run(directory: &Path) -> Figure {
    let output = Command::new("./program").args(["cpu", SECONDS]).current_dir(directory).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let truth = text.lines().find_map(|line| line.strip_prefix("truth dear ")).unwrap().parse::<f64>().unwrap() / 1e9;
    let read =
        |options: &[&str]| Report::read(directory, &[options, &["--format=json", "program", "gmon.out"]].concat());
    let (report, classic) = (read(&[]), read(&["--propagate"]));
    let [ticks, all] = [report.inclusive("dear"), report.inclusive("main")].map(|time| time * report.rate());
    let error = (ticks * (1.0 - ticks / all)).sqrt() / report.rate();
    Figure { truth, measured: report.inclusive("dear"), error, estimate: classic.inclusive("dear") }
}
