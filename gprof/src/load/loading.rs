//! Reads images with their profiles, and the files beside the profiles.

use std::io::Write;
use std::mem;
use std::path::{Path, PathBuf};

use gmon::side_file::SideFile;
use gmon::{Accumulator, Hints, Profile};

use super::call_mismatch::CallCheck;
use super::input_files::{ImageFile, InputFiles};
use super::loaded::Parsed;
use super::outside::OutsideImages;
use super::profile_file::{self, FileInfo};
use super::profile_sum::ProfileSum;
use super::runs::{Reading, Runs};
use super::shared_objects::{
    CallsBetween, ObjectImages, ObjectReading, RunCounts, RunFiles, SharedObject, SharedObjects,
};
use super::side_sum::Sides;
use super::stack_tree::StackTree;
use super::stacks::Stacks;
use super::{build_mismatch, thread};
use crate::cli::options::{Contents, Options, ProfilePath, ProfiledImage};
use crate::error::Error;
use crate::image::address_space::{Images, TooLarge};
use crate::image::{self, CodeBytes, Image};
use crate::symbols::file_map::FileMap;
use crate::terminal::progress::Progress;

/// The results while files are read.
pub(super) struct Loading<'o> {
    options: &'o Options,
    /// The sum of all profiles, once all are read.
    pub(super) profile: Profile,
    pub(super) contents: Contents,
    pub(super) files: Vec<FileInfo>,
    pub(super) outside_images: OutsideImages,
    /// The stacks of all samples, once all are read.
    pub(super) stacks: Option<Stacks>,
    /// The sums of the side files, with the images of their objects.
    pub(super) sides: Vec<(SideFile, ObjectImages)>,
    /// For each profile: the number of its ticks, and whether they have stacks.
    profiles: Vec<(u64, bool)>,
    /// The number of profiles without a side file.
    pub(super) without_sides: usize,
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
    pub(super) fn new(options: &'o Options) -> Loading<'o> {
        Loading {
            options,
            profile: Profile::default(),
            contents: Contents::default(),
            files: Vec::new(),
            outside_images: OutsideImages::default(),
            stacks: None,
            sides: Vec::new(),
            profiles: Vec::new(),
            without_sides: 0,
            calls: CallsBetween::default(),
            units: Accumulator::default(),
        }
    }

    /// Parses the images, and reads the profiles of each.
    pub(super) fn parse<'data>(
        &mut self,
        files: &'data InputFiles,
        progress: &mut Progress<'_>,
    ) -> Result<Parsed<'data>, Error> {
        let file_map = self.file_map(files)?;
        let mut profiled = Profiled::default();
        let mut objects = Vec::new();
        for (number, (named, file)) in self.options.images.iter().zip(&files.named).enumerate() {
            let image = file.parse(self.options)?;
            let (profile, found) = self.runs(number, named, file, &image, progress)?;
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
        self.stacks = self.stacks(&images);
        if let Some(wanted) = &self.options.thread {
            self.take_thread(wanted, &images, progress)?;
        }
        Ok(Parsed { images, file_map })
    }

    /// The stacks in all side files, if there are any.
    fn stacks(&self, images: &Images<'_>) -> Option<Stacks> {
        let mut tree = StackTree::default();
        for (side, objects) in &self.sides {
            tree.add(side, |place| objects.image(place.object).map(|image| images.place(image, place.address)));
        }
        let mut stacks = tree.finish()?;
        self.profiles.iter().for_each(|(ticks, has_stacks)| stacks.add_profile(*ticks, *has_stacks));
        Some(stacks)
    }

    /// Replaces all counts by those of the threads with a name or number.
    fn take_thread(&mut self, wanted: &str, images: &Images<'_>, progress: &mut Progress<'_>) -> Result<(), Error> {
        let counts = thread::find(wanted, &self.sides, images, &self.profile.histograms)?;
        tell(&counts.warnings, progress);
        (self.profile, self.stacks, self.outside_images) = (counts.profile, counts.stacks, counts.outside_images);
        self.contents.calls = !self.profile.arcs.is_empty();
        Ok(())
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
        number: usize,
        named: &ProfiledImage,
        file: &ImageFile,
        image: &Image<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<(Profile, Vec<SharedObject>), Error> {
        let identity = image::identity(&file.bytes);
        let own = identity.as_ref().ok().and_then(Option::as_deref);
        let reading = Reading {
            hints: Hints { form: self.options.form, word: Some(image.word), order: Some(image.order) },
            code: image.code.clone(),
            calls: Some(CallCheck::new(image, CodeBytes::new(image, file.unread.as_ref()))),
            identity: own,
            with_objects: self.options.objects && self.options.images.len() == 1,
            with_sides: self.options.rules.reads_shared_objects,
            units: &self.units,
        };
        let (Runs { sum, files, side }, failure) = match reading.all(&named.profiles, progress) {
            Ok(runs) => (runs, None),
            Err(failed) => (failed.1, Some(failed.0)),
        };
        if self.options.rules.reads_shared_objects {
            tell(files.iter().filter_map(|beside| beside.warning.as_ref()), progress);
        }
        let Sides { files: sides, mut profiles, without } = side.finish();
        self.profiles.append(&mut profiles);
        self.without_sides += without;
        let mut found = SharedObjects::default();
        if reading.with_objects {
            let reading = ObjectReading {
                hints: Hints { form: None, ..reading.hints },
                with_code: self.options.static_calls,
                units: sum.units(),
                unit: sum.unit(sides.iter().find_map(SideFile::rate).unwrap_or(profile_file::HOST_RATE)),
            };
            let from_sides: Vec<RunCounts> = sides.iter().map(RunCounts::of).collect();
            let from_sides = from_sides.iter().map(|counts| (Path::new(""), counts));
            found = SharedObjects::read(from_sides.chain(listed(&named.profiles, &files)), &reading, progress);
        }
        let mut images = mem::take(&mut found.images).into_iter();
        self.sides.extend(sides.into_iter().map(|side| {
            let images = images.next().unwrap_or_else(|| ObjectImages::of_program(number));
            (side, images)
        }));
        if let Some(warning) = image.warning() {
            let _ = writeln!(progress, "gprof: warning: {}: {warning}", file.path.display());
        }
        tell(&sum.mismatches, progress);
        if let Some(error) = failure {
            return Err(error);
        }
        if identity.is_ok() {
            build_mismatch::check(&file.path, own, &named.profiles, &files, progress);
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
        mut objects: Vec<SharedObject>,
        profiled: &mut Profiled<'data>,
        progress: &mut Progress<'_>,
    ) {
        let file = |object: &mut SharedObject| ImageFile::new(object.path.clone(), mem::take(&mut object.bytes));
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
                    self.sides.iter_mut().for_each(|(_, images)| images.remove_image(profiled.images.len()));
                    continue;
                }
            };
            self.contents.join(object.sum.contents);
            let mut sum = object.sum;
            self.files.append(&mut sum.files);
            let mut profile = sum.finish().0;
            // Reports do not depend on the order of the runs, or on the form in which a run wrote its calls.
            profile.arcs.sort_unstable_by_key(|arc| (arc.frompc, arc.selfpc));
            profiled.profiles.push(profile);
            profiled.images.push((file.path.clone(), image));
        }
    }
}

/// Writes warnings about files.
fn tell<'a>(warnings: impl IntoIterator<Item = &'a String>, progress: &mut Progress<'_>) {
    for warning in warnings {
        // A warning that cannot be written is dropped: nobody can read it.
        let _ = writeln!(progress, "gprof: warning: {warning}");
    }
}

/// The counts in the list beside each profile that has a list, with the path of the profile.
fn listed<'a>(profiles: &'a [ProfilePath], files: &'a [RunFiles]) -> impl Iterator<Item = (&'a Path, &'a RunCounts)> {
    profiles.iter().zip(files).filter_map(|(profile, beside)| match profile {
        ProfilePath::File(path) => Some((path.as_path(), beside.listed.as_ref()?)),
        ProfilePath::Stdin => None,
    })
}
