//! Reads the files that the options name, and what runs left beside these files: images, profiles, side files, and the
//! lists of shared objects that older runtimes wrote.
//!
//! This module reads all input files except two kinds: separate files with debug information, which
//! [`mod@crate::image`] finds by itself, and source files, which the annotated source report reads.

mod address_mismatch;
pub(crate) mod base;
pub(crate) mod bsd;
mod build_mismatch;
mod call_mismatch;
pub(crate) mod extract;
mod image_runs;
mod input_files;
mod loaded;
mod loading;
pub mod outside;
mod parallel;
pub mod profile_file;
mod profile_sum;
mod runs;
mod shared_objects;
pub mod side_info;
mod side_sum;
mod stack_tree;
pub mod stacks;
pub(crate) mod sum;
mod thread;
mod threads;

use gmon::Profile;
use gmon::side_file::SideFile;

use crate::cli::options::{Contents, Options};
use crate::error::Error;
use crate::image::address_space::Images;
use crate::terminal::progress::Progress;
use input_files::{ImageFile, InputFiles};
pub use loaded::Loaded;
use loaded::{LoadedSides, Parsed, ParsedFiles};
use loading::Loading;
use outside::OutsideImages;
use side_info::SideInfo;

/// Reads all input files of a report. Warnings go to `progress`.
///
/// # Errors
///
/// When a file cannot be read, has the wrong type, or is not compatible with the other files.
pub(crate) fn load(options: &Options, progress: &mut Progress<'_>) -> Result<Loaded, Error> {
    progress.tell("reading the program");
    let files = InputFiles::read(options)?;
    let mut loading = Loading::new(options);
    let parsed = ParsedFiles::try_new(files, |files| loading.parse(files, progress))?;
    let Loading { profile, all_calls, contents, files, outside_images, stacks, sides, without_sides, .. } = loading;
    let side_files: Vec<SideFile> = sides.into_iter().map(|(side, _)| side).collect();
    let side_infos = side_files.iter().map(SideInfo::new).collect();
    let sides = LoadedSides { files: side_files, infos: side_infos, without: without_sides };
    Ok(Loaded { parsed, profile, all_calls, contents, files, outside_images, stacks, sides })
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
            Some(file) => Images::alone(file.parse(options)?),
            None => Images::default(),
        };
        Ok::<_, Error>(Parsed { images, file_map: None })
    })?;
    let contents = Contents { samples: true, calls: true, callers: false };
    let outside_images = OutsideImages::default();
    let (files, sides) = (Vec::new(), LoadedSides::default());
    Ok(Loaded { parsed, profile, all_calls: None, contents, files, outside_images, stacks: None, sides })
}
