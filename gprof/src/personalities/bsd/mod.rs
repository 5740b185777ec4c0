//! The gprof of the BSDs: its command line, how it reads and adds up profiles, its analysis, and its text.

pub mod report;
pub mod text;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::question::files::ProfilePath;
use crate::question::options::BsdOptions;
use crate::question::rules::Dialect;

/// Parses a command line if it is for the BSDs' gprof; otherwise returns `None`. The first word is the name of this
/// program.
///
/// # Errors
///
/// When the command line is for the BSDs' gprof and is not valid.
pub fn parse_bsd_words(words: &[OsString]) -> Result<Option<BsdOptions>, Error> {
    let native = Dialect::native();
    let called = words.first().map(Path::new).and_then(Path::file_name);
    let by_name = called == Some(OsStr::new("bsdgprof"));
    let mut dialect = native.or(by_name.then_some(Dialect::FreeBsd));
    let mut rest = Vec::new();
    let mut asked = None;
    for word in words.iter().skip(1) {
        match word.to_str() {
            Some("--bsd") => (dialect, asked) = (Some(native.unwrap_or_default()), Some(word)),
            Some("--bsd=freebsd") => (dialect, asked) = (Some(Dialect::FreeBsd), Some(word)),
            Some("--bsd=openbsd") => (dialect, asked) = (Some(Dialect::OpenBsd), Some(word)),
            Some("--gnu") => dialect = None,
            Some(word) if word.starts_with("--bsd=") => {
                return Err(Error::Usage(format!("'{word}': the BSDs known are freebsd and openbsd")));
            }
            _ => rest.push(word.clone()),
        }
    }
    let new = rest.iter().find(|word| ["--table", "--errors", "--bounds"].iter().any(|new| word == new));
    if let (Some(new), Some(asked)) = (new, asked.filter(|_| dialect.is_some())) {
        let (new, asked) = (new.display(), asked.display());
        return Err(Error::Usage(format!("'{new}' and '{asked}' cannot be used together")));
    }
    dialect.map(|dialect| letters(dialect, rest)).transpose()
}

/// Parses words with one option letter each, whose arguments are separate words. After the first word without a dash,
/// all words are files.
fn letters(dialect: Dialect, words: Vec<OsString>) -> Result<BsdOptions, Error> {
    let mut arguments = BsdOptions { dialect, ..BsdOptions::default() };
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let Some(letter) = word.as_encoded_bytes().strip_prefix(b"-").and_then(|letters| letters.first()) else {
            arguments.files.extend([word]);
            break;
        };
        let mut argument = || {
            let missing = || Error::Usage(format!("'-{}' needs an argument", letter.escape_ascii()));
            words.next().ok_or_else(missing)
        };
        match letter {
            b'a' => arguments.without_statics = true,
            b'b' => arguments.brief = true,
            b'c' => arguments.static_calls = true,
            b'C' => arguments.cycle_limit = Some(size(&argument()?)?),
            // The debugging output of the originals is not reproduced.
            b'd' => drop(argument()?),
            b'E' => arguments.uncounted.push(argument()?),
            b'e' => arguments.unlisted.push(argument()?),
            b'F' => arguments.counted.push(argument()?),
            b'f' => arguments.listed.push(argument()?),
            b'k' => {
                arguments.cut_from.push(argument()?);
                arguments.cut_to.push(argument()?);
            }
            b'l' => arguments.without_graph = true,
            b'L' => arguments.without_flat = true,
            b's' => arguments.sum = true,
            b'u' => arguments.without_dots = true,
            b'z' => arguments.unused = true,
            b'K' => return Err(Error::Usage("'-K' needs the symbols of a running FreeBSD kernel".to_owned())),
            _ => return Err(unknown(&word)),
        }
    }
    arguments.files.extend(words);
    Ok(arguments)
}

