//! How much of the samples has stacks, in words.

use crate::analysis::StackSums;
use crate::report::number::Fixed;

/// Returns the text that says from how many stacks times were measured, and what is missing.
pub(super) fn summary(sums: &StackSums) -> String {
    let mut text = format!("measured from {} stacks, {:.1} % whole", sums.stacks, Fixed(sums.percent(sums.whole)));
    if sums.doubtful > 0 {
        let percent = Fixed(sums.percent(sums.doubtful));
        text += &format!("; {percent:.1} % with a tail call that is not certain");
    }
    if sums.without_stack > 0 {
        text += &format!("; {} samples without a stack", sums.without_stack);
    }
    let (covered, uncovered) = (sums.covered.count, sums.uncovered.count);
    if uncovered > 0 {
        let (all, percent) = (covered.saturating_add(uncovered), Fixed(sums.uncovered_percent()));
        text += &format!("; {uncovered} of {all} profiles, with {percent:.1} % of the samples, have no stacks");
    }
    if sums.partial.ticks > 0 {
        text += &format!("; {:.1} % of the samples are of runs without stacks in a sum", Fixed(sums.partial_percent()));
    }
    text
}
