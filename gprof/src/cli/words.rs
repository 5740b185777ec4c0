//! Prepares the words of a command line for the parser: reads files of arguments, and separates values from short
//! options.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use clap::Command;

use crate::error::Error;
use crate::program::image::files;

/// The short options that have values.
struct Shorts {
    /// Those whose optional value follows without a space, with their long names.
    glued: Vec<(u8, String)>,
    /// Those that require a value, in the same word or as the next word. The rest of their word is not more options.
    with_argument: Vec<u8>,
}

impl Shorts {
    fn of(command: &Command) -> Shorts {
        let (mut glued, mut with_argument) = (Vec::new(), Vec::new());
        for option in command.get_arguments().filter(|option| option.get_action().takes_values()) {
            let Some(letter) = option.get_short().and_then(|letter| u8::try_from(letter).ok()) else { continue };
            let is_optional = option.get_num_args().is_some_and(|count| count.min_values() == 0);
            match option.get_long().filter(|_| is_optional) {
                Some(long) => glued.push((letter, format!("--{long}"))),
                None => with_argument.push(letter),
            }
        }
        Shorts { glued, with_argument }
    }

    /// Whether the next word is the value of this word's last letter, whatever the next word looks like.
    fn takes_next(&self, word: &OsStr) -> bool {
        let Some(letters) = letters(word) else {
            return false;
        };
        let requires = |letter: &u8| self.with_argument.contains(letter);
        let ends = |letter: &u8| requires(letter) || self.glued.iter().any(|(glued, _)| glued == letter);
        letters.iter().position(ends).is_some_and(|at| at + 1 == letters.len() && requires(&letters[at]))
    }

    /// The letters before an option with a value in the same word, if there are any, and the long option with that
    /// value.
    fn split(&self, word: &OsStr) -> Option<(Option<OsString>, OsString)> {
        let letters = letters(word)?;
        let before = letters.iter().take_while(|letter| !self.with_argument.contains(letter));
        let (at, long) = before.enumerate().find_map(|(at, letter)| {
            self.glued.iter().find(|(glued, _)| glued == letter).map(|(_, long)| (at, long))
        })?;
        // The rest could be more options, but GNU gprof takes all of it for the value.
        let argument = letters.get(at + 1..).filter(|argument| !argument.is_empty())?;
        let before = (at > 0).then(|| OsString::from_vec([b"-", &letters[..at]].concat()));
        Some((before, OsString::from_vec([long.as_bytes(), b"=", argument].concat())))
    }
}

/// The maximum number of argument files that are read: a file may name itself.
const MOST_FILES: usize = 2000;

/// The total size in bytes after which no more argument files are read: a file may name itself many times.
const MOST_TEXT: usize = 4 << 20;

/// Replaces each `@FILE` by the words in the file. A word whose file cannot be read stays as it is.
///
/// # Errors
///
/// When a word names a device, which has no end.
pub(super) fn expand(words: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, Error> {
    let mut words = words.into_iter();
    let mut expanded = Vec::from_iter(words.next());
    let mut pending: Vec<OsString> = words.collect();
    pending.reverse();
    let (mut count, mut length) = (0, 0);
    let mut is_command = false;
    while let Some(word) = pending.pop() {
        // With --repeat, the words behind `--` are a program and its arguments.
        is_command |= word == "--" && expanded.iter().any(|word| word.as_bytes().starts_with(b"--repeat"));
        let may_read = count < MOST_FILES && length < MOST_TEXT && !is_command;
        let name = word.as_bytes().strip_prefix(b"@").filter(|_| may_read);
        let path = name.map(|name| Path::new(OsStr::from_bytes(name)));
        if let Some(path) = path.filter(|path| files::is_device(path)) {
            return Err(Error::Read { file: path.display().to_string(), source: files::not_regular() });
        }
        match path.and_then(|path| files::regular_or_pipe(path).ok()) {
            Some(text) => {
                count += 1;
                length += text.len();
                pending.extend(split_text(&text).into_iter().rev());
            }
            None => expanded.push(word),
        }
    }
    Ok(expanded)
}

/// Splits a text into words at white space. Quotes of both kinds and backslashes keep white space in a word.
fn split_text(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (_, b'\\') => word.get_or_insert_default().extend(bytes.next()),
            (Some(open), _) if open == byte => quote = None,
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None, byte) if byte.is_ascii_whitespace() => words.extend(word.take()),
            (_, byte) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// Replaces short options that have a value in the same word by long ones: `-bpmain` becomes `-b` and
/// `--flat-profile=main`.
pub(super) fn unglue(words: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let shorts = Shorts::of(command);
    let mut spelled = Vec::new();
    let mut words = words.into_iter();
    spelled.extend(words.next());
    while let Some(word) = words.next() {
        if word == "--" {
            spelled.push(word);
            spelled.extend(words);
            break;
        }
        let takes_next = shorts.takes_next(&word);
        match shorts.split(&word) {
            Some((letters, long)) => spelled.extend(letters.into_iter().chain([long])),
            None => spelled.push(word),
        }
        if takes_next {
            spelled.extend(words.next());
        }
    }
    spelled
}

/// The letters of a word of short options.
fn letters(word: &OsStr) -> Option<&[u8]> {
    word.as_bytes().strip_prefix(b"-").filter(|letters| !letters.starts_with(b"-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::arguments;

    fn spelled(line: &str) -> String {
        let words = std::iter::once("gprof").chain(line.split(' ')).map(OsString::from).collect();
        unglue(words, &arguments())[1..].join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn glued_arguments_are_spelled_the_long_way() {
        assert_eq!(spelled("-bpmain -Cx.c:1 -p -bz"), "-b --flat-profile=main --exec-counts=x.c:1 -p -bz");
        assert_eq!(spelled("-eprintf -bnpoll -pe"), "-eprintf -bnpoll --flat-profile=e");
        assert_eq!(spelled("-be -pfoo -pfoo"), "-be -pfoo --flat-profile=foo");
        assert_eq!(spelled("-- -pfoo"), "-- -pfoo");
    }

    #[test]
    fn words_of_a_file() {
        let words = split_text(b"-b 'one word' \"an\"other\n two\\ words '' ");
        assert_eq!(words, ["-b", "one word", "another", "two words", ""]);
    }
}
