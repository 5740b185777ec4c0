//! Synthetic profiles from a seed, so that every run of a test uses the same ones.

use std::ops::Range;

use gmon::{Arc, Histogram, Profile, Unit};
use gprof::internals::{Image, ImageStorage, Policy};

/// A random number generator (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound, which must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    /// One element of a slice, which must not be empty.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len() as u64) as usize]
    }
}

/// The image that a synthetic profile is for.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The lowest sampled address.
    pub lowpc: u64,
    /// The address after the highest sampled address.
    pub highpc: u64,
    /// Addresses of functions.
    pub functions: Vec<u64>,
    /// Names of these functions.
    pub names: Vec<String>,
}

impl Stage {
    /// The stage of an executable.
    ///
    /// # Panics
    ///
    /// If the bytes are not an executable.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Stage {
        let room = ImageStorage::default();
        let image = Image::parse(bytes, Policy::Compat, &room).expect("an executable");
        let (lowpc, highpc) = (image.text.start & !3, image.text.end.next_multiple_of(4));
        let in_text = image.symbols.iter().filter(|symbol| image.text.contains(&symbol.address));
        let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let (functions, names) = in_text.map(|symbol| (symbol.address, name(symbol.name))).unzip();
        Stage { lowpc, highpc, functions, names }
    }

    /// A profile. Small numbers are frequent, so that many values are equal and tie rules apply. Few functions take
    /// part, so that cycles form.
    #[must_use]
    pub fn profile(&self, random: &mut Random) -> Profile {
        let cast = 2 + random.below(14);
        let cast: Vec<u64> = (0..cast).map(|_| *random.pick(&self.functions)).collect();
        let arcs = random.below(3 * cast.len() as u64 + 4);
        let greatest = *random.pick(&[2, 4, 10, 1000, 100_000]);
        let address = |random: &mut Random| {
            if random.below(40) == 0 {
                // Near the borders, far outside, and at both ends of the address space.
                let borders = [self.lowpc, self.highpc, 0, 1 << 20, u64::MAX];
                return random.pick(&borders).wrapping_sub(2).wrapping_add(random.below(4));
            }
            let function = if random.below(20) == 0 { *random.pick(&self.functions) } else { *random.pick(&cast) };
            function + *random.pick(&[0, 0, 0, 1, 2, 5])
        };
        let arc = |_| Arc::new(address(random), address(random), random.below(greatest));
        let mut arcs: Vec<Arc> = (0..arcs).map(arc).collect();
        if arcs.is_empty() {
            arcs.push(Arc::new(self.lowpc, cast[0], 1));
        }
        Profile::of_samples(self.histograms(&cast, random)).expect("histograms of one profile").with_arcs(arcs)
    }

    /// A large profile: this many calls between random functions, and samples all over the code.
    #[must_use]
    pub fn large_profile(&self, random: &mut Random, arcs: usize) -> Profile {
        let call =
            |_| Arc::new(*random.pick(&self.functions) + 1, *random.pick(&self.functions), 1 + random.below(1000));
        let arcs = (0..arcs).map(call).collect::<Vec<_>>();
        let bins = (self.highpc - self.lowpc) / 4;
        Profile::of_samples(vec![histogram(self.lowpc..self.highpc, bins, 100, &self.functions, random)])
            .expect("one histogram")
            .with_arcs(arcs)
    }

    /// A profile of calls only, in which at most this many functions take part. They are called from many places, in
    /// chains, in trees, or at random.
    #[must_use]
    pub fn calls(&self, random: &mut Random, most: usize) -> Profile {
        let size = *random.pick(&[2, 3, 8, 30, 85, 165, 250, 420, most]);
        let cast: Vec<u64> = (0..size.min(most)).map(|_| *random.pick(&self.functions)).collect();
        let greatest = *random.pick(&[1, 2, 5, 30, 1000, u64::from(u32::MAX)]);
        let shape = random.below(4);
        let mut arcs = Vec::new();
        let mut call = |random: &mut Random, from: u64, to: u64| {
            let frompc = from + random.below(3);
            arcs.push(Arc::new(frompc, to, random.below(greatest + 1)));
        };
        // GNU's table of arcs is too small if almost all arcs touch the functions with most callers. A chain through
        // all functions makes it large enough.
        for (at, to) in (0..).zip(&cast) {
            let from = match shape {
                0 => cast[at / 3],
                1 => *random.pick(&cast),
                _ => cast[(at + 1) % cast.len()],
            };
            call(random, from, *to);
        }
        for to in cast.iter().take(random.below(12) as usize) {
            for _ in 0..*random.pick(&[4, 5, 6, 7, 12, 40]) {
                let from = *random.pick(&cast);
                call(random, from, *to);
            }
        }
        for _ in 0..random.below(1 + 2 * cast.len() as u64) {
            let (from, to) = (*random.pick(&cast), *random.pick(&cast));
            call(random, from, to);
        }
        Profile::new().with_arcs(arcs)
    }

    /// A map of object files: neighboring functions usually come from one file, and some functions come from none.
    #[must_use]
    pub fn map(&self, random: &mut Random) -> String {
        let mut names: Vec<(u64, &str)> =
            self.functions.iter().copied().zip(self.names.iter().map(String::as_str)).collect();
        names.sort_unstable();
        let (files, scatter, holes) = (2 + random.below(60), random.below(4) == 0, random.below(3) == 0);
        let mut map = String::new();
        for (at, (_, name)) in (0..).zip(&names) {
            let file = if scatter { random.below(files) } else { at * files / names.len() as u64 };
            match random.below(40) {
                0 => map.push_str("No symbols in none.o\n"),
                1 => map.push_str("data.o:0000000000000000 D data\n"),
                2 => map.push_str(&format!("o{file}.o:0000000000000000 B b{at}\n")),
                3 => map.push_str(&format!("other.o:0000000000000000 W {}\n", random.pick(&names).1)),
                _ => {}
            }
            if !(holes && random.below(3) == 0) {
                map.push_str(&format!("o{file}.o:{at:016x} T {name}\n"));
            }
        }
        map
    }

    /// A profile of a tree of this many functions, each of which calls two others.
    #[must_use]
    pub fn tree(&self, random: &mut Random, functions: usize) -> Profile {
        let mut members = self.functions.clone();
        members.sort_unstable();
        members.dedup();
        members.truncate(functions);
        let call = |at: usize| Arc::new(members[(at - 1) / 2] + 1, members[at], 1);
        let arcs = (1..members.len()).map(call).collect::<Vec<_>>();
        self.large_profile(random, 0).with_arcs(arcs)
    }

    /// A profile of one circle: each of this many functions calls the next, and the last calls the first.
    #[must_use]
    pub fn circle(&self, random: &mut Random, functions: usize) -> Profile {
        let mut members = self.functions.clone();
        members.sort_unstable();
        members.dedup();
        members.truncate(functions);
        let next = members.iter().skip(1).chain(members.first());
        let arcs = members.iter().zip(next).map(|(from, to)| Arc::new(from + 1, *to, 3)).collect::<Vec<_>>();
        self.large_profile(random, 0).with_arcs(arcs)
    }

    /// Usually one histogram; sometimes two, with the upper one first.
    fn histograms(&self, cast: &[u64], random: &mut Random) -> Vec<Histogram> {
        let rate = *random.pick(&[100, 100, 100, 1000, 1024, 60]);
        if random.below(8) == 0 {
            let border = (*random.pick(cast) + 4 * random.below(64)) & !3;
            let border = border.clamp(self.lowpc + 4, self.highpc - 4);
            return [border..self.highpc, self.lowpc..border]
                .map(|range| {
                    let bins = (range.end - range.start) / 4;
                    histogram(range, bins, rate, cast, random)
                })
                .into();
        }
        // Writers round the number of bins up, so bins are not exactly four bytes.
        let lowpc = self.lowpc + *random.pick(&[0, 0, 0, 0, 1, 2, 16]);
        let highpc = self.highpc + *random.pick(&[0, 0, 0, 0, 1, 4, 100]);
        let bytes = *random.pick(&[4, 4, 4, 4, 2, 3, 8, 16]);
        let bins = (highpc - lowpc).div_ceil(bytes) + random.below(4);
        vec![histogram(lowpc..highpc, bins, rate, cast, random)]
    }
}

/// Samples in a range, most of them near some functions.
fn histogram(range: Range<u64>, bins: u64, rate: u32, cast: &[u64], random: &mut Random) -> Histogram {
    let mut counts = vec![0; bins as usize];
    let size = (range.end - range.start) / bins;
    let greatest = *random.pick(&[1, 2, 2, 5, 50, 3000]);
    for _ in 0..random.below(4 * cast.len() as u64) {
        let near = (*random.pick(cast) + random.below(24)).saturating_sub(range.start);
        if let Some(bin) = counts.get_mut((near / size.max(1)) as usize) {
            *bin = random.below(greatest + 1);
        }
    }
    Histogram::new(range.start..range.end, Unit::seconds(rate), counts).expect("a histogram")
}
