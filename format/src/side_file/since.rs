//! Takes an earlier snapshot of a run away from a later one.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

use super::access::decimal;
use super::content::SideFile;
use super::contexts::{ContextTree, NO_PARENT, Node};
use super::counts::{Calls, Samples, Thread};
use super::selections::Selection;
use super::sum::Accumulator;
use crate::Error;
use crate::layout::side_file::{THREAD, property};

/// The name of the entry in which the runtime counts threads that have no entry of their own or of their name.
const OTHERS: &[u8] = b"(all other threads)";

impl SideFile {
    /// Returns the side file of the time between two snapshots of one run: the counts of this file, the later one, less
    /// those of an earlier one.
    ///
    /// The result is a [sum](Accumulator) of one run, so places in the kernel and elsewhere have no addresses, and
    /// there are no mappings. Counts of 0 are left out, nodes of the tree without ticks in and below them, and threads
    /// without counts. `cpu` and `elapsed` are the differences if both files have them, and are left out otherwise.
    /// `start` is later by `elapsed` of the earlier file. The intervals of calls on demand count from the new start:
    /// intervals before the new start are left out, and so are selections without an interval. If the earlier file has
    /// no `elapsed`, `start` and the intervals are those of the later file. There are no estimates of calls, and no
    /// selections without an interval if the later file has estimates: the windows between the snapshots are not known.
    /// The other properties, the objects, the
    /// numbers of threads, and the byte order are those of the later file. The result belongs to no profile until the
    /// caller sets [the profile](SideFile::set_profile).
    ///
    /// If a thread has got another name, its number finds the thread. Ticks whose walks had not ended when the earlier
    /// file was written ([`STILL_WALKING`](crate::side_file::CutReason::STILL_WALKING),
    /// [`UNFINISHED`](crate::side_file::CutReason::UNFINISHED)) have a place in the tree of the later file only, so the
    /// tree of the result may have these ticks too.
    ///
    /// ```
    /// # use gmon::Word;
    /// # use gmon::side_file::{CutReason, SideFile};
    /// let mut earlier = SideFile::new(Word::W64);
    /// earlier.add_cut(CutReason::NO_STACK, 3)?;
    /// let mut later = earlier.clone();
    /// later.add_cut(CutReason::NO_STACK, 5)?;
    /// assert_eq!(later.since(&earlier)?.unwalked().next(), Some((CutReason::NO_STACK, 5)));
    /// # Ok::<(), gmon::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the files are of different programs or rates; when `host`, `pid`, or `start` differ, or a time is lower
    /// than in the earlier file ([`Error::NotEarlier`]); when a count is lower than in the earlier file
    /// ([`Error::Lower`]); when there are too many nodes.
    pub fn since(&self, earlier: &SideFile) -> Result<SideFile, Error> {
        let mut difference = Accumulator::new();
        difference.add(self)?;
        difference.check_alike(earlier)?;
        self.check_run(earlier)?;
        difference.take_away(earlier, &names_of_threads(self, earlier))?;
        let mut difference = difference.finish();
        difference.order = self.order;
        if let Some(elapsed) = earlier.elapsed() {
            difference.move_start(elapsed);
        }
        if difference.estimates.take().is_some() {
            difference.remove_idle_selections();
        }
        difference.contexts = with_ticks(&difference.contexts);
        difference.remove_idle_threads();
        Ok(difference)
    }

    /// Checks that nothing says that another file is of another run.
    fn check_run(&self, earlier: &SideFile) -> Result<(), Error> {
        for key in [property::HOST, property::PID, property::START] {
            let values = |file: &SideFile| -> Vec<Vec<u8>> {
                let of_key = file.properties().filter(|(known, _)| *known == key);
                of_key.map(|(_, value)| value.to_vec()).collect()
            };
            let (later, earlier) = (values(self), values(earlier));
            if let (Some(one), Some(other)) = (earlier.first(), later.first()) {
                if !earlier.iter().any(|value| later.contains(value)) {
                    return Err(Error::NotEarlier { key, earlier: one.clone(), later: other.clone() });
                }
            }
        }
        Ok(())
    }

