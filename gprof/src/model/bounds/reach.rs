//! The samples that each function reaches by counted calls.
//!
//! No fast algorithm for such sums is known, because functions share what they call. This one goes through the graph
//! once for each [`BLOCK`] places with samples, and keeps a bit for each place. Places without samples cost nothing, so
//! that the work depends on how many functions have samples. Past [`LIMIT`] the sums are bounds from above, in one
//! pass.

use super::samples::SharedBin;
use crate::model::graph::arcs::{Arc, Arcs};
use crate::model::graph::cycles::Cycles;
use crate::program::symbols::functions::{FunctionId, Functions};

/// The number of places with samples in one pass.
const BLOCK: usize = u64::BITS as usize;

/// The largest number of steps: passes times nodes and edges.
const LIMIT: usize = 1 << 29;

/// The samples that each function reaches.
#[derive(Debug)]
pub(super) struct Reach {
    /// The samples of each function and of all functions that it reaches.
    pub(super) samples: Vec<f64>,
    /// Whether the sums are exact. If not, they are not less than the exact sums.
    pub(super) is_exact: bool,
    /// The number of steps for exact sums.
    #[cfg(test)]
    pub(super) steps: usize,
}

impl Reach {
    /// Adds up the samples of each function and of all that it reaches by `pairs`, calls from function to function.
    pub(super) fn new(
        pairs: &[(FunctionId, FunctionId)],
        own: &[f64],
        shared: &[&SharedBin],
        functions: &Functions<'_>,
    ) -> Reach {
        Reach::limited(pairs, own, shared, functions, LIMIT)
    }

    fn limited(
        pairs: &[(FunctionId, FunctionId)],
        own: &[f64],
        shared: &[&SharedBin],
        functions: &Functions<'_>,
        limit: usize,
    ) -> Reach {
        let parts = Components::new(pairs, functions);
        let places = parts.places(own, shared);
        let steps = places.len().div_ceil(BLOCK).saturating_mul(parts.calls.len() + parts.count);
        let is_exact = steps <= limit;
        let sums = if is_exact { parts.exact(&places) } else { parts.loose(&places) };
        Reach {
            samples: parts.of.iter().map(|part| sums[*part as usize]).collect(),
            is_exact,
            #[cfg(test)]
            steps,
        }
    }
}

/// A number of samples, and the components that have them.
struct Place {
    components: Vec<u32>,
    samples: f64,
}

/// The graph of components: each cycle is one component, and so is each function in no cycle.
struct Components {
    /// The component of each function. Called components have lower numbers than their callers.
    of: Vec<u32>,
    count: usize,
    /// The calls from one component to another, sorted by caller.
    calls: Vec<(u32, u32)>,
}

impl Components {
    fn new(pairs: &[(FunctionId, FunctionId)], functions: &Functions<'_>) -> Components {
        let all = pairs.iter().map(|(parent, child)| Arc { parent: *parent, child: *child, count: 1 }).collect();
        let cycles = Cycles::new(&Arcs::from_merged(all, functions.len()), functions);
        let mut of = vec![0_u32; functions.len()];
        let (mut count, mut before) = (0_u32, None);
        for id in &cycles.order {
            if before.is_none_or(|before| !cycles.same(before, *id)) {
                count += 1;
            }
            of[id.index()] = count - 1;
            before = Some(*id);
        }
        let number = |id: &FunctionId| of[id.index()];
        let mut calls: Vec<(u32, u32)> = pairs.iter().map(|(from, to)| (number(from), number(to))).collect();
        calls.retain(|(from, to)| from != to);
        calls.sort_unstable();
        calls.dedup();
        Components { of, count: count as usize, calls }
    }

    /// Returns all places that have samples.
    fn places(&self, own: &[f64], shared: &[&SharedBin]) -> Vec<Place> {
        let mut sums = vec![0.0; self.count];
        for (component, samples) in self.of.iter().zip(own) {
            sums[*component as usize] += samples;
        }
        let alone = (0..).zip(sums).map(|(component, samples)| Place { components: vec![component], samples });
        let shared = shared.iter().map(|bin| {
            let components = bin.functions.iter().map(|id| self.of[id.index()]).collect();
            Place { components, samples: bin.samples }
        });
        alone.chain(shared).filter(|place| place.samples != 0.0).collect()
    }

