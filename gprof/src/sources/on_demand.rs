//! Calls that were counted on demand: how long, of which functions, and the samples of that time.

use std::collections::BTreeMap;

use gmon::side_file::{Samples, Selection, SideFile};
use gmon::{Bins, Histogram, Unit};

use super::estimates::Estimates;
use super::shared_objects::ObjectImages;
use crate::program::image::address_space::Images;

/// How long calls were counted, if they were counted on demand.
///
/// [`Analysis::calls_on_demand`](crate::Analysis::calls_on_demand) returns one.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallsOnDemand {
    /// The time in seconds during which any calls were counted.
    pub time: f64,
    /// The time in seconds that the profiles span; `None` if unknown.
    pub elapsed: Option<f64>,
    /// The patterns of the functions whose calls were counted, sorted. An empty pattern stands for all functions.
    pub patterns: Vec<String>,
    /// Whether calls were counted during the whole time, so that all counts are about the same time.
    pub is_whole: bool,
    /// Whether some of the runs counted all calls during their whole time.
    pub has_whole_runs: bool,
}

/// What runs counted on demand, with addresses in the common address space of the images.
#[derive(Debug, Default)]
pub(crate) struct OnDemand {
    pub(crate) facts: CallsOnDemand,
    /// For each image, what was counted there.
    pub(crate) images: Vec<CountedImage>,
    /// The functions of each selection: the addresses of called functions.
    pub(crate) selections: Vec<Vec<u64>>,
    /// The samples that were taken while calls were counted.
    pub(crate) histograms: Vec<Histogram>,
    /// The calls that were estimated from windows.
    pub(crate) estimates: Option<Estimates>,
}

/// What was counted in an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountedImage {
    /// Whether calls of the image's functions were counted on demand, and not in the whole run.
    pub(crate) is_on_demand: bool,
    /// The number of selections by which calls of the image's functions were counted.
    pub(crate) selections: usize,
    /// Whether the samples of the time in which calls were counted are not known, or not those of all calls.
    pub(crate) lacks_samples: bool,
}

/// What is read from the side files of runs.
pub(super) struct Runs<'a> {
    /// The sums of side files, with the images of their objects.
    pub(super) sides: &'a [(SideFile, ObjectImages)],
    /// The number of profiles without a side file.
    pub(super) without_sides: usize,
    /// For each side file, which of its threads the report is about. `None` if the report is about all threads.
    pub(super) threads: Option<Vec<Vec<bool>>>,
    /// The number of images.
    pub(super) images: usize,
    /// The unit of the samples.
    pub(super) unit: Unit,
}

impl OnDemand {
    /// Finds what was counted on demand. Returns `None` if all runs counted all calls.
    pub(super) fn new(runs: &Runs<'_>, images: &Images<'_>) -> Option<OnDemand> {
        runs.sides.iter().find(|(side, _)| !counts_all_calls(side))?;
        let estimates = Estimates::new(runs.sides, runs.without_sides, runs.threads.is_some(), images);
        let images_of_runs = vec![CountedImage::default(); runs.images];
        let mut found = OnDemand { facts: facts(runs), images: images_of_runs, estimates, ..OnDemand::default() };
        if found.facts.is_whole {
            return Some(found);
        }
        let mut bins = Binned::default();
        for (at, (side, objects)) in runs.sides.iter().enumerate() {
            let lacks_samples = match side.selections() {
                None => true,
                Some(selections) => {
                    let threads = runs.threads.as_ref().map(|threads| threads.get(at).map_or(&[][..], Vec::as_slice));
                    let has_samples = bins.add(side, threads, objects, images);
                    let is_counted = found.add(side, objects, images);
                    !has_samples || !is_counted || selections.iter().any(Selection::is_of_whole_runs)
                }
            };
            found.of_objects(side, objects).for_each(|image| image.lacks_samples |= lacks_samples);
        }
        found.images.iter_mut().for_each(|image| image.lacks_samples |= runs.without_sides > 0);
        found.histograms = bins.histograms(runs.unit);
        Some(found)
    }

    /// Adds the selections of a side file. Returns false if calls were counted at no time.
    fn add(&mut self, side: &SideFile, objects: &ObjectImages, images: &Images<'_>) -> bool {
        if is_whole(side) {
            return true;
        }
        let selections = side.selections().unwrap_or_default().iter();
        let addresses = |selection: &Selection| {
            let functions = selection.functions().iter();
            let places = functions.filter_map(|function| Some((objects.image(function.object)?, function.address)));
            places.filter_map(|(image, address)| place(images, image, address)).collect()
        };
        let selections: Vec<Vec<u64>> = selections.filter(|one| is_counted(one)).map(addresses).collect();
        let number = selections.len();
        for image in self.of_objects(side, objects) {
            image.is_on_demand = true;
            image.selections += number;
        }
        self.selections.extend(selections);
        number > 0
    }

    /// The images of the objects of a side file, each once.
    fn of_objects(&mut self, side: &SideFile, objects: &ObjectImages) -> impl Iterator<Item = &mut CountedImage> {
        let mut has_image = vec![false; self.images.len()];
        for image in side.objects().filter_map(|(number, _)| objects.image(number)) {
            if let Some(has_image) = has_image.get_mut(image) {
                *has_image = true;
            }
        }
        self.images.iter_mut().zip(has_image).filter(|(_, has_image)| *has_image).map(|(image, _)| image)
    }
}

