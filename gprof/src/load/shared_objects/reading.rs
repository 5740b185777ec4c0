//! Reads the profiles of shared objects.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gmon::{Accumulator, Hints};

use super::batch::{Batch, CandidateSum, Outcome, samples};
use super::candidate::{Candidate, check_build};
use super::list::ListedObject;
use crate::cli::options::ProfilePath;
use crate::image::files;
use crate::load::parallel;
use crate::load::profile_file;
use crate::load::profile_sum::ProfileSum;
use crate::terminal::progress::Progress;

/// How to read shared objects.
pub(crate) struct ObjectReading<'a> {
    /// The hints with which the program's profiles are read.
    pub(crate) hints: Hints,
    /// Whether to read the machine code of the objects.
    pub(crate) with_code: bool,
    /// The sample units of the program's profiles.
    pub(crate) units: &'a Accumulator,
}

/// A profile to read: that of one shared object in one run.
pub(super) struct Task<'a> {
    pub(super) listed: &'a ListedObject,
    pub(super) profile: PathBuf,
    /// The index of the candidate.
    pub(super) candidate: usize,
}

impl ObjectReading<'_> {
    /// Reads profiles, on all cores if they are many.
    pub(super) fn all(&self, tasks: &[&Task<'_>], candidates: &[Candidate<'_>], progress: &mut Progress<'_>) -> Batch {
        let done = AtomicUsize::new(0);
        let mut tell = || progress.count("reading profiles", done.load(Relaxed), tasks.len());
        let in_parallel = |tell: &mut dyn FnMut()| {
            let read = |chunk: &[&Task<'_>], tell: &mut dyn FnMut()| Some(self.each(chunk, candidates, &done, tell));
            let mut batches = parallel::map_chunks(tasks, read, tell)?.into_iter();
            let mut all = batches.next()?;
            for later in batches {
                all.append(later)?;
            }
            all.has_one_unit(self.units).map(|()| all)
        };
        if let Some(batch) = in_parallel(&mut tell) {
            return batch;
        }
        // The sums of the threads are not compatible: reading one after the other finds the file.
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
            return Outcome::LeftOut(format!("left out: {} belongs to another run", profile.display()));
        }
        let file = candidates[*candidate].file(self.with_code);
        let headers = match file.and_then(|file| check_build(&file.headers, listed).map(|()| &file.headers)) {
            Ok(headers) => headers,
            Err(why) => {
                let read = profile_file::parse(&ProfilePath::File(profile.clone()), &bytes, &self.hints);
                let samples = read.map_or(0, |file| samples(&file.profile));
                return Outcome::Outside(
                    format!("{why}: the time in this object counts as outside the program"),
                    samples,
                );
            }
        };
        if sums.last().is_none_or(|last| last.candidate != *candidate) {
            if let Some(before) = sums.last().filter(|before| before.failure.is_none()) {
                *units = before.sum.units().clone();
            }
            let sum = ProfileSum::compatible_with(units);
            sums.push(CandidateSum { candidate: *candidate, sum, samples: 0, failure: None });
        }
        if let Some(sum) = sums.last_mut() {
            sum.add(profile, &bytes, headers);
        }
        Outcome::Added
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{self, Headers};
    use crate::load::shared_objects::list::ObjectList;
    use crate::terminal::Terminal;
    use gmon::{Arc, Encoding, Form, Order, Profile, Word};
    use std::fs;
    use std::path::Path;
    use std::sync::OnceLock;

    /// The profile of a run with this number of calls, and its line in a list.
    fn profile(calls: u64, object: &Path) -> (Vec<u8>, String) {
        let arcs = vec![Arc { frompc: 0x1000, selfpc: 0x1100, count: calls }];
        let encoding = Encoding { form: Form::Gnu, word: Word::W64, order: Order::Little };
        let bytes = gmon::write(&Profile { arcs, ..Profile::default() }, encoding).unwrap();
        let marks = (0..).zip(&bytes).map(|(position, byte)| gmon::layout::mark(position, *byte));
        let sum = marks.fold(0, u64::wrapping_add);
        let id = Headers::read(&image::read(object, false).unwrap()).unwrap().build_id;
        let id = id.as_deref().unwrap_or("-");
        let line = format!("object 1 0 {} {sum:x} {id} {}", bytes.len(), object.display());
        (bytes, line)
    }

    #[test]
    fn threads_come_to_the_same_as_one_after_the_other() {
        let directory = std::env::temp_dir().join(format!("gprof-objects-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let object = std::env::current_exe().unwrap();
        let list =
            |line: &str| ObjectList::parse(format!("gmon objects 1\nprofile 0 0\n{line}\nend\n").as_bytes()).unwrap();
        let runs: Vec<(Vec<u8>, String)> = (0..60).map(|run| profile(run + 1, &object)).collect();
        let lists: Vec<ObjectList> = runs.iter().map(|(_, line)| list(line)).collect();
        let path = |run: usize| directory.join(run.to_string());
        for (run, (bytes, _)) in runs.iter().enumerate() {
            fs::write(path(run), bytes).unwrap();
        }
        // One profile of another run, and one missing profile.
        fs::write(path(40), &runs[41].0).unwrap();
        fs::remove_file(path(50)).unwrap();
        // The second half belongs to another candidate for the same file.
        let new = || Candidate { path: &object, file: OnceLock::new() };
        let candidates = [new(), new()];
        let tasks: Vec<Task<'_>> = lists
            .iter()
            .enumerate()
            .map(|(run, list)| Task { listed: &list.objects[0], profile: path(run), candidate: run / 30 })
            .collect();
        let tasks: Vec<&Task<'_>> = tasks.iter().collect();
        let units = Accumulator::default();
        let reading = ObjectReading { hints: Hints::default(), with_code: false, units: &units };
        let told = |batch: Batch| {
            let outcomes = batch.outcomes.into_iter().map(|outcome| match outcome {
                Outcome::Added => "added".to_owned(),
                Outcome::LeftOut(why) | Outcome::Outside(why, _) => why,
            });
            let outcomes: Vec<String> = outcomes.collect();
            let sums = batch.sums.into_iter().map(|sum| (sum.candidate, sum.sum.files.len(), sum.sum.finish().0.arcs));
            (outcomes, sums.collect::<Vec<_>>())
        };
        let alone = told(reading.each(&tasks, &candidates, &AtomicUsize::new(0), &mut || {}));
        let clock = || std::time::Duration::ZERO;
        let mut nowhere = std::io::sink();
        let mut progress = Progress::new(&mut nowhere, &Terminal::default(), &clock);
        assert_eq!(told(reading.all(&tasks, &candidates, &mut progress)), alone);
        let (outcomes, sums) = alone;
        assert!(
            outcomes[40].ends_with("belongs to another run") && outcomes[50].starts_with("left out: "),
            "{outcomes:?}"
        );
        assert_eq!(outcomes.iter().filter(|outcome| *outcome == "added").count(), 58);
        let count = |at: usize| sums[at].2.iter().map(|arc| arc.count).sum::<u64>();
        assert_eq!((sums.len(), count(0), count(1)), (2, (1..=30).sum(), (31..=60).sum::<u64>() - 41 - 51));
        fs::remove_dir_all(directory).unwrap();
    }
}
