//! Reads the shared objects of all runs, and the profiles of each.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gmon::{Accumulator, Hints, Profile};

use super::calls::{Call, CallsBetween};
use super::list::{ListedObject, ObjectList};
use super::run_list::{RunList, companion};
use crate::cli::options::ProfilePath;
use crate::error::Error;
use crate::image::files;
use crate::image::{self, Headers};
use crate::load::outside::OutsideImages;
use crate::load::parallel;
use crate::load::profile_file;
use crate::load::profile_sum::ProfileSum;
use crate::terminal::progress::Progress;

/// A shared object with the sum of its profiles.
pub(crate) struct SharedObject {
    pub(crate) path: PathBuf,
    /// What is in the file.
    pub(crate) bytes: Vec<u8>,
    pub(crate) sum: ProfileSum,
    /// The samples of all profiles that could be read.
    pub(crate) samples: u64,
    /// Why the sum is none, if there is a reason.
    pub(crate) failure: Option<Error>,
}

/// The shared objects of all runs of a program.
#[derive(Default)]
pub(crate) struct SharedObjects {
    pub(crate) objects: Vec<SharedObject>,
    pub(crate) calls: CallsBetween,
    pub(crate) outside_images: OutsideImages,
}

/// How shared objects are read.
pub(crate) struct ObjectReading<'a> {
    /// What the profiles of the program are read with.
    pub(crate) hints: Hints,
    /// Whether the machine code of objects is to be read.
    pub(crate) with_code: bool,
    /// The units of the samples of the program.
    pub(crate) units: &'a Accumulator,
}

/// A file that may be the shared object of some runs.
struct Candidate<'a> {
    path: &'a Path,
    /// The file, once somebody needed it, or why it cannot be read.
    file: OnceLock<Result<ObjectFile, String>>,
}

struct ObjectFile {
    bytes: Vec<u8>,
    headers: Headers,
}

/// The profile of a shared object in one run, which is to be read.
struct Task<'a> {
    listed: &'a ListedObject,
    profile: PathBuf,
    /// The place of the object among the candidates.
    candidate: usize,
}

/// What became of the profile of a shared object.
enum Outcome {
    /// The profile is in the sum.
    Added,
    /// The profile is none of this run, or cannot be read, for this reason.
    LeftOut(String),
    /// So many samples are in no image, for this reason.
    Outside(String, u64),
}

/// The sum of some profiles of one candidate.
struct CandidateSum {
    candidate: usize,
    sum: ProfileSum,
    samples: u64,
    failure: Option<Error>,
}

impl CandidateSum {
    fn add(&mut self, path: &Path, bytes: &[u8], headers: &Headers) {
        let path = ProfilePath::File(path.to_owned());
        let hints = Hints { form: None, word: Some(headers.word), order: Some(headers.order) };
        let added = profile_file::parse(&path, bytes, &hints).and_then(|mut file| {
            self.samples = self.samples.saturating_add(samples(&file.profile));
            file.info.is_shared_object = true;
            if self.failure.is_none() { self.sum.add(&path, file, headers.code.as_ref()) } else { Ok(()) }
        });
        if let Err(error) = added {
            self.failure.get_or_insert(error);
        }
    }

    /// Adds profiles that come after these; nothing when they do not go together.
    fn append(&mut self, later: CandidateSum) -> Option<()> {
        self.samples = self.samples.saturating_add(later.samples);
        match (&self.failure, later.failure) {
            (Some(_), _) => Some(()),
            (None, None) => self.sum.append(later.sum),
            (None, failure) => {
                self.failure = failure;
                Some(())
            }
        }
    }
}

/// What became of some tasks.
#[derive(Default)]
struct Batch {
    outcomes: Vec<Outcome>,
    /// Neighbours are of different candidates.
    sums: Vec<CandidateSum>,
}

