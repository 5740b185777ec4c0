//! Turns the command line into checked options.

mod arguments;
mod check;
mod files;
pub mod generate;
mod help;
pub(crate) mod nearest;
mod repeat;
mod requests;
mod words;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, FromArgMatches};

use crate::error::Error;
use crate::question::options::Options;
use crate::question::rules::Rules;
use arguments::{Arguments, command};
use nearest::nearest;

/// The result of parsing a command line.
#[derive(Debug)]
pub enum Request {
    /// Write reports.
    Report(Box<Options>),
    /// Print a text: the help or the version.
    Text(String),
    /// Print this version, with the formats as a table of this width in characters, if the user set a width.
    Formats { version: String, width: Option<usize> },
}

/// Parses a command line. The first word is the name of this program.
///
/// # Errors
///
/// When an option does not exist or has an invalid value.
pub fn parse_words(words: impl IntoIterator<Item = OsString>) -> Result<Request, Error> {
    let mut words = words::expand(words)?;
    // The check for the BSDs has handled this word already.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let operands = words.split_off(end);
    words.retain(|word| word != "--gnu");
    words.extend(operands);
    let parser = arguments::arguments();
    let words = words::unglue(words, &parser);
    let read = parser.try_get_matches_from(words);
    let read = read.and_then(|matches| Ok((Arguments::from_arg_matches(&matches)?, matches)));
    match read {
        Ok((arguments, _)) if arguments.version && arguments.table => {
            Ok(Request::Formats { version: generate::build(), width: check::width(&arguments, &Rules::OURS)? })
        }
        Ok((arguments, _)) if arguments.version => Ok(Request::Text(generate::version())),
        Ok((arguments, _)) if arguments.asks_for_forms() => Ok(Request::Text(generate::forms())),
        Ok((arguments, matches)) => check::check(arguments, &matches).map(|options| Request::Report(Box::new(options))),
        Err(error) if error.kind() == ErrorKind::DisplayHelp => Ok(Request::Text(help::SHORT.to_owned())),
        Err(error) if help::wants_all(&error) => Ok(Request::Text(command().render_long_help().to_string())),
        Err(error) if !error.use_stderr() => Ok(Request::Text(error.to_string())),
        Err(error) => Err(Error::Usage(one_line(&error))),
    }
}

impl Options {
    /// Parses the words of a command line after the program's name: options, an image and its profiles.
    ///
    /// # Errors
    ///
    /// When an option does not exist or has an invalid value, or the words ask for the help or the version.
    pub fn parse<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Result<Options, Error> {
        match parse_words(std::iter::once("gprof".into()).chain(words.into_iter().map(Into::into)))? {
            Request::Report(options) => Ok(*options),
            Request::Text(_) | Request::Formats { .. } => {
                Err(Error::Usage("help and version are not reports".to_owned()))
            }
        }
    }
}

