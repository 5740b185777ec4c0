//! Assigns profiles to images: the profiles that follow an image on the command line belong to that image.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::ArgMatches;

use super::arguments::Arguments;
use super::command::is_given;
use crate::error::Error;
use crate::program::image::files::COMPANIONS;
use crate::question::files::{ProfilePath, ProfiledImage};
use crate::question::reports::FILE_ORDER;

/// The default name of a profile.
const PROFILE: &str = "gmon.out";

/// A file name on the command line.
enum Word {
    /// The value of `--image`.
    Image(PathBuf),
    /// An operand.
    Operand(OsString),
}

/// Removes the files beside profiles from a list that has these profiles as well. A shell replaces `gmon.*` by the names of
/// the profiles and of the files beside them, and gprof reads the files beside a profile with the profile.
pub(super) fn without_companions(profiles: Vec<ProfilePath>) -> Vec<ProfilePath> {
    let of = |path: &ProfilePath| match path {
        ProfilePath::File(path) => COMPANIONS.iter().find_map(|suffix| {
            let name = path.as_os_str().as_encoded_bytes().strip_suffix(suffix.as_bytes())?.strip_suffix(b".")?;
            Some(ProfilePath::File(OsStr::from_bytes(name).into()))
        }),
        ProfilePath::Stdin => None,
    };
    let files: HashSet<&ProfilePath> = profiles.iter().collect();
    let is_extra: Vec<bool> = profiles.iter().map(|path| of(path).is_some_and(|path| files.contains(&path))).collect();
    profiles.into_iter().zip(is_extra).filter(|(_, is_extra)| !is_extra).map(|(path, _)| path).collect()
}

/// The images and their profiles, those of one image together. The words before the first `--image` are an image and
/// its profiles as well, if there are any.
pub(super) fn images(arguments: &Arguments, matches: &ArgMatches) -> Result<Vec<ProfiledImage>, Error> {
    if arguments.images.is_empty() {
        let profiles = arguments.profiles.iter().cloned().map(ProfilePath::from).collect();
        return Ok(vec![ProfiledImage { image: arguments.image.clone(), profiles: without_companions(profiles) }]);
    }
    contradictions(arguments, matches)?;
    let words = words(arguments, matches);
    let is_plain = matches!(words.first(), Some(Word::Operand(_)));
    let mut images: Vec<ProfiledImage> = Vec::new();
    let mut current = None;
    for word in words {
        match (word, current.and_then(|at: usize| images.get_mut(at))) {
            (Word::Operand(profile), Some(profiled)) => profiled.profiles.push(profile.into()),
            (Word::Operand(image), None) => current = Some(place(&mut images, image.into())),
            (Word::Image(image), _) => current = Some(place(&mut images, image)),
        }
    }
    let is_alone = images.len() == 1;
    for (at, profiled) in images.iter_mut().enumerate().filter(|(_, profiled)| profiled.profiles.is_empty()) {
        let has_default = is_alone || (is_plain && at == 0);
        if !has_default {
            let image = profiled.image.display();
            return Err(Error::Usage(format!("'--image {image}' has no profiles: name them after it")));
        }
        profiled.profiles.push(ProfilePath::File(PROFILE.into()));
    }
    for profiled in &mut images {
        profiled.profiles = without_companions(std::mem::take(&mut profiled.profiles));
    }
    Ok(images)
}

/// Images and operands, in the order of the command line.
fn words(arguments: &Arguments, matches: &ArgMatches) -> Vec<Word> {
    let places = |id: &str| {
        let is_given = is_given(matches, id);
        matches.indices_of(id).into_iter().flatten().filter(move |_| is_given)
    };
    let images = places("images").zip(arguments.images.iter().cloned().map(Word::Image));
    let first = places("image").map(|at| (at, Word::Operand(arguments.image.clone().into())));
    let others = places("profiles").zip(arguments.profiles.iter().cloned().map(Word::Operand));
    let mut words: Vec<(usize, Word)> = images.chain(first).chain(others).collect();
    words.sort_by_key(|(at, _)| *at);
    words.into_iter().map(|(_, word)| word).collect()
}

/// The index of an image in the list. Adds the image if the list does not have it.
fn place(images: &mut Vec<ProfiledImage>, image: PathBuf) -> usize {
    images.iter().position(|profiled| profiled.image == image).unwrap_or_else(|| {
        images.push(ProfiledImage { image, profiles: Vec::new() });
        images.len() - 1
    })
}

/// Checks for options that work with a single image only.
fn contradictions(arguments: &Arguments, matches: &ArgMatches) -> Result<(), Error> {
    for (is_given, option, why) in [
        (arguments.compat.is_some(), "--compat=gnu", "GNU's gprof reads one image"),
        (arguments.sum, "--sum", "a sum covers one image"),
        (arguments.external_symbol_table.is_some(), "--external-symbol-table", "its symbols belong to one image"),
        (is_given(matches, FILE_ORDER), "--file-ordering", "its object files belong to one image"),
    ] {
        if is_given {
            return Err(Error::Usage(format!("'--image' and '{option}' cannot be used together: {why}")));
        }
    }
    Ok(())
}
