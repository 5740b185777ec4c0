//! Reads the files that the options name, and what runs left beside these files: images, profiles, side files, and the
//! lists of shared objects that older runtimes wrote.
//!
//! This module reads all input files except two kinds: separate files with debug information, which
//! [`mod@crate::program::image`] finds by itself, and source files, which the annotated source report reads.

pub(crate) mod bsd;
pub(crate) mod contents;
mod debug_files;
pub mod estimates;
mod image_runs;
mod input_files;
mod loaded;
mod loading;
mod mismatch;
pub(crate) mod named_by_runs;
pub mod on_demand;
pub mod profile_file;
mod rebase;
mod runs;
mod shared_objects;
pub mod side_info;
pub mod side_sum;
mod stack_tree;
pub mod stacks;
mod threads;
pub(crate) mod write;

pub(crate) use debug_files::DebugFiles;
pub use loaded::Loaded;
pub use shared_objects::OutsideImages;

use std::sync::Arc;

use gmon::Profile;

use crate::error::Error;
use crate::program::image;
use crate::program::image::address_space::Images;
use crate::question::files::{Comparison, ProfilePath, ProfiledImage};
use crate::question::options::Options;
use crate::question::reports::Contents;
use crate::terminal::progress::Progress;
use input_files::{ImageFile, InputFiles};
use loaded::{Parsed, ParsedFiles};
use loading::Loading;

/// Reads all input files of a report. Warnings go to `progress`. `debug_files` serves all reports of one run.
///
/// # Errors
///
/// When a file cannot be read, has the wrong type, or is not compatible with the other files.
pub(crate) fn load(
    options: &Options,
    debug_files: &mut DebugFiles,
    progress: &mut Progress<'_>,
) -> Result<Loaded, Error> {
    progress.tell("reading the program");
    let files = InputFiles::read(options)?;
    let mut loading = Loading::new(options);
    let parsed = ParsedFiles::try_new(files, |files| loading.parse_files(files, debug_files, progress))?;
    let mut loaded = loading.finish(Arc::new(parsed));
    loaded.said = progress.said().to_vec();
    if options.strict && !loaded.mismatches.is_empty() { Err(Error::Mismatch) } else { Ok(loaded) }
}

/// Checks that the images that the options name can be read.
///
/// # Errors
///
/// When a file cannot be read, or is no image.
pub(crate) fn check_images(options: &Options) -> Result<(), Error> {
    let files = InputFiles::read(options)?;
    files.named.iter().try_for_each(|file| file.parse_image(options).map(|_| ()))
}

/// Reads the profiles again, with the images as they were read before. Returns `None` if the runs have other shared
/// objects than before: then everything must be read.
///
/// # Errors
///
/// When a profile cannot be read, or is not compatible with the other files.
pub(crate) fn load_again(
    before: &Loaded,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<Option<Loaded>, Error> {
    let mut loading = Loading::new(options);
    let are_known = loading.read_again(&before.parsed, progress)?;
    Ok(are_known.then(|| loading.finish(Arc::clone(&before.parsed))))
}

/// Takes an image and the sum of its profiles from memory. The image stands for the first image of the options; the
/// profiles that the options name are not read. [`Loaded::with_stacks`] adds stacks.
///
/// # Errors
///
/// When the bytes are not an image, or the options name a file of symbols (`-S`) or a map of object files (`-R`).
pub fn from_memory(options: &Options, image: Vec<u8>, profile: Profile) -> Result<Loaded, Error> {
    if options.symbols.is_some() || options.file_map.is_some() {
        return Err(Error::Usage("'-S' and '-R' need files, and the image is in memory: leave them out".to_owned()));
    }
    let path = options.images.first().map(|named| named.image.clone()).unwrap_or_default();
    let files = InputFiles { named: vec![ImageFile::new(path, image)], ..InputFiles::default() };
    let parsed = ParsedFiles::try_new(files, |files| {
        let images = match files.named.first() {
            Some(file) => Images::alone(file.parse_image(options)?),
            None => Images::default(),
        };
        Ok::<_, Error>(Parsed { images, file_map: None })
    })?;
    let contents = Contents { samples: true, calls: true, ..Contents::default() };
    Ok(Loaded::without_sides(parsed, profile, contents))
}

/// Returns the options by which the base is read. An executable file is the image of the profiles that follow; profiles
/// in front of all images are of the first image of the report. Every other file is a profile, because the profiles of
/// the BSDs begin with no fixed bytes.
///
/// # Errors
///
/// When an image of the base has no profiles.
pub(crate) fn base_options(options: &Options, comparison: &Comparison) -> Result<Options, Error> {
    let mut images: Vec<ProfiledImage> = Vec::new();
    let mut current = None;
    for file in &comparison.base {
        let (image, profile) = match file {
            ProfilePath::File(path) if is_image(file) => (Some(path), None),
            _ => (None, Some(file)),
        };
        let of_report = || options.images.first().map(|profiled| &profiled.image);
        if let Some(image) = image.or_else(|| if current.is_none() { of_report() } else { None }) {
            current = images.iter().position(|profiled| profiled.image == *image).or_else(|| {
                images.push(ProfiledImage { image: image.clone(), profiles: Vec::new() });
                Some(images.len() - 1)
            });
        }
        if let Some(profiled) = current.and_then(|at| images.get_mut(at)) {
            profiled.profiles.extend(profile.cloned());
        }
    }
    match images.iter().find(|profiled| profiled.profiles.is_empty()) {
        Some(profiled) => {
            let image = profiled.image.display();
            Err(Error::Usage(format!(
                "'--base={image}': the program has no profiles: name the profiles after it ('--base={image},gmon.out')"
            )))
        }
        None => Ok(Options { images, ..options.clone() }),
    }
}

/// Whether a file begins as an image. A file that cannot be read is reported when its profile is read.
fn is_image(file: &ProfilePath) -> bool {
    match file {
        // To open a pipe would take the bytes from the profile's reader.
        ProfilePath::File(path) if !file.is_read_once() => image::begins_as_image(path),
        ProfilePath::File(_) | ProfilePath::Stdin | ProfilePath::Memory(_) => false,
    }
}
