//! The library of the program `gmon-run`: profiles a program, and all programs that the program executes, without a new
//! build.
//!
//! gmon-run starts the program with the runtime of gmon as a preloaded shared object. Each process writes its own
//! profile into one directory. Meanwhile and at the end, gmon-run adds up the profiles of each executable.
#![deny(unsafe_code)]

mod arguments;
mod collection;
mod completions;
mod descriptors;
mod directory;
mod error;
mod executable;
mod job;
mod message;
mod names;
mod perf_maps;
mod process;
mod runtime;
mod signals;
mod status;
mod system;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};

pub use system::words;

use arguments::Arguments;
use collection::Collection;
use error::Error;
use executable::Executable;
use message::say;

/// Runs the command line with these words. The result is the exit status.
#[must_use]
pub fn main(words: Vec<OsString>) -> u8 {
    let _descriptors = descriptors::fill();
    if let Some(text) = completions::generated(&words) {
        let mut out = io::stdout();
        return if out.write_all(&text).and_then(|()| out.flush()).is_ok() { 0 } else { 125 };
    }
    let arguments = match Arguments::of(words) {
        Ok(arguments) => arguments,
        Err(status) => return status,
    };
    match run(&arguments) {
        Ok(end) => end.follow(),
        Err(error) => {
            say(&error.to_string());
            error.status()
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
    let variables = runtime::variables(arguments, collection.prefix(), &runtime::preload()?);
    let command = process::Command {
        path: executable.path().to_owned(),
        words: arguments.command.clone(),
        environment: runtime::environment(env::vars_os(), &variables),
    };
    let end = command.run(|| collection.collect(collection::Which::Crowded))?;
    collection.collect(collection::Which::All);
    collection.tell_result(executable.hindrance().is_some());
    Ok(end)
}
