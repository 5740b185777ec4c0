//! Reads images with their profiles, and the files beside the profiles.

use std::io::Write;
use std::path::PathBuf;
use std::{iter, mem};

use gmon::side_file::{Place, SideFile};
use gmon::{Accumulator, Arc, Profile};

use super::image_runs::{ImageRuns, tell};
use super::input_files::{ImageFile, InputFiles};
use super::loaded::Parsed;
use super::outside::OutsideImages;
use super::profile_file::FileInfo;
use super::profile_sum::ProfileSum;
use super::shared_objects::{CallsBetween, ObjectImages, SharedObject, SharedObjects};
use super::stack_tree::StackTree;
use super::stacks::Stacks;
use super::threads::Threads;
use super::{thread, threads};
use crate::cli::options::{Contents, Options, ProfiledImage};
use crate::error::Error;
use crate::image::Image;
use crate::image::address_space::{Images, TooLarge};
use crate::symbols::file_map::FileMap;
use crate::terminal::progress::Progress;

/// The results while files are read.
pub(super) struct Loading<'o> {
    options: &'o Options,
    /// The sum of all profiles, once all are read.
    pub(super) profile: Profile,
    /// The calls of all threads, if the profile has only those of some threads.
    pub(super) all_calls: Option<Vec<Arc>>,
    pub(super) contents: Contents,
    pub(super) files: Vec<FileInfo>,
    pub(super) outside_images: OutsideImages,
    /// The stacks of all samples, once all are read.
    pub(super) stacks: Option<Stacks>,
    /// The sums of the side files, with the images of their objects.
    pub(super) sides: Vec<(SideFile, ObjectImages)>,
    /// For each profile: the number of its ticks, and how many of them no stacks tell about.
    profiles: Vec<(u64, u64)>,
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
            all_calls: None,
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
            let (profile, found) = self.runs(number, (named, file), &image, progress)?;
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
        match &self.options.thread {
            Some(wanted) => self.take_thread(wanted, &images, progress)?,
            None => self.stacks = self.stacks(&images),
        }
        Ok(Parsed { images, file_map })
    }

    /// The stacks in all side files, if there are any.
    fn stacks(&self, images: &Images<'_>) -> Option<Stacks> {
        let (mut tree, mut threads) = (StackTree::default(), Threads::default());
        for (side, objects) in &self.sides {
            let address = |place: Place| objects.image(place.object).map(|image| images.place(image, place.address));
            let indexes = threads.add(side, address, |_| true);
            tree.add(side, address, |thread| threads::index(&indexes, thread));
        }
        let mut stacks = tree.finish(threads.all)?;
        for (ticks, without) in &self.profiles {
            match ticks.saturating_sub(*without) {
                in_stacks if *without > 0 && in_stacks > 0 => stacks.add_partial(in_stacks, *without),
                _ => stacks.add_profile(*ticks, *without == 0),
            }
        }
        Some(stacks)
    }

    /// Replaces all counts by those of the threads with a name or number.
    fn take_thread(&mut self, wanted: &str, images: &Images<'_>, progress: &mut Progress<'_>) -> Result<(), Error> {
        let counts = thread::find(wanted, &self.sides, images, &self.profile.histograms)?;
        tell(&counts.warnings, progress);
        self.all_calls = Some(mem::take(&mut self.profile.arcs));
        (self.profile, self.stacks, self.outside_images) = (counts.profile, counts.stacks, counts.outside_images);
        self.contents.calls = !self.profile.arcs.is_empty();
        self.contents.callers = self.stacks.is_some();
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
        (named, file): (&ProfiledImage, &ImageFile),
        image: &Image<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<(Profile, Vec<SharedObject>), Error> {
        let ImageRuns { sum, sides, objects } =
            ImageRuns::read(self.options, named, (file, image), &self.units, progress)?;
        let SharedObjects { objects, images, calls, outside_images } = objects;
        // Without a report on shared objects, only the program has an image.
        let images = images.into_iter().map(Some).chain(iter::repeat_with(|| None));
        let images = images.map(|images| images.unwrap_or_else(|| ObjectImages::of_program(number)));
        self.sides.extend(sides.files.into_iter().zip(images));
        self.profiles.extend(sides.profiles);
        self.without_sides += sides.without;
        self.outside_images.add(&outside_images);
        self.calls = calls;
        Ok((self.add_sum(sum), objects))
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
