//! Prints the ten functions that took most time: `ten_hottest PROGRAM [PROFILES...]`.

use std::io::stderr;
use std::process::ExitCode;

fn main() -> ExitCode {
    match print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ten_hottest: {error}");
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
        println!("{percent:6.2} % {self_time:10.2} s {calls:12} calls  {name}");
    }
    Ok(())
}
