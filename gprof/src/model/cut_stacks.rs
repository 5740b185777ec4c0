//! The samples whose stacks are not whole, by reason.

use std::collections::BTreeMap;

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
}

/// If fewer samples than this percentage have whole stacks, reports say so at their heads.
const FEW_WHOLE: u128 = 90;

impl CutStacks {
    /// Counts the samples. A stack that is cut at several places counts for the innermost place.
    pub(super) fn new(stacks: &Stacks) -> CutStacks {
        let mut reasons: BTreeMap<CutReason, u64> = stacks.cuts().clone();
        let mut samples = reasons.values().fold(0_u64, |sum, ticks| sum.saturating_add(*ticks));
        let mut cuts: Vec<Option<CutReason>> = Vec::with_capacity(stacks.nodes().len());
        for node in stacks.nodes() {
            let cut = match node.place() {
                Place::Cut(reason) => Some(reason),
                _ => node.parent().and_then(|parent| cuts[parent as usize]),
            };
            samples = samples.saturating_add(node.ticks());
            if let Some(reason) = cut.filter(|_| node.ticks() > 0) {
                let sum = reasons.entry(reason).or_insert(0);
                *sum = sum.saturating_add(node.ticks());
            }
            cuts.push(cut);
        }
        let mut reasons: Vec<_> = reasons.into_iter().filter(|(_, samples)| *samples > 0).collect();
        reasons.sort_by_key(|(reason, samples)| (std::cmp::Reverse(*samples), *reason));
        CutStacks { samples, reasons }
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
        let are_many = |whole, cut| CutStacks::new(&stacks(whole, cut)).are_many();
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
        let found = CutStacks::new(&stacks);
        let expected = [
            (CutReason::NO_STACK, 20),
            (CutReason::NO_MEMORY, 12),
            (CutReason::COPY_TOO_SMALL, 3),
            (CutReason::NO_TABLE, 1),
        ];
        assert_eq!((found.samples, found.number(), &found.reasons[..]), (38, 36, &expected[..]));
    }
}
