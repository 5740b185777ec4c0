//! The help that fits on one screen (`--help`). All options are in `--help=all`, the manual page, and the completions.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The text of `--help`: the options that most users need.
pub(super) const SHORT: &str = include_str!("help.txt");

/// Whether a fault of the command line is the value `all` of `--help`, which has no value for the parser: with one, the
/// options after `--help` and the letters after `-h` would count.
pub(super) fn wants_all(error: &clap::Error) -> bool {
    let is = |kind, text: &str| matches!(error.get(kind), Some(ContextValue::String(found)) if found == text);
    error.kind() == ErrorKind::TooManyValues
        && is(ContextKind::InvalidArg, "--help")
        && is(ContextKind::InvalidValue, "all")
}

#[cfg(test)]
mod tests {
    use super::SHORT;
    use crate::cli::arguments::command;

    /// Catches a help that does not fit on a screen of 80 columns and 40 lines, and options that do not exist.
    #[test]
    fn the_help_fits_on_a_screen_and_names_real_options() {
        assert!((24..=40).contains(&SHORT.lines().count()), "{}", SHORT.lines().count());
        assert!(SHORT.lines().all(|line| line.len() <= 79), "{SHORT}");
        let command = command();
        let (mut longs, mut shorts) = (Vec::new(), Vec::new());
        for option in command.get_arguments() {
            longs.extend(option.get_long());
            shorts.extend(option.get_short());
        }
        let mut count = 0;
        for word in SHORT.split(|letter: char| letter.is_whitespace() || ",[=:;)(".contains(letter)) {
            match (word.strip_prefix("--"), word.strip_prefix('-')) {
                (Some(name), _) => assert!(longs.contains(&name), "{word}"),
                (None, Some(letters)) if !letters.is_empty() => {
                    assert!(letters.len() == 1 && shorts.contains(&letters.chars().next().unwrap()), "{word}");
                }
                _ => continue,
            }
            count += 1;
        }
        assert!(count > 25, "{count}");
    }
}
