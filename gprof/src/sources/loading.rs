//! Reads images with their profiles, and the files beside the profiles.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{iter, mem};

use gmon::side_file::{Place, SideFile};
use gmon::{Accumulator, Histogram, Profile, Unit};

use super::debug_files::DebugFiles;
use super::estimates::Estimates;
use super::image_runs::{ImageRuns, UntoldRuns, tell};
use super::input_files::{ImageFile, InputFiles};
use super::loaded::{Loaded, LoadedSides, Parsed, ParsedFiles};
use super::on_demand::{self, OnDemand};
use super::profile_file::{FileInfo, HOST_RATE, ProfileSum};
use super::shared_objects::OutsideImages;
use super::shared_objects::{CallsBetween, ObjectImages, SharedObject, SharedObjects};
use super::side_info::SideInfo;
use super::side_sum::Conservation;
use super::stack_tree::StackTree;
use super::stacks::Stacks;
use super::threads::{self, Threads};
use crate::error::Error;
use crate::program::image::Image;
use crate::program::image::address_space::{Images, TooLarge};
use crate::program::symbols::file_map::FileMap;
use crate::question::options::Options;
use crate::question::reports::Contents;
use crate::terminal::progress::Progress;

/// The results while files are read.
pub(super) struct Loading<'o> {
    options: &'o Options,
    /// The sum of all profiles, once all are read.
    pub(super) profile: Profile,
    /// The calls of all threads, if the profile has only those of some threads.
    pub(super) all_calls: Option<Vec<gmon::Arc>>,
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
    /// The samples of all profiles, and their CPU time.
    conservation: Conservation,
    /// What was counted on demand, once all are read.
    on_demand: Option<OnDemand>,
    /// Why profiles may not belong to their images.
    pub(super) mismatches: Vec<String>,
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

impl<'data> Profiled<'data> {
    fn iter(&self) -> impl Iterator<Item = (&Path, &Image<'data>, &Profile)> {
        let images = self.images.iter().zip(&self.profiles);
        images.map(|((path, image), profile)| (path.as_path(), image, profile))
    }
}

/// The number of mismatches that outputs list. Thousands of profiles may be of another program.
const MOST_MISMATCHES: usize = 10;

