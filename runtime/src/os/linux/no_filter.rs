//! In place of `filter` where nobody can see that the program installs a filter.

pub(super) fn refusal(_: usize, _: usize, _: usize, _: usize, _: usize, _: usize, _: usize) -> u32 {
    0
}
