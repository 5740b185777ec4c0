//! How much of the samples has stacks, in words.

use crate::model::{Analysis, StackSums};
use crate::reports::number::{Fixed, counted};

/// Returns the text that says from how many stacks times were measured, and what is missing.
pub(crate) fn summary(sums: &StackSums) -> String {
    let mut text =
        format!("measured from {}, {:.1} % whole", counted(sums.stacks, "stack"), Fixed(sums.percent(sums.whole)));
    if sums.doubtful > 0 {
        let percent = Fixed(sums.percent(sums.doubtful));
        text += &format!("; {percent:.1} % with a tail call that is not certain");
    }
    if sums.without_stack > 0 {
        text += &format!("; {} without a stack", counted(sums.without_stack, "sample"));
    }
    if sums.without_room > 0 {
        let samples = counted(sums.without_room, "sample");
        text += &format!("; {samples} found the tree of stacks full, which a lower rate (GMON_HZ) avoids");
    }
    let (covered, uncovered) = (sums.covered.count, sums.uncovered.count);
    if uncovered > 0 {
        let (all, percent) = (covered.saturating_add(uncovered), Fixed(sums.uncovered_percent()));
        let (all, have) = (counted(all, "profile"), if uncovered == 1 { "has" } else { "have" });
        text += &format!("; {uncovered} of {all}, with {percent:.1} % of the samples, {have} no stacks");
    }
    if sums.partial.ticks > 0 {
        text += &format!("; {:.1} % of the samples are of runs without stacks in a sum", Fixed(sums.partial_percent()));
    }
    text
}

/// Returns the line of a header that says why no function has calls: gmon-run samples programs that do not count calls.
pub(crate) fn calls(analysis: &Analysis<'_>) -> Option<&'static str> {
    let has_counters = analysis.calls_on_demand().is_some();
    if analysis.options.filters_stacks() {
        return Some(
            "calls: left out, because they are not of the stacks that --focus, --ignore, --hide, and --show-from keep\n",
        );
    }
    let are_missing = analysis.stacks().is_some() && analysis.stats().calls == 0 && !has_counters;
    are_missing.then_some("calls: not counted, because the program was not compiled with -pg\n")
}
