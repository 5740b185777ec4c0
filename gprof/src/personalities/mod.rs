//! What other gprofs do in ways of their own: GNU's sums, and the gprof of the BSDs.

pub mod bsd;

use gmon::{Arc, Histogram, Profile};

use crate::model::Blocks;
use crate::model::graph::arcs::Arcs;
use crate::model::selection::ArcSelection;
use crate::program::symbols::functions::{Function, Functions};
use crate::question::rules::Rules;

/// Returns the sum that GNU gprof writes. Each call is from a line to a function. The calls are ordered by caller, and
/// the calls of one caller by their places in the profiles, the last place first. The calls that the user excluded are
/// missing. Bins keep their low 16 bits, and counts their low 32 bits, also in the format of 4.4BSD.
pub(crate) fn gnu_sum(profile: &Profile, functions: &Functions<'_>, selected: &ArcSelection) -> Profile {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_keep_their_low_bits() {
        let symbol = |address, name| crate::program::image::Symbol { address, name, is_static: false, is_func: true };
        let functions = Functions::new(vec![symbol(0x100, b"main"), symbol(0x110, b"f")], 0x120);
        let histogram = Histogram::new(0x100..0x120, gmon::Unit::seconds(100), vec![0x1_0007_u64, 9]).unwrap();
        let profile = Profile::of_samples(vec![histogram]).unwrap();
        let profile = profile.with_arcs(vec![Arc::new(0x104, 0x110, 0x1_0000_0005)]);
        let sum = gnu_sum(&profile, &functions, &ArcSelection::default());
        assert_eq!(sum.arcs(), [Arc::new(0x100, 0x110, 5)]);
        assert_eq!([0, 1].map(|bin| sum.histograms()[0].count(bin)), [7, 9]);
    }
}
