//! The outermost end of a deep recursion.
//!
//! A walk that becomes too long compares two of its frames with the same return address. If each level of the recursion
//! has the same size, the stack has this return address at each multiple of the distance of the two frames. So a search
//! finds the outermost level with few reads, and the walk goes on there. The levels between are left out.

use super::memory::Memory;

/// The largest distance of a return address from the stack pointer of the frame to which it leads.
const MOST_DISTANCE: usize = 1024;
/// The fewest levels that are left out. Fewer of the same distance can be chance, and memory that no function has
/// written yet can have old return addresses.
const FEWEST_LEVELS: usize = 16;
const WORD: usize = size_of::<usize>();

/// A frame, and the return address that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) pc: usize,
    pub(super) sp: usize,
    pub(super) fp: usize,
}

/// Where to search for the outermost level.
pub(super) struct Search<'a, M> {
    pub(super) memory: &'a M,
    /// The bits of a return address that are the address.
    pub(super) address_bits: usize,
    /// An address above the stack, or 0 if none is known.
    pub(super) above: usize,
}

impl<M: Memory> Search<'_, M> {
    /// The outermost level of a recursion with these two levels; `None` if the stack shows no recursion of equal
    /// levels.
    #[inline(never)]
    pub(super) fn outermost(&self, inner: Level, outer: Level) -> Option<Level> {
        let stride = outer.sp.checked_sub(inner.sp).filter(|stride| *stride >= WORD && outer.pc == inner.pc)?;
        let has_address = |sp: usize, distance| self.has_address(sp.wrapping_sub(distance), inner.pc);
        let mut distances = (WORD..=stride.min(MOST_DISTANCE)).step_by(WORD);
        let distance =
            distances.find(|distance| has_address(inner.sp, *distance) && has_address(outer.sp, *distance))?;
        // Functions with a frame pointer save the caller's in the word below the return address.
        let saved = |sp: usize| self.memory.read(sp.wrapping_sub(distance + WORD));
        let is_saved = saved(inner.sp) == Some(inner.fp) && saved(outer.sp) == Some(outer.fp);
        if !is_saved && inner.fp != outer.fp {
            return None;
        }
        let at = |levels: usize| {
            let sp = outer.sp.checked_add(stride.checked_mul(levels)?)?;
            let is_inside = self.above <= outer.sp || sp < self.above;
            (is_inside && has_address(sp, distance)).then_some(sp)
        };
        if !(1..FEWEST_LEVELS).all(|levels| at(levels).is_some()) {
            return None;
        }
        let levels = last(|levels| at(levels).is_some());
        let sp = at(levels).filter(|_| levels >= FEWEST_LEVELS)?;
        Some(Level { pc: outer.pc, sp, fp: if is_saved { saved(sp)? } else { outer.fp } })
    }

    fn has_address(&self, slot: usize, pc: usize) -> bool {
        self.memory.read(slot).is_some_and(|word| word & self.address_bits == pc)
    }
}

/// The last number for which `is_good` is true, if it is true up to one number and then false.
fn last(is_good: impl Fn(usize) -> bool) -> usize {
    let (mut good, mut step) = (0_usize, 1_usize);
    while good.checked_add(step).is_some_and(&is_good) {
        good += step;
        step = step.saturating_mul(2);
    }
    while step > 1 {
        step /= 2;
        if is_good(good.saturating_add(step)) {
            good += step;
        }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::super::memory::Words;
    use super::*;

    const PC: usize = 0x40_1234;
    const SIGN: usize = 0xab << 48;

    /// A stack with levels of 48 bytes: the return address is 16 bytes below the stack pointer of its frame, and below
    /// is the frame pointer, which has the value `fp` of its level.
    fn recursion(levels: usize, fp: impl Fn(usize) -> usize) -> (Words, impl Fn(usize) -> Level) {
        let sp = |level: usize| 0x10_0000 + 48 * level;
        let slots = (0..levels).flat_map(|level| [(sp(level) - 16, PC | SIGN), (sp(level) - 24, fp(level))]);
        let words = slots.collect();
        (words, move |level| Level { pc: PC, sp: sp(level), fp: fp(level) })
    }

    fn search(memory: &Words, above: usize) -> Search<'_, Words> {
        Search { memory, address_bits: (1 << 48) - 1, above }
    }

    #[test]
    fn the_outermost_level_is_found() {
        for levels in [18, 19, 20, 100, 1000, 1023, 1024, 1025, 100_000] {
            let (words, level) = recursion(levels, |level| 0x10_0000 + 48 * level - 24);
            assert_eq!(search(&words, 0).outermost(level(0), level(1)), Some(level(levels - 1)), "{levels}");
        }
        let (words, level) = recursion(100, |_| 7);
        assert_eq!(search(&words, 0).outermost(level(3), level(5)), Some(level(99)), "a period of two levels");
        assert_eq!(search(&words, level(99).sp).outermost(level(0), level(1)), Some(level(98)), "another stack begins");
        assert_eq!(search(&words, 8).outermost(level(0), level(1)), Some(level(99)), "another stack is below");
        for other in [0, 1] {
            let (mut words, level) = recursion(100, |_| 7);
            words.insert(level(other).sp - 8, PC);
            assert_eq!(search(&words, 0).outermost(level(0), level(1)), Some(level(99)), "an argument of one level");
        }
    }

    #[test]
    fn other_stacks_have_no_such_level() {
        for levels in [2, 3, 10, 17] {
            let (words, level) = recursion(levels, |_| 7);
            assert_eq!(search(&words, 0).outermost(level(0), level(1)), None, "there are few more levels");
        }
        let (mut words, level) = recursion(100, |_| 7);
        words.remove(&(level(10).sp - 16));
        assert_eq!(search(&words, 0).outermost(level(0), level(1)), None, "a level is elsewhere");
        let (words, level) = recursion(100, |_| 7);
        let outermost = |inner, outer| search(&words, 0).outermost(inner, outer);
        assert_eq!(outermost(level(1), level(0)), None);
        assert_eq!(outermost(level(0), level(0)), None);
        assert_eq!(outermost(level(0), Level { pc: 1, ..level(1) }), None);
        assert_eq!(outermost(Level { fp: 8, ..level(0) }, level(1)), None, "the frame pointer is saved elsewhere");
        assert_eq!(outermost(level(0), Level { sp: level(1).sp + 8, ..level(1) }), None, "levels of different sizes");
    }
}
