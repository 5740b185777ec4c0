//! The shared objects of runs: their files, and what the runs counted in them.
//!
//! A run leaves a side file beside its profile, and older runtimes leave a list and a profile for each object;
//! docs/side-file.md describes both. Files of an earlier run may lie there, so a file counts only if it has the
//! checksum of the profile, and a profile of an object only if its checksum is in the list.

mod batch;
mod calls;
mod counts;
mod reading;
mod run_files;
mod side;

pub(crate) use calls::CallsBetween;
pub use counts::OutsideImages;
pub(crate) use counts::RunCounts;
pub(crate) use reading::ObjectReading;
pub(crate) use run_files::{Program, RunFiles};
pub(crate) use side::{identity, path};

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use gmon::Unit;
use gmon::side_file::PROGRAM;

use super::profile_file::ProfileSum;
use crate::error::Error;
use crate::program::image::files::{self, companion};
use crate::terminal::progress::Progress;
use batch::{Batch, Candidate, CandidateSum, ObjectFile, Outcome};
use calls::Call;
use counts::ObjectCounts;
use reading::{Task, TaskCounts};

/// A shared object and the sum of its profiles.
pub(crate) struct SharedObject {
    pub(crate) path: PathBuf,
    /// The content of the file.
    pub(crate) bytes: Vec<u8>,
    /// The names of functions, if there is no file because the program generated the code.
    pub(crate) functions: Vec<Box<[u8]>>,
    pub(crate) sum: ProfileSum,
    /// The number of samples in all profiles that could be read.
    pub(crate) samples: u64,
    /// The error that makes the sum invalid, if there is one.
    pub(crate) failure: Option<Error>,
}

/// The shared objects of all runs of a program.
#[derive(Default)]
pub(crate) struct SharedObjects {
    pub(crate) objects: Vec<SharedObject>,
    /// For each run, the images of the objects in its side file.
    pub(crate) images: Vec<ObjectImages>,
    pub(crate) calls: CallsBetween,
    pub(crate) outside_images: OutsideImages,
}

/// The tasks of each run: for each object of the list the index of its task, or why there is no task.
#[derive(Default)]
struct Plan<'a> {
    candidates: Vec<Candidate<'a>>,
    tasks: Vec<Task<'a>>,
    runs: Vec<(&'a RunCounts, Vec<Result<usize, String>>)>,
}

impl<'a> Plan<'a> {
    /// Plans the reading of runs. Each comes with the path of its profile, beside which its files lie.
    fn new(runs: impl Iterator<Item = (&'a Path, &'a RunCounts)>) -> Plan<'a> {
        let (mut plan, mut known) = (Plan::default(), HashMap::new());
        for (profile, run) in runs {
            let mut taken = HashSet::new();
            let mut entries = Vec::new();
            for object in &run.objects {
                let counts = match &object.counts {
                    ObjectCounts::Sparse(counts) => TaskCounts::Sparse(counts),
                    ObjectCounts::File { suffix, checksum } => {
                        let path = companion(profile, suffix);
                        // Two objects of one run never share a profile. This check also keeps a list of a thousand
                        // equal lines from reading one file a thousand times.
                        if !taken.insert(suffix) {
                            let why = format!("left out: {} is the profile of another object", path.display());
                            entries.push(Err(why));
                            continue;
                        }
                        TaskCounts::File(path, *checksum)
                    }
                };
                let candidates = &mut plan.candidates;
                let mut add = |candidate| {
                    candidates.push(candidate);
                    candidates.len() - 1
                };
                // Several paths to one file are one object.
                let candidate = match files::key(&object.path) {
                    _ if !object.functions.is_empty() => add(Candidate::generated(&object.path, &object.functions)),
                    Some(key) => *known.entry(key).or_insert_with(|| add(Candidate::new(&object.path))),
                    None => add(Candidate::new(&object.path)),
                };
                entries.push(Ok(plan.tasks.len()));
                plan.tasks.push(Task { object, counts, candidate });
            }
            plan.runs.push((run, entries));
        }
        plan
    }

    /// Reads everything. The outcomes are in the order of the tasks.
    fn carry_out(&self, reading: &ObjectReading<'_>, progress: &mut Progress<'_>) -> (Vec<Outcome>, Vec<CandidateSum>) {
        // Sorting makes profiles of one object neighbors, so that each thread has sums of few objects.
        let mut order: Vec<(usize, &Task<'_>)> = self.tasks.iter().enumerate().collect();
        order.sort_by_key(|(_, task)| task.candidate);
        let tasks: Vec<&Task<'_>> = order.iter().map(|(_, task)| *task).collect();
        let Batch { outcomes, sums } = reading.all(&tasks, &self.candidates, progress);
        let mut outcomes: Vec<(usize, Outcome)> = order.iter().map(|(at, _)| *at).zip(outcomes).collect();
        outcomes.sort_by_key(|(at, _)| *at);
        (outcomes.into_iter().map(|(_, outcome)| outcome).collect(), sums)
    }
}

