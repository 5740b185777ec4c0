//! The shared objects of all runs, gathered from the list of each run.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::batch::{Batch, CandidateSum, Outcome};
use super::calls::{Call, CallsBetween};
use super::candidate::Candidate;
use super::list::ObjectList;
use super::reading::{ObjectReading, Task};
use super::run_list::{RunList, companion};
use crate::cli::options::ProfilePath;
use crate::error::Error;
use crate::image::files;
use crate::load::outside::OutsideImages;
use crate::load::profile_sum::ProfileSum;
use crate::terminal::progress::Progress;

/// A shared object and the sum of its profiles.
pub(crate) struct SharedObject {
    pub(crate) path: PathBuf,
    /// The content of the file.
    pub(crate) bytes: Vec<u8>,
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
    pub(crate) calls: CallsBetween,
    pub(crate) outside_images: OutsideImages,
}

/// The tasks of each run: for each object of the list the index of its task, or why there is no task.
#[derive(Default)]
struct Plan<'a> {
    candidates: Vec<Candidate<'a>>,
    tasks: Vec<Task<'a>>,
    runs: Vec<(&'a ObjectList, Vec<Result<usize, String>>)>,
}

impl<'a> Plan<'a> {
    fn new(lists: impl Iterator<Item = (&'a Path, &'a ObjectList)>) -> Plan<'a> {
        let (mut plan, mut known) = (Plan::default(), HashMap::new());
        for (profile, list) in lists {
            let mut taken = HashSet::new();
            let mut entries = Vec::new();
            for listed in &list.objects {
                let suffix = listed.suffix();
                let path = companion(profile, &suffix);
                // Two objects of one run never share a profile. This check also keeps a list of a thousand equal
                // lines from reading one file a thousand times.
                if !taken.insert(suffix) {
                    entries.push(Err(format!("left out: {} is the profile of another object", path.display())));
                    continue;
                }
                let candidates = &mut plan.candidates;
                let mut add = || {
                    candidates.push(Candidate { path: &listed.path, file: OnceLock::new() });
                    candidates.len() - 1
                };
                // Several paths to one file are one object.
                let candidate = match files::key(&listed.path) {
                    Some(key) => *known.entry(key).or_insert_with(add),
                    None => add(),
                };
                entries.push(Ok(plan.tasks.len()));
                plan.tasks.push(Task { listed, profile: path, candidate });
            }
            plan.runs.push((list, entries));
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
    /// Reads the shared objects of all runs, given the list of each profile. Warns about objects that cannot be read.
    pub(crate) fn read(
        profiles: &[ProfilePath],
        lists: &[RunList],
        reading: &ObjectReading<'_>,
        progress: &mut Progress<'_>,
    ) -> SharedObjects {
        let paths = profiles.iter().map(|path| match path {
            ProfilePath::File(path) => path.as_path(),
            ProfilePath::Stdin => Path::new(""),
        });
        let lists = paths.zip(lists).filter_map(|(path, list)| Some((path, list.objects.as_ref()?)));
        let lists: Vec<(&Path, &Result<ObjectList, String>)> = lists.collect();
        let good = lists.iter().filter_map(|(path, list)| Some((*path, list.as_ref().ok()?)));
        let plan = Plan::new(good);
        let (outcomes, sums) = plan.carry_out(reading, progress);
        let mut found = SharedObjects::default();
        let mut places = Places::default();
        let mut runs = plan.runs.iter();
        for (profile, list) in &lists {
            match list {
                Ok(_) => {
                    let Some((list, entries)) = runs.next() else { break };
                    found.add_run(list, entries, &plan.tasks, &outcomes, &mut places, progress);
                }
                Err(why) => {
                    let _ = writeln!(progress, "gprof: warning: {}: {why}", companion(profile, "objects").display());
                }
            }
        }
        let Plan { candidates, .. } = plan;
        found.objects = assemble(&places.objects, sums, candidates);
        found
    }

    /// Adds the results for the objects of one run. `entries` has the index of each object's task, or why there is no
    /// task.
    fn add_run<'a>(
        &mut self,
        list: &'a ObjectList,
        entries: &[Result<usize, String>],
        tasks: &[Task<'_>],
        outcomes: &[Outcome],
        places: &mut Places<'a>,
        warnings: &mut dyn Write,
    ) {
        // The program has number 0.
        let mut numbers = HashMap::from([(0, 0)]);
        for (listed, entry) in list.objects.iter().zip(entries) {
            let why = match entry.as_ref().map(|task| (&tasks[*task], &outcomes[*task])) {
                Ok((task, Outcome::Added)) => {
                    numbers.insert(listed.number, places.of(task.candidate, &listed.path));
                    continue;
                }
                Ok((_, Outcome::Outside(why, samples))) => {
                    self.outside_images.add(&OutsideImages { elsewhere: *samples, ..OutsideImages::default() });
                    why
                }
                Ok((_, Outcome::LeftOut(why))) | Err(why) => why,
            };
            // A warning that cannot be written is dropped: nobody can read it.
            let _ = writeln!(warnings, "gprof: warning: {}: {why}", listed.path.display());
        }
        self.add_calls(list, &numbers);
    }

    /// Adds the calls of a list. `places` maps the numbers of the list's objects to images.
    fn add_calls(&mut self, list: &ObjectList, places: &HashMap<u64, usize>) {
        let mut lost = 0_u64;
        for ([from, frompc, to, selfpc], count) in &list.arcs {
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
        self.outside_images.add(&list.outside_images);
    }
}

/// The candidates that became images, in the order in which they did.
#[derive(Default)]
struct Places<'a> {
    /// Each candidate, with the path by which the program loaded it.
    objects: Vec<(usize, &'a Path)>,
    known: HashMap<usize, usize>,
}

impl<'a> Places<'a> {
    /// The index of a candidate's image. The program has index 0; the objects follow.
    fn of(&mut self, candidate: usize, path: &'a Path) -> usize {
        let objects = &mut self.objects;
        *self.known.entry(candidate).or_insert_with(|| {
            objects.push((candidate, path));
            objects.len()
        })
    }
}

/// Builds the shared objects from the index and the load path of each candidate.
fn assemble(
    objects: &[(usize, &Path)],
    sums: Vec<CandidateSum>,
    mut candidates: Vec<Candidate<'_>>,
) -> Vec<SharedObject> {
    let mut sums: HashMap<usize, CandidateSum> = sums.into_iter().map(|sum| (sum.candidate, sum)).collect();
    let object = |(candidate, path): &(usize, &Path)| {
        let CandidateSum { sum, samples, failure, .. } = sums.remove(candidate)?;
        let bytes = candidates[*candidate].file.take()?.ok()?.bytes;
        Some(SharedObject { path: path.to_path_buf(), bytes, sum, samples, failure })
    };
    objects.iter().filter_map(object).collect()
}
