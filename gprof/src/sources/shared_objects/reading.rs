//! Reads the profiles of shared objects.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gmon::side_file::Checksum;
use gmon::{Accumulator, Hints, Unit};

use super::batch::{Batch, Candidate, CandidateSum, Outcome};
use super::counts::{RunObject, SparseProfile};
use crate::program::image::files;
use crate::question::files::ProfilePath;
use crate::sources::profile_file::{self, ProfileSum};
use crate::terminal::progress::Progress;

/// How to read shared objects.
pub(crate) struct ObjectReading<'a> {
    /// The hints with which the program's profiles are read.
    pub(crate) hints: Hints,
    /// Whether to read the machine code of the objects.
    pub(crate) with_code: bool,
    /// The sample units of the program's profiles.
    pub(crate) units: &'a Accumulator,
    /// The unit of samples from side files.
    pub(crate) unit: Unit,
}

/// Something to read: the counts of one shared object in one run.
pub(super) struct Task<'a> {
    pub(super) object: &'a RunObject,
    pub(super) counts: TaskCounts<'a>,
    /// The index of the candidate.
    pub(super) candidate: usize,
}

/// The counts of an object, or the file that contains them.
pub(super) enum TaskCounts<'a> {
    File(PathBuf, Checksum),
    Sparse(&'a SparseProfile),
}

impl ObjectReading<'_> {
    /// Reads profiles, on all cores if they are many.
    pub(super) fn all(&self, tasks: &[&Task<'_>], candidates: &[Candidate<'_>], progress: &mut Progress<'_>) -> Batch {
        let done = AtomicUsize::new(0);
        let mut tell = || progress.count("reading profiles", done.load(Relaxed), tasks.len());
        let in_parallel = |tell: &mut dyn FnMut()| {
            let read = |chunk: &[&Task<'_>], tell: &mut dyn FnMut()| Some(self.each(chunk, candidates, &done, tell));
            let mut batches = profile_file::map_chunks(tasks, read, tell)?.into_iter();
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
        let bytes = match &task.counts {
            TaskCounts::Sparse(_) => Vec::new(),
            TaskCounts::File(profile, checksum) => match files::regular(profile) {
                Ok(bytes) if Checksum::of(&bytes) == *checksum => bytes,
                Ok(_) => return Outcome::LeftOut(format!("left out: {} belongs to another run", profile.display())),
                Err(why) => return Outcome::LeftOut(format!("left out: {}: {why}", profile.display())),
            },
        };
        let file = candidates[task.candidate].file(self.with_code);
        let headers = match file.and_then(|file| file.check_build(task.object).map(|()| &file.headers)) {
            Ok(headers) => headers,
            Err(why) => {
                let samples = self.samples(&task.counts, &bytes);
                return Outcome::Outside(
                    format!("{why}: the time in this object counts as outside the program"),
                    samples,
                );
            }
        };
        if sums.last().is_none_or(|last| last.candidate != task.candidate) {
            if let Some(before) = sums.last().filter(|before| before.failure.is_none()) {
                *units = before.sum.units().clone();
            }
            sums.push(CandidateSum::new(task.candidate, ProfileSum::compatible_with(units)));
        }
        if let Some(sum) = sums.last_mut() {
            match &task.counts {
                TaskCounts::File(profile, _) => sum.add(profile, &bytes, headers),
                TaskCounts::Sparse(counts) => sum.add_sparse(counts),
            }
        }
        Outcome::Added
    }

    /// The number of samples in the counts of an object. `bytes` are those of the file.
    fn samples(&self, counts: &TaskCounts<'_>, bytes: &[u8]) -> u64 {
        match counts {
            TaskCounts::Sparse(counts) => counts.samples(),
            TaskCounts::File(profile, _) => {
                let file = profile_file::read_profile(&ProfilePath::File(profile.clone()), bytes, &self.hints);
                file.map_or(0, |file| file.samples())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::{self, Headers};
    use crate::sources::shared_objects::counts::{ObjectCounts, RunCounts};
    use crate::sources::shared_objects::run_files;
    use crate::terminal::Terminal;
    use gmon::object_list::ObjectList;
    use gmon::{Arc, DataModel, Encoding, Form, Order, Profile};
    use std::fs;
    use std::path::Path;

    /// The profile of a run with this number of calls, and its line in a list.
    fn profile(calls: u64, object: &Path) -> (Vec<u8>, String) {
        let arcs = vec![Arc::new(0x1000, 0x1100, calls)];
        let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
        let bytes = gmon::write(&Profile::new().with_arcs(arcs), encoding).unwrap();
        let sum = Checksum::of(&bytes).sum;
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
        let list = |line: &str| {
            let text = format!("gmon objects 1\nprofile 0 0\n{line}\nend\n");
            run_files::listed_counts(ObjectList::parse(text.as_bytes()).unwrap())
        };
        let runs: Vec<(Vec<u8>, String)> = (0..60).map(|run| profile(run + 1, &object)).collect();
        let lists: Vec<RunCounts> = runs.iter().map(|(_, line)| list(line)).collect();
        let path = |run: usize| directory.join(run.to_string());
        for (run, (bytes, _)) in runs.iter().enumerate() {
            fs::write(path(run), bytes).unwrap();
        }
        // One profile of another run, and one missing profile.
        fs::write(path(40), &runs[41].0).unwrap();
        fs::remove_file(path(50)).unwrap();
        // The second half belongs to another candidate for the same file.
        let new = || Candidate::new(&object);
        let candidates = [new(), new()];
        let tasks: Vec<Task<'_>> = lists
            .iter()
            .enumerate()
            .map(|(run, list)| {
                let object = &list.objects[0];
                let ObjectCounts::File { checksum, .. } = object.counts else { unreachable!() };
                Task { object, counts: TaskCounts::File(path(run), checksum), candidate: run / 30 }
            })
            .collect();
        let tasks: Vec<&Task<'_>> = tasks.iter().collect();
        let units = Accumulator::default();
        let reading =
            ObjectReading { hints: Hints::default(), with_code: false, units: &units, unit: Unit::seconds(100) };
        let told = |batch: Batch| {
            let outcomes = batch.outcomes.into_iter().map(|outcome| match outcome {
                Outcome::Added => "added".to_owned(),
                Outcome::LeftOut(why) | Outcome::Outside(why, _) => why,
            });
            let outcomes: Vec<String> = outcomes.collect();
            let sums = batch
                .sums
                .into_iter()
                .map(|sum| (sum.candidate, sum.sum.files.len(), sum.sum.finish().0.arcs().to_vec()));
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
