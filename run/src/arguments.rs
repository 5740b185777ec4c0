//! The command line.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::{Parser, ValueEnum, ValueHint};

use crate::message::say;

/// Profile any program, unchanged
///
/// Runs PROGRAM and samples it, its threads, its children, and the programs that they execute. The profiles of each
/// executable are added up in the directory gmon.run, which gprof reads: run gprof without arguments. Nothing is
/// compiled again. Calls are counted only in programs that were compiled with -pg. The exit status is that of PROGRAM;
/// 127 if PROGRAM is not found, 126 if it cannot be executed, and 125 if gmon-run fails.
#[derive(Debug, Parser)]
#[command(name = "gmon-run", version, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// Take N samples in each second of CPU time (default: 250, or the rate of the kernel's ticks if that is lower;
    /// with --wall 100)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) hz: Option<u32>,

    /// Sample by the clock on the wall, also while threads wait
    #[arg(long)]
    pub(crate) wall: bool,

    /// Tell the threads of each process apart
    #[arg(long)]
    pub(crate) threads: bool,

    /// Count in the files themselves: the profile survives any end of a process, and gprof --watch can show it
    /// meanwhile
    #[arg(long)]
    pub(crate) live: bool,

    /// Which profiles the processes leave: a sum for each executable, a file for each process, or none but the
    /// program's own
    #[arg(long, value_name = "WHICH", default_value = "sum")]
    pub(crate) children: Children,

    /// Profile only programs with this name; * and ? stand for any characters
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Option<OsString>,

    /// Where the profiles go
    #[arg(short = 'o', long, value_name = "DIRECTORY", default_value = "gmon.run", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

/// Which profiles the processes leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Children {
    /// A sum for each executable
    Sum,
    /// A file for each process
    Each,
    /// Nothing but the program's own
    None,
}

impl Arguments {
    /// The command line with these words. The error is the exit status; the text has been written.
    pub(crate) fn of(words: Vec<OsString>) -> Result<Arguments, u8> {
        let arguments = Arguments::try_parse_from(words).map_err(|error| {
            let _ = error.print();
            if error.use_stderr() { 125 } else { 0 }
        })?;
        // The words of the program may begin with a hyphen, so clap takes an unknown option for the program.
        match arguments.command.first().filter(|program| program.as_bytes().starts_with(b"-")) {
            Some(option) => {
                say(&format!("{}: no such option (try gmon-run --help)", option.display()));
                Err(125)
            }
            None => Ok(arguments),
        }
    }
}
