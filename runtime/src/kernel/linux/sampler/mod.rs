//! Produces ticks: says where the program is, so many times in each second. [`bins`] counts them.
//!
//! Each thread has a timer of its own over its own CPU time, so that equal threads get equal shares; where the system
//! refuses those, or if the user wishes it, the process's one timer serves. Above the rate at which the kernel looks at
//! timers, and if the user wishes it, the kernel samples by itself and leaves what it saw in a ring.
//!
//! Timers send a signal of our own: SIGPROF and the interval timer are the program's.

mod attach;
mod clock;
mod due;
mod handler;
mod mark;
mod plan;
mod process;
mod producer;
mod rate;
mod records;
mod report;
mod ring;

use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

pub(crate) use clock::Clock;
pub(crate) use handler::{blocked_as_told, to_be_blocked};
pub(crate) use plan::{HIGHEST_RATE, Sampler, Wish};
pub(crate) use rate::profrate;
pub(crate) use report::report;

use crate::message::{say, say_error};
use crate::os::{Errno, numbers, process_time, ticks_per_second};
use crate::per_process::PER_PROCESS;
use crate::samples::bins;
use crate::text::Text;
use plan::{DEFAULT_RATE, Plan, plan, without_ring};
use producer::{NOTHING, PROCESS, PRODUCER, RING, RING_REFUSED, THREADS, has_ring};

/// The process's CPU time when counting began; the highest number while nothing is counted.
static COUNTING_SINCE: AtomicU64 = AtomicU64::new(u64::MAX);

/// Settles what will produce the ticks, as near to the user's wish as can be; what is done otherwise is said. At start-up;
/// without it, there are timers for the threads.
pub(crate) fn choose(wish: &Wish) {
    let ticks = ticks_per_second();
    let mut plan = plan(wish, ticks);
    say_differences(wish, &plan);
    if plan.sampler == Sampler::Perf
        && let Err(error) = ring::open(plan.rate)
    {
        plan = without_ring(&plan, ticks);
        let mut rate = Text::<10>::new();
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

/// Says what of the user's wish cannot be.
fn say_differences(wish: &Wish, plan: &Plan) {
    if plan.is_other_sampler {
        let name: &[u8] = if wish.sampler == Some(Sampler::Perf) { b"perf" } else { b"itimer" };
        say(&[b"GMON_SAMPLER=", name, b" cannot sample sleeping threads, as GMON_CLOCK=wall requires: using timer"]);
    }
    if plan.is_lower_rate {
        let [mut wished, mut rate] = [Text::<10>::new(), Text::<10>::new()];
        wished.push_decimal(u64::from(wish.rate.unwrap_or(DEFAULT_RATE)));
        rate.push_decimal(u64::from(plan.rate));
        let parts: [&[u8]; 4] =
            [b"GMON_HZ=", wished.as_bytes(), b" is more than timers can do here: using ", rate.as_bytes()];
        say(&parts);
    }
}

/// Produces ticks from now on, in all threads that have a [`Clock`] and in those to come.
pub(crate) fn start() -> Result<(), Errno> {
    if PRODUCER.load(SeqCst) == NOTHING {
        return Ok(()); // and no handler, which could not return
    }
    handler::put_in_place(|| {
        rate::set_ticks(ticks_per_second());
        process::prepare();
    })?;
    COUNTING_SINCE.store(process_time().unwrap_or(u64::MAX), Relaxed);
    match PRODUCER.load(SeqCst) {
        PROCESS => process::start(),
        RING => ring::start(),
        _ => Ok(()),
    }
}

/// Stops. Timers of threads go on unless their clocks are stopped; what they send is not counted.
pub(crate) fn stop() {
    process::stop();
    let since = COUNTING_SINCE.swap(u64::MAX, Relaxed);
    PER_PROCESS.counted_time.fetch_add(process_time().unwrap_or(0).saturating_sub(since), Relaxed);
}

/// Whether samples can go on coming if `permits` answers for system calls: their signal's handler returns by one.
pub(crate) fn can_sample(permits: impl Fn(usize, [usize; 3]) -> bool) -> bool {
    permits(numbers::RT_SIGRETURN, [0; 3])
}

/// Whether a handler can give a signal its own effect if `permits` answers for system calls.
pub(crate) fn can_end_by_signal(permits: impl Fn(usize, [usize; 3]) -> bool) -> bool {
    use numbers::{GETPID, GETTID, RT_SIGACTION, RT_SIGPROCMASK, RT_SIGRETURN, TGKILL};
    [GETPID, GETTID, RT_SIGACTION, RT_SIGPROCMASK, RT_SIGRETURN, TGKILL]
        .into_iter()
        .all(|number| permits(number, [0; 3]))
}

/// What produced the ticks before [`stop_for_good`].
static STOPPED: AtomicU32 = AtomicU32::new(NOTHING);

/// Stops the timers of the process, and those of threads by `stop_clocks`, and lets no signal of timers come any more. Says whether
/// there were any.
pub(crate) fn stop_for_good(stop_clocks: impl Fn()) -> bool {
    // While it is known what produces the ticks, what is due is counted.
    stop_clocks();
    let producer = PRODUCER.swap(NOTHING, SeqCst);
    if producer == NOTHING {
        return false;
    }
    STOPPED.store(producer, SeqCst);
    stop_clocks();
    process::stop();
    ring::stop_reader();
    handler::take_away();
    true
}

/// Undoes [`stop_for_good`], but for the threads' timers.
pub(crate) fn go_on_again() {
    PRODUCER.store(STOPPED.load(SeqCst), SeqCst);
    if bins::is_counting() {
        let _ = start();
    }
}

/// Sees to it that what has been sampled is counted, as far as it lies elsewhere.
pub(crate) fn collect() {
    if has_ring() {
        ring::read_all();
    }
    process::settle(false);
}

/// Counts the ticks that are due and that nobody noticed, when no more ticks come.
pub(crate) fn settle_for_good() {
    process::settle(true);
}

/// Sees to it that what has been sampled is not counted.
pub(crate) fn discard() {
    if has_ring() {
        ring::discard();
    }
}

/// Begins anew: the child of a fork has no timers and no rings.
pub(crate) fn after_fork_in_child() {
    if PRODUCER.load(SeqCst) == RING
        && let Err(error) = ring::open(profrate())
    {
        // Timers that expire as often; several expiries come in one signal.
        RING_REFUSED.store(error.0, Relaxed);
        PRODUCER.store(THREADS, SeqCst);
    }
    if bins::is_counting() {
        let _ = start();
    }
}
