//! The standard errors of self times.
//!
//! Ticks fall into a bin independently of each other, so the count of a bin has a Poisson distribution. The variance of
//! this distribution is its mean, and the best estimate of the mean is the count itself. A function that gets a share
//! of a bin gets the square of this share of the bin's variance. Variances of different bins add up.

use gmon::Histogram;

use crate::model::contexts::ticks::StackSums;
use crate::model::division::{self, Bin, Innermost};
use crate::model::graph::{Graph, Node};
use crate::model::selection::Selection;
use crate::program::symbols::functions::{Function, FunctionId, Functions};
use crate::program::symbols::inlines::Inlined;

/// The standard error of each self time, in samples. 0 where there was no sample, which tells nothing about the error.
#[derive(Debug, Default)]
pub struct Errors {
    functions: Vec<f64>,
    cycles: Vec<f64>,
    /// The errors of functions without the code that was inlined into the functions; empty unless the report has
    /// inlined functions.
    outlined: Vec<f64>,
    /// The errors of inlined functions.
    inlined: Vec<f64>,
    /// How much of the samples has stacks, if times are measured.
    stacks: Option<StackSums>,
}

impl Errors {
    /// Computes the errors of the times that [`Flat::exact`](crate::model::flat::Flat::exact) returns for the same
    /// arguments, and of the times of inlined functions.
    #[must_use]
    pub fn new(
        (histograms, innermost): (&[Histogram], &Innermost),
        functions: &Functions<'_>,
        selected: &Selection,
        graph: &Graph,
        inlined: Option<&Inlined<'_>>,
    ) -> Errors {
        let mut of_functions = Variances::new(functions.len());
        let mut of_cycles = Variances::new(graph.cycles().len());
        for histogram in histograms {
            each_bin(histogram, innermost, functions, |bin, credits| {
                let credits = credits.map(|(id, samples)| (functions[id].counts_for, samples));
                for (owner, samples) in credits.filter(|(owner, _)| selected.selects(*owner)) {
                    of_functions.credit(owner.index(), samples);
                    // The time of a cycle is the time of those members whose time counts.
                    if let Some(cycle) = graph.cycle_of(owner).filter(|_| graph.share(owner).fraction != 0.0) {
                        of_cycles.credit(cycle, samples);
                    }
                }
                of_functions.end_bin(bin);
                of_cycles.end_bin(bin);
            });
        }
        let [outlined, inlined] =
            inlined.map(|inlined| divided(histograms, innermost, functions, inlined)).unwrap_or_default();
        Errors { functions: of_functions.roots(), cycles: of_cycles.roots(), outlined, inlined, stacks: None }
    }

    /// Adds the errors of times that the stacks show.
    pub(crate) fn with_stacks(self, stacks: Option<&StackSums>) -> Errors {
        Errors { stacks: stacks.copied(), ..self }
    }

    /// Returns the standard error of a time that the stacks show, in samples; 0 if times are estimated.
    #[must_use]
    pub fn of_measured(&self, time: f64) -> f64 {
        self.stacks.map_or(0.0, |stacks| stacks.error(time))
    }

    /// Returns the error of a self time for a fixed number of samples, if times are measured. `error` is the error for
    /// a number of samples that is itself a matter of chance, and `time` the self time in samples.
    #[must_use]
    pub fn of_part(&self, error: f64, time: f64) -> f64 {
        let others = |stacks: StackSums| stacks.uncovered.ticks.saturating_add(stacks.partial.ticks);
        let all = self.stacks.map(|stacks| stacks.samples().saturating_add(others(stacks)) as f64);
        all.filter(|all| *all > 0.0).map_or(error, |all| error * (1.0 - time / all).clamp(0.0, 1.0).sqrt())
    }

    /// Returns the standard error of the self time of a function or a cycle; 0 if the options do not ask for errors.
    #[must_use]
    pub fn of(&self, node: Node) -> f64 {
        match node {
            Node::Function(id) => at(&self.functions, id.index()),
            Node::Cycle(cycle) => at(&self.cycles, cycle),
        }
    }

    /// Returns the standard error of a function's row in the flat profile, where inlined functions have rows of their
    /// own.
    #[must_use]
    pub fn of_row(&self, id: FunctionId) -> f64 {
        at(if self.outlined.is_empty() { &self.functions } else { &self.outlined }, id.index())
    }

    /// Returns the standard error of the inlined function with this index.
    #[must_use]
    pub fn of_inlined(&self, place: usize) -> f64 {
        at(&self.inlined, place)
    }
}

fn at(errors: &[f64], place: usize) -> f64 {
    errors.get(place).copied().unwrap_or(0.0)
}