impl SharedObjects {
    /// Reads the shared objects of all runs. Each run comes with the path of its profile, beside which its files lie.
    /// Warns about objects that cannot be read.
    pub(crate) fn read<'a>(
        runs: impl Iterator<Item = (&'a Path, &'a RunCounts)>,
        reading: &ObjectReading<'_>,
        progress: &mut Progress<'_>,
    ) -> SharedObjects {
        let plan = Plan::new(runs);
        let (outcomes, sums) = plan.carry_out(reading, progress);
        let mut found = SharedObjects::default();
        let places = Places::new(&plan.tasks, &outcomes);
        for (run, entries) in &plan.runs {
            found.add_run(run, entries, &plan.tasks, &outcomes, &places, progress);
        }
        found.calls.merge();
        let Plan { candidates, .. } = plan;
        found.assemble(&places.objects, sums, candidates, reading.unit);
        found
    }

    /// Adds the results for the objects of one run. `entries` has the index of each object's task, or why there is no
    /// task.
    fn add_run(
        &mut self,
        run: &RunCounts,
        entries: &[Result<usize, String>],
        tasks: &[Task<'_>],
        outcomes: &[Outcome],
        places: &Places<'_>,
        warnings: &mut dyn Write,
    ) {
        // The program has number 0.
        let mut numbers = HashMap::from([(0, 0)]);
        for (object, entry) in run.objects.iter().zip(entries) {
            let why = match entry.as_ref().map(|task| (&tasks[*task], &outcomes[*task])) {
                Ok((task, Outcome::Added)) => {
                    numbers.extend(places.images.get(&task.candidate).map(|image| (object.number, *image)));
                    continue;
                }
                Ok((_, Outcome::Outside(why, samples))) => {
                    self.outside_images.add(&OutsideImages { elsewhere: *samples, ..OutsideImages::default() });
                    why
                }
                Ok((_, Outcome::LeftOut(why))) | Err(why) => why,
            };
            // A warning that cannot be written is dropped: nobody can read it.
            let _ = writeln!(warnings, "gprof: warning: {}: {why}", object.path.display());
        }
        self.add_calls(run, &numbers);
        let image = |(number, at): (&u32, &usize)| Some((*number, *numbers.get(&run.objects.get(*at)?.number)?));
        self.images.push(ObjectImages::new(run.numbers.iter().filter_map(image).chain([(PROGRAM, 0)])));
    }

    /// Adds the calls of a run. `places` maps the numbers of the run's objects to images.
    fn add_calls(&mut self, run: &RunCounts, places: &HashMap<u64, usize>) {
        let mut lost = 0_u64;
        for ([from, frompc, to, selfpc], count) in &run.arcs {
            match (places.get(from), places.get(to)) {
                (Some(from), Some(to)) => {
                    self.calls.push(Call { from: (*from, *frompc), to: (*to, *selfpc), count: *count });
                }
                (_, None) => lost = lost.saturating_add(*count),
                // The profile also has this call, from an unknown place.
                (None, _) => {}
            }
        }
        self.outside_images.add(&OutsideImages { calls: lost, ..OutsideImages::default() });
        self.outside_images.add(&run.outside_images);
    }

    /// Makes the shared objects of the candidates that are images.
    fn assemble(
        &mut self,
        objects: &[(usize, &Path)],
        sums: Vec<CandidateSum>,
        mut candidates: Vec<Candidate<'_>>,
        unit: Unit,
    ) {
        let mut sums: HashMap<usize, CandidateSum> = sums.into_iter().map(|sum| (sum.candidate, sum)).collect();
        for (candidate, path) in objects {
            let Some(mut sum) = sums.remove(candidate) else { continue };
            let Some(Ok(file)) = candidates[*candidate].file.take() else { continue };
            let elsewhere = sum.settle(path, &file, unit);
            self.outside_images.add(&OutsideImages { elsewhere, ..OutsideImages::default() });
            let CandidateSum { sum, samples, failure, .. } = sum;
            let ObjectFile { bytes, functions, .. } = file;
            self.objects.push(SharedObject { path: path.to_path_buf(), bytes, functions, sum, samples, failure });
        }
    }
}

/// The images of candidates.
struct Places<'a> {
    /// The candidates that are images, each with a path by which a run loaded it, sorted by path. Reports do not depend
    /// on the order in which runs loaded their objects.
    objects: Vec<(usize, &'a Path)>,
    /// The index of each candidate's image. The program has index 0; the objects follow.
    images: HashMap<usize, usize>,
}

impl<'a> Places<'a> {
    fn new(tasks: &[Task<'a>], outcomes: &[Outcome]) -> Places<'a> {
        let mut paths: HashMap<usize, &Path> = HashMap::new();
        for (task, _) in tasks.iter().zip(outcomes).filter(|(_, outcome)| matches!(outcome, Outcome::Added)) {
            let path = paths.entry(task.candidate).or_insert(&task.object.path);
            *path = (*path).min(&task.object.path);
        }
        let mut objects: Vec<(usize, &Path)> = paths.into_iter().collect();
        objects.sort_by_key(|(candidate, path)| (*path, *candidate));
        let images = objects.iter().zip(1..).map(|((candidate, _), image)| (*candidate, image)).collect();
        Places { objects, images }
    }
}

/// For each number of a side file that is an object with an image, the index of the image.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ObjectImages(BTreeMap<u32, usize>);

impl ObjectImages {
    fn new(images: impl Iterator<Item = (u32, usize)>) -> ObjectImages {
        ObjectImages(images.collect())
    }

    /// Only the program has an image.
    pub(crate) fn of_program(image: usize) -> ObjectImages {
        ObjectImages([(PROGRAM, image)].into())
    }

    /// The index of an object's image.
    pub(crate) fn image(&self, number: u32) -> Option<usize> {
        self.0.get(&number).copied()
    }

    /// Removes an image that is left out. The indexes of later images decrease by one.
    pub(crate) fn remove_image(&mut self, gone: usize) {
        self.0.retain(|_, image| *image != gone);
        self.0.values_mut().for_each(|image| *image -= usize::from(*image > gone));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_is_left_out() {
        let mut images = ObjectImages::new([(0, 0), (3, 1), (4, 2), (5, 2)].into_iter());
        images.remove_image(1);
        assert_eq!(images, ObjectImages::new([(0, 0), (4, 1), (5, 1)].into_iter()));
        assert_eq!([images.image(4), images.image(3)], [Some(1), None]);
    }
}
