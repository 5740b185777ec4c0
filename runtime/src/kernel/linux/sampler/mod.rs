//! Produces ticks: reports the program counter at a fixed rate. [`bins`] counts the ticks.
//!
//! Each thread has a timer over its own CPU time, so equal threads get equal shares. If the system refuses these
//! timers, or if the user asks for it, one timer of the process serves all threads. Above the rate at which the
//! kernel checks timers, or if the user asks for it, the kernel takes the samples itself and writes them to a ring.
//!
//! Timers send a signal of the runtime: SIGPROF and the interval timer belong to the program.

pub(super) mod account;
mod attach;
mod capacity;
mod clock;
mod due;
mod first_period;
mod handler;
mod mark;
mod phase;
mod plan;
pub(super) mod process;
mod producer;
mod rate;
mod records;
mod report;
pub(super) mod ring;

use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

pub(crate) use clock::Clock;
pub(crate) use handler::{blocked_as_told, to_be_blocked};
pub(crate) use plan::{HIGHEST_RATE, Sampler, Wish};
pub(crate) use rate::{is_wall, profrate};

use crate::file::add_counted_time;
use crate::message::{say, say_error};
use crate::os::{Errno, numbers, process_time};
use crate::samples::bins;
use crate::state::{Inherited, Reset, resets};
use crate::text::Digits;
use plan::{DEFAULT_RATE, Plan, plan, without_ring};
use producer::{NOTHING, PROCESS, PRODUCER, RING, RING_REFUSED, THREADS, has_ring, tell};

/// The time while the sampler is stopped.
const STOPPED_SINCE: u64 = u64::MAX;

resets! {
    /// The process's CPU time when the sampler last started; [`STOPPED_SINCE`] while the sampler is stopped.
    static COUNTING_SINCE: Reset<AtomicU64, { STOPPED_SINCE as i128 }> = Reset::new();
}

/// Chooses what produces the ticks, as close to the user's wish as possible, and reports differences. Called at
/// start-up; without this call, threads have timers.
pub(crate) fn choose(wish: &Wish) {
    let ticks = rate::look_at_ticks();
    let mut plan = plan(wish, ticks);
    report_differences(wish, &plan);
    if plan.sampler == Sampler::Perf
        && let Err(error) = ring::open(plan.rate)
    {
        plan = without_ring(&plan, ticks);
        let mut rate = Digits::new();
        rate.push_decimal(u64::from(plan.rate));
        say_error(&[b"cannot use the perf_event ring, using timers and GMON_HZ=", rate.as_bytes()], error);
    }
    rate::set(plan.rate, plan.wall);
    let producer = match plan.sampler {
        Sampler::Perf => RING,
        Sampler::Timer => THREADS,
        Sampler::Itimer => PROCESS,
    };
    PRODUCER.store(producer, SeqCst);
}

/// Reports which part of the user's wish is impossible.
fn report_differences(wish: &Wish, plan: &Plan) {
    if plan.is_other_sampler {
        let name: &[u8] = if wish.sampler == Some(Sampler::Perf) { b"perf" } else { b"itimer" };
        say(&[b"GMON_SAMPLER=", name, b" cannot sample sleeping threads, as GMON_CLOCK=wall requires: using timer"]);
    }
    if plan.is_lower_rate {
        let [mut wished, mut rate] = [Digits::new(), Digits::new()];
        wished.push_decimal(u64::from(wish.rate.unwrap_or(DEFAULT_RATE)));
        rate.push_decimal(u64::from(plan.rate));
        let parts: [&[u8]; 4] =
            [b"GMON_HZ=", wished.as_bytes(), b" is more than timers can do here: using ", rate.as_bytes()];
        say(&parts);
    }
}

/// Produces ticks from now on, in all threads that have a [`Clock`] and in later threads.
pub(crate) fn start() -> Result<(), Errno> {
    if PRODUCER.load(SeqCst) == NOTHING {
        return Ok(()); // without a handler, because a handler could not return
    }
    handler::put_in_place(|| {
        rate::look_at_ticks();
        process::prepare();
    })?;
    tell();
    count_time_from(process_time().unwrap_or(u64::MAX));
    match PRODUCER.load(SeqCst) {
        PROCESS => process::start(),
        RING => ring::start(),
        _ => Ok(()),
    }
}

