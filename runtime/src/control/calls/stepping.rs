//! Opens and closes windows at ticks of the sampler.
//!
//! The length of a window is its CPU time: while a window opens, function after function begins to count, and they end
//! in the same order. So each function counts for the time from the middle of the opening to the middle of the closing,
//! in which the thread that changes the code makes no calls.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::super::merge;
use super::super::writing_thread::exclusively_now;
use super::estimates::Window;
use super::plan::Step;
use super::refusal::Refusal;
use super::switching::{State, counts_at, put, state};
use super::windows::{COUNTING, Change, DUE, IN_WINDOWS, IS_OPEN, IS_STEPPING, MOST_TICKS, TICKS, WAS_PAUSED, Windows};
use super::{change_now, may_change};
use crate::file::side_file::{gets_ticks, on_demand};
use crate::kernel::profrate;
use crate::os::{OwnMemory, process_id, process_time, thread_time, unix_time};
use crate::samples::requests::count_ticks;

/// If a signal stands for more nanoseconds of ticks than these, the machine was paused, and the process has made no
/// calls, although its CPU time has passed. Shorter gaps are usual: on busy virtual machines, signals of 40 ms and more
/// come late while the process goes on. Where the machine was paused for less, both the windows and the whole time
/// contain their part of the pauses.
const LONGEST_GAP: u64 = 1_000_000_000;
/// A signal may stand for so many ticks in each case.
const FEW_TICKS: u64 = 3;

/// Counts ticks at an interrupted instruction, and opens or closes a window if that is due. Called in the handler of
/// the sampling signal.
fn on_ticks(pc: usize, ticks: u32) {
    let most = MOST_TICKS.load(Relaxed);
    let is_pause = u64::from(ticks) > most;
    if is_pause {
        WAS_PAUSED.store(true, Relaxed);
    }
    let ticks = if is_pause { 1 } else { u64::from(ticks) };
    if IS_OPEN.load(Relaxed) {
        IN_WINDOWS.fetch_add(ticks, Relaxed);
        if counts_at(pc) {
            COUNTING.fetch_add(ticks, Relaxed);
        }
    }
    let now = TICKS.fetch_add(ticks, Relaxed) + ticks;
    if now < DUE.load(Relaxed) || IS_STEPPING.swap(true, SeqCst) {
        return;
    }
    if let Some(state) = state().filter(|_| may_change()) {
        exclusively_now(&mut || {
            // SAFETY: memory that is never freed, and one thread at a time is here.
            change_now(|| unsafe { &mut *state }.step(now));
        });
    }
    IS_STEPPING.store(false, SeqCst);
}

/// Says of a run-time address whether the calls of the function are estimated.
fn is_site(pc: usize) -> bool {
    // SAFETY: memory that is never freed; `merge` asks only in the thread that may write the file.
    state().is_some_and(|state| unsafe { &*state }.has_site(pc))
}

impl State {
    /// Counts the calls of a selection in windows that cover this part of the time, in millionths.
    pub(super) fn begin_windows<'a>(&mut self, selection: usize, share: u64) -> Result<(), Refusal<'a>> {
        if !gets_ticks() {
            return Err(Refusal::NoTicks);
        }
        let period = 1_000_000_000 / u64::from(profrate().max(1));
        self.windows.selection = selection;
        self.windows.plan.begin(share, period, seed(), 0);
        merge::estimate_calls(is_site);
        on_demand::set_source(put);
        MOST_TICKS.store((LONGEST_GAP / period.max(1)).max(FEW_TICKS), Relaxed);
        DUE.store(self.windows.plan.due(), Relaxed);
        count_ticks(on_ticks);
        Ok(())
    }

    /// Opens or closes a window, if that is due at the tick `now`.
    fn step(&mut self, now: u64) {
        match self.windows.plan.step(now) {
            Some(Step::Open) => match self.timed_change(Some(self.windows.selection)) {
                Some(change) => {
                    WAS_PAUSED.store(false, Relaxed);
                    self.windows.opened = change;
                    self.windows.plan.is_open = true;
                    IS_OPEN.store(true, Relaxed);
                }
                None => self.windows.plan.close(now, 0),
            },
            Some(Step::Close) => self.close_window(now, true),
            None => {}
        }
        DUE.store(self.windows.plan.due(), Relaxed);
    }

    /// Closes the window that is open, before an object is closed. What the window has seen is left out: such windows
    /// end where the program closes objects, and so see too many of the calls that come before.
    pub(super) fn close_early(&mut self) {
        if self.windows.is_open() {
            self.windows.left_out += 1;
            self.close_window(TICKS.load(Relaxed), false);
            DUE.store(self.windows.plan.due(), Relaxed);
        }
    }

    /// Closes the window at the tick `now`. With `is_whole`, what the window has seen is kept.
    fn close_window(&mut self, now: u64, is_whole: bool) {
        let before = thread_time();
        let closed = self.timed_change(None);
        if closed.is_none() && is_whole {
            // The functions still count: the next tick tries again.
            return;
        }
        IS_OPEN.store(false, Relaxed);
        // SAFETY: this is the thread that may write the file.
        let calls = unsafe { merge::take_estimated() };
        let Windows { plan, estimates, opened, .. } = &mut self.windows;
        if let Some(closed) = closed {
            let both = closed.times.saturating_sub(opened.times);
            let time = both.saturating_sub(opened.own).saturating_sub(closed.own) / 2;
            // A clock that a filter hides says nothing.
            if is_whole && opened.times > 0 && time > 0 && !WAS_PAUSED.load(Relaxed) {
                estimates.add(Window { time, stretch: plan.stretch(), period: plan.period() }, calls);
            }
        }
        let cost = opened.own.saturating_add(thread_time().saturating_sub(before));
        plan.close(now, cost);
    }

    /// Changes the code for a selection, and measures the change. `None` if the code could not be changed.
    fn timed_change(&mut self, selection: Option<usize>) -> Option<Change> {
        let clocks = || (process_time().unwrap_or(0), thread_time());
        let memory = OwnMemory::open().ok()?;
        let (first, own) = clocks();
        let result = self.apply(selection, &memory);
        let (last, own_last) = clocks();
        memory.close();
        result.ok().map(|()| Change { times: first.saturating_add(last), own: own_last.saturating_sub(own) })
    }

    /// Plans windows anew in the child of a fork, whose profile begins now.
    pub(super) fn restart_windows(&mut self) {
        if !self.windows.is_some() {
            return;
        }
        if self.windows.is_open() {
            let _ = self.timed_change(None);
        }
        let Windows { plan, estimates, left_out, .. } = &mut self.windows;
        *left_out = 0;
        estimates.clear();
        plan.begin(plan.share(), plan.period(), seed(), 0);
        DUE.store(plan.due(), Relaxed);
    }
}

/// A number that no two runs have in common.
fn seed() -> u64 {
    unix_time().wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ process_id() as u64
}
