//! The ways by which jumps lead from one function to another.

use super::jumps::Jump;
use crate::program::symbols::functions::FunctionId;

/// The most functions between the two ends of a way.
pub(super) const MOST_BETWEEN: usize = 16;

/// The jumps between a few functions: from one function, through others, to the function of the next frame.
pub(super) struct Ways<'f> {
    from: FunctionId,
    between: &'f [FunctionId],
    /// For each function the functions to which it has direct jumps, as bits. First come the functions between, then
    /// the callee, then the function that the way begins with.
    direct: Vec<u32>,
    /// The functions that each function may jump to, by direct jumps and by jumps whose targets are not known.
    possible: Vec<u32>,
}

impl<'f> Ways<'f> {
    /// `jump` returns whether a function jumps to another. There are at most [`MOST_BETWEEN`] functions between.
    pub(super) fn new(
        from: FunctionId,
        between: &'f [FunctionId],
        callee: FunctionId,
        jump: impl Fn(FunctionId, FunctionId) -> Jump,
    ) -> Ways<'f> {
        let all: Vec<FunctionId> = between.iter().copied().chain([callee, from]).collect();
        let bits = |id: &FunctionId| {
            all.iter().enumerate().fold((0, 0), |(direct, possible), (at, to)| {
                let jump = jump(*id, *to);
                (direct | u32::from(jump == Jump::Direct) << at, possible | u32::from(jump != Jump::Never) << at)
            })
        };
        let (direct, possible) = all.iter().map(bits).unzip();
        Ways { from, between, direct, possible }
    }

    fn callee(&self) -> usize {
        self.between.len()
    }

    /// Whether a function has a direct jump to the callee.
    pub(super) fn leads(&self, at: usize) -> bool {
        self.direct[at] >> self.callee() & 1 != 0
    }

    /// Whether direct jumps lead to all functions between, also from the callee. If not, some function has jumped in a
    /// way that is not known, for example through a register.
    pub(super) fn reaches_all(&self) -> bool {
        self.reached(&self.direct) == self.all_between()
    }

    /// Whether jumps may lead from any function between to the callee.
    pub(super) fn any_may_lead(&self) -> bool {
        self.leading() != 0
    }

    /// The functions between that some possible way to the callee goes through, as bits.
    fn possible_between(&self) -> u32 {
        self.reached(&self.possible) & self.leading()
    }

    /// The functions between that these jumps lead to, as bits.
    fn reached(&self, jumps: &[u32]) -> u32 {
        let after = |bits: u32| (0..jumps.len()).filter(|at| bits >> at & 1 != 0).fold(bits, |all, at| all | jumps[at]);
        closed(1 << (self.callee() + 1), after) & self.all_between()
    }

    /// The functions between from which jumps may lead to the callee, as bits.
    fn leading(&self) -> u32 {
        let jumps = &self.possible;
        let before =
            |bits: u32| (0..jumps.len()).filter(|at| jumps[*at] & bits != 0).fold(bits, |all, at| all | 1 << at);
        closed(1 << self.callee(), before) & self.all_between()
    }

    /// The functions between from which jumps may lead to the callee.
    pub(super) fn possible_functions(&self) -> Vec<FunctionId> {
        let leading = self.leading();
        let is_leading = |at: &usize| leading >> at & 1 != 0;
        (0..self.between.len()).filter(is_leading).map(|at| self.between[at]).collect()
    }

    /// All functions between, as bits.
    fn all_between(&self) -> u32 {
        (1 << self.callee()) - 1
    }

    /// The shortest way of direct jumps, without the callee, and whether every possible way goes through these
    /// functions once, and through no others.
    pub(super) fn shortest(&self) -> Option<(Vec<FunctionId>, bool)> {
        // Breadth first: each function with the place of the one before in this list.
        let mut reached = vec![(self.callee() + 1, usize::MAX)];
        let mut at = 0;
        while !self.leads(reached.get(at)?.0) {
            let jumps = self.direct[reached[at].0];
            for next in (0..self.between.len()).filter(|next| jumps >> next & 1 != 0) {
                if reached.iter().all(|(known, _)| *known != next) {
                    reached.push((next, at));
                }
            }
            at += 1;
        }
        let mut way = Vec::new();
        let (mut next, mut after) = (1 << self.callee(), 1 << self.callee());
        let mut jumps_back = self.possible[self.callee()];
        let mut is_straight = true;
        while let Some((place, before)) = reached.get(at).copied() {
            way.push(self.between.get(place).copied().unwrap_or(self.from));
            // A later function that jumps here may have done so, and may have come back.
            is_straight &= jumps_back >> place & 1 == 0;
            // A jump through a register may have left out functions of the way.
            is_straight &= self.possible[place] & after & !next == 0;
            next = 1 << place;
            after |= next;
            jumps_back |= self.possible[place];
            at = before;
        }
        way.reverse();
        let through = after & self.all_between();
        Some((way, is_straight && through == self.possible_between()))
    }
}

