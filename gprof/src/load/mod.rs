//! Reads the files that the options name, and what runs left beside these files: images, profiles, and lists of
//! shared objects.
//!
//! This module reads all input files except two kinds: separate files with debug information, which
//! [`mod@crate::image`] finds by itself, and source files, which the annotated source report reads.

mod address_mismatch;
pub(crate) mod bsd;
mod build_mismatch;
mod call_mismatch;
mod input_files;
mod loaded;
pub mod outside;
mod parallel;
pub mod profile_file;
mod profile_sum;
mod runs;
mod shared_objects;
pub mod stacks;
pub(crate) mod sum;

use std::io::Write;
use std::mem;
use std::path::PathBuf;

use gmon::{Accumulator, Hints, Profile};

use crate::cli::options::{Contents, Options, ProfiledImage};
use crate::error::Error;
use crate::image::address_space::{Images, TooLarge};
use crate::image::{self, CodeBytes, Image};
use crate::symbols::file_map::FileMap;
use crate::terminal::progress::Progress;
use call_mismatch::CallCheck;
use input_files::{ImageFile, InputFiles};
pub use loaded::Loaded;
use loaded::{Parsed, ParsedFiles};
use outside::OutsideImages;
use profile_file::FileInfo;
use profile_sum::ProfileSum;
use runs::{Reading, Runs};
use shared_objects::{CallsBetween, ObjectReading, SharedObjects};

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
    let Loading { profile, contents, files, outside_images, .. } = loading;
    Ok(Loaded { parsed, profile, contents, files, outside_images, stacks: None })
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
    let contents = Contents { samples: true, calls: true };
    let outside_images = OutsideImages::default();
    Ok(Loaded { parsed, profile, contents, files: Vec::new(), outside_images, stacks: None })
}

/// The results while files are read.
struct Loading<'o> {
    options: &'o Options,
    /// The sum of all profiles, once all are read.
    profile: Profile,
    contents: Contents,
    files: Vec<FileInfo>,
    outside_images: OutsideImages,
    calls: CallsBetween,
    /// The sample units of all profiles so far.
    units: Accumulator,
}

/// The images, each with its path, and the sum of each image's profiles.
#[derive(Default)]
struct Profiled<'data> {
    images: Vec<(PathBuf, Image<'data>)>,
    profiles: Vec<Profile>,
}

