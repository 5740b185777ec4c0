//! The threads of all side files, with their calls, and the counts of one thread in place of those of all threads
//! (`--thread`).

use std::collections::BTreeMap;

use gmon::side_file::{self, SideFile};
use gmon::{Arc, Bins, Histogram, Profile};

use super::shared_objects::ObjectImages;
use super::shared_objects::OutsideImages;
use super::stack_tree::StackTree;
use super::stacks::{Place, Stacks, Thread};
use crate::error::Error;
use crate::program::image::address_space::Images;

/// The threads of side files.
#[derive(Default)]
pub(super) struct Threads {
    /// The threads so far.
    pub(super) all: Vec<Thread>,
    /// The calls of functions in none of the images.
    outside_calls: u64,
}

impl Threads {
    /// Adds the threads of a side file for which `is_wanted` returns true. Returns the index in [`Threads::all`] of
    /// each thread of the side file. `address` returns the address of a place in code in the common address space of
    /// the images, if the place is in an image.
    pub(super) fn add(
        &mut self,
        side: &SideFile,
        address: impl Fn(side_file::Place) -> Option<u64>,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<Option<u32>> {
        let mut indexes = Vec::with_capacity(side.threads().len());
        for (at, thread) in side.threads().iter().enumerate() {
            let next = u32::try_from(self.all.len()).ok().filter(|_| is_wanted(at));
            if next.is_some() {
                let number = Some(thread.number).filter(|number| *number != 0);
                self.all.push(Thread { name: thread.name.clone(), number, calls: Vec::new() });
            }
            indexes.push(next);
        }
        for calls in side.calls() {
            let index = calls.thread().and_then(|thread| *indexes.get(thread)?);
            let Some(thread) = index.and_then(|index| self.all.get_mut(index as usize)) else { continue };
            for call in calls.calls() {
                let Some(selfpc) = address(call.callee) else {
                    self.outside_calls = self.outside_calls.saturating_add(call.count);
                    continue;
                };
                thread.calls.push(Arc::new(address(call.caller).unwrap_or(0), selfpc, call.count));
            }
        }
        indexes
    }
}

/// Returns the index of a thread of a side file, of which `indexes` are the indexes.
pub(super) fn index(indexes: &[Option<u32>], thread: u64) -> Option<u32> {
    usize::try_from(thread).ok().and_then(|thread| *indexes.get(thread)?)
}

/// The number of threads that an error lists at most.
const MOST_LISTED: usize = 20;

/// The counts of one thread, or of several threads of one name.
pub(super) struct ThreadCounts {
    pub(super) profile: Profile,
    pub(super) stacks: Option<Stacks>,
    pub(super) outside_images: OutsideImages,
    /// Warnings about counts that are missing.
    pub(super) warnings: Vec<String>,
}

/// Finds the threads with a name or a number, and returns their counts. `all` has the histograms of all threads, in the
/// common address space.
///
/// # Errors
///
/// When no side file has threads, or none has such a thread.
pub(super) fn find_thread(
    wanted: &str,
    sides: &[(SideFile, ObjectImages)],
    images: &Images<'_>,
    all: &[Histogram],
) -> Result<ThreadCounts, Error> {
    let matching: Vec<Vec<bool>> = sides.iter().map(|(side, _)| matching(side, wanted)).collect();
    if !matching.iter().flatten().any(|is_wanted| *is_wanted) {
        return Err(unknown(wanted, sides));
    }
    let mut sum = ThreadSum::default();
    for ((side, objects), matching) in sides.iter().zip(&matching) {
        sum.add(side, matching, |place| {
            objects.image(place.object).map(|image| images.place(image, place.address)).filter(|address| *address != 0)
        });
    }
    let ThreadSum { tree, counted, threads } = sum;
    let arcs: Vec<Arc> = threads.all.iter().flat_map(|thread| thread.calls.iter().copied()).collect();
    let mut outside_images = OutsideImages { calls: threads.outside_calls, ..OutsideImages::default() };
    let stacks = tree.finish(threads.all);
    let histograms = histograms(all, stacks.as_ref(), &mut outside_images);
    let in_stacks = stacks.iter().flat_map(Stacks::nodes).fold(0_u64, |sum, node| sum.saturating_add(node.ticks()));
    let has_calls = !arcs.is_empty() || outside_images.calls > 0;
    // A thread may have made no calls. If no thread has any, the runs did not count calls by thread.
    let lacks_calls = !has_calls && (counted.calls > 0 || !sides.iter().any(|(side, _)| counts_calls(side)));
    let warnings = missing(wanted, &counted, in_stacks, lacks_calls);
    let stacks = stacks.map(|mut stacks| {
        stacks.add_profile(in_stacks, true);
        stacks
    });
    let profile = Profile::of_samples(histograms).unwrap_or_default().with_arcs(arcs);
    Ok(ThreadCounts { profile, stacks, outside_images, warnings })
}

/// The sum of the counts of threads.
#[derive(Default)]
struct ThreadSum {
    tree: StackTree,
    /// The ticks and calls that the lists of threads have.
    counted: side_file::Thread,
    threads: Threads,
}

impl ThreadSum {
    /// Adds the counts of the matching threads of a side file. `address` returns the address of a place in code in the
    /// common address space of the images, if the place is in an image.
    fn add(&mut self, side: &SideFile, matching: &[bool], address: impl Fn(side_file::Place) -> Option<u64>) {
        let is_wanted = |index: usize| matching.get(index).copied().unwrap_or(false);
        let indexes = self.threads.add(side, &address, is_wanted);
        self.tree.add_threads(side, &address, |thread| index(&indexes, thread));
        for (thread, _) in side.threads().iter().zip(matching).filter(|(_, is_wanted)| **is_wanted) {
            self.counted.ticks = self.counted.ticks.saturating_add(thread.ticks);
            self.counted.calls = self.counted.calls.saturating_add(thread.calls);
        }
    }
}

/// Whether a side file has calls by thread: their numbers, or the called functions too.
pub(super) fn counts_calls(side: &SideFile) -> bool {
    side.threads().iter().any(|thread| thread.calls > 0) || side.calls().iter().any(|calls| calls.thread().is_some())
}

/// For each thread whether it has this name, or if none has, this number.
pub(super) fn matching(side: &SideFile, wanted: &str) -> Vec<bool> {
    let by =
        |is_wanted: &dyn Fn(&side_file::Thread) -> bool| side.threads().iter().map(is_wanted).collect::<Vec<bool>>();
    let by_name = by(&|thread| thread.name == wanted.as_bytes());
    let number = wanted.parse().ok().filter(|number: &u64| *number != 0);
    if by_name.contains(&true) { by_name } else { by(&|thread| Some(thread.number) == number) }
}

/// The error for a thread that does not exist.
fn unknown(wanted: &str, sides: &[(SideFile, ObjectImages)]) -> Error {
    let mut names: Vec<String> = Vec::new();
    let mut count = 0;
    for thread in sides.iter().flat_map(|(side, _)| side.threads()) {
        count += 1;
        if names.len() < MOST_LISTED {
            let name = String::from_utf8_lossy(&thread.name).into_owned();
            names.push(if thread.number == 0 { name } else { format!("{} {name}", thread.number) });
        }
    }
    if count == 0 {
        return Error::NoThreads;
    }
    if count > names.len() {
        names.push(format!("{} more", count - names.len()));
    }
    Error::NoThread { wanted: wanted.to_owned(), known: names.join(", ") }
}

/// The histograms with the ticks of the stacks instead of their own. Ticks in none of them are outside of the images.
fn histograms(all: &[Histogram], stacks: Option<&Stacks>, outside: &mut OutsideImages) -> Vec<Histogram> {
    let mut bins: Vec<BTreeMap<u64, u64>> = vec![BTreeMap::new(); all.len()];
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| all[*at].lowpc());
    for node in stacks.into_iter().flat_map(Stacks::nodes).filter(|node| node.ticks() > 0) {
        let bin = match node.place() {
            Place::Code(address) => {
                let after = order.partition_point(|at| all[*at].lowpc() <= address);
                let at = after.checked_sub(1).map(|before| order[before]);
                at.and_then(|at| all[at].bin_of(address).map(|bin| (at, bin)))
            }
            _ => None,
        };
        let sum = match bin {
            Some((at, bin)) => bins[at].entry(bin).or_insert(0),
            None if node.place() == Place::Kernel => &mut outside.kernel,
            None => &mut outside.elsewhere,
        };
        *sum = sum.saturating_add(node.ticks());
    }
    let histograms = all.iter().zip(bins).map(|(histogram, counts)| {
        let bins = Bins::Sparse { bins: histogram.len(), counts: counts.into_iter().collect() };
        Histogram::new(histogram.range(), histogram.unit(), bins)
    });
    histograms.flatten().collect()
}

/// Warns about counts that are in no stack, or that the run did not keep by thread.
fn missing(wanted: &str, counted: &side_file::Thread, in_stacks: u64, lacks_calls: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if counted.ticks > in_stacks {
        let left_out = counted.ticks - in_stacks;
        warnings.push(format!(
            "thread '{wanted}': {left_out} of {} samples have no stack, and are left out of this report",
            counted.ticks
        ));
    }
    if lacks_calls {
        warnings.push(format!("thread '{wanted}': the side file has no calls by thread: this report has no calls"));
    }
    warnings
}
