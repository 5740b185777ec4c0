//! What a tick becomes: a count in a bin, or a count of an address outside the program's text; and a count of the
//! tick's calling context.

pub(crate) mod bins;
pub(crate) mod contexts;
pub(crate) mod outside_text;
pub mod scale;

use core::ptr;

use crate::os::{PAGE, copy_own_memory};
use crate::unwind::{Stack, thunks};

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
    let pc = thunks::owner_of_interrupted(pc, || code_at(pc, false));
    contexts::count_without_stack(!bins::covers(pc), bins::count(pc, ticks));
}

/// Counts ticks at a pc that belong to a time when ticks were counted, even if that time is over.
pub(crate) fn count_late(pc: usize, ticks: u32) {
    let pc = thunks::owner_of_interrupted(pc, || code_at(pc, false));
    contexts::count_without_stack(!bins::covers(pc), bins::count_late(pc, ticks));
}

/// The address to which ticks at the innermost frame of a stack belong.
fn owner(pc: usize, stack: Stack<'_>) -> usize {
    thunks::owner_of_interrupted(pc, || code_at(pc, matches!(stack, Stack::Interrupted(_))))
}

/// The eight bytes at a program counter; `None` if some of the bytes cannot be read. If `is_here`, this thread was about to execute the code there. Otherwise the
/// code may be gone, unless it is the program's; nobody asks for code that may be gone.
fn code_at(pc: usize, is_here: bool) -> Option<usize> {
    if !is_here && !bins::covers(pc) {
        return None;
    }
    if pc % PAGE > PAGE - size_of::<usize>() {
        let mut bytes = [0; size_of::<usize>()];
        return copy_own_memory(pc, &mut bytes).then(|| usize::from_ne_bytes(bytes));
    }
    // SAFETY: the code is there, and all eight bytes are on its page.
    Some(unsafe { ptr::with_exposed_provenance::<usize>(pc).read_unaligned() })
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
