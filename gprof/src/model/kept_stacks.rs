//! The stacks and frames that `--focus`, `--ignore`, `--hide`, and `--show-from` leave, as pprof applies these filters.
//!
//! The filters make a profile of their own before anything is analyzed, so all reports and exports are about the same
//! samples. Calls are not of stacks, and samples without a stack have no callers; both are left out.

use std::collections::HashMap;
use std::io::Write;

use gmon::{Bins, Histogram, Profile};

use super::contexts::call_sites::CallSites;
use super::selection::StackFilters;
use super::symbolize::Symbolizer;
use crate::error::Error;
use crate::program::symbols::functions::Functions;
use crate::question::options::{Options, Subject};
use crate::question::reports::Wanted;
use crate::sources::Loaded;
use crate::sources::stacks::{Place, StackNode, Stacks, Thread};
use crate::terminal::progress::Progress;

/// Leaves in what was loaded the stacks and frames that the options keep, if the options have filters of stacks.
///
/// # Errors
///
/// If there are no stacks, or a filter names no function.
pub(crate) fn keep(loaded: &mut Loaded, options: &Options, progress: &mut Progress<'_>) -> Result<(), Error> {
    if !options.filters_stacks() {
        return Ok(());
    }
    let (profile, stacks) = {
        let Some(stacks) = loaded.stacks() else { return Err(Error::NoStacks) };
        let symbolized = Symbolizer::new(loaded, options, &Wanted::default()).all(progress);
        let mut functions = symbolized.functions;
        functions.set_demangling(options.demangling());
        let filters = StackFilters::new(options, &functions, &symbolized.sources)?;
        let sites = CallSites::new(loaded.all_calls(), &functions, loaded.code());
        let stacks = Keeping { functions: &functions, filters: &filters, sites: &sites }.stacks(stacks);
        (samples_of(&stacks, loaded.profile()), stacks)
    };
    let all: i128 = loaded.profile().histograms().iter().map(Histogram::total).sum();
    let in_stacks =
        loaded.stacks().map_or(0, |stacks| stacks.nodes().iter().map(|node| i128::from(node.ticks())).sum());
    if all > in_stacks {
        // A warning that cannot be written is dropped: nobody can read it.
        let _ = writeln!(
            progress,
            "gprof: warning: {} of {all} samples have no stack; --focus, --ignore, --hide, and --show-from leave them out",
            all - in_stacks
        );
    }
    loaded.replace_counts(profile, stacks);
    Ok(())
}

/// What keeps frames and stacks.
struct Keeping<'a, 's> {
    functions: &'a Functions<'s>,
    filters: &'a StackFilters,
    sites: &'a CallSites<'a, 's>,
}

/// A node of the stacks that were read, as the caller of other nodes.
#[derive(Clone, Copy)]
struct Known {
    /// Whether a function of the stack is in focus.
    is_kept: bool,
    /// Whether a function of the stack is to be ignored.
    is_lost: bool,
    /// Whether the frame from which on frames are shown is above, or is this one.
    is_shown: bool,
    /// The next caller that is shown, or the node itself if the node is.
    visible: Option<u32>,
    /// The node of the thread that the stack is of.
    thread: Option<u32>,
}

/// The kept tree while nodes are added.
struct Kept<'n> {
    nodes: &'n [StackNode],
    known: Vec<Known>,
    stacks: Stacks,
    /// The kept nodes by the nodes that were read, and whether the node stands for a frame that called a hidden one.
    made: HashMap<(u32, bool), Option<u32>>,
}

impl Keeping<'_, '_> {
    fn stacks(&self, read: &Stacks) -> Stacks {
        let mut stacks = Stacks::new();
        for thread in read.threads() {
            stacks.add_thread(Thread { calls: Vec::new(), ..thread.clone() });
        }
        let mut kept = Kept { nodes: read.nodes(), known: Vec::new(), stacks, made: HashMap::new() };
        let mut all = 0_u64;
        for (index, node) in (0_u32..).zip(read.nodes()) {
            let above = node.parent().and_then(|parent| kept.known.get(parent as usize).copied());
            let above = above.unwrap_or(Known {
                is_kept: !self.filters.has_focus(),
                is_lost: false,
                is_shown: !self.filters.has_start(),
                visible: None,
                thread: None,
            });
            if node.ticks() > 0 {
                // The ticks are of the instruction at the address.
                let at = self.known(above, index, node, Role::Innermost);
                if at.is_kept && !at.is_lost && at.visible.is_some() {
                    all = all.saturating_add(node.ticks());
                    kept.count(at, index, node.ticks());
                }
            }
            kept.known.push(self.known(above, index, node, Role::Caller));
        }
        kept.stacks.add_profile(all, true);
        kept.stacks
    }