/// Stops counting. The timers of threads run until their clocks are stopped; their signals are not counted.
pub(crate) fn stop() {
    process::stop();
    count_time_from(u64::MAX);
}

/// Adds the CPU time since the last start of the sampler to the time in which ticks are due, and counts on from the
/// process's CPU time `now`; `u64::MAX` stands for a sampler that is stopped. The sampler may already run, or may
/// already be stopped.
fn count_time_from(now: u64) {
    let since = COUNTING_SINCE.swap(now, Relaxed);
    let end = if now == u64::MAX { process_time().unwrap_or(0) } else { now };
    add_counted_time(end.saturating_sub(since));
}

/// Adds the CPU time up to now to the time in which ticks are due, if the sampler runs.
fn count_time() {
    if COUNTING_SINCE.load(Relaxed) != u64::MAX
        && let Some(now) = process_time()
    {
        count_time_from(now);
    }
}

/// Whether sampling can continue behind a filter, for which `permits` answers: the signal's handler returns by
/// rt_sigreturn.
pub(crate) fn can_sample(permits: impl Fn(usize, [usize; 3]) -> bool) -> bool {
    permits(numbers::RT_SIGRETURN, [0; 3])
}

/// Whether a handler can give a fatal signal its own effect behind a filter, for which `permits` answers.
pub(crate) fn can_end_by_signal(permits: impl Fn(usize, [usize; 3]) -> bool) -> bool {
    use numbers::{GETPID, GETTID, RT_SIGACTION, RT_SIGPROCMASK, RT_SIGRETURN, TGKILL};
    [GETPID, GETTID, RT_SIGACTION, RT_SIGPROCMASK, RT_SIGRETURN, TGKILL]
        .into_iter()
        .all(|number| permits(number, [0; 3]))
}

/// The producer of the ticks before [`stop_for_good`].
static STOPPED: Inherited<AtomicU32> = Inherited::new(
    "the child is sampled as its parent is; without rings of its own it says so",
    AtomicU32::new(NOTHING),
);

/// Stops the timers of the process, and those of threads by `stop_clocks`, and removes the handler. The result says
/// whether there was a producer.
pub(crate) fn stop_for_good(stop_clocks: impl Fn()) -> bool {
    // While the producer is still set, the ticks that are due are counted.
    stop_clocks();
    let producer = PRODUCER.swap(NOTHING, SeqCst);
    if producer == NOTHING {
        return false;
    }
    STOPPED.store(producer, SeqCst);
    stop_clocks();
    stop();
    ring::stop_reader();
    handler::take_away();
    true
}

/// Undoes [`stop_for_good`], except for the threads' timers.
pub(crate) fn go_on_again() {
    PRODUCER.store(STOPPED.load(SeqCst), SeqCst);
    if bins::is_counting() {
        let _ = start();
    }
}

/// Counts the samples that are still in the rings, and the ticks of the process's timer that are due.
pub(crate) fn collect() {
    count_stored();
    process::settle(false);
}

/// Counts the samples that are still in the rings, if there are any. Any thread may call this.
pub(crate) fn count_stored() {
    if has_ring() {
        ring::read_all();
    }
}

/// Counts the ticks that are due and that nobody noticed, after the last tick.
pub(crate) fn settle_for_good() {
    process::settle(true);
}

/// Reports what differs from what was reported before. Call this before a file is written, which has the CPU time up to
/// then.
pub(crate) fn report() {
    count_time();
    report::report();
}

/// Discards the samples that are still in the rings.
pub(crate) fn discard() {
    if has_ring() {
        ring::discard();
    }
}

/// Resets the child of a fork, which has no timers and no rings.
pub(crate) fn after_fork_in_child() {
    if PRODUCER.load(SeqCst) == RING
        && let Err(error) = ring::open(profrate())
    {
        // Timers with the same rate; several expiries come with one signal.
        RING_REFUSED.store(error.0, Relaxed);
        PRODUCER.store(THREADS, SeqCst);
    }
    if bins::is_counting() {
        let _ = start();
    }
}
