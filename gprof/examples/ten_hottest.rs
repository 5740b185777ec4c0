//! Prints the ten functions with the longest self times: `ten_hottest PROGRAM [PROFILES...]`.

use std::io::{Write as _, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use gprof::{Error, Options};

fn main() -> ExitCode {
    let mut files = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(program) = files.next() else {
        eprintln!("usage: ten_hottest PROGRAM [PROFILES...]");
        return ExitCode::FAILURE;
    };
    let mut profiles: Vec<PathBuf> = files.collect();
    if profiles.is_empty() {
        profiles.push("gmon.out".into());
    }
    match print(&Options::new(program, profiles)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ten_hottest: {}", gprof::visible(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn print(options: &Options) -> Result<(), Error> {
    let loaded = gprof::load(options, &mut stderr())?;
    let analysis = gprof::analyze(&loaded, options, &mut stderr())?;
    for row in analysis.flat_rows().take(10) {
        let (percent, seconds, calls) = (row.percent, row.self_time, row.calls);
        let name = String::from_utf8_lossy(&analysis.row_name(&row)).into_owned();
        // Names come from the program's file. A terminal must not obey their control characters.
        let name = gprof::visible(&name);
        writeln!(stdout(), "{percent:6.2} % {seconds:10.2} s {calls:12} calls  {name}").map_err(Error::Output)?;
    }
    Ok(())
}
