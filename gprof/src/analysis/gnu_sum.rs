//! The sum of profiles as GNU's reader writes it.

use gmon::{Arc, Profile};

use crate::analysis::Blocks;
use crate::analysis::graph::arcs::Arcs;
use crate::analysis::selection::ArcSelection;
use crate::cli::rules::Rules;
use crate::symbols::functions::{Function, Functions};

/// The sum that GNU's reader writes: calls are from lines to functions, in the order of the callers, and of each caller the
/// one that the profiles name last comes first. What is chosen against is left out. Bins lose what does not fit into 16
/// bits and counts what does not fit into 32, in the form of the 4.4BSD family as well.
pub(crate) fn as_gnu(profile: &Profile, functions: &Functions<'_>, chosen: &ArcSelection) -> Profile {
    let mut sum = Profile { histograms: profile.histograms.clone(), ..Profile::default() };
    for bin in sum.histograms.iter_mut().flat_map(|histogram| &mut histogram.bins) {
        *bin &= u64::from(u16::MAX);
    }
    let arcs = Arcs::chosen(&profile.arcs, functions, chosen, &[], false);
    let calls = functions.ids().flat_map(|caller| arcs.children(caller)).map(|id| {
        let arc = arcs.get(*id);
        let address = |function: &Function<'_>| function.address;
        let (frompc, selfpc) = (address(&functions[arc.parent]), address(&functions[arc.child]));
        Arc { frompc, selfpc, count: arc.count & u64::from(u32::MAX) }
    });
    sum.arcs = calls.collect();
    let blocks = Blocks::new(&profile.blocks, functions, Rules::GNU.most_blocks_of_line);
    sum.blocks = functions.ids().flat_map(|line| blocks.of(line)).copied().collect();
    sum
}
