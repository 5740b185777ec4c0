//! The program `gprof`. The library does all the work.

use std::io::{stderr, stdout};
use std::process::ExitCode;

use gprof::Terminal;

fn main() -> ExitCode {
    match gprof::run(std::env::args_os(), &mut stdout().lock(), &mut stderr(), &Terminal::of_process()) {
        Ok(()) => ExitCode::SUCCESS,
        // In `gprof | head`, the reader has seen enough.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // A verdict begins with what changed.
            let program = if error.is_verdict() { "" } else { "gprof: " };
            eprintln!("{program}{}", gprof::visible(&error.to_string()));
            ExitCode::from(error.exit_status())
        }
    }
}
