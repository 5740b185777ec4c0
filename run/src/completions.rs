//! The completions of shells, which packagers install beside the program (`--generate`).

use std::ffi::OsString;

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::arguments::Arguments;

/// The completions that `--generate=SHELL` asks for, if this is the whole command line.
pub(crate) fn generated(words: &[OsString]) -> Option<Vec<u8>> {
    let [_, option] = words else { return None };
    let shell = match option.to_str()?.strip_prefix("--generate=")? {
        "bash" => Shell::Bash,
        "zsh" => Shell::Zsh,
        "fish" => Shell::Fish,
        _ => return None,
    };
    let mut text = Vec::new();
    generate(shell, &mut Arguments::command(), "gmon-run", &mut text);
    Some(text)
}
