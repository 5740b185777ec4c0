//! The content of all input files except profiles: images, and files in which the user describes symbols. In a
//! universal file of Darwin, the profile chooses the image.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{mismatch, profile_file};
use crate::error::Error;
use crate::program::image::{self, DEFAULT_DIRECTORY, Headers, Image, ImageError, ImageStorage, Policy, Slice, files};
use crate::question::files::{KnownForm, ProfilePath};
use crate::question::options::Options;

/// The bytes of an image, and further storage that the image borrows from.
pub(super) struct ImageFile {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    /// The open file, if parts of the file are not in `bytes`.
    pub(super) unread: Option<File>,
    storage: ImageStorage,
    /// A message for the user: which image of a universal file these bytes are.
    note: Option<String>,
    /// The names of functions, if there is no file because the program generated the code.
    pub(super) functions: Vec<Box<[u8]>>,
    /// The file if it was opened again.
    reopened: OnceLock<Option<File>>,
}

impl ImageFile {
    /// Makes a file of bytes that were read from `path`.
    pub(super) fn new(path: PathBuf, bytes: Vec<u8>) -> ImageFile {
        ImageFile {
            path,
            bytes,
            unread: None,
            storage: ImageStorage::default(),
            note: None,
            functions: Vec::new(),
            reopened: OnceLock::new(),
        }
    }

    /// Makes the file of code that a program generated, with the names of its functions.
    pub(super) fn with_functions(self, functions: Vec<Box<[u8]>>) -> ImageFile {
        ImageFile { functions, ..self }
    }

    /// Opens the file again, for code that was not read. Returns `None` if the file cannot be opened, or has another
    /// length than before.
    pub(super) fn reopened(&self) -> Option<&File> {
        let open = || {
            let file = files::open_regular(&self.path).ok()?;
            let is_same = self.functions.is_empty() && file.metadata().ok()?.len() == self.bytes.len() as u64;
            is_same.then_some(file)
        };
        self.reopened.get_or_init(open).as_ref()
    }

    /// Reads an image. Reads its machine code only `with_code`.
    ///
    /// # Errors
    ///
    /// When the path names no regular file, or the file cannot be read.
    pub(super) fn read(path: &Path, with_code: bool) -> Result<ImageFile, Error> {
        let read = image::read_open(path, with_code);
        let (bytes, unread) = read.map_err(|source| profile_file::unread(path.display().to_string(), source))?;
        Ok(ImageFile { unread, ..ImageFile::new(path.to_owned(), bytes) })
    }

    /// Keeps one slice of a universal file: the slice whose word size, byte order, and addresses fit the first profile.
    /// Other files stay as they are.
    ///
    /// # Errors
    ///
    /// When the file is damaged, or not exactly one slice fits.
    pub(super) fn slice_for(self, profiles: &[ProfilePath], known: &KnownForm) -> Result<ImageFile, Error> {
        Ok(match choose_slice(&self.path, &self.bytes, profiles, known)? {
            Some(Choice { bytes, note }) => ImageFile { note, ..ImageFile::new(self.path, bytes) },
            None => self,
        })
    }

    /// Tells the user how these bytes were chosen, if there was a choice.
    pub(super) fn tell(&self, messages: &mut dyn Write) {
        if let Some(note) = &self.note {
            // A message that cannot be written is dropped: nobody can read it.
            let _ = writeln!(messages, "gprof: {}: {note}", self.path.display());
        }
    }

    /// Warns about parts of the image that cannot be read.
    pub(super) fn warn_of_damage(&self, image: &Image<'_>, warnings: &mut dyn Write) {
        if let Some(damage) = &image.damage {
            let _ = writeln!(warnings, "gprof: warning: {}: {damage}", self.path.display());
        }
    }

    /// Parses the image, and finds its debug information if that is in a separate file.
    ///
    /// # Errors
    ///
    /// When the bytes are not an image.
    pub(super) fn parse_image(&self, options: &Options) -> Result<Image<'_>, Error> {
        if !self.functions.is_empty() {
            return Ok(Image::generated(&self.functions));
        }
        let policy = options.rules.symbols;
        let mut image = self.parse_with(policy)?;
        image.find_debug_file(&self.path, &debug_directories(options), policy, &self.storage);
        Ok(image)
    }

    /// Adds a debug file that was not on this machine. A file of another build is ignored.
    pub(super) fn add_debug_file<'data>(
        &'data self,
        image: &mut Image<'data>,
        options: &Options,
        path: &Path,
        bytes: Vec<u8>,
    ) {
        image.add_debug_file(path, bytes, &debug_directories(options), options.rules.symbols, &self.storage);
    }

    /// Parses the image, with the symbols that a policy selects.
    ///
    /// # Errors
    ///
    /// When the bytes are not an image.
    pub(super) fn parse_with(&self, policy: Policy) -> Result<Image<'_>, Error> {
        let image = Image::parse(&self.bytes, policy, &self.storage);
        image.map_err(|source| Error::Image { file: self.path.display().to_string(), source })
    }
}