/// Adds bits until there are no more.
fn closed(mut bits: u32, more: impl Fn(u32) -> u32) -> u32 {
    loop {
        let next = more(bits);
        if next == bits {
            return bits;
        }
        bits = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::Symbol;
    use crate::program::symbols::functions::Functions;

    /// Calls `check` with the ways from function 0, through the functions 1 to `between`, to function 9.
    fn with_ways<T>(between: usize, jumps: &[(usize, usize)], check: impl FnOnce(&Ways<'_>) -> T) -> T {
        let symbol = |address| Symbol { address, name: b"f", is_static: false, is_func: true };
        let functions = Functions::new((0..10).map(symbol).collect(), 10);
        let all: Vec<FunctionId> = functions.ids().collect();
        let jump = |from: FunctionId, to: FunctionId| {
            if jumps.contains(&(from.index(), to.index())) { Jump::Direct } else { Jump::Never }
        };
        check(&Ways::new(all[0], &all[1..=between], all[9], jump))
    }

    #[test]
    fn a_way_is_the_only_one_if_no_jump_leads_back_or_past_a_function() {
        let shortest = |jumps: &[(usize, usize)]| {
            let numbers = |(way, is_only): (Vec<FunctionId>, bool)| {
                (way.into_iter().map(FunctionId::index).collect::<Vec<_>>(), is_only)
            };
            with_ways(2, jumps, |ways| ways.shortest().map(numbers))
        };
        assert_eq!(shortest(&[(0, 9)]), Some((vec![0], true)));
        assert_eq!(shortest(&[(0, 1), (1, 9)]), Some((vec![0, 1], true)));
        assert_eq!(shortest(&[(0, 2), (2, 1), (1, 9)]), Some((vec![0, 2, 1], true)));
        assert_eq!(shortest(&[(0, 1), (1, 9), (9, 0)]), Some((vec![0, 1], false)), "the last one jumps back");
        assert_eq!(shortest(&[(0, 1), (1, 9), (1, 0)]), Some((vec![0, 1], false)));
        assert_eq!(shortest(&[(0, 1), (1, 9), (0, 9)]), Some((vec![0], false)), "there is a longer way");
        assert_eq!(shortest(&[(0, 1), (2, 9)]), None);
    }

    #[test]
    fn what_jumps_reach_and_what_leads_to_the_callee() {
        // Whether jumps reach all functions between, and the functions that lead to the callee.
        let found = |jumps: &[(usize, usize)]| {
            with_ways(3, jumps, |ways| {
                let possible = ways.possible_functions().into_iter().map(FunctionId::index);
                (ways.reaches_all(), possible.collect::<Vec<_>>())
            })
        };
        assert_eq!(found(&[(0, 1), (1, 2), (2, 9), (9, 3)]), (true, vec![1, 2]));
        assert_eq!(found(&[(0, 1), (1, 3), (3, 9), (0, 2)]), (true, vec![1, 3]));
        assert_eq!(found(&[(0, 1), (1, 9)]), (false, vec![1]));
        assert_eq!(found(&[(0, 1), (1, 9), (2, 3), (3, 2)]), (false, vec![1]), "two functions that lead to each other");
    }
}
