//! Adds up side files.

mod difference;
mod estimates;
mod index;
mod names;
mod selections;
mod tree;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

use super::content::{Added, Refused, SideFile};
use super::counts::{Calls, Samples, Thread};
use super::functions;
use crate::encode::side_file::{Call, CutReason, Place};
use crate::layout::side_file::{ELSEWHERE, KERNEL, property};
use crate::{Error, Part, Word};
use estimates::{EstimateSums, EstimateTotals};
use names::{Described, Names, Translation};
use selections::Selections;
use tree::TreeSum;

/// The sum of any number of side files of one program.
///
/// Objects are the same if their build IDs are; without a build ID, if their paths are. Threads are the same if their
/// names are, in one file too. Trees are added up node by node, and samples and calls by object and address. Functions
/// of generated code are the same if their names are. Selections of calls that were counted on demand are the same if
/// their patterns and functions are; the sum has the time of each, and the time in which any calls were counted.
/// Estimates of calls add up, and so do their variances and windows, because the windows of runs are independent. The
/// sum has the sum of the CPU times if all files have one, likewise that of the elapsed times, the other properties
/// that all files have with the same value, no mappings, and no addresses in the kernel or elsewhere, which mean
/// nothing in another run. It depends on the files only, not on their order, and may be a summand itself.
///
/// ```
/// # use gmon::Word;
/// # use gmon::side_file::{Accumulator, CutReason, SideFile};
/// # let mut first = SideFile::new(Word::W64);
/// # first.add_cut(CutReason::NO_STACK, 3)?;
/// # let second = first.clone();
/// let mut sum = Accumulator::new();
/// for file in [&first, &second] {
///     sum.add(file)?;
/// }
/// assert_eq!(sum.finish().runs(), 2);
/// # Ok::<(), gmon::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Accumulator {
    runs: u64,
    is_wide: bool,
    /// `None` before the first file.
    shared: Option<Shared>,
    names: Names,
    samples: SampleSums,
    /// The samples that were taken while calls were counted on demand.
    counted_samples: SampleSums,
    selections: Selections,
    estimates: EstimateSums,
    calls: CallSums,
    tree: TreeSum,
    cuts: BTreeMap<CutReason, u64>,
    totals: Totals,
}

/// Ticks by thread, object, bin size, and index of the bin.
type SampleSums = BTreeMap<(Option<u32>, u32, u64), BTreeMap<u64, u64>>;

/// Calls by thread, caller, and called function.
type CallSums = BTreeMap<(Option<u32>, Place, Place), u64>;

/// What all files have in common.
#[derive(Clone, Debug, Default)]
struct Shared {
    rate: Option<u32>,
    /// The sum of the CPU times; `None` if a file has none.
    cpu_time: Option<u64>,
    /// The sum of the elapsed times; `None` if a file has none.
    elapsed: Option<u64>,
    /// The other properties, except the number of runs.
    properties: BTreeSet<Box<[u8]>>,
}

/// The sums of all counts of each kind. If a total fits 64 bits, so does each count.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    samples: u64,
    counted_samples: u64,
    counted_time: u64,
    estimates: EstimateTotals,
    calls: u64,
    contexts: u64,
    cuts: u64,
    threads: u64,
    thread_ticks: u64,
    thread_calls: u64,
}

impl Totals {
    fn plus(self, file: &SideFile) -> Added<Totals> {
        let sum = |known: u64, more: u64| known.checked_add(more).ok_or(Refused(Part::Count, more));
        let of_threads = |known: u64, count: fn(&Thread) -> u64| file.threads.iter().map(count).try_fold(known, sum);
        Ok(Totals {
            samples: sum(self.samples, file.samples_total)?,
            counted_samples: sum(self.counted_samples, file.counted_samples_total)?,
            counted_time: sum(self.counted_time, selections::counted_time(file))?,
            estimates: self.estimates.plus(file, sum)?,
            calls: sum(self.calls, file.calls_total)?,
            contexts: sum(self.contexts, file.contexts.total)?,
            cuts: sum(self.cuts, file.cuts_total)?,
            threads: of_threads(self.threads, |thread| thread.threads)?,
            thread_ticks: of_threads(self.thread_ticks, |thread| thread.ticks)?,
            thread_calls: of_threads(self.thread_calls, |thread| thread.calls)?,
        })
    }
}

