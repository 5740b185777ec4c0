//! Calls in short windows, so that counting costs little: what the windows have seen, and the estimates for the whole
//! run.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use gmon::encode::side_file::EstimateEncoder;

use super::estimates::{Estimate, Estimates, WindowTicks};
use super::plan::Plan;
use crate::file::side_file::place;
use crate::file::writer::Writer;
use crate::message::say_count;
use crate::state::{Inherited, Reset, resets};

/// Windows, and what they have seen. Zeros if there are none.
pub(super) struct Windows {
    pub(super) plan: Plan,
    pub(super) estimates: Estimates,
    /// The selection whose calls are counted.
    pub(super) selection: usize,
    /// How the open window began.
    pub(super) opened: Change,
    /// The windows that were left out, because the program has closed an object meanwhile.
    pub(super) left_out: u64,
}

/// What a change of the code took.
#[derive(Clone, Copy)]
pub(super) struct Change {
    /// The sum of the CPU times of the process at the begin and at the end of the change.
    pub(super) times: u64,
    /// The CPU time of this thread for the change.
    pub(super) own: u64,
}

/// The tick at which something is due.
pub(super) static DUE: Inherited<AtomicU64> =
    Inherited::new("the child plans windows of its own", AtomicU64::new(u64::MAX));

/// The most ticks for which a signal stands unless the machine was paused.
pub(super) static MOST_TICKS: Inherited<AtomicU64> =
    Inherited::new("the child has the same ticks", AtomicU64::new(u64::MAX));

resets! {
    /// Whether the machine was paused since the last window opened.
    pub(super) static WAS_PAUSED: Reset<AtomicBool> = Reset::new();
    /// The ticks so far, without pauses of the machine.
    pub(super) static TICKS: Reset<AtomicU64> = Reset::new();
    /// Whether a window is open.
    pub(super) static IS_OPEN: Reset<AtomicBool> = Reset::new();
    /// The ticks while windows were open, and those of them that have interrupted the code that counts.
    pub(super) static IN_WINDOWS: Reset<AtomicU64> = Reset::new();
    pub(super) static COUNTING: Reset<AtomicU64> = Reset::new();
    /// Whether a thread opens or closes a window.
    pub(super) static IS_STEPPING: Reset<AtomicBool> = Reset::new();
}

impl Windows {
    /// Whether calls are counted in windows.
    pub(super) fn is_some(&self) -> bool {
        self.plan.is_some()
    }

    /// The selection whose calls are counted in windows.
    pub(super) fn selection(&self) -> Option<usize> {
        self.is_some().then_some(self.selection)
    }

    /// Whether a window is open.
    pub(super) fn is_open(&self) -> bool {
        self.plan.is_open
    }

    /// Writes the estimates for the time up to now.
    pub(super) fn put(&self, out: &mut Writer) {
        let (estimates, ticks) = (&self.estimates, TICKS.load(Relaxed));
        let time = ticks.saturating_mul(self.plan.period());
        let windows = estimates.windows;
        let in_windows = WindowTicks { all: IN_WINDOWS.load(Relaxed), counting: COUNTING.load(Relaxed) };
        let mut encoder = EstimateEncoder::begin(out, self.plan.share(), windows, estimates.window_time, time);
        for seen in estimates.all() {
            let Estimate { windows, calls, variance } = estimates.estimate(seen, ticks, in_windows);
            let callee = place(seen.callee);
            match seen.caller.checked_sub(1) {
                None => encoder.all_callers(out, callee, windows, calls, variance),
                Some(caller) => encoder.caller(out, place(caller), callee, windows, calls, variance),
            }
        }
    }

    /// Reports calls that no window could keep, and windows that were left out.
    pub(super) fn say_lost(&mut self) {
        let lost = core::mem::take(&mut self.estimates.lost);
        say_count(b"", lost, b" calls of windows were lost: cannot allocate memory");
        let left_out = core::mem::take(&mut self.left_out);
        say_count(b"", left_out, b" windows of calls were left out, because objects were closed meanwhile (dlclose)");
    }
}

/// Whether calls are counted in windows.
pub(super) fn are_planned() -> bool {
    DUE.load(Relaxed) != u64::MAX
}