/// The error of a command line in one line. For an unknown option, suggests the most similar one; for an unknown value,
/// lists the known ones.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    if let (ErrorKind::InvalidValue, Some(ContextValue::Strings(known))) =
        (error.kind(), error.get(ContextKind::ValidValue))
    {
        return format!("{line} ({})", known.join(", "));
    }
    let Some(ContextValue::String(wrong)) =
        error.get(ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument)
    else {
        return line;
    };
    let command = command();
    let known = command.get_arguments().filter(|option| !option.is_hide_set()).filter_map(Arg::get_long);
    let wrong = wrong.trim_start_matches('-').split('=').next().unwrap_or_default();
    // A single letter is too short for a suggestion.
    match nearest(wrong, known).filter(|_| wrong.len() > 1) {
        Some(meant) => format!("{line}; did you mean '--{meant}'?"),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::files::{Output, ProfiledImage};
    use crate::question::format::Format;
    use crate::question::options::{Attach, ROWS_OF_TABLES, Watch};
    use crate::question::reports::{Asked, FLAT, GRAPH};
    use std::time::Duration;

    fn options(line: &str) -> Result<Options, String> {
        let words = std::iter::once("gprof").chain(line.split_whitespace()).map(OsString::from);
        match parse_words(words) {
            Ok(Request::Report(options)) => Ok(*options),
            Ok(Request::Text(text)) => Err(text),
            Ok(Request::Formats { width, .. }) => Err(format!("formats, {width:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Formats images and their profiles.
    fn images(options: &Options) -> String {
        let profiled = |profiled: &ProfiledImage| {
            let profiles: Vec<String> = profiled.profiles.iter().map(ToString::to_string).collect();
            format!("{}: {}", profiled.image.display(), profiles.join(", "))
        };
        options.images.iter().map(profiled).collect::<Vec<_>>().join("; ")
    }

    /// Catches a list that leaves out a form or the writers of another name, a value that only one spelling or only the
    /// long option asks for, and a list that `--compat=gnu` prints.
    #[test]
    fn the_list_of_forms_has_all_forms_and_their_writers() {
        for line in ["--file-format=LIST", "--file-format=list", "-O LIST", "-OLIST a.out"] {
            let list = options(line).unwrap_err();
            for form in gmon::Form::every() {
                let start = format!("  {:<16}{form}", form.name());
                assert!(list.lines().any(|line| line.starts_with(&start)), "{line}: {start}: {list}");
            }
            let of =
                |name: &str| list.lines().find(|line| line.contains(name)).map(|line| line.split_whitespace().next());
            assert_eq!(of("NetBSD"), Some(Some("bsd")), "{list}");
            assert_eq!(of("Cygwin"), Some(Some("bsd")));
            assert_eq!(of("glibc,"), Some(Some("gnu")));
        }
        assert!(options("--compat=gnu -O list").unwrap_err().contains("unknown form 'list'"));
    }

    #[test]
    fn defaults() {
        let options = options("").unwrap();
        assert_eq!(images(&options), "a.out: gmon.out");
        assert_eq!((options.reports.asked(FLAT), options.reports.asked(GRAPH)), (Asked::Nothing, Asked::Nothing));
        assert!(options.demangle && !options.brief && !options.unused && !options.reports.sum);
    }

    #[test]
    fn operands_may_stand_anywhere() {
        let options = options("prog -b one -z - two").unwrap();
        assert_eq!(images(&options), "prog: one, standard input, two");
        assert!(options.brief && options.unused);
    }

    #[test]
    fn profiles_belong_to_the_image_before_them() {
        let of = |line: &str| options(line).map(|options| images(&options));
        assert_eq!(of("--image a.out").unwrap(), "a.out: gmon.out");
        assert_eq!(of("-b --image=a.out one -z two --image b.so -").unwrap(), "a.out: one, two; b.so: standard input");
        assert_eq!(of("a.out one --image b.so two -b").unwrap(), "a.out: one; b.so: two");
        assert_eq!(of("a.out --image b.so two").unwrap(), "a.out: gmon.out; b.so: two");
        assert_eq!(of("--image a one --image b two --image a three").unwrap(), "a: one, three; b: two");
        assert!(of("--image a one --image b").unwrap_err().contains("'--image b'"));
        for (other, said) in [
            ("--compat=gnu", "--compat=gnu"),
            ("-s", "--sum"),
            ("-S file", "--external-symbol-table"),
            ("-R file", "--file-ordering"),
        ] {
            let text = of(&format!("--image a one {other}")).unwrap_err();
            assert!(text.contains("'--image'") && text.contains(&format!("'{said}'")), "{text}");
        }
    }

    #[test]
    fn reports_take_no_word_of_their_own() {
        let options = options("-p prog -q file").unwrap();
        assert_eq!((options.reports.asked(FLAT), options.reports.asked(GRAPH)), (Asked::For, Asked::For));
        assert_eq!(images(&options), "prog: file");
    }

    #[test]
    fn the_last_of_for_and_against_counts() {
        let of =
            |line| options(line).map(|options| (options.reports.asked(FLAT), options.reports.asked(GRAPH))).unwrap();
        assert_eq!(of("-p -P"), (Asked::Against, Asked::Nothing));
        assert_eq!(of("-P -p -Q"), (Asked::For, Asked::Against));
    }

    #[test]
    fn long_options_may_be_cut_short() {
        assert_eq!(options("--flat").unwrap().reports.asked(FLAT), Asked::For);
        assert!(options("--bri").unwrap().brief);
        assert!(!options("--no-dem").unwrap().demangle);
        assert!(!options("--demangle=none").unwrap().demangle);
        assert!(options("--no-demangle --demangle").unwrap().demangle);
    }

    #[test]
    fn what_the_original_has_for_its_makers_is_ignored() {
        assert_eq!(options("-b -d").unwrap(), options("-b -d31").unwrap());
        assert_eq!(options("-b -d").unwrap(), options("-b").unwrap());
    }

    #[test]
    fn tables_and_the_length_of_another_table() {
        let plain = options("-w 100").unwrap();
        let formats = |options: &Options| options.outputs.iter().map(|output| output.format).collect::<Vec<_>>();
        assert!(formats(&plain) == [Format::Text] && !plain.errors && plain.width == Some(100));
        let table = options("--table --errors --table-l 7").unwrap();
        assert!(
            formats(&table) == [Format::Table]
                && table.errors
                && table.width.is_none()
                && table.annotation.table_length == 7
        );
    }

    /// The formats and files of a command line.
    fn outputs(line: &str) -> Result<String, String> {
        let output = |output: &Output| {
            let file = output.file.as_ref().map_or("standard output".to_owned(), |file| file.display().to_string());
            format!("{} to {file}", output.format.name())
        };
        options(line).map(|options| options.outputs.iter().map(output).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn a_file_tells_its_format() {
        for (line, expected) in [
            ("", "text to standard output"),
            ("--format=json", "json to standard output"),
            ("--table", "table to standard output"),
            ("--format=table", "table to standard output"),
            ("-o a.json", "json to a.json"),
            ("-oa.json --output=a.txt -o report", "json to a.json, text to a.txt, text to report"),
            ("--format=json -o a.txt", "json to a.txt"),
            ("--table -o a.json -o -", "json to a.json, table to standard output"),
            ("--extract=o -o a.json", "text to standard output"),
        ] {
            assert_eq!(outputs(line).unwrap(), expected, "{line}");
        }
        for (line, said) in [
            ("--format=xml", "'xml' for '--format <FORMAT>' (text, table, json"),
            ("-o gmon.out", "'--output gmon.out': no format has this ending (.txt, .json"),
            ("-o a.json -o a.json", "'--output a.json' stands twice"),
            ("--extract=o -o a -o b", "'--extract' writes one file"),
            ("-o a.json --table", "'--output a.json' and '--table' cannot be used together"),
            ("-o a.json --compat=gnu", "'--output a.json' and '--compat=gnu' cannot be used together"),
            ("--format=table -T", "'--format=table' and '-T' cannot be used together"),
        ] {
            assert!(outputs(line).unwrap_err().contains(said), "{line}: {:?}", outputs(line));
        }
    }

    #[test]
    fn limits() {
        let limit = |line| options(line).map(|options| (options.limit.top, options.limit.min_percent));
        assert_eq!(limit("").unwrap(), (None, None));
        assert_eq!(limit("--top=5 --min-percent 0.5").unwrap(), (Some(5), Some(0.5)));
        assert_eq!(limit("--top=all").unwrap(), (Some(usize::MAX), None));
        for (line, said) in [
            ("--top=-1", "'--top' needs a number or 'all', not '-1'"),
            ("--top=ALL", "'--top' needs a number or 'all', not 'ALL'"),
            ("--top=all --compat=gnu", "'--top' and '--compat=gnu' cannot be used together"),
            ("--contexts=0", "'--contexts' needs a depth of at least 1, not '0'"),
            ("--min-percent=101", "'--min-percent' needs a percentage from 0 to 100, not '101'"),
            ("--min-percent=nan", "'--min-percent' needs a percentage from 0 to 100, not 'nan'"),
            ("--top=5 --compat=gnu", "'--top' and '--compat=gnu' cannot be used together"),
            ("--min-percent=5 -T", "'--min-percent' and '-T' cannot be used together"),
        ] {
            assert!(limit(line).unwrap_err().contains(said), "{line}");
        }
        assert_eq!(options("--min=7 --mi=8 --min-=9").unwrap().annotation.min_count, 9, "as the original reads them");
    }

    #[test]
    fn tables_have_a_limit_of_their_own() {
        let top = |line| options(line).unwrap().row_limit().top;
        assert_eq!([top("--table"), top("--format=table")], [Some(ROWS_OF_TABLES); 2]);
        assert_eq!([top(""), top("-o a.json"), top("--compat=gnu"), top("--watch")], [None; 4]);
        assert_eq!([top("--table --top=5"), top("--table --top=all")], [Some(5), Some(usize::MAX)]);
        assert_eq!(top("--table --min-percent=0"), None, "the user set a limit");
        let several = options("--table -o a.json -o a.txt").unwrap();
        let alone: Vec<_> = several.each_alone().iter().map(|(_, options)| options.row_limit().top).collect();
        assert_eq!(alone, [None, Some(ROWS_OF_TABLES)], "each output has its own limit");
        let help = options("--help=all").unwrap_err();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(&format!("Tables show {ROWS_OF_TABLES} without")), "{help}");
    }

    #[test]
    fn a_program_can_be_watched() {
        let watch = |line| options(line).map(|options| options.watch);
        let seconds = |seconds, process| Some(Watch { period: Duration::from_secs_f64(seconds), process });
        assert_eq!(watch("prog"), Ok(None));
        assert_eq!(watch("--watch prog gmon.out"), Ok(seconds(1.0, None)));
        assert_eq!(watch("--watch=0.5 --image=prog"), Ok(seconds(0.5, None)));
        assert_eq!(watch("--watch 4711"), Ok(seconds(1.0, Some(4711))));
        assert_eq!(watch("--watch --pid=4711 --top=5"), Ok(seconds(1.0, Some(4711))));
        assert_eq!(watch("--watch 4711 gmon.out"), Ok(seconds(1.0, None)), "a program with this name");
        assert_eq!(images(&options("--watch ./4711").unwrap()), "./4711: gmon.out");
        assert_eq!(options("--w 100").unwrap().width, Some(100), "as the original reads it");
        for (line, said) in [
            ("--pid=1", "'--pid' needs '--watch'"),
            ("--watch=0", "'--watch' needs a number of seconds from 0.1 to 86400, not '0'"),
            ("--watch=fast", "not 'fast'"),
            ("--watch --pid=x", "'--pid' needs the number of a process, not 'x'"),
            ("--watch --pid=0", "not '0'"),
            ("--watch --pid=1 prog", "leave out the operands"),
            ("--watch prog one two", "one profile of one program"),
            ("--watch --image=a one --image=b two", "one profile of one program"),
            ("--watch -q", "'--watch' and '--graph' cannot be used together"),
            ("--watch -k a/b", "'--watch' and '-k' cannot be used together"),
            ("--watch -o file", "'--watch' and '--output' cannot be used together"),
            ("--watch -b", "'--watch' and '--brief' cannot be used together"),
        ] {
            assert!(watch(line).unwrap_err().contains(said), "{line}: {:?}", watch(line));
        }
    }

    /// Catches an option without effect, wrong default values, and contradictions that are not found.
    #[test]
    fn a_program_can_be_attached_to() {
        let attach = |line| options(line).map(|options| options.attach);
        let with = |process, milliseconds, calls: Option<&str>| {
            let calls = calls.map(|list| list.as_bytes().to_vec());
            Ok(Some(Attach { process, time: Duration::from_millis(milliseconds), calls }))
        };
        assert_eq!(attach("prog"), Ok(None));
        assert_eq!(attach("--attach 4711"), with(4711, 10_000, None));
        assert_eq!(attach("--attach=4711 --seconds=0.5 --calls -q prog"), with(4711, 500, Some("")));
        assert_eq!(attach("--calls=f*,!g --seconds 3 --attach 1"), with(1, 3000, Some("f*,!g")));
        assert_eq!(images(&options("--attach=1 -s -o a.json prog").unwrap()), "prog: ");
        assert!(options("--se").unwrap().annotation.separate, "as the original reads it");
        let long = format!("--attach=1 --calls={}", "f".repeat(1025));
        for (line, said) in [
            ("--seconds=1", "'--seconds' needs '--attach'"),
            ("--calls", "'--calls' needs '--attach'"),
            ("--attach=x", "'--attach' needs the number of a process, not 'x'"),
            ("--attach=0", "not '0'"),
            ("--attach=-1", "not '-1'"),
            ("--attach=1 --seconds=0", "'--seconds' needs a number of seconds above 0 and up to 86400, not '0'"),
            ("--attach=1 --seconds=-1", "not '-1'"),
            ("--attach=1 --seconds=nan", "not 'nan'"),
            ("--attach=1 --seconds=86401", "not '86401'"),
            ("--attach=1 --seconds=1e-20", "not '1e-20'"),
            (&long, "'--calls' takes a list of up to 1024 bytes"),
            ("--attach=1 prog gmon.out", "'--attach' makes the profile of the process: leave out other profiles"),
            ("--attach=1 --watch", "'--watch' and '--attach' cannot be used together"),
            ("--attach=1 --pid=1", "'--attach' and '--pid' cannot be used together"),
            ("--attach=1 --base=gmon.out", "'--attach' and '--base' cannot be used together"),
            ("--attach=1 --extract=libc.so", "'--attach' and '--extract' cannot be used together"),
            ("--attach=1 --image=prog", "'--attach' and '--image' cannot be used together"),
            ("--attach=1 -O bsd", "'--attach' and '--file-format' cannot be used together"),
            ("--attach=1 --profile-form=bsd", "'--attach' and '--profile-form' cannot be used together"),
            ("--attach=1 --normalize", "'--normalize' scales a base"),
        ] {
            assert!(attach(line).unwrap_err().contains(said), "{line}: {:?}", attach(line));
        }
    }

    #[test]
    fn faults_name_the_option() {
        assert!(options("--flat-profil").is_ok() && options("--flat-profile=main -k a/b").is_ok());
        assert!(options("--flta-profile").unwrap_err().contains("did you mean '--flat-profile'?"));
        assert!(options("-k main").unwrap_err().contains("'-k main': name two functions"));
        assert!(options("-p:").unwrap_err().contains("'-p :'"));
        assert!(options("-ea/b").unwrap_err().contains("'-e a/b': name functions"));
        assert!(options("-w wide").unwrap_err().contains("--width"));
        assert!(options("-O x").unwrap_err().contains("4.4bsd"));
        assert!(options("--nonsense").unwrap_err().contains("--nonsense"));
        assert!(options("-@").unwrap_err().contains("-@"));
        assert!(options("--demangle=x").unwrap_err().contains("'x'"));
        assert!(!options("--nonsense").unwrap_err().contains('\n'));
    }

    #[test]
    fn definitions_hold() {
        command().debug_assert();
        let hidden = command().get_arguments().filter(|option| option.get_help().is_none()).count();
        assert_eq!(hidden, 0, "every option has help");
    }

    #[test]
    fn texts() {
        assert!(options("-v").unwrap_err().starts_with("gprof (gmon toolchain) "));
        assert_eq!(options("-v --table").unwrap_err(), "formats, None");
        assert_eq!(options("-w 50 --table --version").unwrap_err(), "formats, Some(50)");
        for help in ["--help=all", "--hel=all"].map(|word| options(word).unwrap_err()) {
            for option in ["--display-unused-functions", "--bsd", "--gnu"] {
                assert!(help.contains(option), "{help}");
            }
        }
        for word in ["--help", "-h", "--hel", "-b -h"] {
            assert_eq!(options(word).unwrap_err(), help::SHORT, "{word}");
        }
        assert!(options("--help=some").unwrap_err().contains("unexpected value 'some' for '--help'"));
        // Abbreviations mean the same as in GNU gprof.
        assert!(options("--b").unwrap().brief);
        assert_eq!(options("--g").unwrap().reports.asked(GRAPH), Asked::For);
    }
}