impl Accumulator {
    /// Makes an empty sum.
    #[must_use]
    pub fn new() -> Accumulator {
        Accumulator::default()
    }

    /// Adds a file. The sum keeps no part of the file as it is, so the method borrows the file.
    ///
    /// # Errors
    ///
    /// When the file is of another program, or of another rate; when the sum of all counts of one kind needs more than
    /// 64 bits; when there are too many objects, threads, or nodes. After an error, the sum is the same as before.
    pub fn add(&mut self, file: &SideFile) -> Result<(), Error> {
        // Only this step can fail.
        self.totals = self.check(file)?;
        self.add_properties(file);
        let translation = self.names.add(file);
        add_samples(&mut self.samples, &file.samples, &translation);
        add_samples(&mut self.counted_samples, &file.counted_samples, &translation);
        self.selections.add(file, |place| translation.place(place));
        self.estimates.add(file, |place| translation.place(place));
        add_calls(&mut self.calls, &file.calls, &translation);
        self.tree.add(&file.contexts, |place| translation.place(place));
        for (reason, ticks) in &file.cuts {
            increase(self.cuts.entry(*reason).or_insert(0), *ticks);
        }
        self.is_wide |= file.word == Word::W64;
        Ok(())
    }

    /// Checks that a file can be added, and returns the totals of the sum with the file.
    fn check(&self, file: &SideFile) -> Result<Totals, Error> {
        self.check_alike(file)?;
        self.names.check(file)?;
        self.tree.check(&file.contexts)?;
        Ok(self.totals.plus(file)?)
    }

    /// Checks that a file is of the same program and rate.
    pub(in crate::side_file) fn check_alike(&self, file: &SideFile) -> Result<(), Error> {
        if self.names.is_other_program(file) {
            return Err(Error::ProgramsDiffer);
        }
        if let Some(shared) = self.shared.as_ref().filter(|shared| shared.rate != file.rate()) {
            let (first, second) = (shared.rate.unwrap_or(0), file.rate().unwrap_or(0));
            return Err(Error::RatesDiffer { first, second });
        }
        Ok(())
    }

    fn add_properties(&mut self, file: &SideFile) {
        let own = |key: &[u8]| [property::RATE, property::CPU, property::ELAPSED, property::RUNS].contains(&key);
        let all = file.properties().zip(&file.properties).filter(|((key, _), _)| !own(key));
        let all: BTreeSet<&Box<[u8]>> = all.map(|(_, property)| property).collect();
        self.runs = self.runs.saturating_add(file.runs());
        match &mut self.shared {
            None => {
                let properties = all.into_iter().cloned().collect();
                let (rate, cpu_time, elapsed) = (file.rate(), file.cpu_time(), file.elapsed());
                self.shared = Some(Shared { rate, cpu_time, elapsed, properties });
            }
            Some(shared) => {
                // A sum that exceeds 64 bits is not known.
                let times = [(&mut shared.cpu_time, file.cpu_time()), (&mut shared.elapsed, file.elapsed())];
                for (sum, more) in times {
                    *sum = sum.zip(more).and_then(|(known, more)| known.checked_add(more));
                }
                shared.properties.retain(|property| all.contains(property));
            }
        }
    }

    /// Returns the sum of the files that were added.
    #[must_use]
    pub fn finish(self) -> SideFile {
        let mut sum = SideFile::new(if self.is_wide { Word::W64 } else { Word::W32 });
        let Shared { rate, cpu_time, elapsed, properties } = self.shared.unwrap_or_default();
        let runs = Some(self.runs).filter(|runs| *runs != 1);
        let own = [
            (property::RATE, rate.map(u64::from)),
            (property::CPU, cpu_time),
            (property::ELAPSED, elapsed),
            (property::RUNS, runs),
        ];
        for (key, value) in own {
            let text = value.map(|value| [key, b"=", format!("{value}").as_bytes()].concat());
            sum.properties.extend(text.map(Vec::into_boxed_slice));
        }
        sum.properties.extend(properties);
        let (Described { objects, functions, threads }, translation) = self.names.finish();
        (sum.objects, sum.functions, sum.threads) = (objects, functions, threads);
        sum.samples = sorted_samples(self.samples, &translation);
        sum.counted_samples = sorted_samples(self.counted_samples, &translation);
        sum.selections = self.selections.finish(elapsed, |place| translation.place(place));
        sum.estimates = self.estimates.finish(|place| translation.place(place));
        sum.calls = sorted_calls(self.calls, &translation);
        sum.contexts = self.tree.finish(|place| translation.place(place));
        sum.cuts = self.cuts;
        (sum.samples_total, sum.calls_total) = (self.totals.samples, self.totals.calls);
        (sum.counted_samples_total, sum.cuts_total) = (self.totals.counted_samples, self.totals.cuts);
        sum
    }
}

