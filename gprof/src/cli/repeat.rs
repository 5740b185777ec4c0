//! Checks `--repeat` and the options that belong to it.

use std::ffi::OsString;
use std::time::Duration;

use clap::{ArgMatches, Id};

use super::arguments::{Arguments, arguments as options, is_given, spelled};
use crate::error::Error;
use crate::question::options::Repeat;

/// The most runs of a program that a user may want.
const MOST: usize = 1000;

/// The longest time that a user may give, in seconds.
const LONGEST: f64 = 31.0 * 86_400.0;

/// The options that name other profiles, or tell something of their files.
const OTHER_PROFILES: [&str; 8] =
    ["watch", "pid", "attach", "base", "extract", "images", "file_format", "profile_form"];

/// The options and operands that are not about the report.
const OF_RUNS: [&str; 7] = ["repeat", "against", "until", "max_time", "output", "image", "profiles"];

/// The checked options.
pub(super) fn repeat(arguments: &Arguments, matches: &ArgMatches) -> Result<Option<Repeat>, Error> {
    let usage = |text: String| Err(Error::Usage(text));
    let Some(runs) = &arguments.repeat else {
        let alone = [
            ("--against", arguments.against.is_some()),
            ("--until", arguments.until.is_some()),
            ("--max-time", arguments.max_time.is_some()),
        ];
        return match alone.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => usage(format!("'{option}' needs '--repeat'")),
            None => Ok(None),
        };
    };
    if let Some(other) = OTHER_PROFILES.into_iter().find(|id| is_given(matches, id)) {
        return usage(format!("'--repeat' and '{}' cannot be used together", spelled(other)));
    }
    let Some(count) = runs.parse().ok().filter(|count| (1..=MOST).contains(count)) else {
        return usage(format!("'--repeat' needs a number of runs from 1 to {MOST}, not '{runs}'"));
    };
    let [directory] = &arguments.output[..] else {
        return usage("'--repeat' needs one directory for the profiles: '--output=DIRECTORY'".to_owned());
    };
    if !is_given(matches, "image") {
        return usage("'--repeat' needs a program: '--repeat -o DIRECTORY -- PROGRAM ARGUMENTS'".to_owned());
    }
    let percent = |text: &String| {
        let number = text.strip_suffix('%').unwrap_or(text).parse().ok();
        let number = number.filter(|percent: &f64| *percent > 0.0 && *percent <= 1000.0);
        number.ok_or_else(|| Error::Usage(format!("'--until' needs a percentage above 0 and up to 1000, not '{text}'")))
    };
    let time = |text: &String| {
        let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds <= LONGEST);
        seconds.map(Duration::from_secs_f64).ok_or_else(|| {
            Error::Usage(format!("'--max-time' needs a number of seconds above 0 and up to {LONGEST}, not '{text}'"))
        })
    };
    Ok(Some(Repeat {
        runs: count,
        directory: directory.clone(),
        program: arguments.image.clone(),
        arguments: if is_given(matches, "profiles") { arguments.profiles.clone() } else { Vec::new() },
        against: arguments.against.clone(),
        until: arguments.until.as_ref().map(percent).transpose()?,
        longest: arguments.max_time.as_ref().map(time).transpose()?,
        report: of_report(matches),
    }))
}

/// The options of the command line that are about the report, with their values.
fn of_report(matches: &ArgMatches) -> Vec<OsString> {
    let parser = options();
    let mut words = Vec::new();
    for option in parser.get_arguments() {
        let id = option.get_id().as_str();
        let is_known = matches.ids().map(Id::as_str).any(|known| known == id);
        if !is_known || !is_given(matches, id) || OF_RUNS.contains(&id) {
            continue;
        }
        let name = match (option.get_long(), option.get_short()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some(short)) => format!("-{short}"),
            (None, None) => continue,
        };
        if !option.get_action().takes_values() {
            words.push(name.into());
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            let mut word = OsString::from(&name);
            if option.get_long().is_some() {
                word.push("=");
            }
            word.push(value);
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::{Request, parse_words};
    use super::*;
    use crate::question::options::Options;

    fn parsed(line: &str) -> Result<Options, String> {
        let words = std::iter::once("gprof").chain(line.split_whitespace()).map(OsString::from);
        match parse_words(words) {
            Ok(Request::Report(options)) => Ok(*options),
            Ok(_) => Err("a text".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    /// Catches arguments of the program that gprof takes for its own, default values that are wrong, and options of the
    /// report that are lost.
    #[test]
    fn a_program_and_its_arguments_follow_two_hyphens() {
        let of = |line: &str| parsed(line).unwrap().repeat.unwrap();
        let first = of("--repeat -o dir -- ./prog -b --repeat=3 --gnu @/dev/null - x");
        assert_eq!((first.runs, &first.arguments), (10, &words("-b --repeat=3 --gnu @/dev/null - x")));
        assert_eq!((first.program.to_str(), first.directory.to_str()), (Some("./prog"), Some("dir")));
        assert_eq!((first.against, first.until, first.longest, first.report.len()), (None, None, None, 0));
        let all =
            of("--repeat=3 --against=./old --until=2.5% --max-time 7 -odir --fail-if=slower:3% -b --format=json prog");
        assert_eq!((all.runs, all.until, all.longest), (3, Some(2.5), Some(Duration::from_secs(7))));
        assert_eq!((all.against.unwrap().to_str(), all.arguments.len()), (Some("./old"), 0));
        assert_eq!(all.report, words("--brief --format=json --fail-if=slower:3%"));
        let options = parsed("--repeat --against=./old --fail-if=total:1% --fail-if-unsure -o dir -- ./prog").unwrap();
        let comparison = options.comparison.unwrap();
        assert!(comparison.fails_if_unsure && comparison.gates.len() == 1 && options.merge_clones);
        assert!(parsed("--repeat -o dir -- ./prog").unwrap().comparison.is_none(), "there is no base");
    }

    /// Catches contradictions and values that are not found.
    #[test]
    fn faults_name_the_option() {
        for (line, said) in [
            ("--against=old", "'--against' needs '--repeat'"),
            ("--until=3% prog", "'--until' needs '--repeat'"),
            ("--max-time=3", "'--max-time' needs '--repeat'"),
            ("--repeat=0 -o d -- p", "'--repeat' needs a number of runs from 1 to 1000, not '0'"),
            ("--repeat=x -o d -- p", "not 'x'"),
            ("--repeat=1001 -o d -- p", "not '1001'"),
            ("--repeat -- p", "'--repeat' needs one directory for the profiles"),
            ("--repeat -o a -o b -- p", "'--repeat' needs one directory for the profiles"),
            ("--repeat -o d", "'--repeat' needs a program"),
            ("--repeat -o d --until=0 -- p", "'--until' needs a percentage above 0 and up to 1000, not '0'"),
            ("--repeat -o d --until=nan -- p", "not 'nan'"),
            (
                "--repeat -o d --max-time=0 -- p",
                "'--max-time' needs a number of seconds above 0 and up to 2678400, not '0'",
            ),
            ("--repeat -o d --base=f -- p", "'--repeat' and '--base' cannot be used together"),
            ("--repeat -o d --attach=1 p", "cannot be used together"),
            ("--repeat -o d --image=a -- p", "'--repeat' and '--image' cannot be used together"),
            ("--repeat -o d --fail-if=total:1% -- p", "'--fail-if' compares with a base"),
            ("--repeat -o d --against=o -q -- p", "'--against' and '--graph' cannot be used together"),
        ] {
            let error = parsed(line).err().unwrap_or_default();
            assert!(error.contains(said), "{line}: {error}");
        }
    }
}
