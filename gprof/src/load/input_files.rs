//! The bytes of all files that are not profiles: images, and what the user says of symbols in files.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::cli::options::{Options, ProfilePath};
use crate::error::Error;
use crate::image::{self, DEFAULT_DIRECTORY, Image, ImageStorage, Policy};
use crate::load::profile_file::{self, unread};

/// The bytes of an image, and what the image borrows besides.
pub(super) struct ImageFile {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) storage: ImageStorage,
}

impl ImageFile {
    /// Takes the bytes that were read from `path`.
    pub(super) fn new(path: PathBuf, bytes: Vec<u8>) -> ImageFile {
        ImageFile { path, bytes, storage: ImageStorage::default() }
    }

    /// Reads an image, its machine code only `with_code`.
    ///
    /// # Errors
    ///
    /// When it is no regular file or cannot be read.
    pub(super) fn read(path: &Path, with_code: bool) -> Result<ImageFile, Error> {
        let bytes = image::read(path, with_code).map_err(|source| unread(path.display().to_string(), source))?;
        Ok(ImageFile::new(path.to_owned(), bytes))
    }

    /// The image, with its debug information if that is in a file of its own.
    ///
    /// # Errors
    ///
    /// When the bytes are no image.
    pub(super) fn parse(&self, options: &Options) -> Result<Image<'_>, Error> {
        let policy = if options.is_gnu() { Policy::Compat } else { Policy::Full };
        let mut image = self.parse_with(policy)?;
        let system = PathBuf::from(DEFAULT_DIRECTORY);
        let directories: Vec<PathBuf> = options.debug_directories.iter().cloned().chain([system]).collect();
        image.find_debug_file(&self.path, &directories, policy, &self.storage);
        Ok(image)
    }

    /// The image, with the symbols of a policy.
    ///
    /// # Errors
    ///
    /// When the bytes are no image.
    pub(super) fn parse_with(&self, policy: Policy) -> Result<Image<'_>, Error> {
        let image = Image::parse(&self.bytes, policy, &self.storage);
        image.map_err(|source| Error::Image { file: self.path.display().to_string(), source })
    }
}

/// Everything that a [`super::Loaded`] borrows from.
#[derive(Default)]
pub(super) struct InputFiles {
    /// The images that the user named.
    pub(super) named: Vec<ImageFile>,
    /// The shared objects that a run used, which are known when the profiles were read.
    pub(super) shared_objects: OnceLock<Vec<ImageFile>>,
    /// A text that gives the symbols instead of the program.
    pub(super) symbols: Option<Vec<u8>>,
    /// A text that tells the object file of each function.
    pub(super) file_map: Option<Vec<u8>>,
}

impl InputFiles {
    /// Reads what the options name.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub(super) fn read(options: &Options) -> Result<InputFiles, Error> {
        let named = options.images.iter().map(|profiled| ImageFile::read(&profiled.image, options.static_calls));
        let text = |path: &PathBuf| profile_file::bytes(&ProfilePath::File(path.clone()));
        Ok(InputFiles {
            named: named.collect::<Result<_, _>>()?,
            shared_objects: OnceLock::new(),
            symbols: options.symbols.as_ref().map(text).transpose()?,
            file_map: options.file_map.as_ref().map(text).transpose()?,
        })
    }
}