/// Calls `take` for each bin that has samples, with each function's share of the samples.
fn each_bin(
    histogram: &Histogram,
    innermost: &Innermost,
    functions: &Functions<'_>,
    mut take: impl FnMut(Bin, &mut dyn Iterator<Item = (FunctionId, f64)>),
) {
    let bounds = |function: &Function<'_>| (function.address, function.last);
    division::share(histogram, innermost, functions.as_slice(), bounds, |bin, credits| {
        take(bin, &mut credits.iter().filter_map(|(place, samples)| Some((functions.id(*place)?, *samples))));
    });
}

/// Returns the errors of functions without the code that was inlined into the functions, and the errors of inlined
/// functions.
fn divided(
    histograms: &[Histogram],
    innermost: &Innermost,
    functions: &Functions<'_>,
    inlined: &Inlined<'_>,
) -> [Vec<f64>; 2] {
    let mut of_functions = Variances::new(functions.len());
    let mut of_inlined = Variances::new(inlined.len());
    for histogram in histograms {
        // For each bin, the samples of inlined code are taken from the function around the code.
        let mut taken = Vec::new();
        inlined.share(histogram, innermost, |bin, credits| {
            for (place, inside, samples) in credits.iter().copied() {
                of_inlined.credit(place, samples);
                taken.push((bin.at, inside, samples));
            }
            of_inlined.end_bin(bin);
        });
        let mut taken = taken.into_iter().peekable();
        each_bin(histogram, innermost, functions, |bin, credits| {
            for (id, samples) in credits {
                of_functions.credit(functions[id].counts_for.index(), samples);
            }
            while let Some((_, inside, samples)) = taken.next_if(|(place, ..)| *place <= bin.at) {
                of_functions.credit(inside.index(), -samples);
            }
            of_functions.end_bin(bin);
        });
    }
    [of_functions.roots(), of_inlined.roots()]
}

/// The variances of functions or cycles. All shares that one function has of one bin depend on the same count, and are
/// added up before they are squared.
struct Variances {
    all: Vec<f64>,
    /// The shares of the current bin.
    bin: Vec<(usize, f64)>,
}

impl Variances {
    fn new(things: usize) -> Variances {
        Variances { all: vec![0.0; things], bin: Vec::new() }
    }

    /// Adds a share of the current bin.
    fn credit(&mut self, thing: usize, samples: f64) {
        self.bin.push((thing, samples));
    }

    /// Ends the current bin.
    fn end_bin(&mut self, bin: Bin) {
        self.bin.sort_by_key(|(thing, _)| *thing);
        for credits in self.bin.chunk_by(|one, other| one.0 == other.0) {
            let credit: f64 = credits.iter().map(|(_, samples)| samples).sum();
            if let Some(variance) = credits.first().and_then(|(thing, _)| self.all.get_mut(*thing)) {
                // The square of the share, times the count. A negative count is a difference; the variance of a
                // difference is at least its size.
                *variance += credit * credit / bin.count.abs();
            }
        }
        self.bin.clear();
    }

