//! The program `gmon-run`. The library does all the work.

use std::process::ExitCode;

fn main() -> ExitCode {
    gmon_run::main()
}