/// Adds samples to sums.
fn add_samples(sums: &mut SampleSums, all: &[Samples], translation: &Translation) {
    for samples in all {
        if translation.is_generated(samples.object) {
            add_generated(sums, samples, translation);
            continue;
        }
        let is_outside = matches!(samples.object, KERNEL | ELSEWHERE);
        let bin_size = if is_outside { 1 } else { samples.bin_size };
        let of = (translation.thread(samples.thread), translation.object(samples.object), bin_size);
        let bins = sums.entry(of).or_default();
        for (index, ticks) in &samples.bins {
            increase(bins.entry(if is_outside { 0 } else { *index }).or_insert(0), *ticks);
        }
    }
}

/// Adds the samples of an object that is generated code.
fn add_generated(sums: &mut SampleSums, samples: &Samples, translation: &Translation) {
    for (bin, ticks) in samples.bins() {
        let of = Place { object: samples.object, address: bin.end.saturating_sub(1) };
        let place = translation.place(of);
        let bin_size = if place.object == ELSEWHERE { 1 } else { functions::BIN };
        let of = (translation.thread(samples.thread), place.object, bin_size);
        let bin = place.address.checked_div(bin_size).unwrap_or(0);
        increase(sums.entry(of).or_default().entry(bin).or_insert(0), ticks);
    }
}

/// Adds calls to sums.
fn add_calls(sums: &mut CallSums, all: &[Calls], translation: &Translation) {
    for calls in all {
        let thread = translation.thread(calls.thread);
        for call in &calls.calls {
            let of = (thread, translation.place(call.caller), translation.place(call.callee));
            increase(sums.entry(of).or_insert(0), call.count);
        }
    }
}

fn sorted_samples(samples: SampleSums, translation: &Translation) -> Vec<Samples> {
    let samples = samples.into_iter().filter(|(_, bins)| !bins.is_empty());
    let mut sorted: Vec<Samples> = samples
        .map(|((thread, object, bin_size), bins)| Samples {
            thread: translation.thread(thread),
            object: translation.object(object),
            bin_size,
            bins: sorted_bins(object, bin_size, bins, translation),
        })
        .collect();
    sorted.sort_by_key(|samples| (samples.thread, samples.object, samples.bin_size));
    sorted
}

/// The bins of an object in ascending order.
fn sorted_bins(object: u32, size: u64, bins: BTreeMap<u64, u64>, translation: &Translation) -> Vec<(u64, u64)> {
    if !translation.is_generated(object) {
        return bins.into_iter().collect();
    }
    let place = |index: u64| translation.place(Place { object, address: index.saturating_mul(size) });
    let bins = bins.into_iter().map(|(index, ticks)| (place(index).address.checked_div(size).unwrap_or(0), ticks));
    let mut bins: Vec<(u64, u64)> = bins.collect();
    bins.sort_unstable();
    bins
}

fn sorted_calls(calls: CallSums, translation: &Translation) -> Vec<Calls> {
    let calls = calls.into_iter().map(|((thread, caller, callee), count)| {
        let (caller, callee) = (translation.place(caller), translation.place(callee));
        (translation.thread(thread), Call { caller, callee, count })
    });
    let mut all: Vec<(Option<u32>, Call)> = calls.collect();
    all.sort_unstable();
    let of_threads = all.chunk_by(|(one, _), (other, _)| one == other);
    of_threads
        .filter_map(|calls| {
            let (thread, _) = calls.first()?;
            Some(Calls { thread: *thread, calls: calls.iter().map(|(_, call)| *call).collect() })
        })
        .collect()
}

/// Adds to a count. The total of all counts fits.
fn increase(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}
