//! The command line: names, help and effect of each option.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{ArgAction, Parser};

use crate::error::Error;
use crate::options::{Asked, Options, Source};

/// What a command line asks for.
#[derive(Debug)]
pub enum Request {
    /// To report.
    Report(Options),
    /// To print a text: help, or the version.
    Text(String),
}

/// Shows where a program built with `cc -pg` spent its time.
///
/// Reads the program and the profiles that it left behind when it ran, and prints how long each function ran and who
/// called it. Several profiles are summed. When no report is chosen, prints all that the profiles have something for.
#[derive(Debug, Parser)]
#[command(
    name = "gprof",
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    args_override_self = true,
    version
)]
struct Arguments {
    /// The program that was profiled
    #[arg(default_value = "a.out", hide_default_value = false)]
    image: PathBuf,

    /// Its profiles; `-` is the standard input
    #[arg(default_value = "gmon.out")]
    profiles: Vec<OsString>,

    /// Print the flat profile
    #[arg(short = 'p', long, value_name = "SYMSPEC", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", overrides_with = "no_flat_profile", help_heading = "Reports")]
    flat_profile: Option<OsString>,

    /// Do not print the flat profile
    #[arg(short = 'P', long, value_name = "SYMSPEC", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", overrides_with = "flat_profile", help_heading = "Reports")]
    no_flat_profile: Option<OsString>,

    /// Print the call graph and its index
    #[arg(short = 'q', long, value_name = "SYMSPEC", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", overrides_with = "no_graph", help_heading = "Reports")]
    graph: Option<OsString>,

    /// Do not print the call graph
    #[arg(short = 'Q', long, value_name = "SYMSPEC", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", overrides_with = "graph", help_heading = "Reports")]
    no_graph: Option<OsString>,

    /// Store the sum of the profiles in ./gmon.sum, and print only what is chosen
    #[arg(short = 's', long, help_heading = "Reports")]
    sum: bool,

    /// Leave out the texts that explain the columns
    #[arg(short = 'b', long, help_heading = "Layout")]
    brief: bool,

    /// Show functions that were never called and took no time
    #[arg(short = 'z', long, help_heading = "Layout")]
    display_unused_functions: bool,

    /// Show C++ and Rust names as programmers wrote them (the default)
    #[arg(long, value_name = "STYLE", num_args = 0..=1, require_equals = true, default_missing_value = "auto")]
    #[arg(overrides_with = "no_demangle", help_heading = "Layout")]
    demangle: Option<OsString>,

    /// Show names as they stand in the symbol table
    #[arg(long, overrides_with = "demangle", help_heading = "Layout")]
    no_demangle: bool,

    /// Print this help
    #[arg(short = 'h', long, action = ArgAction::Help, help_heading = "Help")]
    help: Option<bool>,

    /// Print the version
    #[arg(short = 'v', long, help_heading = "Help")]
    version: bool,
}

/// Short options whose argument, if there is one, is glued to them.
const GLUED: [(u8, &str); 4] =
    [(b'p', "--flat-profile"), (b'P', "--no-flat-profile"), (b'q', "--graph"), (b'Q', "--no-graph")];

/// Reads a command line, of which the first word is the name of this program.
///
/// # Errors
///
/// When it asks for something that does not exist.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Request, Error> {
    match Arguments::try_parse_from(unglue(words)) {
        Ok(arguments) if arguments.version => {
            Ok(Request::Text(format!("gprof (gmon toolchain) {}\n", env!("CARGO_PKG_VERSION"))))
        }
        Ok(arguments) => arguments.check().map(Request::Report),
        Err(error) if !error.use_stderr() => Ok(Request::Text(error.to_string())),
        Err(error) => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            Err(Error::Usage(line.trim_start_matches("error: ").to_owned()))
        }
    }
}

/// Spells the arguments that are glued to a letter the long way: `-bpmain` becomes `-b` and `--flat-profile=main`.
fn unglue(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut spelt = Vec::new();
    let mut words = words.into_iter();
    spelt.extend(words.next());
    while let Some(word) = words.next() {
        if word == "--" {
            spelt.push(word);
            spelt.extend(words);
            break;
        }
        match split(&word) {
            Some((letters, long)) => spelt.extend(letters.into_iter().chain([long])),
            None => spelt.push(word),
        }
    }
    spelt
}

/// The letters before a glued argument, if there are any, and the long option with that argument.
fn split(word: &OsStr) -> Option<(Option<OsString>, OsString)> {
    let letters = word.to_str()?.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    let (at, long) = letters
        .bytes()
        .enumerate()
        .find_map(|(at, letter)| GLUED.iter().find(|(glued, _)| *glued == letter).map(|(_, long)| (at, long)))?;
    let argument = &letters[at + 1..];
    // What follows may as well be more letters, but then it must be nothing but letters that take no argument: the
    // original takes everything for the argument, and so does this.
    if argument.is_empty() {
        return None;
    }
    let before = (at > 0).then(|| OsString::from(format!("-{}", &letters[..at])));
    Some((before, OsString::from(format!("{long}={argument}"))))
}