    /// Returns the exact sum of each component.
    fn exact(&self, places: &[Place]) -> Vec<f64> {
        let mut sums = vec![0.0; self.count];
        let mut reached = vec![0_u64; self.count];
        for block in places.chunks(BLOCK) {
            reached.fill(0);
            for (bit, place) in block.iter().enumerate() {
                place.components.iter().for_each(|component| reached[*component as usize] |= 1 << bit);
            }
            // The calls are sorted by caller, so the called component is complete.
            for (from, to) in &self.calls {
                reached[*from as usize] |= reached[*to as usize];
            }
            let table = SumTable::new(block);
            for (sum, reached) in sums.iter_mut().zip(&reached).filter(|(_, reached)| **reached != 0) {
                *sum += table.sum(*reached);
            }
        }
        sums
    }

    /// Returns sums that count what is called in several ways once for each way.
    fn loose(&self, places: &[Place]) -> Vec<f64> {
        let mut sums = vec![0.0; self.count];
        for place in places {
            place.components.iter().for_each(|component| sums[*component as usize] += place.samples);
        }
        for (from, to) in &self.calls {
            sums[*from as usize] += sums[*to as usize];
        }
        sums
    }
}

/// The sums of all subsets of eight neighboring places, for the places of a block.
struct SumTable(Vec<[f64; 256]>);

impl SumTable {
    fn new(block: &[Place]) -> SumTable {
        let table = block.chunks(8).map(|places| {
            let mut sums = [0.0; 256];
            for (at, place) in places.iter().enumerate() {
                let bit = 1 << at;
                for lower in 0..bit {
                    sums[bit + lower] = sums[lower] + place.samples;
                }
            }
            sums
        });
        SumTable(table.collect())
    }

    fn sum(&self, places: u64) -> f64 {
        self.0.iter().zip(places.to_le_bytes()).map(|(sums, byte)| sums[usize::from(byte)]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::Symbol;

    fn functions(count: u64) -> Functions<'static> {
        let symbol = |at: u64| Symbol { address: 16 * (at + 1), name: b"f", is_static: false, is_func: true };
        Functions::new((0..count).map(symbol).collect(), 16 * (count + 1))
    }

    /// Returns random numbers below a bound.
    fn random() -> impl FnMut(usize) -> usize {
        let mut state = 1_u64;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        }
    }

    /// Returns random calls without cycles.
    fn calls(count: usize, functions: &Functions<'_>) -> Vec<(FunctionId, FunctionId)> {
        let mut random = random();
        let ids: Vec<FunctionId> = functions.ids().collect();
        let ends = (0..count).map(|_| [random(ids.len()), random(ids.len())]);
        ends.filter(|[one, other]| one != other)
            .map(|ends| (ids[ends[0].min(ends[1])], ids[ends[0].max(ends[1])]))
            .collect()
    }

    #[test]
    fn sums_are_those_of_a_search() {
        // More than one block, and a shared bin.
        let functions = functions(150);
        let mut calls = calls(260, &functions);
        let id = |at| functions.id(at).unwrap();
        calls.push((id(90), id(20)));
        let mut random = random();
        let own: Vec<f64> = (0..150).map(|_| random(4) as f64).collect();
        let shared = SharedBin { functions: vec![id(70), id(71)], is_partly_outside: false, samples: 1000.0 };
        let reach = Reach::new(&calls, &own, &[&shared], &functions);
        let loose = Reach::limited(&calls, &own, &[&shared], &functions, 0);
        assert!(reach.is_exact && !loose.is_exact);
        let mut is_larger = false;
        for start in functions.ids() {
            let (mut is_found, mut left) = (vec![false; 150], vec![start]);
            while let Some(at) = left.pop() {
                if !std::mem::replace(&mut is_found[at.index()], true) {
                    left.extend(calls.iter().filter(|(from, _)| *from == at).map(|(_, to)| *to));
                }
            }
            let mut sum: f64 = own.iter().zip(&is_found).filter(|(_, is_found)| **is_found).map(|(own, _)| own).sum();
            sum += if is_found[70] || is_found[71] { 1000.0 } else { 0.0 };
            assert_eq!(reach.samples[start.index()], sum);
            assert!(loose.samples[start.index()] >= sum);
            is_larger |= loose.samples[start.index()] > sum;
        }
        assert!(is_larger);
    }

    #[test]
    fn large_programs_are_within_the_limit() {
        let functions = functions(57_000);
        let calls = calls(200_000, &functions);
        let steps = |sampled: usize| {
            let own: Vec<f64> = (0..57_000).map(|at| f64::from(u8::from(at < sampled))).collect();
            Reach::limited(&calls, &own, &[], &functions, 0).steps
        };
        // Nothing is in a cycle here, which is the worst case.
        assert_eq!(steps(6_000).div_ceil(6_000_usize.div_ceil(BLOCK)), steps(BLOCK));
        assert!(steps(BLOCK) <= 257_000);
        assert!(steps(57_000) <= LIMIT / 2, "{}", steps(57_000));
    }
}