    fn known(&self, above: Known, index: u32, node: &StackNode, role: Role) -> Known {
        let address = match node.place() {
            Place::Code(address) => address,
            Place::Thread(_) => return Known { thread: Some(index), ..above },
            _ => return Known { visible: if above.is_shown { Some(index) } else { None }, ..above },
        };
        let is_call = role == Role::Caller && self.sites.is_return_address(address);
        let function = self.functions.find(address.wrapping_sub(u64::from(is_call)));
        let function = function.map(|id| self.functions[id].counts_for);
        let fits = |of: Subject| function.is_some_and(|id| self.filters.has(of, id));
        let is_hidden = fits(Subject::Hidden);
        let is_shown = above.is_shown || (!is_hidden && fits(Subject::Start));
        Known {
            is_kept: above.is_kept || fits(Subject::Focus),
            is_lost: above.is_lost || fits(Subject::Ignored),
            is_shown,
            visible: if is_shown && !is_hidden { Some(index) } else { above.visible },
            thread: above.thread,
        }
    }
}

/// What a node is: a caller, or the code that was running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Caller,
    Innermost,
}

impl Kept<'_> {
    /// Adds ticks to the innermost visible frame of a stack.
    fn count(&mut self, at: Known, index: u32, ticks: u64) {
        let Some(visible) = at.visible else { return };
        // What a hidden frame ran counts for the call that led to it.
        let made = self.make(visible, visible != index, at.thread);
        if let Some(node) = made.and_then(|made| self.stacks.nodes().get(made as usize).copied()) {
            // Nodes of the same place below the same caller add up.
            self.stacks.push(node.parent(), node.place(), ticks);
        }
    }

    /// Returns the kept node of a visible node, which is added with its callers if the tree lacks the node.
    fn make(&mut self, visible: u32, calls_hidden: bool, thread: Option<u32>) -> Option<u32> {
        // The callers that are not in the tree yet, the innermost first.
        let mut missing = Vec::new();
        let mut next = Some((visible, calls_hidden));
        let mut parent = None;
        while let Some(key) = next {
            if let Some(known) = self.made.get(&key) {
                parent = *known;
                break;
            }
            missing.push(key);
            next = self.caller_of(key.0);
        }
        if next.is_none()
            && let Some(thread) = thread
        {
            parent = match self.made.get(&(thread, false)) {
                Some(known) => *known,
                None => {
                    let made = self.stacks.push(None, self.nodes[thread as usize].place(), 0);
                    self.made.insert((thread, false), made);
                    made
                }
            };
        }
        for key in missing.into_iter().rev() {
            let place = match self.nodes[key.0 as usize].place() {
                // The address behind a call tells which function was called, and that function is hidden. The call
                // itself tells only who called.
                Place::Code(address) if key.1 => Place::Code(address.wrapping_sub(1)),
                place => place,
            };
            parent = self.stacks.push(parent, place, 0);
            self.made.insert(key, parent);
        }
        parent
    }

    /// The visible caller of a node, and whether hidden frames are between the two.
    fn caller_of(&self, index: u32) -> Option<(u32, bool)> {
        let above = self.nodes[index as usize].parent()?;
        let visible = self.known[above as usize].visible?;
        Some((visible, visible != above))
    }
}

/// The samples of stacks as histograms that cover the same addresses as those of a profile.
fn samples_of(stacks: &Stacks, profile: &Profile) -> Profile {
    let mut order: Vec<&Histogram> = profile.histograms().iter().collect();
    order.sort_by_key(|histogram| histogram.lowpc());
    let mut bins: Vec<Vec<u64>> = order.iter().map(|histogram| vec![0; histogram.len() as usize]).collect();
    for node in stacks.nodes() {
        let Place::Code(address) = node.place() else { continue };
        let after = order.partition_point(|histogram| histogram.lowpc() <= address);
        let Some(at) = after.checked_sub(1) else { continue };
        let Some(bin) = order[at].bin_of(address) else { continue };
        if let Some(count) = bins[at].get_mut(bin as usize) {
            *count = count.saturating_add(node.ticks());
        }
    }
    let histogram = |(of, bins): (&&Histogram, Vec<u64>)| Histogram::new(of.range(), of.unit(), Bins::U64(bins)).ok();
    let histograms: Vec<Histogram> = order.iter().zip(bins).filter_map(histogram).collect();
    Profile::of_samples(histograms).unwrap_or_default()
}