impl Arguments {
    fn check(self) -> Result<Options, Error> {
        Ok(Options {
            flat: asked("-p", self.flat_profile.as_deref(), "-P", self.no_flat_profile.as_deref())?,
            graph: asked("-q", self.graph.as_deref(), "-Q", self.no_graph.as_deref())?,
            demangle: self.wants_demangling()?,
            sum: self.sum,
            brief: self.brief,
            unused: self.display_unused_functions,
            image: self.image,
            profiles: self.profiles.into_iter().map(Source::from).collect(),
            width: 80,
        })
    }

    fn wants_demangling(&self) -> Result<bool, Error> {
        const STYLES: [&str; 6] = ["auto", "gnu-v3", "java", "gnat", "dlang", "rust"];
        match self.demangle.as_deref().map(OsStr::to_string_lossy) {
            None => Ok(!self.no_demangle),
            Some(style) if style == "none" => Ok(false),
            Some(style) if STYLES.contains(&style.as_ref()) => Ok(true),
            Some(style) => Err(Error::Usage(format!("unknown style '{style}' for '--demangle'"))),
        }
    }
}

/// What a pair of options for and against a report says. The parser leaves the one that came last.
fn asked(on: &str, wanted: Option<&OsStr>, off: &str, unwanted: Option<&OsStr>) -> Result<Asked, Error> {
    for (option, symbols) in [(on, wanted), (off, unwanted)] {
        if let Some(symbols) = symbols.filter(|symbols| !symbols.is_empty()) {
            let symbols = symbols.to_string_lossy();
            return Err(Error::Usage(format!("'{option}{symbols}': choosing functions is not supported yet")));
        }
    }
    Ok(match (wanted, unwanted) {
        (Some(_), _) => Asked::For,
        (None, Some(_)) => Asked::Against,
        (None, None) => Asked::Nothing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options, String> {
        let words = std::iter::once("gprof").chain(line.split_whitespace()).map(OsString::from);
        match parse(words) {
            Ok(Request::Report(options)) => Ok(options),
            Ok(Request::Text(text)) => Err(text),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn defaults() {
        let options = options("").unwrap();
        assert_eq!(options.image, PathBuf::from("a.out"));
        assert_eq!(options.profiles, [Source::File("gmon.out".into())]);
        assert_eq!((options.flat, options.graph), (Asked::Nothing, Asked::Nothing));
        assert!(options.demangle && !options.brief && !options.unused && !options.sum);
    }

    #[test]
    fn operands_may_stand_anywhere() {
        let options = options("prog -b one -z - two").unwrap();
        assert_eq!(options.image, PathBuf::from("prog"));
        let file = |name: &str| Source::File(name.into());
        assert_eq!(options.profiles, [file("one"), Source::Stdin, file("two")]);
        assert!(options.brief && options.unused);
    }

    #[test]
    fn reports_take_no_word_of_their_own() {
        let options = options("-p prog -q file").unwrap();
        assert_eq!((options.flat, options.graph), (Asked::For, Asked::For));
        assert_eq!(options.image, PathBuf::from("prog"));
    }

    #[test]
    fn the_last_of_for_and_against_counts() {
        let of = |line| options(line).map(|options| (options.flat, options.graph)).unwrap();
        assert_eq!(of("-p -P"), (Asked::Against, Asked::Nothing));
        assert_eq!(of("-P -p -Q"), (Asked::For, Asked::Against));
    }

    #[test]
    fn long_options_may_be_cut_short() {
        assert_eq!(options("--flat").unwrap().flat, Asked::For);
        assert!(options("--bri").unwrap().brief);
        assert!(!options("--no-dem").unwrap().demangle);
        assert!(!options("--demangle=none").unwrap().demangle);
        assert!(options("--no-demangle --demangle").unwrap().demangle);
    }

    #[test]
    fn faults_name_the_option() {
        assert!(options("-bpmain").unwrap_err().contains("-pmain"));
        assert!(options("--nonsense").unwrap_err().contains("--nonsense"));
        assert!(options("-@").unwrap_err().contains("-@"));
        assert!(options("--demangle=x").unwrap_err().contains("'x'"));
        assert!(!options("--nonsense").unwrap_err().contains('\n'));
    }

    #[test]
    fn texts() {
        assert!(options("-v").unwrap_err().starts_with("gprof (gmon toolchain) "));
        assert!(options("--help").unwrap_err().contains("--display-unused-functions"));
    }
}
