//! The program `gprof`: everything it does is in the library.

use std::io::{stderr, stdout};
use std::process::ExitCode;

use gprof::Terminal;

fn main() -> ExitCode {
    match gprof::run(std::env::args_os(), &mut stdout().lock(), &mut stderr(), &Terminal::of_process()) {
        Ok(()) => ExitCode::SUCCESS,
        // As in `gprof | head`: whoever read the report has seen enough.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gprof: {}", gprof::visible(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}
