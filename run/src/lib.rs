//! The library of the program `gmon-run`: profiles a program, and all programs that the program executes, without a new
//! build.
//!
//! gmon-run starts the program with the runtime of gmon as a preloaded shared object. Each process writes its own
//! profile into one directory. Meanwhile and at the end, gmon-run adds up the profiles of each executable.
#![forbid(unsafe_code)]

mod arguments;
mod collection;
mod directory;
mod error;
mod executable;
mod job;
mod message;
mod names;
mod perf_maps;
mod process;
mod runtime;
mod status;

use std::process::ExitCode;

use arguments::{Arguments, Children};
use collection::Collection;
use error::Error;
use executable::Executable;
use message::say;

/// Runs the command line of this process. The result is the exit status.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::of_process() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match run(&arguments) {
        Ok(end) => end.follow(),
        Err(error) => {
            say(&error.to_string());
            error.code()
        }
    }
}

/// Runs the program, and collects the profiles. The result is the end of the program.
fn run(arguments: &Arguments) -> Result<process::End, Error> {
    let executable = Executable::find(&arguments.command[0])?;
    if let Some(hindrance) = executable.hindrance() {
        say(&format!("{}: {hindrance}", executable.path().display()));
    }
    let collection = Collection::create(arguments)?;
    let preload = runtime::preload()?;
    let mut command = std::process::Command::new(executable.path());
    process::name(&mut command, &arguments.command[0]);
    command.args(&arguments.command[1..]);
    runtime::OF_OPTIONS.into_iter().for_each(|name| _ = command.env_remove(name));
    for (name, value) in runtime::variables(arguments, collection.prefix(), &preload) {
        command.env(name, value);
    }
    let end = process::run(&mut command, executable.path(), || {
        collection.name_generated_code();
        if arguments.children == Children::Sum {
            collection.add_up(collection::Which::Crowded);
        }
    })?;
    collection.name_generated_code();
    if arguments.children == Children::Sum {
        collection.add_up(collection::Which::All);
    }
    collection.tell_result(executable.hindrance().is_some());
    Ok(end)
}
