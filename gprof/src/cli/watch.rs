//! How to show a running program again and again.

use std::time::Duration;

use clap::ArgMatches;

use super::arguments::Arguments;
use super::command::{arguments, is_given};
use crate::error::Error;
use crate::question::options::Watch;

/// The periods that a user may want, in seconds.
const SHORTEST: f64 = 0.1;
const LONGEST: f64 = 86_400.0;

/// The options and operands that can stand beside `--watch`. All others choose reports, formats, or files that are not read
/// again.
const ALLOWED: [&str; 16] = [
    "watch",
    "pid",
    "image",
    "images",
    "profiles",
    "top",
    "thread",
    "no_static",
    "ignore_non_functions",
    "merge_clones",
    "file_format",
    "profile_form",
    "debug_dir",
    "no_objects",
    "demangle",
    "no_demangle",
];

/// Checks `--watch` and `--pid`.
pub(super) fn watch(arguments: &Arguments, matches: &ArgMatches) -> Result<Option<Watch>, Error> {
    let Some(text) = &arguments.watch else {
        return match arguments.pid {
            Some(_) => Err(Error::Usage("'--pid' needs '--watch'".to_owned())),
            None => Ok(None),
        };
    };
    let is_given = |id: &str| is_given(matches, id);
    let mut others = matches.ids().map(clap::Id::as_str).filter(|id| is_given(id) && !ALLOWED.contains(id));
    if let Some(other) = others.find(|id| !id.starts_with(char::is_uppercase)) {
        return Err(Error::Usage(format!("'--watch' and '{}' cannot be used together", spelled(other))));
    }
    if arguments.images.len() > 1 || arguments.profiles.len() > 1 {
        return Err(Error::Usage("'--watch' shows one profile of one program".to_owned()));
    }
    let seconds = text.parse().ok().filter(|seconds| (SHORTEST..=LONGEST).contains(seconds)).ok_or_else(|| {
        Error::Usage(format!("'--watch' needs a number of seconds from {SHORTEST} to {LONGEST}, not '{text}'"))
    })?;
    let has_profile = is_given("profiles") || !arguments.images.is_empty();
    let operand = arguments.image.to_str().filter(|_| is_given("image"));
    let number = operand.filter(|word| !has_profile && word.bytes().all(|byte| byte.is_ascii_digit()));
    let pid = match (&arguments.pid, operand) {
        (Some(_), Some(_)) => {
            return Err(Error::Usage("'--pid' finds the files of the process: leave out the operands".to_owned()));
        }
        (Some(pid), None) => Some(pid.as_str()),
        (None, _) => number,
    };
    let number = |pid: &str| {
        let number = pid.parse().ok().filter(|pid| *pid > 0);
        number.ok_or_else(|| Error::Usage(format!("'--pid' needs the number of a process, not '{pid}'")))
    };
    Ok(Some(Watch { period: Duration::from_secs_f64(seconds), process: pid.map(number).transpose()? }))
}

/// An option as a user writes it.
fn spelled(id: &str) -> String {
    let command = arguments();
    let option = command.get_arguments().find(|argument| argument.get_id() == id);
    match option.map(|option| (option.get_long(), option.get_short())) {
        Some((Some(long), _)) => format!("--{long}"),
        Some((None, Some(short))) => format!("-{short}"),
        _ => id.to_owned(),
    }
}