    fn roots(self) -> Vec<f64> {
        self.all.into_iter().map(f64::sqrt).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::flat::Flat;
    use crate::model::graph::arcs::Arcs;
    use crate::model::graph::propagate::GraphSelection;
    use crate::program::image::Symbol;
    use gmon::{Arc, Bins, Unit};

    fn functions(names: &[(u64, &'static str)]) -> Functions<'static> {
        let symbol = |(address, name): &(u64, &'static str)| Symbol {
            address: *address,
            name: name.as_bytes(),
            is_static: false,
            is_func: true,
        };
        Functions::new(names.iter().map(symbol).collect(), 0x110)
    }

    fn histogram(bins: &[u64], signed: bool) -> Histogram {
        let range = 0x100..0x100 + 4 * bins.len() as u64;
        let signed_bins = bins.iter().map(|count| count.cast_signed()).collect();
        let bins = if signed { Bins::I64(signed_bins) } else { Bins::U64(bins.to_vec()) };
        Histogram::new(range, Unit::seconds(100), bins).unwrap()
    }

    /// Returns the errors of all functions, and of all cycles.
    fn errors(functions: &Functions<'_>, arcs: &[Arc], histograms: &[Histogram]) -> (Vec<f64>, Vec<f64>) {
        let selected = Selection::program(functions);
        let flat = Flat::exact(histograms, &Innermost::default(), functions, &selected);
        let choices = GraphSelection { entries: &selected, time: &selected, excludes_callees: true };
        let graph = Graph::new(Arcs::new(arcs, functions), &flat, functions, choices);
        let errors = Errors::new((histograms, &Innermost::default()), functions, &selected, &graph, None);
        let of_function = |id: FunctionId| errors.of(Node::Function(id));
        let of_cycle = |at| errors.of(Node::Cycle(at));
        (functions.ids().map(of_function).collect(), (0..graph.cycles().len()).map(of_cycle).collect())
    }

    #[test]
    fn the_root_of_the_count() {
        let functions = functions(&[(0x100, "one"), (0x108, "other"), (0x10c, "mcount")]);
        let (of_functions, _) = errors(&functions, &[], &[histogram(&[9, 16, 0, 4], false)]);
        assert_eq!(of_functions, [5.0, 0.0, 0.0]);
        // Two runs: the variances add up.
        let twice = [histogram(&[9, 16], false), histogram(&[0, 0, 144], false)];
        assert_eq!(errors(&functions, &[], &twice).0, [5.0, 12.0, 0.0]);
    }

    #[test]
    fn a_share_of_a_bin() {
        // One half of 64 samples is 32, with one half of the error of 8.
        let one = functions(&[(0x100, "one"), (0x106, "other")]);
        assert_eq!(errors(&one, &[], &[histogram(&[0, 64], false)]).0, [4.0, 4.0]);
        assert_eq!(errors(&one, &[], &[histogram(&[9, 64], false)]).0, [5.0, 4.0]);
    }

    #[test]
    fn what_goes_up_and_down_together() {
        // All samples of a bin belong to a function and its copy.
        let mut copies = functions(&[(0x100, "one"), (0x102, "one.cold"), (0x104, "other")]);
        copies.merge_copies(&Default::default());
        assert_eq!(errors(&copies, &[], &[histogram(&[64], false)]).0, [8.0, 0.0, 0.0]);
        // All samples of a bin belong to a cycle.
        let members = functions(&[(0x100, "one"), (0x102, "other"), (0x104, "main")]);
        let call = |frompc, selfpc| Arc::new(frompc, selfpc, 1);
        let arcs = [call(0x100, 0x102), call(0x102, 0x100), call(0x104, 0x100)];
        assert_eq!(errors(&members, &arcs, &[histogram(&[64], false)]), (vec![4.0, 4.0, 0.0], vec![8.0]));
    }

    #[test]
    fn what_was_inlined_goes_from_the_function_around_it() {
        let functions = functions(&[(0x100, "one"), (0x10a, "other")]);
        let (one, other) = (functions.find(0x100).unwrap(), functions.find(0x10a).unwrap());
        let inlined = [(0x102..0x104, 0), (0x104..0x106, 1), (0x106..0x108, 0), (0x10a..0x10c, 2)];
        let names = vec![(one, b"inner".as_slice()), (one, b"another"), (other, b"inner")];
        let inlined = Inlined::made_up(&inlined, names);
        let selected = Selection::program(&functions);
        let all = [histogram(&[64, 144, 100, 9], false)];
        let flat = Flat::exact(&all, &Innermost::default(), &functions, &selected);
        let choices = GraphSelection { entries: &selected, time: &selected, excludes_callees: true };
        let graph = Graph::new(Arcs::new(&[], &functions), &flat, &functions, choices);
        let errors = Errors::new((&all, &Innermost::default()), &functions, &selected, &graph, Some(&inlined));
        let times: Vec<f64> = inlined.times(&all, &Innermost::default()).into_iter().map(|time| time.time).collect();
        assert_eq!(times, [32.0 + 72.0, 72.0, 50.0]);
        // Halves of bins have a quarter of the variance.
        let of_inlined = [0, 1, 2].map(|place| errors.of_inlined(place));
        assert_eq!(of_inlined, [52_f64.sqrt(), 6.0, 5.0]);
        // The code outside of inlined functions: half of the first bin, nothing of the second, half of the third, and
        // the whole fourth.
        assert_eq!([one, other].map(|id| errors.of_row(id)), [(16.0 + 25.0_f64).sqrt(), 3.0]);
        assert_eq!(
            [one, other].map(|id| errors.of(Node::Function(id))),
            [(64.0 + 144.0 + 25.0_f64).sqrt(), 34_f64.sqrt()]
        );
    }

    #[test]
    fn counters_below_zero() {
        let functions = functions(&[(0x100, "one")]);
        assert_eq!(errors(&functions, &[], &[histogram(&[25, (-9_i64).cast_unsigned()], true)]).0, [34_f64.sqrt()]);
    }

    #[test]
    fn the_error_of_a_part_of_all_samples() {
        let with = |sums| Errors::default().with_stacks(Some(&sums));
        let all = StackSums { stacks: 10, without_stack: 2, ..StackSums::default() };
        let mut more = all;
        (more.uncovered.ticks, more.partial.ticks) = (3, 1);
        assert_eq!([with(all).of_part(2.0, 9.0), with(more).of_part(2.0, 7.0)], [1.0, 1.5]);
        // Stacks without samples tell nothing.
        assert_eq!(with(StackSums::default()).of_part(2.0, 0.0), 2.0);
        assert_eq!(Errors::default().of_part(2.0, 1.0), 2.0);
    }
}
