//! The sum of profiles as GNU gprof writes it.

use gmon::{Arc, Histogram, Profile};

use crate::analysis::Blocks;
use crate::analysis::graph::arcs::Arcs;
use crate::analysis::selection::ArcSelection;
use crate::cli::rules::Rules;
use crate::symbols::functions::{Function, Functions};

/// Returns the sum that GNU gprof writes. Each call is from a line to a function. The calls are ordered by caller, and
/// the calls of one caller by their places in the profiles, the last place first. The calls that the user excluded are
/// missing. Bins keep their low 16 bits, and counts their low 32 bits, also in the format of 4.4BSD.
pub(crate) fn as_gnu(profile: &Profile, functions: &Functions<'_>, selected: &ArcSelection) -> Profile {
    let mut sum = Profile::new();
    for histogram in profile.histograms() {
        let bins: Vec<u16> = (0..histogram.len()).map(|bin| histogram.count(bin) as u16).collect();
        let histogram = Histogram::new(histogram.range(), histogram.unit(), bins);
        // The histograms of the sum are those of the profile.
        let _ = histogram.map(|histogram| sum.add_histogram(histogram));
    }
    let arcs = Arcs::selected(profile.arcs(), functions, selected, &[], false);
    let calls = functions.ids().flat_map(|caller| arcs.children(caller)).map(|id| {
        let arc = arcs.get(*id);
        let address = |function: &Function<'_>| function.address;
        let (frompc, selfpc) = (address(&functions[arc.parent]), address(&functions[arc.child]));
        Arc::new(frompc, selfpc, arc.count & u64::from(u32::MAX))
    });
    sum.add_arcs(calls);
    let blocks = Blocks::new(profile.blocks(), functions, Rules::GNU.most_blocks_of_line);
    sum.add_blocks(functions.ids().flat_map(|line| blocks.of(line)).copied());
    sum
}