/// The error for an option that the BSDs' gprof does not have.
fn unknown(word: &OsStr) -> Error {
    Error::Usage(if word.as_encoded_bytes().starts_with(b"--image") {
        "'--image' and '--bsd' cannot be used together: the BSDs' gprof reads one image".to_owned()
    } else {
        format!("unknown option '{}'", word.display())
    })
}

fn size(word: &OsStr) -> Result<usize, Error> {
    let size = word.to_str().and_then(|word| word.parse().ok()).filter(|size| *size > 0);
    size.ok_or_else(|| Error::Usage(format!("'-C {}': the size of a cycle must be a number above 0", word.display())))
}

impl BsdOptions {
    /// The program.
    #[must_use]
    pub fn image(&self) -> PathBuf {
        self.files.first().map_or_else(|| "a.out".into(), PathBuf::from)
    }

    /// The program's profiles. FreeBSD's default is the program's name with `.gmon`; all systems accept `gmon.out`.
    #[must_use]
    pub fn profiles(&self) -> Vec<ProfilePath> {
        let named: Vec<ProfilePath> = self.files.iter().skip(1).cloned().map(ProfilePath::from).collect();
        if !named.is_empty() {
            return named;
        }
        let mut own = self.image().into_os_string();
        own.push(".gmon");
        let common = PathBuf::from("gmon.out");
        let is_own = self.dialect == Dialect::FreeBsd && (Path::new(&own).exists() || !common.exists());
        vec![ProfilePath::File(if is_own { own.into() } else { common })]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Result<Option<BsdOptions>, String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        parse_bsd_words(&words).map_err(|error| error.to_string())
    }

    #[test]
    fn whose_command_line_it_is() {
        let dialect = |line| arguments(line).unwrap().map(|arguments| arguments.dialect);
        if Dialect::native().is_none() {
            assert_eq!(dialect("gprof -b"), None);
            assert_eq!(dialect("gprof --bsd"), Some(Dialect::FreeBsd));
        }
        assert_eq!(dialect("/usr/bin/bsdgprof x"), Some(Dialect::FreeBsd));
        assert_eq!(dialect("bsdgprof --gnu x"), None);
        assert_eq!(dialect("gprof -b --bsd=openbsd x"), Some(Dialect::OpenBsd));
        assert!(arguments("gprof --bsd=plan9").unwrap_err().contains("plan9"));
    }

    #[test]
    fn one_letter_of_each_word_counts() {
        let arguments = arguments("gprof --bsd -bz -k a b -f main -kxyz c d -C 3 x y -z").unwrap().unwrap();
        assert!(arguments.brief && !arguments.unused);
        assert_eq!(
            (arguments.cut_from, arguments.cut_to),
            (vec!["a".into(), "c".into()], vec!["b".into(), "d".into()])
        );
        assert_eq!((arguments.listed, arguments.cycle_limit), (vec!["main".into()], Some(3)));
        assert_eq!(arguments.files, ["x", "y", "-z"]);
    }

    #[test]
    fn faults_name_the_option() {
        for (line, named) in [
            ("-k a", "-k"),
            ("-C x", "-C x"),
            ("-C 0", "-C 0"),
            ("-q", "-q"),
            ("-K", "-K"),
            ("-", "-"),
            ("--image x", "'--image' and '--bsd'"),
        ] {
            let text = arguments(&format!("gprof --bsd {line}"));
            assert!(line == "-" || text.unwrap_err().contains(named), "{line}");
        }
    }

    #[test]
    fn files() {
        let of = |line: &str| {
            let arguments = arguments(line).unwrap().unwrap();
            (arguments.image(), arguments.profiles())
        };
        let file = |name: &str| ProfilePath::File(name.into());
        assert_eq!(of("gprof --bsd"), ("a.out".into(), vec![file("a.out.gmon")]));
        assert_eq!(of("gprof --bsd=openbsd x"), ("x".into(), vec![file("gmon.out")]));
        assert_eq!(of("gprof --bsd x y z"), ("x".into(), vec![file("y"), file("z")]));
    }
}