    /// Lets the profile begin later by this time in nanoseconds.
    fn move_start(&mut self, by: u64) {
        let key = [property::START, b"="].concat();
        for property in &mut self.properties {
            let start = property.strip_prefix(&key[..]).and_then(decimal::<u64>);
            if let Some(start) = start.and_then(|start| start.checked_add(by)) {
                *property = [&key, format!("{start}").as_bytes()].concat().into();
            }
        }
        for selection in self.selections.iter_mut().flatten() {
            let intervals = selection.intervals.iter().filter(|interval| interval.end > by);
            let moved = intervals.map(|interval| interval.start.saturating_sub(by)..interval.end.saturating_sub(by));
            selection.intervals = moved.collect();
        }
        self.remove_idle_selections();
    }

    /// Removes the selections without an interval.
    fn remove_idle_selections(&mut self) {
        if let Some(selections) = &mut self.selections {
            selections.retain(|selection: &Selection| !selection.intervals.is_empty());
        }
    }

    /// Removes the threads without ticks and calls that nothing refers to.
    fn remove_idle_threads(&mut self) {
        let mut is_used: Vec<bool> = self.threads.iter().map(|thread| thread.ticks > 0 || thread.calls > 0).collect();
        let samples = self.samples.iter().chain(&self.counted_samples).filter_map(Samples::thread);
        let nodes = self.contexts.nodes.iter().filter(|node| node.object == THREAD);
        let nodes = nodes.filter_map(|node| usize::try_from(node.address).ok());
        for thread in samples.chain(self.calls.iter().filter_map(Calls::thread)).chain(nodes) {
            if let Some(is_used) = is_used.get_mut(thread) {
                *is_used = true;
            }
        }
        let numbers = numbers(&is_used);
        let number = |thread: u32| numbers.get(thread as usize).copied().unwrap_or(thread);
        for samples in self.samples.iter_mut().chain(&mut self.counted_samples) {
            samples.thread = samples.thread.map(number);
        }
        for calls in &mut self.calls {
            calls.thread = calls.thread.map(number);
        }
        for node in self.contexts.nodes.iter_mut().filter(|node| node.object == THREAD) {
            node.address = u32::try_from(node.address).map_or(node.address, |thread| number(thread).into());
        }
        let mut is_used = is_used.into_iter();
        self.threads.retain(|_| is_used.next() == Some(true));
    }
}

/// For each item the number of items before it that are kept.
fn numbers(is_kept: &[bool]) -> Vec<u32> {
    let mut next = 0_u32;
    let number = |is_kept: &bool| {
        let number = next;
        next = next.saturating_add(u32::from(*is_kept));
        number
    };
    is_kept.iter().map(number).collect()
}

/// The tree without the nodes that have no ticks in and below them.
fn with_ticks(tree: &ContextTree) -> ContextTree {
    let is_kept: Vec<bool> = tree.inclusive().iter().map(|ticks| *ticks > 0).collect();
    let numbers = numbers(&is_kept);
    // The parent of a node that is kept is kept too.
    let parent = |node: &Node| node.parent().and_then(|parent| numbers.get(parent)).copied().unwrap_or(NO_PARENT);
    let nodes = tree.nodes.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
    let nodes = nodes.map(|(node, _)| Node { parent: parent(node), ..*node }).collect();
    ContextTree { nodes, total: tree.total }
}

/// The names under which a later file has the counts of the threads of an earlier file. A thread may change its name,
/// and the counts of a thread that has ended may move to the entry of the thread's name or to that of all others.
fn names_of_threads<'a>(later: &'a SideFile, earlier: &'a SideFile) -> Vec<&'a [u8]> {
    let mut known: BTreeSet<(u64, &[u8])> = BTreeSet::new();
    let mut of_number: BTreeMap<u64, Vec<&[u8]>> = BTreeMap::new();
    for thread in &later.threads {
        known.insert((thread.number, &thread.name));
        of_number.entry(thread.number).or_default().push(&thread.name);
    }
    // The number of threads before with the same number, which the system gives again after the end of a thread.
    let mut before: BTreeMap<u64, usize> = BTreeMap::new();
    let name = |thread: &'a Thread| {
        let place = before.entry(thread.number).or_insert(0);
        let at = *place;
        *place = at.saturating_add(1);
        if [0, thread.number].iter().any(|number| known.contains(&(*number, &thread.name))) {
            return &thread.name[..];
        }
        let renamed = of_number.get(&thread.number).and_then(|names| names.get(at)).filter(|_| thread.number != 0);
        let others = known.contains(&(0, OTHERS)).then_some(OTHERS);
        renamed.copied().or(others).unwrap_or(&thread.name)
    };
    earlier.threads.iter().map(name).collect()
}
