//! A walk that keeps both ends of a stack that is too deep.

use super::architecture::Architecture;
use super::chain::{Cut, Ending, Frame};
use super::memory::Memory;
use super::objects::Loaded;
use super::outer_end::{Confirming, OUTER_FRAMES, OuterEnds, Position, Trail, confirm, extend, remember};
use super::walk::Walk;

/// How far a walk may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The most frames of the inner end.
    pub kept: usize,
    /// The most further frames that the walk may pass to find the outer end.
    pub passed: usize,
}

/// How a walk has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walked {
    /// Whether the chain is whole. A chain that is too deep has the frames of [`Trail::outer`] outside of the gap, if
    /// there are any; a chain that is whole has them outside of its last frame.
    pub ending: Ending,
    /// The number of frames that the walk has passed.
    pub passed: usize,
}

/// Stacks with fewer frames need not be remembered: every walk has so many.
const FEW_FRAMES: usize = 64;
const TOO_DEEP: Ending = Ending::Cut(Cut::TooDeep);

/// A walk, and what it needs to keep both ends.
pub struct Ends<'w, 'a, A, O, M, E, const N: usize> {
    /// The walk, which has started.
    pub walk: &'w mut Walk<'a, A, O, M, N>,
    /// The memory of the walk.
    pub memory: &'a M,
    /// The outer ends that earlier walks have found.
    pub remembered: &'w E,
    /// The thread whose stack it is; 0 if that is not known.
    pub thread: usize,
    /// Gets the outer end.
    pub trail: &'w mut Trail,
}

impl<'a, A: Architecture, O: Loaded<'a>, M: Memory, E: OuterEnds, const N: usize> Ends<'_, 'a, A, O, M, E, N> {
    /// Passes the frames of the inner end to `each`, until the result is false, and finds the outer end.
    pub fn run(&mut self, reach: Reach, mut each: impl FnMut(Frame) -> bool) -> Walked {
        self.trail.clear();
        self.walk.go_on_behind_most();
        let mut kept = 0;
        while kept < reach.kept && self.walk.ending().is_none() {
            if kept >= FEW_FRAMES - OUTER_FRAMES {
                self.trail.push(self.walk.here());
            }
            let Some(frame) = self.walk.next() else { break };
            if !each(frame) {
                return Walked { ending: TOO_DEEP, passed: 0 };
            }
            kept += 1;
        }
        match self.walk.ending() {
            None => self.find_outer_end(reach.passed),
            Some(ending) => {
                if ending == Ending::Outermost && kept >= FEW_FRAMES {
                    self.remember();
                }
                Walked { ending, passed: 0 }
            }
        }
    }

    fn remember(&mut self) {
        remember(self.remembered, self.thread, self.walk.here().bottom, self.trail);
    }

    /// Finds the outer end where it was before, or by going there.
    #[inline(never)]
    fn find_outer_end(&mut self, most: usize) -> Walked {
        let here = self.walk.here();
        let walk = &*self.walk;
        let with = Confirming {
            memory: self.memory,
            address_bits: A::ADDRESS_BITS,
            is_same_function: |one, other| walk.is_in_same_function(one, other),
        };
        let known = confirm(self.remembered, self.thread, here, &with, self.trail);
        let is_here = known.is_some_and(|known| known.has(here.sp));
        if let Some(known) = known.filter(|known| is_here && (known.is_whole || most == 0)) {
            let ending = if known.is_joined { Ending::Outermost } else { TOO_DEEP };
            return Walked { ending, passed: 0 };
        }
        let mut passed = 0;
        while passed < most {
            let Position { sp, bottom, .. } = self.walk.here();
            if let Some(known) = known.filter(|known| known.is_whole && known.has(sp)) {
                extend(self.remembered, self.thread, &known, bottom);
                return Walked { ending: TOO_DEEP, passed };
            }
            self.trail.push(self.walk.here());
            let _ = self.walk.next();
            passed += 1;
            match self.walk.ending() {
                None => {}
                Some(Ending::Outermost) => {
                    self.remember();
                    let ending = if self.trail.end(passed) { Ending::Outermost } else { TOO_DEEP };
                    return Walked { ending, passed };
                }
                Some(_) => break,
            }
        }
        if !is_here {
            self.trail.clear_outer();
        }
        Walked { ending: TOO_DEEP, passed }
    }
}

