//! The samples whose stacks are not whole, by reason.

use std::collections::BTreeMap;
use std::ops::Range;

use gmon::side_file::CutReason;

use crate::sources::stacks::{Place, Stacks};

/// The samples whose stacks are missing or cut, by reason.
///
/// [`Analysis::cut_stacks`](crate::Analysis::cut_stacks) returns them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutStacks {
    /// The samples of the profiles that have stacks.
    pub samples: u64,
    /// The reasons with the numbers of their samples, the most frequent reason first. A sample counts for one reason.
    pub reasons: Vec<(CutReason, u64)>,
    /// The number of these samples whose stacks are cut at code that the program generated while it ran: the callers
    /// of this code could not be found.
    pub at_generated: u64,
}

/// If fewer samples than this percentage have whole stacks, reports say so at their heads.
const FEW_WHOLE: u128 = 90;

impl CutStacks {
    /// Counts the samples. A stack that is cut at several places counts for the innermost place. `generated` has the
    /// addresses of generated code.
    pub(super) fn new(stacks: &Stacks, mut generated: Vec<Range<u64>>) -> CutStacks {
        generated.sort_by_key(|code| code.start);
        // A return address may be behind the code.
        let is_generated = |address| {
            let at = generated.partition_point(|code| code.end < address);
            generated.get(at).is_some_and(|code| code.start <= address)
        };
        let mut at_generated = 0_u64;
        let mut reasons: BTreeMap<CutReason, u64> = stacks.cuts().clone();
        let mut samples = reasons.values().fold(0_u64, |sum, ticks| sum.saturating_add(*ticks));
        // For each node, why its stack is cut, and whether the frame below the cut is generated code.
        let mut cuts: Vec<Option<(CutReason, Option<bool>)>> = Vec::with_capacity(stacks.nodes().len());
        for node in stacks.nodes() {
            let above = node.parent().and_then(|parent| cuts[parent as usize]);
            let cut = match (node.place(), above) {
                (Place::Cut(reason), _) => Some((reason, None)),
                (Place::Code(address), Some((reason, None))) => Some((reason, Some(is_generated(address)))),
                (_, Some((reason, None))) => Some((reason, Some(false))),
                (_, above) => above,
            };
            samples = samples.saturating_add(node.ticks());
            if matches!(cut, Some((_, Some(true)))) {
                at_generated = at_generated.saturating_add(node.ticks());
            }
            if let Some((reason, _)) = cut.filter(|_| node.ticks() > 0) {
                let sum = reasons.entry(reason).or_insert(0);
                *sum = sum.saturating_add(node.ticks());
            }
            cuts.push(cut);
        }
        let mut reasons: Vec<_> = reasons.into_iter().filter(|(_, samples)| *samples > 0).collect();
        reasons.sort_by_key(|(reason, samples)| (std::cmp::Reverse(*samples), *reason));
        CutStacks { samples, reasons, at_generated }
    }

    /// Returns the number of samples whose stacks are not whole.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.reasons.iter().fold(0, |sum, (_, samples)| sum.saturating_add(*samples))
    }

    /// Returns whether fewer than 90 % of the samples have whole stacks.
    #[must_use]
    pub fn are_many(&self) -> bool {
        let (samples, whole) = (u128::from(self.samples), u128::from(self.samples.saturating_sub(self.number())));
        whole * 100 < samples * FEW_WHOLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stacks of which `whole` samples are whole and `cut` samples are cut.
    fn stacks(whole: u64, cut: u64) -> Stacks {
        let mut stacks = Stacks::new();
        let main = stacks.push(None, Place::Code(1), 0);
        stacks.push(main, Place::Code(2), whole);
        let top = stacks.push(None, Place::Cut(CutReason::COPY_TOO_SMALL), 0);
        stacks.push(top, Place::Code(2), cut);
        stacks
    }

    #[test]
    fn one_sample_in_ten_without_a_whole_stack_is_not_many() {
        let are_many = |whole, cut| CutStacks::new(&stacks(whole, cut), Vec::new()).are_many();
        assert_eq!([are_many(9, 1), are_many(900, 101), are_many(0, 1)], [false, true, true]);
        assert_eq!([are_many(0, 0), are_many(1, 0), are_many(u64::MAX, u64::MAX)], [false, false, true]);
    }

    #[test]
    fn each_sample_counts_for_the_innermost_reason() {
        let mut stacks = stacks(2, 3);
        let top = stacks.push(None, Place::Cut(CutReason::NO_TABLE), 0);
        let gap = stacks.push(top, Place::Cut(CutReason::NO_MEMORY), 4);
        stacks.push(gap, Place::Code(9), 8);
        stacks.push(top, Place::Code(9), 1);
        stacks.add_cut(CutReason::NO_STACK, 20);
        let found = CutStacks::new(&stacks, Vec::new());
        let expected = [
            (CutReason::NO_STACK, 20),
            (CutReason::NO_MEMORY, 12),
            (CutReason::COPY_TOO_SMALL, 3),
            (CutReason::NO_TABLE, 1),
        ];
        assert_eq!((found.samples, found.number(), &found.reasons[..]), (38, 36, &expected[..]));
    }

    #[test]
    fn stacks_that_are_cut_at_generated_code_are_counted() {
        let mut stacks = stacks(2, 3);
        let top = stacks.push(None, Place::Cut(CutReason::NO_TABLE), 16);
        let outer = stacks.push(top, Place::Code(0x1010), 4);
        stacks.push(outer, Place::Code(2), 8);
        let library = stacks.push(top, Place::Code(2), 32);
        stacks.push(library, Place::Code(0x1008), 64);
        stacks.push(top, Place::Elsewhere, 128);
        let gap = stacks.push(outer, Place::Cut(CutReason::MIDDLE), 0);
        stacks.push(gap, Place::Code(2), 256);
        let main = stacks.push(None, Place::Code(0x1008), 512);
        stacks.push(main, Place::Code(0x1008), 1024);
        let at = |code: Range<u64>| CutStacks::new(&stacks, vec![code]).at_generated;
        assert_eq!([at(0x1000..0x1010), at(0x1000..0x100f), at(0x1011..0x2000)], [12, 0, 0]);
    }
}