/// The address in the common address space of an address of an image, if it is inside of the image.
fn place(images: &Images<'_>, image: usize, address: u64) -> Option<u64> {
    Some(images.place(image, address)).filter(|address| *address != 0)
}

/// Whether calls were counted by a selection at some time.
fn is_counted(selection: &Selection) -> bool {
    !selection.is_of_whole_runs() && selection.time() > 0
}

/// Whether a run counted all calls during its whole time.
fn counts_all_calls(side: &SideFile) -> bool {
    side.selections().is_none() && side.estimates().is_none()
}

/// Whether each selection of a side file was counted during the whole time, and nothing was estimated. Whole runs in a
/// sum come behind that time.
fn is_whole(side: &SideFile) -> bool {
    let selections = side.selections().unwrap_or_default();
    let of_whole_runs = selections.iter().filter(|selection| selection.is_of_whole_runs());
    let whole_runs = of_whole_runs.fold(0_u64, |sum, selection| sum.saturating_add(selection.time()));
    let others = selections.iter().filter(|selection| !selection.is_of_whole_runs());
    let is_whole = |elapsed: u64| {
        let time = elapsed.saturating_sub(whole_runs);
        side.counted_time() == Some(elapsed) && others.into_iter().all(|selection| selection.time() == time)
    };
    side.estimates().is_none() && side.elapsed().is_some_and(is_whole)
}

const NANOSECONDS: f64 = 1e9;

fn facts(runs: &Runs<'_>) -> CallsOnDemand {
    let (mut time, mut elapsed, mut facts) = (0_u64, Some(0_u64), CallsOnDemand::default());
    facts.is_whole = true;
    for (side, _) in runs.sides {
        let all = side.elapsed();
        elapsed = elapsed.zip(all).and_then(|(sum, more)| sum.checked_add(more));
        if counts_all_calls(side) {
            time = time.saturating_add(all.unwrap_or(0));
            facts.has_whole_runs = true;
            continue;
        }
        time = time.saturating_add(side.counted_time().unwrap_or(0));
        let selections = side.selections().unwrap_or_default();
        facts.is_whole &= is_whole(side);
        facts.has_whole_runs |= selections.iter().any(Selection::is_of_whole_runs);
        let patterns = selections.iter().filter(|selection| is_counted(selection)).map(Selection::pattern);
        facts.patterns.extend(patterns.map(|pattern| String::from_utf8_lossy(pattern).into_owned()));
    }
    facts.patterns.sort_unstable();
    facts.patterns.dedup();
    facts.has_whole_runs |= runs.without_sides > 0;
    facts.time = time as f64 / NANOSECONDS;
    facts.elapsed = elapsed.filter(|_| runs.without_sides == 0).map(|elapsed| elapsed as f64 / NANOSECONDS);
    facts
}

/// Samples by image, size of a bin, and address.
#[derive(Default)]
struct Binned(BTreeMap<(usize, u64), BTreeMap<u64, u64>>);

impl Binned {
    /// Adds the samples of a side file that were taken while calls were counted: those of all threads, or of chosen
    /// threads. Returns false if the file has none, or does not have them by thread, but needs to.
    fn add(&mut self, side: &SideFile, threads: Option<&[bool]>, objects: &ObjectImages, images: &Images<'_>) -> bool {
        let is_wanted = |samples: &&Samples| match (threads, samples.thread()) {
            (None, thread) => thread.is_none(),
            (Some(threads), Some(thread)) => threads.get(thread).copied().unwrap_or(false),
            (Some(_), None) => false,
        };
        for samples in side.counted_samples().iter().filter(is_wanted) {
            let Some(image) = objects.image(samples.object()) else { continue };
            let bins = self.0.entry((image, samples.bin_size())).or_default();
            for (bin, ticks) in samples.bins() {
                let last = bin.end.saturating_sub(1);
                // The first bin of an image may begin before the image.
                let Some(start) = place(images, image, last).and_then(|at| at.checked_sub(last - bin.start)) else {
                    continue;
                };
                let sum = bins.entry(start).or_insert(0);
                *sum = sum.saturating_add(ticks);
            }
        }
        let is_known = |samples: &Samples| samples.total() > 0 && samples.thread().is_some() == threads.is_some();
        side.counted_samples().iter().any(is_known)
    }

    fn histograms(self, unit: Unit) -> Vec<Histogram> {
        let histograms = self.0.into_iter().filter_map(|((_, size), bins)| {
            let (first, last) = (*bins.first_key_value()?.0, *bins.last_key_value()?.0);
            let number = |start: u64| (start - first) / size;
            let counts = bins.iter().map(|(start, ticks)| (number(*start), *ticks)).collect();
            let bins = number(last).checked_add(1)?;
            let range = first..bins.checked_mul(size)?.checked_add(first)?;
            Histogram::new(range, unit, Bins::Sparse { bins, counts }).ok()
        });
        histograms.collect()
    }
}