/// The directories of debug files, in the order in which they are searched.
fn debug_directories(options: &Options) -> Vec<PathBuf> {
    let system = files::below(options.sysroot.as_deref(), Path::new(DEFAULT_DIRECTORY));
    options.debug_directories.iter().cloned().chain([system]).collect()
}

/// All files that a [`super::Loaded`] borrows from.
#[derive(Default)]
pub(super) struct InputFiles {
    /// The images that the user named.
    pub(super) named: Vec<ImageFile>,
    /// The shared objects that runs used. These are known once the profiles are read.
    pub(super) shared_objects: OnceLock<Vec<ImageFile>>,
    /// The content of the file of symbols (`-S`).
    pub(super) symbols: Option<Vec<u8>>,
    /// The content of the map of object files (`-R`).
    pub(super) file_map: Option<Vec<u8>>,
}

impl InputFiles {
    /// Reads the files that the options name.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub(super) fn read(options: &Options) -> Result<InputFiles, Error> {
        let named = options.images.iter().map(|profiled| {
            let file = ImageFile::read(&profiled.image, options.static_calls)?;
            file.slice_for(&profiled.profiles, &options.known_form)
        });
        let text = |path: &PathBuf| profile_file::bytes(&ProfilePath::File(path.clone()));
        Ok(InputFiles {
            named: named.collect::<Result<_, _>>()?,
            shared_objects: OnceLock::new(),
            symbols: options.symbols.as_ref().map(text).transpose()?,
            file_map: options.file_map.as_ref().map(text).transpose()?,
        })
    }
}

/// The image that was chosen.
struct Choice {
    /// The bytes of the image.
    bytes: Vec<u8>,
    /// Which image was chosen, if there were several.
    note: Option<String>,
}

/// Chooses the slice of a universal file whose word size, byte order, and addresses fit the first profile. Returns
/// `None` for a file of another format.
///
/// # Errors
///
/// When the file is damaged, the profile cannot be read, or not exactly one slice fits.
fn choose_slice(
    path: &Path,
    bytes: &[u8],
    profiles: &[ProfilePath],
    known: &KnownForm,
) -> Result<Option<Choice>, Error> {
    let fail = |source| Error::Image { file: path.display().to_string(), source };
    let Some(slices) = image::slices(bytes).map_err(fail)? else {
        return Ok(None);
    };
    if let [only] = slices.as_slice() {
        return Ok(Some(Choice { bytes: only.data.to_vec(), note: None }));
    }
    let names = image::slice_names(&slices);
    let fitting: Vec<&Slice<'_>> = match profiles.first() {
        // The report reads the profile again.
        Some(profile) if !profile.is_read_once() => {
            let bytes = profile_file::bytes(profile)?;
            slices.iter().filter(|slice| fits(slice, profile, &bytes, known)).collect()
        }
        Some(_) | None => Vec::new(),
    };
    let [slice] = fitting.as_slice() else {
        return Err(fail(ImageError::Universal(names)));
    };
    let note = format!("universal file with the slices {names}: only {} fits the profile", slice.name);
    Ok(Some(Choice { bytes: slice.data.to_vec(), note: Some(note) }))
}

/// Whether a profile can belong to a slice. The slice must have the word size and the byte order that the command line
/// gives.
fn fits(slice: &Slice<'_>, path: &ProfilePath, bytes: &[u8], known: &KnownForm) -> bool {
    let fits = || {
        let headers = Headers::read(slice.data).ok()?;
        let hints = known.hints(headers.hints);
        if hints.word() != headers.hints.word() || hints.order() != headers.hints.order() {
            return None;
        }
        let profile = profile_file::read_profile(path, bytes, &hints).ok()?.profile;
        Some(mismatch::find_wrong_addresses(&profile, &headers.code?).is_none())
    };
    fits().unwrap_or(false)
}