impl<'o> Loading<'o> {
    fn new(options: &'o Options) -> Loading<'o> {
        Loading {
            options,
            profile: Profile::default(),
            contents: Contents::default(),
            files: Vec::new(),
            outside_images: OutsideImages::default(),
            calls: CallsBetween::default(),
            units: Accumulator::default(),
        }
    }

    /// Parses the images, and reads the profiles of each.
    fn parse<'data>(&mut self, files: &'data InputFiles, progress: &mut Progress<'_>) -> Result<Parsed<'data>, Error> {
        let file_map = self.file_map(files)?;
        let mut profiled = Profiled::default();
        let mut objects = Vec::new();
        for (named, file) in self.options.images.iter().zip(&files.named) {
            let image = file.parse(self.options)?;
            let (profile, found) = self.runs(named, file, &image, progress)?;
            profiled.images.push((file.path.clone(), image));
            profiled.profiles.push(profile);
            objects.extend(found);
        }
        self.shared_objects(files, objects, &mut profiled, progress);
        let Profiled { images, mut profiles } = profiled;
        let images = Images::new(images, &profiles);
        let images = images.map_err(|TooLarge { file }| Error::TooLarge { file: file.display().to_string() })?;
        let code: Vec<_> = images.iter().map(|image| image.code.clone()).collect();
        self.calls.remove_known(&mut profiles, &code);
        self.profile = images.merge(profiles);
        self.profile.arcs.extend(self.calls.arcs(&images));
        Ok(Parsed { images, file_map })
    }

    fn file_map<'data>(&self, files: &'data InputFiles) -> Result<Option<FileMap<'data>>, Error> {
        let (Some(path), Some(text)) = (&self.options.file_map, &files.file_map) else {
            return Ok(None);
        };
        let map = FileMap::read(text, self.options.rules.reads_maps_by_line);
        map.map(Some).map_err(|source| Error::Map { file: path.display().to_string(), source })
    }

    /// Reads the profiles of an image that the user named. Returns their sum, and the shared objects of the runs.
    fn runs(
        &mut self,
        named: &ProfiledImage,
        file: &ImageFile,
        image: &Image<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<(Profile, Vec<shared_objects::SharedObject>), Error> {
        let identity = image::identity(&file.bytes);
        let own = identity.as_ref().ok().and_then(Option::as_deref);
        let reading = Reading {
            hints: Hints { form: self.options.form, word: Some(image.word), order: Some(image.order) },
            code: image.code.clone(),
            calls: Some(CallCheck::new(image, CodeBytes::new(image, file.unread.as_ref()))),
            identity: own,
            with_objects: self.options.objects && self.options.images.len() == 1,
            units: &self.units,
        };
        let (Runs { sum, lists }, failure) = match reading.all(&named.profiles, progress) {
            Ok(runs) => (runs, None),
            Err(failed) => (failed.1, Some(failed.0)),
        };
        let reading = ObjectReading {
            hints: Hints { form: None, ..reading.hints },
            with_code: self.options.static_calls,
            units: sum.units(),
        };
        let found = SharedObjects::read(&named.profiles, &lists, &reading, progress);
        if let Some(warning) = image.warning() {
            let _ = writeln!(progress, "gprof: warning: {}: {warning}", file.path.display());
        }
        tell(&sum.mismatches, progress);
        if let Some(error) = failure {
            return Err(error);
        }
        if identity.is_ok() {
            build_mismatch::check(&file.path, own, &named.profiles, &lists, progress);
        }
        self.outside_images.add(&found.outside_images);
        self.calls = found.calls;
        Ok((self.add_sum(sum), found.objects))
    }

    /// Takes what is known about the files of an image's profiles, and returns the sum of the profiles.
    fn add_sum(&mut self, mut sum: ProfileSum) -> Profile {
        self.contents.join(sum.contents);
        self.files.append(&mut sum.files);
        let profile;
        (profile, self.units) = sum.finish();
        profile
    }

    /// Parses the shared objects that the runs used. Warns about an object that cannot be parsed, and leaves it out.
    fn shared_objects<'data>(
        &mut self,
        files: &'data InputFiles,
        mut objects: Vec<shared_objects::SharedObject>,
        profiled: &mut Profiled<'data>,
        progress: &mut Progress<'_>,
    ) {
        let file = |object: &mut shared_objects::SharedObject| {
            ImageFile::new(object.path.clone(), mem::take(&mut object.bytes))
        };
        let object_files = files.shared_objects.get_or_init(|| objects.iter_mut().map(file).collect());
        for (object, file) in objects.into_iter().zip(object_files) {
            let image = file.parse(self.options);
            if image.is_ok() {
                tell(&object.sum.mismatches, progress);
            }
            let image = match (image, object.failure) {
                (Ok(image), None) => image,
                (Err(why), _) | (Ok(_), Some(why)) => {
                    let _ = writeln!(
                        progress,
                        "gprof: warning: {why}: the time in this object counts as outside the program"
                    );
                    self.outside_images.add(&OutsideImages { elsewhere: object.samples, ..OutsideImages::default() });
                    self.calls.remove_image(profiled.images.len());
                    continue;
                }
            };
            self.contents.join(object.sum.contents);
            let mut sum = object.sum;
            self.files.append(&mut sum.files);
            profiled.profiles.push(sum.finish().0);
            profiled.images.push((file.path.clone(), image));
        }
    }
}

/// Writes warnings about profiles that do not match their image.
fn tell(mismatches: &[String], progress: &mut Progress<'_>) {
    for mismatch in mismatches {
        // A warning that cannot be written is dropped: nobody can read it.
        let _ = writeln!(progress, "gprof: warning: {mismatch}");
    }
}