/// Returns the mismatches that outputs list.
fn listed(mut mismatches: Vec<String>) -> Vec<String> {
    let more = mismatches.len().saturating_sub(MOST_MISMATCHES);
    mismatches.truncate(MOST_MISMATCHES);
    mismatches.extend((more > 0).then(|| format!("{more} more warnings of this kind")));
    mismatches
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
            conservation: Conservation::default(),
            on_demand: None,
            mismatches: Vec::new(),
            calls: CallsBetween::default(),
            units: Accumulator::default(),
        }
    }

    /// Parses the images, and reads the profiles of each.
    pub(super) fn parse_files<'data>(
        &mut self,
        files: &'data InputFiles,
        debug_files: &mut DebugFiles,
        progress: &mut Progress<'_>,
    ) -> Result<Parsed<'data>, Error> {
        let file_map = self.file_map(files)?;
        let mut profiled = Profiled::default();
        let mut objects = Vec::new();
        for (number, (named, file)) in self.options.images.iter().zip(&files.named).enumerate() {
            let mut image = file.parse_image(self.options)?;
            let untold = UntoldRuns::read(self.options, named, (file, &image), &self.units, progress);
            if untold.need_names() {
                debug_files.complete(self.options, file, &mut image, progress);
            }
            let (profile, found) = self.take_runs(number, untold.tell(named, (file, &image), progress)?);
            profiled.images.push((file.path.clone(), image));
            profiled.profiles.push(profile);
            objects.extend(found);
        }
        self.shared_objects(files, objects, &mut profiled, debug_files, progress);
        let OutsideImages { kernel, vdso, elsewhere, .. } = self.outside_images;
        let outside = [kernel, vdso, elsewhere].into_iter().fold(0, u64::saturating_add);
        debug_files.tell(self.options, profiled.iter(), outside, progress);
        let Profiled { images, profiles } = profiled;
        let images = Images::new(images, &profiles);
        let images = images.map_err(|TooLarge { file }| Error::TooLarge { file: file.display().to_string() })?;
        self.merge(&images, profiles, progress)?;
        Ok(Parsed { images, file_map })
    }

    /// Reads the profiles of images that were parsed before. Returns false if the runs have other shared objects than
    /// before, or their profiles need other places for the images.
    pub(super) fn read_again(&mut self, parsed: &ParsedFiles, progress: &mut Progress<'_>) -> Result<bool, Error> {
        let (files, images) = (parsed.borrow_owner(), &parsed.borrow_dependent().images);
        let (mut profiles, mut objects) = (Vec::new(), Vec::new());
        let named = self.options.images.iter().zip(&files.named).zip(images.iter());
        for (number, ((named, file), image)) in named.enumerate() {
            let untold = UntoldRuns::read(self.options, named, (file, image), &self.units, progress);
            let (profile, found) = self.take_runs(number, untold.tell(named, (file, image), progress)?);
            profiles.push(profile);
            objects.extend(found);
        }
        let known = files.shared_objects.get().into_iter().flatten().map(|file| (&file.path, &file.functions));
        if !objects.iter().map(|object| (&object.path, &object.functions)).eq(known) {
            return Ok(false);
        }
        for object in objects {
            // An object that could not be parsed has no image.
            let has_image = images.paths().get(profiles.len()) == Some(&object.path);
            match object.failure {
                None if has_image => profiles.push(self.add_object(object.sum)),
                Some(_) if has_image => return Ok(false),
                _ => self.leave_out(profiles.len(), object.samples),
            }
        }
        if !images.have_room_for(&profiles) {
            return Ok(false);
        }
        self.merge(images, profiles, progress)?;
        Ok(true)
    }

    /// Merges the profiles of all images, and the stacks of all runs.
    fn merge(
        &mut self,
        images: &Images<'_>,
        mut profiles: Vec<Profile>,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        let code: Vec<_> = images.iter().map(|image| image.code.clone()).collect();
        self.calls.remove_known(&mut profiles, &code);
        self.profile = images.merge(profiles);
        self.profile.add_arcs(self.calls.arcs(images));
        self.on_demand = self.calls_on_demand(images);
        match &self.options.thread {
            Some(wanted) => self.take_thread(wanted, images, progress)?,
            None => self.stacks = self.stacks(images),
        }
        self.contents.callers = self.stacks.is_some();
        let estimates = self.on_demand.as_ref().and_then(|on_demand| on_demand.estimates.as_ref());
        self.contents.estimates = estimates.is_some_and(Estimates::has_calls);
        if let (Some(stacks), Some(main)) = (&mut self.stacks, images.main()) {
            stacks.end_at_callers_of(&main);
        }
        Ok(())
    }

    /// Puts the results together with the images.
    pub(super) fn finish(self, parsed: Arc<ParsedFiles>) -> Loaded {
        let Loading { profile, all_calls, contents, files, outside_images, stacks, mismatches, .. } = self;
        let side_files: Vec<SideFile> = self.sides.into_iter().map(|(side, _)| side).collect();
        let side_infos = side_files.iter().map(SideInfo::new).collect();
        // The CPU time of some threads is not known.
        let conservation = if self.options.thread.is_none() { self.conservation } else { Conservation::default() };
        let (without, on_demand) = (self.without_sides, self.on_demand);
        let sides = LoadedSides { files: side_files, infos: side_infos, without, conservation, on_demand };
        Loaded {
            parsed,
            profile,
            all_calls,
            contents,
            files,
            outside_images,
            stacks,
            sides,
            mismatches: listed(mismatches),
            said: Vec::new(),
        }
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

    /// What was counted on demand.
    fn calls_on_demand(&self, images: &Images<'_>) -> Option<OnDemand> {
        let wanted = self.options.thread.as_deref();
        let threads = wanted.map(|wanted| self.sides.iter().map(|(side, _)| threads::matching(side, wanted)).collect());
        let profrate = self.sides.iter().find_map(|(side, _)| side.rate()).unwrap_or(HOST_RATE);
        let unit = self.profile.histograms().first().map_or(Unit::seconds(profrate), Histogram::unit);
        let runs = on_demand::Runs {
            sides: &self.sides,
            without_sides: self.without_sides,
            threads,
            images: images.iter().count(),
            unit,
        };
        OnDemand::new(&runs, images)
    }

    /// Replaces all counts by those of the threads with a name or number.
    fn take_thread(&mut self, wanted: &str, images: &Images<'_>, progress: &mut Progress<'_>) -> Result<(), Error> {
        let counts = threads::find_thread(wanted, &self.sides, images, self.profile.histograms())?;
        tell(&counts.warnings, progress);
        self.all_calls = Some(self.profile.take_arcs());
        (self.profile, self.stacks, self.outside_images) = (counts.profile, counts.stacks, counts.outside_images);
        self.contents.calls = !self.profile.arcs().is_empty();
        Ok(())
    }

    fn file_map<'data>(&self, files: &'data InputFiles) -> Result<Option<FileMap<'data>>, Error> {
        let (Some(path), Some(text)) = (&self.options.file_map, &files.file_map) else {
            return Ok(None);
        };
        let map = FileMap::read(text, self.options.rules.reads_maps_by_line);
        map.map(Some).map_err(|source| Error::Map { file: path.display().to_string(), source })
    }

    /// Takes what the runs of an image left that the user named. Returns the sum of their profiles, and their shared
    /// objects.
    fn take_runs(&mut self, number: usize, runs: ImageRuns) -> (Profile, Vec<SharedObject>) {
        let ImageRuns { sum, sides, objects, mismatches } = runs;
        self.mismatches.extend(mismatches);
        let SharedObjects { objects, images, calls, outside_images } = objects;
        // Without a report on shared objects, only the program has an image.
        let images = images.into_iter().map(Some).chain(iter::repeat_with(|| None));
        let images = images.map(|images| images.unwrap_or_else(|| ObjectImages::of_program(number)));
        self.sides.extend(sides.files.into_iter().zip(images));
        self.profiles.extend(sides.profiles);
        self.without_sides += sides.without;
        self.conservation.append(sides.conservation);
        self.outside_images.add(&outside_images);
        self.calls = calls;
        (self.add_sum(sum), objects)
    }

    /// Takes what is known about the files of an image's profiles, and returns the sum of the profiles.
    fn add_sum(&mut self, mut sum: ProfileSum) -> Profile {
        self.contents.join(sum.contents);
        self.files.append(&mut sum.files);
        self.outside_images.add(&OutsideImages { elsewhere: sum.elsewhere, ..OutsideImages::default() });
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
        debug_files: &mut DebugFiles,
        progress: &mut Progress<'_>,
    ) {
        let file = |object: &mut SharedObject| {
            let file = ImageFile::new(object.path.clone(), mem::take(&mut object.bytes));
            file.with_functions(mem::take(&mut object.functions))
        };
        let object_files = files.shared_objects.get_or_init(|| objects.iter_mut().map(file).collect());
        for (object, file) in objects.into_iter().zip(object_files) {
            let mut image = file.parse_image(self.options);
            if let Ok(image) = &mut image {
                if object.samples > 0 {
                    debug_files.complete(self.options, file, image, progress);
                }
                file.warn_of_damage(image, progress);
                tell(&object.sum.mismatches, progress);
                self.mismatches.extend_from_slice(&object.sum.mismatches);
            }
            let image = match (image, object.failure) {
                (Ok(image), None) => image,
                (Err(why), _) | (Ok(_), Some(why)) => {
                    let _ = writeln!(
                        progress,
                        "gprof: warning: {why}: the time in this object counts as outside the program"
                    );
                    self.leave_out(profiled.images.len(), object.samples);
                    continue;
                }
            };
            profiled.profiles.push(self.add_object(object.sum));
            profiled.images.push((file.path.clone(), image));
        }
    }

    /// Takes what is known about the files of a shared object's profiles, and returns the sum of the profiles.
    fn add_object(&mut self, mut sum: ProfileSum) -> Profile {
        self.contents.join(sum.contents);
        self.files.append(&mut sum.files);
        let mut profile = sum.finish().0;
        // Reports do not depend on the order of the runs, or on the form in which a run wrote its calls.
        profile.arcs_mut().sort_unstable_by_key(|arc| (arc.frompc, arc.selfpc));
        profile
    }

    /// Leaves out the shared object that would have this image.
    fn leave_out(&mut self, image: usize, samples: u64) {
        self.outside_images.add(&OutsideImages { elsewhere: samples, ..OutsideImages::default() });
        self.calls.remove_image(image);
        self.sides.iter_mut().for_each(|(_, images)| images.remove_image(image));
    }
}
