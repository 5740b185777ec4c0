//! Prints the ten functions that took most time: `ten_hottest PROGRAM [PROFILES...]`.

use std::io::{Write as _, stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    match print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ten_hottest: {}", gprof::visible(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn print() -> Result<(), gprof::Error> {
    let options = gprof::Options::parse(std::env::args_os().skip(1))?;
    let loaded = gprof::load(&options, &mut stderr())?;
    let analysis = gprof::analyze(&loaded, &options, &mut stderr())?;
    for function in analysis.hottest().take(10) {
        let gprof::HotFunction { name, self_time, percent, calls, .. } = function;
        // The name is what the file says: no terminal must obey it.
        let name = gprof::visible(&name);
        let line = format!("{percent:6.2} % {self_time:10.2} s {calls:12} calls  {name}");
        writeln!(stdout(), "{line}").map_err(gprof::Error::Output)?;
    }
    Ok(())
}