impl Batch {
    /// Adds tasks that come after these; nothing when their profiles do not go together.
    fn append(&mut self, later: Batch) -> Option<()> {
        self.outcomes.extend(later.outcomes);
        for sum in later.sums {
            match self.sums.last_mut().filter(|last| last.candidate == sum.candidate) {
                Some(last) => last.append(sum)?,
                None => self.sums.push(sum),
            }
        }
        Some(())
    }

    /// Whether the samples of all objects can stand in one report.
    fn has_one_unit(&mut self, units: &Accumulator) -> Option<()> {
        let mut units = units.clone();
        for sum in self.sums.iter_mut().filter(|sum| sum.failure.is_none()) {
            units = sum.sum.join_units(&units)?;
        }
        Some(())
    }
}

impl ObjectReading<'_> {
    /// Reads many profiles on all cores, few one after the other.
    fn all(&self, tasks: &[&Task<'_>], candidates: &[Candidate<'_>], progress: &mut Progress<'_>) -> Batch {
        let done = AtomicUsize::new(0);
        let mut tell = || progress.count("reading profiles", done.load(Relaxed), tasks.len());
        let side_by_side = |tell: &mut dyn FnMut()| {
            let read = |chunk: &[&Task<'_>], tell: &mut dyn FnMut()| Some(self.each(chunk, candidates, &done, tell));
            let mut batches = parallel::map_chunks(tasks, read, tell)?.into_iter();
            let mut all = batches.next()?;
            for later in batches {
                all.append(later)?;
            }
            all.has_one_unit(self.units).map(|()| all)
        };
        if let Some(batch) = side_by_side(&mut tell) {
            return batch;
        }
        // Where the threads' sums do not go together, one after the other tells which file it is.
        done.store(0, Relaxed);
        self.each(tasks, candidates, &done, &mut tell)
    }

    fn each(
        &self,
        tasks: &[&Task<'_>],
        candidates: &[Candidate<'_>],
        done: &AtomicUsize,
        tell: &mut dyn FnMut(),
    ) -> Batch {
        let (mut batch, mut units) = (Batch::default(), self.units.clone());
        for task in tasks {
            tell();
            let outcome = self.outcome(task, candidates, &mut units, &mut batch.sums);
            batch.outcomes.push(outcome);
            done.fetch_add(1, Relaxed);
        }
        batch
    }

    fn outcome(
        &self,
        task: &Task<'_>,
        candidates: &[Candidate<'_>],
        units: &mut Accumulator,
        sums: &mut Vec<CandidateSum>,
    ) -> Outcome {
        let Task { listed, profile, candidate } = task;
        let bytes = match files::regular(profile) {
            Ok(bytes) => bytes,
            Err(why) => return Outcome::LeftOut(format!("left out: {}: {why}", profile.display())),
        };
        if !listed.profile.is_of(&bytes) {
            return Outcome::LeftOut(format!("left out: {} is of another run", profile.display()));
        }
        let file = candidates[*candidate].file(self.with_code);
        let headers = match file.and_then(|file| check_build(&file.headers, listed).map(|()| &file.headers)) {
            Ok(headers) => headers,
            Err(why) => {
                let read = profile_file::parse(&ProfilePath::File(profile.clone()), &bytes, &self.hints);
                let samples = read.map_or(0, |file| samples(&file.profile));
                return Outcome::Outside(format!("{why}: its time is outside"), samples);
            }
        };
        if sums.last().is_none_or(|last| last.candidate != *candidate) {
            if let Some(before) = sums.last().filter(|before| before.failure.is_none()) {
                *units = before.sum.units().clone();
            }
            let sum = ProfileSum::beside(units);
            sums.push(CandidateSum { candidate: *candidate, sum, samples: 0, failure: None });
        }
        if let Some(sum) = sums.last_mut() {
            sum.add(profile, &bytes, headers);
        }
        Outcome::Added
    }
}

impl Candidate<'_> {
    /// The file, which is read when it is first needed.
    fn file(&self, with_code: bool) -> Result<&ObjectFile, String> {
        let read = || {
            let bytes = image::read(self.path, with_code).map_err(|error| error.to_string())?;
            let headers = Headers::read(&bytes).map_err(|error| error.to_string())?;
            Ok(ObjectFile { bytes, headers })
        };
        self.file.get_or_init(read).as_ref().map_err(String::clone)
    }
}

/// Whether a file is of the build that was loaded.
fn check_build(headers: &Headers, listed: &ListedObject) -> Result<(), String> {
    if headers.build_id == listed.build_id {
        return Ok(());
    }
    let name = |id: &Option<String>| id.as_deref().unwrap_or("no build ID").to_owned();
    Err(format!("of another build ({}) than what ran ({})", name(&headers.build_id), name(&listed.build_id)))
}

/// All samples of a profile.
fn samples(profile: &Profile) -> u64 {
    let totals = profile.histograms.iter().map(|histogram| u64::try_from(histogram.total()).unwrap_or(0));
    totals.fold(0, u64::saturating_add)
}

/// What is to be done for each run: for each object of the list a task, by its place among all, or why there is none.
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
                // No two objects of one run share a profile, and a list of a thousand equal lines is not read a thousand times.
                if !taken.insert(suffix) {
                    entries.push(Err(format!("left out: {} is another object's", path.display())));
                    continue;
                }
                let candidates = &mut plan.candidates;
                let mut add = || {
                    candidates.push(Candidate { path: &listed.path, file: OnceLock::new() });
                    candidates.len() - 1
                };
                // Whatever path leads to a file, it is one object.
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
        // Profiles of one object are neighbours then, so that no thread has sums of more objects than it must.
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
    /// Reads the shared objects of all runs, whose lists are those of the profiles. What cannot be taken is said among the
    /// warnings.
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
        // For each candidate that is an object, in the order in which they become objects, the path by which it was loaded.
        let mut objects: Vec<(usize, &Path)> = Vec::new();
        let mut places = HashMap::new();
        let mut runs = plan.runs.iter();
        for (profile, list) in &lists {
            if let Err(why) = list {
                let _ = writeln!(progress, "gprof: warning: {}: {why}", companion(profile, "objects").display());
                continue;
            }
            let Some((list, entries)) = runs.next() else { break };
            let mut numbers = HashMap::from([(0, 0)]);
            for (listed, entry) in list.objects.iter().zip(entries) {
                let why = match entry.as_ref().map(|task| (&plan.tasks[*task], &outcomes[*task])) {
                    Ok((task, Outcome::Added)) => {
                        let place = *places.entry(task.candidate).or_insert_with(|| {
                            objects.push((task.candidate, &listed.path));
                            objects.len()
                        });
                        numbers.insert(listed.number, place);
                        continue;
                    }
                    Ok((_, Outcome::Outside(why, samples))) => {
                        found.outside_images.add(&OutsideImages { elsewhere: *samples, ..OutsideImages::default() });
                        why
                    }
                    Ok((_, Outcome::LeftOut(why))) | Err(why) => why,
                };
                let _ = writeln!(progress, "gprof: warning: {}: {why}", listed.path.display());
            }
            found.add_calls(list, &numbers);
        }
        let Plan { candidates, .. } = plan;
        found.objects = assemble(&objects, sums, candidates);
        found
    }

    /// Adds the calls of a list, whose objects have these places.
    fn add_calls(&mut self, list: &ObjectList, places: &HashMap<u64, usize>) {
        let mut lost = 0_u64;
        for ([from, frompc, to, selfpc], count) in &list.arcs {
            match (places.get(from), places.get(to)) {
                (Some(from), Some(to)) => {
                    self.calls.push(Call { from: (*from, *frompc), to: (*to, *selfpc), count: *count });
                }
                (_, None) => lost = lost.saturating_add(*count),
                // A call from nowhere, as the profile has it.
                (None, _) => {}
            }
        }
        self.outside_images.add(&OutsideImages { calls: lost, ..OutsideImages::default() });
        self.outside_images.add(&list.outside_images);
    }
}

/// The shared objects, given the place of each among the candidates and the path by which it was loaded.
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