#[cfg(test)]
mod tests {
    use super::super::outer_end::Room;
    use super::super::tests::x86_64::{called, tables};
    use super::super::tests::{CODE, CONTEXT, Made, OTHER, SIGNALS, STACK, TABLES, context};
    use super::super::{Cache, OUTER_FRAMES, Object, Objects, Section, Tables, X86_64};
    use super::*;

    const THREAD: usize = 0x5000;
    const LEVELS: usize = 6000;
    const START: usize = 2;
    /// Two calls in the first function.
    const SITES: [usize; 2] = [CODE + 0x10, CODE + 0x18];

    /// A recursion whose levels have frames of many sizes: the frame pointers, and the chain of return addresses from
    /// the innermost on.
    struct Recursion {
        memory: Made,
        fps: Vec<usize>,
        calls: Vec<usize>,
    }

    fn recursion() -> Recursion {
        let mut memory = Made::default();
        let mut fps = vec![STACK];
        for level in 0..LEVELS {
            fps.push(fps[level] + 32 + ((level * 2_654_435_761) >> 13) % 11 * 16);
        }
        let sites = SITES.map(|site| called(&mut memory, site));
        let mut calls: Vec<_> = (0..LEVELS - 1).map(|level| sites[((level * 40_503) >> 9) & 1]).collect();
        calls.push(called(&mut memory, CODE + 0x100 * START + 0x10));
        for (level, call) in calls.iter().enumerate() {
            memory.words(fps[level], &[fps[level + 1], *call]);
        }
        Recursion { memory, fps, calls }
    }

    impl Recursion {
        /// Walks from a level. Returns the frames of the inner end without the interrupted one, the outer frames, and
        /// the result.
        fn walk(&mut self, ends: &Room<4>, level: usize, reach: Reach) -> (Vec<usize>, Vec<usize>, Walked) {
            let fp = self.fps[level];
            context(&mut self.memory, CONTEXT, CODE + 0x12, &[(6, fp), (7, fp - 8)]);
            let section = tables();
            let list = [Object::new(CODE..OTHER, Section { address: TABLES, bytes: &section }, Some(0))];
            let cache = Cache::<64>::new();
            let tables = Tables { objects: Objects::new(&list, 1), thread: 0, cache: &cache, signals: &SIGNALS };
            let (mut inner, mut trail) = (Vec::new(), Trail::new());
            let mut walk = Walk::<X86_64, _, _, _>::new(&tables, &self.memory, CONTEXT);
            let mut run =
                Ends { walk: &mut walk, memory: &self.memory, remembered: ends, thread: THREAD, trail: &mut trail };
            let walked = run.run(reach, |frame| {
                inner.push(frame.pc);
                true
            });
            assert_eq!(inner.len().min(reach.kept), inner.len());
            inner.remove(0);
            assert_eq!(inner, self.calls[level..][..inner.len()]);
            (inner, trail.outer().iter().map(|pc| *pc as usize).collect(), walked)
        }

        /// The outermost frames, the outermost first.
        fn outer(&self, frames: usize) -> Vec<usize> {
            self.calls.iter().rev().take(frames).copied().collect()
        }
    }

    const FAR: Reach = Reach { kept: 4096, passed: 100_000 };
    const NEAR: Reach = Reach { kept: 64, passed: 0 };
    const WHOLE: Ending = Ending::Outermost;

