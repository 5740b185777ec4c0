//! Which profiles belong to which image: those behind it on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::arguments::Arguments;
use crate::cli::options::{Compat, Group, Source};
use crate::error::Error;

/// The profile of an image for which none is named.
const PROFILE: &str = "gmon.out";

/// A word of the command line that is a file.
enum Word {
    /// Behind `--image`.
    Image(PathBuf),
    /// Without an option.
    Operand(OsString),
}

/// The images and their profiles, those of one image together. The words before the first `--image` are an image and
/// its profiles as well, if there are any.
pub(super) fn groups(arguments: &Arguments, matches: &ArgMatches) -> Result<Vec<Group>, Error> {
    if arguments.images.is_empty() {
        let profiles = arguments.profiles.iter().cloned().map(Source::from).collect();
        return Ok(vec![Group { image: arguments.image.clone(), profiles }]);
    }
    contradictions(arguments)?;
    let words = words(arguments, matches);
    let is_plain = matches!(words.first(), Some(Word::Operand(_)));
    let mut groups: Vec<Group> = Vec::new();
    let mut current = None;
    for word in words {
        match (word, current.and_then(|at: usize| groups.get_mut(at))) {
            (Word::Operand(profile), Some(group)) => group.profiles.push(profile.into()),
            (Word::Operand(image), None) => current = Some(place(&mut groups, image.into())),
            (Word::Image(image), _) => current = Some(place(&mut groups, image)),
        }
    }
    let is_alone = groups.len() == 1;
    for (at, group) in groups.iter_mut().enumerate().filter(|(_, group)| group.profiles.is_empty()) {
        let has_default = is_alone || (is_plain && at == 0);
        if !has_default {
            let image = group.image.display();
            return Err(Error::Usage(format!("'--image {image}': its profiles must be named behind it")));
        }
        group.profiles.push(Source::File(PROFILE.into()));
    }
    Ok(groups)
}

/// Images and operands, in the order of the command line.
fn words(arguments: &Arguments, matches: &ArgMatches) -> Vec<Word> {
    let places = |id: &str| {
        let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
        matches.indices_of(id).into_iter().flatten().filter(move |_| is_given)
    };
    let images = places("images").zip(arguments.images.iter().cloned().map(Word::Image));
    let first = places("image").map(|at| (at, Word::Operand(arguments.image.clone().into())));
    let others = places("profiles").zip(arguments.profiles.iter().cloned().map(Word::Operand));
    let mut words: Vec<(usize, Word)> = images.chain(first).chain(others).collect();
    words.sort_by_key(|(at, _)| *at);
    words.into_iter().map(|(_, word)| word).collect()
}

/// The place of an image's group, which is new if there is none yet.
fn place(groups: &mut Vec<Group>, image: PathBuf) -> usize {
    groups.iter().position(|group| group.image == image).unwrap_or_else(|| {
        groups.push(Group { image, profiles: Vec::new() });
        groups.len() - 1
    })
}

/// What is about one image cannot be asked of several.
fn contradictions(arguments: &Arguments) -> Result<(), Error> {
    let is_gnu = arguments.compat.map(Compat::from) == Some(Compat::Gnu);
    for (is_given, option, why) in [
        (is_gnu, "--compat=gnu", "GNU's gprof reads one image"),
        (arguments.sum, "--sum", "a sum is of one image"),
        (arguments.external_symbol_table.is_some(), "--external-symbol-table", "its symbols are of one image"),
        (arguments.file_ordering.is_some(), "--file-ordering", "its object files are of one image"),
    ] {
        if is_given {
            return Err(Error::Usage(format!("'--image' and '{option}' contradict each other: {why}")));
        }
    }
    Ok(())
}
