//! Differences of profiles whose samples are a matter of chance: which changes are more than noise.

use std::io::sink;

use gmon::{Histogram, Profile, Unit};
use gprof::{Change, Loaded, Options, Place, Stacks};

use crate::common::{LOW, SIZE, Table, image};

/// The functions of a program, in the order of their addresses.
const FUNCTIONS: [&str; 16] = [
    "main", "request", "parse", "hash", "lookup", "encode", "check", "mid", "leaf", "copy", "sort", "find", "pack",
    "free", "log", "flush",
];

/// Stacks, the outermost function first, and the part of the samples that each has.
const STACKS: [(&[usize], f64); 17] = [
    (&[0], 0.01),
    (&[0, 1], 0.01),
    (&[0, 1, 2], 0.3),
    (&[0, 1, 3], 0.25),
    (&[0, 1, 4], 0.15),
    (&[0, 1, 5], 0.1),
    (&[0, 1, 6], 0.05),
    (&[0, 1, 7], 0.02),
    (&[0, 1, 7, 8], 0.05),
    (&[0, 9], 0.02),
    (&[0, 9, 8], 0.01),
    (&[0, 1, 10], 0.01),
    (&[0, 1, 11], 0.01),
    (&[0, 1, 12], 0.005),
    (&[0, 1, 13], 0.003),
    (&[0, 1, 14], 0.001),
    (&[0, 15], 0.001),
];

/// Random numbers (splitmix64): the same in each run of a test.
struct Random(u64);

impl Random {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number of samples with a Poisson distribution: those that arrive, at random distances, before time `mean`.
    fn samples(&mut self, mean: f64) -> u64 {
        let (mut time, mut samples) = (0.0, 0);
        loop {
            time -= ((self.number() >> 11) as f64 + 0.5).ln() - ((1_u64 << 53) as f64).ln();
            if time > mean {
                return samples;
            }
            samples += 1;
        }
    }
}

/// A run of the program: how many samples are expected of each stack, and the rate of the samples.
#[derive(Clone, Copy)]
struct Run {
    samples: [f64; STACKS.len()],
    rate: u32,
}

impl Run {
    fn new(samples: f64, rate: u32) -> Run {
        Run { samples: STACKS.map(|(_, part)| samples * part), rate }
    }

    /// A profile of the run, with stacks if they are wanted.
    fn loaded(&self, random: &mut Random, has_stacks: bool, options: &Options) -> Loaded {
        let (mut bins, mut stacks) = (vec![0; FUNCTIONS.len()], Stacks::new());
        for ((stack, _), mean) in STACKS.iter().zip(self.samples) {
            let samples = random.samples(mean);
            let (innermost, callers) = stack.split_last().unwrap();
            bins[*innermost] += samples;
            let place = |function: usize, offset: u64| Place::Code(LOW + SIZE * function as u64 + offset);
            let parent = callers.iter().fold(None, |parent, caller| stacks.push(parent, place(*caller, 9), 0));
            stacks.push(parent, place(*innermost, 3), samples).unwrap();
        }
        stacks.add_profile(bins.iter().sum(), true);
        let table = Table::of_names(FUNCTIONS);
        let histogram = Histogram::new(LOW..table.end, Unit::seconds(self.rate), bins).unwrap();
        let profile = Profile::of_samples(vec![histogram]).unwrap();
        let loaded = gprof::from_memory(options, image(&table), profile).unwrap();
        if has_stacks { loaded.with_stacks(stacks) } else { loaded }
    }
}

/// How two runs are compared.
#[derive(Clone, Copy)]
struct Comparison {
    runs: [Run; 2],
    has_stacks: bool,
    normalizes: bool,
}

/// What is more than noise: functions by their self time, functions by their inclusive time, and the number of frames.
#[derive(Debug, PartialEq)]
struct Changed {
    own: Vec<String>,
    inclusive: Vec<String>,
    frames: usize,
}

impl Comparison {
    fn changed(&self, random: &mut Random) -> Changed {
        let options = Options::new("image", ["profile"]).compared().normalize(self.normalizes);
        let loaded = self.runs.map(|run| run.loaded(random, self.has_stacks, &options));
        let [base, new] = [0, 1].map(|side: usize| gprof::analyze(&loaded[side], &options, &mut sink()).unwrap());
        let difference = gprof::difference(&base, &new).unwrap();
        assert_eq!(difference.is_measured, self.has_stacks);
        let named = |change: fn(&gprof::DifferenceRow) -> Change| {
            let rows = difference.rows.iter().filter(|row| change(row).is_noise() == Some(false));
            rows.map(|row| String::from_utf8(difference.row_name(row).into_owned()).unwrap()).collect()
        };
        let frames = difference.flame().frames.iter().filter(|frame| frame.inclusive.is_noise() == Some(false));
        Changed { own: named(|row| row.own), inclusive: named(|row| row.inclusive), frames: frames.count() }
    }
}

/// A program with one function that takes almost all of the time.
fn busy(samples: f64) -> Run {
    let mut run = Run::new(samples / 50.0, 100);
    run.samples[2] = samples;
    run
}

/// One of 1,000 comparisons of equal programs may show a change. If 2,000 comparisons do so as often, more than 15 of
/// them show one with a probability below 1e-9.
#[test]
fn equal_programs_have_no_changes() {
    let same = |run: Run| [run, run];
    let short = Run::new(300.0, 100);
    let comparisons = [
        (same(short), false),
        (same(Run::new(4000.0, 100)), false),
        (same(busy(2000.0)), false),
        // Runs of one length, sampled at two rates.
        ([short, Run::new(6000.0, 2000)], false),
        ([Run::new(6000.0, 2000), short], false),
        // Runs of two lengths, and programs that do almost nothing else.
        ([short, Run::new(6000.0, 100)], true),
        ([busy(300.0), busy(6000.0)], true),
        (same(Run::new(4000.0, 100)), true),
    ];
    let (mut with_rows, mut with_frames, mut random) = (0, 0, Random(1));
    for (runs, normalizes) in comparisons {
        for at in 0..250 {
            let comparison = Comparison { runs, has_stacks: at % 5 != 0, normalizes };
            let changed = comparison.changed(&mut random);
            with_rows += usize::from(!changed.own.is_empty() || !changed.inclusive.is_empty());
            with_frames += usize::from(changed.frames > 0);
        }
    }
    assert!(with_rows <= 15 && with_frames <= 15, "{with_rows} comparisons have rows, {with_frames} frames");
}

/// A function that became 5 percent slower is found if it has 100,000 samples.
#[test]
fn a_small_change_is_found() {
    let (base, mut new) = (Run::new(400_000.0, 100), Run::new(400_000.0, 100));
    new.samples[3] *= 1.05;
    for seed in 0..10 {
        let comparison = Comparison { runs: [base, new], has_stacks: true, normalizes: seed % 2 == 0 };
        let changed = comparison.changed(&mut Random(seed));
        // Without a factor, no other function has another self time. With it, the shares of the others are smaller.
        assert!(changed.own == ["hash"] || comparison.normalizes && changed.own[0] == "hash", "{seed}: {changed:?}");
        assert!(changed.inclusive.contains(&"hash".to_owned()) && changed.frames > 0, "{seed}: {changed:?}");
    }
}