    #[test]
    fn the_outer_end_is_found_once_and_then_remembered() {
        let (ends, mut recursion) = (Room::new(), recursion());
        let outer = recursion.outer(OUTER_FRAMES);
        let (inner, found, walked) = recursion.walk(&ends, 500, NEAR);
        assert_eq!(
            (inner.len(), found, walked),
            (63, vec![], Walked { ending: TOO_DEEP, passed: 0 }),
            "nothing is known"
        );
        let (inner, found, walked) = recursion.walk(&ends, 500, FAR);
        assert_eq!((inner.len(), &found), (4095, &outer));
        assert_eq!(walked, Walked { ending: TOO_DEEP, passed: LEVELS - 500 - 4095 });
        for level in [500, 1000, 5800] {
            let (_, found, walked) = recursion.walk(&ends, level, NEAR);
            assert_eq!((found, walked), (outer.clone(), Walked { ending: TOO_DEEP, passed: 0 }), "{level}");
        }
        // A deeper stack: the frames down to the known part are passed once.
        assert_eq!(recursion.walk(&ends, 0, NEAR).1, []);
        let (_, found, walked) = recursion.walk(&ends, 0, Reach { kept: 64, ..FAR });
        assert_eq!((found, walked.ending), (outer.clone(), TOO_DEEP));
        assert!((430..440).contains(&walked.passed), "{walked:?}");
        assert_eq!(recursion.walk(&ends, 0, NEAR).1, outer);
    }

    #[test]
    fn chains_that_need_no_gap_are_whole() {
        let (ends, mut recursion) = (Room::new(), recursion());
        let whole = |recursion: &mut Recursion, levels: usize, reach| {
            let (inner, outer, walked) = recursion.walk(&ends, LEVELS - levels, reach);
            assert_eq!(outer, recursion.outer(levels - inner.len()), "{levels}");
            (walked.ending == WHOLE).then_some(walked.passed)
        };
        // The walk passes a few frames to the known part. The next walk remembers the stack.
        assert_eq!(whole(&mut recursion, 4095 + 20, FAR), Some(20));
        assert_eq!(whole(&mut recursion, 4095 + 20, FAR), Some(0));
        assert_eq!(whole(&mut recursion, 4095, FAR), Some(0));
        assert_eq!(whole(&mut recursion, 100, FAR), Some(0));
        assert_eq!(whole(&mut recursion, 90, NEAR), Some(0));
    }

    #[test]
    fn outer_frames_that_have_changed_are_found_anew() {
        let (ends, mut recursion) = (Room::new(), recursion());
        recursion.walk(&ends, 0, FAR);
        // The sixth frame from outside calls from another place.
        let level = LEVELS - 6;
        let other = SITES[0] + SITES[1] - recursion.calls[level];
        recursion.calls[level] = other;
        let slot = recursion.fps[level] + 8;
        recursion.memory.words(slot, &[other]);
        assert_eq!(recursion.walk(&ends, 0, NEAR).1, recursion.outer(6), "what the stack confirms");
        let (_, found, walked) = recursion.walk(&ends, 0, FAR);
        assert_eq!((found, walked.passed), (recursion.outer(OUTER_FRAMES), LEVELS - 4095));
        assert_eq!(recursion.walk(&ends, 0, NEAR).1, recursion.outer(OUTER_FRAMES));
    }

    #[test]
    fn only_long_walks_to_the_outermost_frame_are_remembered() {
        let (mut recursion, all) = (recursion(), Reach { kept: 4096, passed: 0 });
        let known = |recursion: &mut Recursion, ends: &Room<4>| recursion.walk(ends, LEVELS - 100, NEAR);
        let nothing = (vec![], Walked { ending: TOO_DEEP, passed: 0 });
        for (levels, is_remembered) in [(50, false), (62, false), (63, true), (100, true), (4095, true), (4096, false)]
        {
            let ends = Room::new();
            recursion.walk(&ends, LEVELS - levels, all);
            // A walk that stops among the frames that may be known.
            let (_, outer, walked) = known(&mut recursion, &ends);
            if is_remembered {
                assert!(!outer.is_empty(), "{levels}");
            } else {
                assert_eq!((outer, walked), nothing, "{levels}");
            }
        }
        // A chain that is cut.
        let ends = Room::new();
        let cut = recursion.fps[LEVELS - 10] + 8;
        let call = recursion.calls[LEVELS - 10];
        recursion.memory.words(cut, &[CODE + 1]);
        assert_eq!(recursion.walk(&ends, LEVELS - 100, all).2.ending, Ending::Cut(Cut::Misled));
        recursion.memory.words(cut, &[call]);
        let (_, outer, walked) = known(&mut recursion, &ends);
        assert_eq!((outer, walked), nothing);
    }
}
