//! The profile of `testdata/bsd/knots`, with stacks that are made up.
#![allow(dead_code, reason = "no test uses everything")]

use std::io::sink;
use std::path::Path;

use gmon::side_file::CutReason;
use gmon::{Hints, Histogram, Order, Word};
use gprof::{Analysis, Options, Place, Stacks};

pub(crate) const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/");

/// The call sites of `knots`: caller, called function, return address. The last one is an address in `burn`.
pub(crate) const SITES: [(&str, &str, u64); 18] = [
    ("main", "red", 0x40_137d),
    ("main", "odd", 0x40_138a),
    ("main", "depth", 0x40_1394),
    ("main", "green", 0x40_13ab),
    ("red", "burn", 0x40_1261),
    ("red", "green", 0x40_1274),
    ("green", "burn", 0x40_1298),
    ("green", "blue", 0x40_12b5),
    ("green", "red", 0x40_12c4),
    ("blue", "burn", 0x40_12e8),
    ("blue", "even", 0x40_12fc),
    ("blue", "red", 0x40_130f),
    ("odd", "burn", 0x40_11ff),
    ("odd", "even", 0x40_1212),
    ("even", "burn", 0x40_1230),
    ("even", "odd", 0x40_1243),
    ("depth", "burn", 0x40_1336),
    ("depth", "depth", 0x40_1349),
];
pub(crate) const BURN: u64 = 0x40_11c0;

/// Stacks, each with its ticks: the 201 ticks of the profile but two. Those with `...` are cut.
pub(crate) const KNOTS: [(&str, u64); 12] = [
    ("main depth burn", 5),
    ("main depth depth depth burn", 15),
    ("main red burn", 10),
    ("main red green burn", 14),
    ("main red green blue burn", 20),
    ("main red green blue even burn", 25),
    ("main red green blue even odd burn", 12),
    ("main red green blue red burn", 8),
    ("main green burn", 6),
    ("main odd burn", 30),
    ("main odd even burn", 50),
    ("... depth depth burn", 4),
];

/// Adds the callers of a stack, in which each function has called the next one. Returns the node of the last caller.
fn push_callers(stacks: &mut Stacks, text: &str) -> Option<u32> {
    let names: Vec<&str> = text.split(' ').collect();
    let mut parent = None;
    for pair in names.windows(2) {
        let place = match pair[0] {
            "..." => Place::Cut(CutReason::TOO_DEEP),
            _ => {
                let is_site = |site: &&(&str, &str, u64)| site.0 == pair[0] && (site.1 == pair[1] || pair[1] == "...");
                Place::Code(SITES.iter().find(is_site).unwrap().2)
            }
        };
        parent = stacks.push(parent, place, 0);
    }
    parent
}

/// Adds a stack, in which each function has called the next one.
pub(crate) fn push(stacks: &mut Stacks, text: &str, ticks: u64) {
    let parent = push_callers(stacks, text);
    stacks.push(parent, Place::Code(BURN), ticks).unwrap();
}

/// The address of each sample of the profile, as far as its bin tells the address.
fn samples() -> Vec<u64> {
    let bytes = std::fs::read(Path::new(DATA).join("bsd/knots.gmon")).unwrap();
    let hints = Hints::new().with_word(Word::W64).with_order(Order::Little);
    let profile = gmon::read(&bytes, &hints).unwrap();
    let of = |histogram: &Histogram| -> Vec<u64> {
        let hit = histogram.hit().map(|(bin, count)| (histogram.bin_range(bin).start.max(BURN), count as usize));
        hit.flat_map(|(address, count)| std::iter::repeat_n(address, count)).collect()
    };
    profile.histograms().iter().flat_map(of).collect()
}

pub(crate) fn knots() -> Stacks {
    let mut stacks = Stacks::new();
    let mut samples = samples().into_iter();
    for (text, ticks) in KNOTS {
        let parent = push_callers(&mut stacks, text);
        let addresses: Vec<u64> = samples.by_ref().take(ticks as usize).collect();
        for same in addresses.chunk_by(|one, other| one == other) {
            stacks.push(parent, Place::Code(same[0]), same.len() as u64).unwrap();
        }
    }
    stacks.add_cut(CutReason::NO_STACK, 2);
    stacks.add_profile(201, true);
    stacks
}

/// Analyzes the profile of `knots` with these stacks.
pub(crate) fn with_analysis<T>(options: Options, stacks: Option<Stacks>, check: impl Fn(&Analysis<'_>) -> T) -> T {
    let loaded = gprof::load(&options, &mut sink()).unwrap();
    let loaded = match stacks {
        Some(stacks) => loaded.with_stacks(stacks),
        None => loaded,
    };
    check(&gprof::analyze(&loaded, &options, &mut sink()).unwrap())
}

pub(crate) fn options() -> Options {
    let file = |suffix: &str| Path::new(DATA).join(format!("bsd/knots{suffix}"));
    Options::new(file(""), [file(".gmon")]).brief(true)
}
