//! Bounds the time that walks take.
//!
//! A walk takes longer the deeper the stack is. In a deep recursion and at a high rate, walks would take most of the
//! time, or all of it. So each tick brings frames that walks may have, and walks use them up. If any frames are left, a
//! walk may keep and pass the most frames. Otherwise walks keep few frames until ticks have brought more.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::chains::KEPT_OF_DEEP;
use super::storage::Contexts;
use crate::state::Inherited;
use crate::unwind::{MOST_FRAMES, Reach};

/// The frames in a second of samples: 50 ms, at 64 ns for a frame.
const FRAMES_PER_SECOND: u32 = 50_000_000 / 64;
/// A word that the kernel copies for a search takes as long as so many frames.
const FRAMES_PER_WORD: usize = 16;
/// A new node takes as long as so many frames.
const FRAMES_PER_NODE: u32 = 4;
/// So many frames that a walk only passes take as long as one frame.
const PASSED_PER_FRAME: usize = 4;
/// The most frames that a walk may pass to find the outer end of a stack.
const MOST_PASSED: usize = 4 << 20;
/// The most frames that can be saved, also at the start.
const MOST_SAVED: i64 = 8 * MOST_FRAMES as i64;
/// The most frames by which the number of used frames can grow: the saved frames, and one walk that passes the most
/// frames.
const MOST_OWED: i64 = 2 * MOST_SAVED + (MOST_PASSED / PASSED_PER_FRAME) as i64;

/// What a walk has used.
pub(super) struct Used {
    /// The frames that were kept.
    pub(super) frames: usize,
    /// The frames that were only passed.
    pub(super) passed: usize,
    /// The words that the kernel copied for searches: see [`Searches`](crate::unwind::Searches).
    pub(super) words: usize,
    /// The nodes that were added to the tree meanwhile.
    pub(super) new_nodes: u32,
}

/// The frames that a tick brings.
static FRAMES_PER_TICK: Inherited<AtomicU32> =
    Inherited::new("the child is sampled at the same rate", AtomicU32::new(FRAMES_PER_SECOND));

/// Sets the number of ticks in a second.
pub(crate) fn set_rate(ticks_per_second: u32) {
    FRAMES_PER_TICK.store(frames_at(ticks_per_second), Relaxed);
}

/// The frames that a tick brings at this number of ticks in a second.
fn frames_at(ticks_per_second: u32) -> u32 {
    FRAMES_PER_SECOND / ticks_per_second.max(1)
}

impl Contexts {
    /// How far the walk for some ticks may go.
    pub(super) fn reach(&self, ticks: u32) -> Reach {
        self.reach_with(ticks, FRAMES_PER_TICK.load(Relaxed))
    }

    fn reach_with(&self, ticks: u32, frames_per_tick: u32) -> Reach {
        let brought = i64::from(ticks).saturating_mul(frames_per_tick.into());
        let used = self.change_frames(-brought);
        if used < MOST_SAVED {
            Reach { kept: MOST_FRAMES as usize, passed: MOST_PASSED }
        } else {
            Reach { kept: KEPT_OF_DEEP, passed: 0 }
        }
    }

    /// Uses up the time of a walk.
    pub(super) fn use_frames(&self, used: Used) {
        let Used { frames, passed, words, new_nodes } = used;
        let frames = frames + passed / PASSED_PER_FRAME + words.saturating_mul(FRAMES_PER_WORD);
        self.change_frames(frames as i64 + i64::from(new_nodes) * i64::from(FRAMES_PER_NODE));
    }

    /// Adds frames to those that were used, and returns the new number. A change of another handler at the same time
    /// may be lost.
    fn change_frames(&self, by: i64) -> i64 {
        let used = self.frames_used.load(Relaxed).saturating_add(by).clamp(0, MOST_OWED);
        self.frames_used.store(used, Relaxed);
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of walks that had all their frames, of stacks with `depth` frames. Each adds `new_nodes`.
    fn whole_walks(contexts: &Contexts, rate: u32, ticks: u32, depth: usize, new_nodes: u32) -> u32 {
        let walk = |_: &u32| {
            let most = contexts.reach_with(1, frames_at(rate)).kept;
            let new_nodes = if most >= depth { new_nodes } else { 0 };
            contexts.use_frames(Used { frames: depth.min(most), passed: 0, words: 0, new_nodes });
            most >= depth
        };
        (0..ticks).filter(walk).count() as u32
    }

    #[test]
    fn deep_walks_take_a_twentieth_of_the_time() {
        let contexts = Contexts::new();
        for (rate, depth, whole) in [
            (1, 4000, 10_000..10_001),
            (100, 4000, 10_000..10_001),
            (1000, 700, 10_000..10_001),
            // 781 frames for each tick, of which 4,000 are used at a time, or 64.
            (1000, 4000, 1800..1870),
            (10_000, 64, 10_000..10_001),
            (10_000, 4000, 30..55),
            (u32::MAX, 4000, 0..10),
        ] {
            let found = whole_walks(&contexts, rate, 10_000, depth, 0);
            assert!(whole.contains(&found), "{rate} {depth}: {found}");
        }
        whole_walks(&contexts, 100, 100, 1, 0);
        let found = whole_walks(&contexts, 100, 1000, 4000, 4000);
        assert!((350..450).contains(&found), "new nodes: {found}");
    }

    #[test]
    fn frames_that_are_passed_are_paid_for() {
        let contexts = Contexts::new();
        for (depth, walks) in [(5000, 700..1001), (1_000_000, 25..40), (MOST_PASSED, 6..12)] {
            let passes = |_: &u32| {
                let Reach { kept, passed } = contexts.reach_with(1, frames_at(100));
                let depth = if passed > 0 { depth } else { 0 };
                contexts.use_frames(Used { frames: kept, passed: depth, words: 0, new_nodes: 0 });
                passed > 0
            };
            let found = (0..1000).filter(passes).count();
            assert!(walks.contains(&found), "{depth}: {found}");
        }
    }

    #[test]
    fn searches_are_paid_for() {
        let contexts = Contexts::new();
        let searches = |_: &u32| {
            let is_allowed = contexts.reach_with(1, frames_at(1000)).passed > 0;
            // A program with a hundred objects.
            let words = if is_allowed { 200 } else { 0 };
            contexts.use_frames(Used { frames: 20, passed: 0, words, new_nodes: 0 });
            is_allowed
        };
        // 761 frames of each tick for searches of 3,200 frames.
        let found = (0..10_000).filter(searches).count();
        assert!((2370..2400).contains(&found), "{found}");
    }

    #[test]
    fn a_walk_is_short_once_the_saved_frames_are_used() {
        let contexts = Contexts::new();
        for (used, is_whole) in [(MOST_SAVED, true), (MOST_SAVED + 1, false)] {
            contexts.frames_used.store(used, Relaxed);
            assert_eq!(contexts.reach_with(1, 1).passed > 0, is_whole, "{used}");
        }
        set_rate(1000);
        contexts.frames_used.store(MOST_SAVED, Relaxed);
        contexts.reach(3);
        assert_eq!(contexts.frames_used.load(Relaxed), MOST_SAVED - 3 * i64::from(frames_at(1000)));
    }
}
