//! What a tick becomes: a count in a bin, or a count of an address outside the program's text; and a count of the
//! tick's calling context.

pub(crate) mod bins;
pub(crate) mod contexts;
pub(crate) mod outside_text;
mod owner;
pub(crate) mod requests;
pub mod scale;

use owner::{owner, owner_of_pc};

use crate::unwind::Stack;

/// Counts ticks at `pc`, which is the innermost frame of a stack. Called in signal handlers.
pub(crate) fn count(pc: usize, ticks: u32, stack: Stack<'_>) {
    let pc = owner(pc, stack);
    if contexts::are_kept() {
        contexts::count(stack, !bins::covers(pc), || bins::count(pc, ticks));
    } else {
        bins::count(pc, ticks);
    }
}

/// Counts ticks of which only the pc is known.
pub(crate) fn count_without_stack(pc: usize, ticks: u32) {
    let pc = owner_of_pc(pc);
    contexts::count_without_stack(!bins::covers(pc), bins::count(pc, ticks));
}

/// Counts ticks at a pc that belong to a time when ticks were counted, even if that time is over.
pub(crate) fn count_late(pc: usize, ticks: u32) {
    let pc = owner_of_pc(pc);
    contexts::count_without_stack(!bins::covers(pc), bins::count_late(pc, ticks));
}

/// Runs a test in a process of its own, because the test changes what belongs to the process. The result is whether
/// this is that process.
#[cfg(test)]
pub(crate) fn is_alone(test: &str) -> bool {
    const ALONE: &str = "GMON_TEST_IS_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let output = command.args([test, "--exact"]).env(ALONE, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}
