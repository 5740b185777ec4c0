//! The files of a base, sorted into images and their profiles.

use crate::error::Error;
use crate::program::image;
use crate::question::files::{Comparison, ProfilePath, ProfiledImage};
use crate::question::options::Options;

/// Returns the options by which the base is read. An executable file is the image of the profiles that follow; profiles in front of
/// all images are of the first image of the report. Every other file is a profile, because the profiles of the BSDs begin with
/// no fixed bytes.
///
/// # Errors
///
/// When an image of the base has no profiles.
pub(crate) fn options(options: &Options, comparison: &Comparison) -> Result<Options, Error> {
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
        ProfilePath::File(_) | ProfilePath::Stdin => false,
    }
}
