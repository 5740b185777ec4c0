//! What a run left: its profile and its side file, and the sums that both must have.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::Path;

use gmon::Profile;
use gmon::side_file::{CutReason, PROGRAM, Place, SideFile};

use crate::support::{Program, Symbols, read};

pub(crate) struct Run {
    pub(crate) profile: Profile,
    pub(crate) side: SideFile,
    /// The functions of the program, and of the shared objects that the test built.
    symbols: BTreeMap<u32, Symbols>,
}

/// A bin with its samples.
struct Bin {
    object: u32,
    addresses: Range<u64>,
    ticks: u64,
}

impl Run {
    /// Reads the profile of a run of the program, and the side file beside the profile.
    pub(crate) fn read(program: &Program, profile: &Path) -> Run {
        let side = profile.with_added_extension("side");
        let bytes = fs::read(&side).unwrap_or_else(|error| panic!("{}: {error}", side.display()));
        let side = SideFile::parse(&bytes).unwrap_or_else(|error| panic!("{}: {error}", side.display()));
        assert!(side.is_of(&fs::read(profile).unwrap()), "the side file belongs to another profile");
        let mut symbols = BTreeMap::new();
        for (number, object) in side.objects() {
            let path = String::from_utf8_lossy(&object.path);
            if number == PROGRAM {
                symbols.insert(number, Symbols::of(&program.executable));
            } else if path.contains("/gmon-tests/") {
                symbols.insert(number, Symbols::of(Path::new(&*path)));
            }
        }
        Run { profile: read(profile), side, symbols }
    }

    /// All samples, in the program and outside.
    pub(crate) fn total(&self) -> u64 {
        self.bins().iter().map(|bin| bin.ticks).sum()
    }

    /// The samples whose chains of callers are not whole.
    pub(crate) fn not_whole(&self) -> u64 {
        self.side.cut_ticks().map(|(_, ticks)| ticks).sum()
    }

    /// The samples whose chains of callers are not whole, by reason.
    pub(crate) fn cuts(&self) -> BTreeMap<CutReason, u64> {
        self.side.cut_ticks().collect()
    }

    /// The samples in one object, by its number.
    pub(crate) fn samples_in(&self, object: u32) -> u64 {
        self.bins().iter().filter(|bin| bin.object == object).map(|bin| bin.ticks).sum()
    }

    /// The bins that are not 0, sorted by place. Samples of single threads are left out.
    fn bins(&self) -> Vec<Bin> {
        let mut bins = Vec::new();
        for histogram in self.profile.histograms() {
            let size = histogram.highpc() - histogram.lowpc();
            let number = histogram.len();
            let start = |index: u64| histogram.lowpc() + (index * size).div_ceil(number);
            bins.extend(histogram.hit().map(|(index, ticks)| Bin {
                object: PROGRAM,
                addresses: start(index)..start(index + 1),
                ticks: ticks as u64,
            }));
        }
        for samples in self.side.samples().iter().filter(|samples| samples.thread().is_none()) {
            let object = samples.object();
            // Only the sums are known of samples in no object.
            let is_object = self.side.object(object).is_some();
            bins.extend(samples.bins().map(|(range, ticks)| {
                let addresses = if is_object { range } else { 0..u64::MAX };
                Bin { object, addresses, ticks }
            }));
        }
        bins.sort_by_key(|bin| (bin.object, bin.addresses.start));
        bins
    }

    /// Checks that every sample is in the tree or among those without a stack, and that each bin has the samples of the
    /// tree's places in the bin, except for samples without a stack.
    pub(crate) fn check_sums(&self) {
        let tree = self.side.contexts();
        let unwalked: u64 = self.side.unwalked().map(|(_, ticks)| ticks).sum();
        assert_eq!(tree.total() + unwalked, self.total(), "{:?}", self.side.unwalked().collect::<Vec<_>>());
        let mut bins = self.bins();
        for node in tree.nodes().iter().filter(|node| node.ticks() > 0) {
            let Place { object, address } = node.place();
            let after = bins.partition_point(|bin| (bin.object, bin.addresses.start) <= (object, address));
            let bin = bins[..after].last_mut().filter(|bin| bin.object == object && bin.addresses.contains(&address));
            let Some(bin) = bin else { panic!("no bin has the samples at {object}:{address:#x}") };
            let left = bin.ticks.checked_sub(node.ticks());
            bin.ticks = left.unwrap_or_else(|| panic!("too few samples in the bin of {object}:{address:#x}"));
        }
    }

    /// The samples of each function, and of all that the function called.
    pub(crate) fn inclusive(&self) -> BTreeMap<&str, u64> {
        let tree = self.side.contexts();
        let mut ticks = BTreeMap::new();
        for (index, sampled) in tree.nodes().iter().enumerate().filter(|(_, node)| node.ticks() > 0) {
            let mut chain = BTreeSet::new();
            for (depth, node) in tree.callers(index).enumerate() {
                // A caller's node has a return address, which may already be in the next function.
                let Place { object, address } = node.place();
                let Some(symbols) = self.symbols.get(&object) else { continue };
                chain.insert(symbols.function(address - u64::from(depth > 0)));
            }
            for function in chain {
                *ticks.entry(function).or_insert(0) += sampled.ticks();
            }
        }
        ticks
    }
}
