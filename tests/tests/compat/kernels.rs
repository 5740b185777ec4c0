//! Kernels that lack newer features, and containers that forbid features: the program runs, calls are counted, and one
//! line names the missing feature.

use std::process::Output;
use std::sync::OnceLock;

use crate::kit::has_our_runtime;
use crate::support::{Program, compare, ticks};

const NOT_PERMITTED: &str = "1";
const NOT_IMPLEMENTED: &str = "38";

/// The milliseconds that `shares` runs, until it has enough samples: some kernels look at their timers seldom.
const TIMES: [&str; 3] = ["300", "3000", "30000"];

/// Runs the program without these calls; `None` if that is not possible here.
fn run(program: &Program, error: &str, calls: &str, arguments: &[&str], live: &str) -> Option<Output> {
    static LACKS: OnceLock<Program> = OnceLock::new();
    let lacks = LACKS.get_or_init(|| Program::compile_with("cc", "kernels-lacks", "lacks.c", &[]));
    let words = [&[error, calls, program.executable.to_str().unwrap()], arguments].concat();
    let output = lacks.command(&words).env("GMON_LIVE", live).current_dir(&program.directory).output().unwrap();
    if output.status.code() == Some(77) {
        println!("\nSKIPPED: kernels that lack system calls: no system-call filters here");
        return None;
    }
    assert!(output.status.success(), "without {calls}: {output:?}");
    Some(output)
}

fn said(output: &Output) -> Vec<String> {
    String::from_utf8(output.stderr.clone()).unwrap().lines().map(str::to_owned).collect()
}

/// The profile's samples in the program's own functions.
fn samples(program: &Program) -> u64 {
    let ticks = ticks(&program.profile(), program.symbols());
    ["one", "three"].iter().filter_map(|name| ticks.get(*name)).sum()
}

#[test]
fn without_what_the_c_library_would_like() {
    let program = Program::compile("kernels-rseq", "shares.c", &["-O1"]);
    for error in [NOT_PERMITTED, NOT_IMPLEMENTED] {
        let is_sampled = TIMES.iter().any(|time| {
            let output = run(&program, error, "rseq,set_robust_list,perf_event_open", &[time], "0");
            output.is_none_or(|output| {
                assert_eq!(said(&output), [""; 0]);
                has_our_runtime(&program);
                samples(&program) >= 10
            })
        });
        assert!(is_sampled);
    }
}

#[test]
fn without_timers_for_threads() {
    let program = Program::compile("kernels-timers", "shares.c", &["-O1"]);
    for (error, text) in
        [(NOT_PERMITTED, "operation not permitted (error 1)"), (NOT_IMPLEMENTED, "function not implemented (error 38)")]
    {
        let line =
            "gmon: cannot create a timer for each thread, used one for the process: shares of threads are approximate";
        let is_sampled = TIMES.iter().any(|time| {
            run(&program, error, "timer_create", &[time], "0").is_none_or(|output| {
                assert_eq!(said(&output), [format!("{line}: {text}")]);
                samples(&program) >= 10
            })
        });
        assert!(is_sampled);
    }
}

#[test]
fn without_any_timer() {
    let program = Program::compile("kernels-no-timers", "calls.c", &["-O1"]);
    for error in [NOT_PERMITTED, NOT_IMPLEMENTED] {
        let lacking = "timer_create,setitimer,perf_event_open,rseq,set_robust_list";
        let Some(output) = run(&program, error, lacking, &["4", "500"], "0") else { return };
        let said = said(&output);
        let line = "gmon: cannot create a timer for each thread, or one for the process: some threads were not sampled";
        assert!(said.len() == 1 && said[0].starts_with(line), "{said:?}");
        compare(&String::from_utf8(output.stdout).unwrap(), &program.profile(), program.symbols());
    }
    // The message is not repeated in other words where many samples are missing.
    let busy = Program::compile("kernels-no-timers-busy", "shares.c", &["-O1"]);
    if let Some(output) = run(&busy, NOT_IMPLEMENTED, "timer_create,setitimer", &["1500"], "0") {
        assert_eq!((said(&output).len(), samples(&busy)), (1, 0), "{output:?}");
    }
}

#[test]
fn without_room_made_beforehand_for_a_live_file() {
    let program = Program::compile("kernels-fallocate", "calls.c", &["-O1"]);
    let Some(output) = run(&program, NOT_IMPLEMENTED, "fallocate", &["2"], "1") else { return };
    let line = "gmon: GMON_LIVE: writing gmon.out only at the end: cannot map it: function not implemented (error 38)";
    assert_eq!(said(&output), [line]);
    compare(&String::from_utf8(output.stdout).unwrap(), &program.profile(), program.symbols());
}
