//! Produces ticks: says where the program is, so many times in each second. [`bins`] counts them.
//!
//! Each thread has a timer of its own over its own CPU time, so that equal threads get equal shares; where the system
//! refuses those, or if the user wishes it, the process's one timer serves. Above the rate at which the kernel looks at
//! timers, and if the user wishes it, the kernel samples by itself and leaves what it saw in a ring.
//!
//! Timers send a signal of our own: SIGPROF and the interval timer are the program's.

mod plan;
mod process;
mod records;
mod ring;

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

pub(crate) use plan::{HIGHEST_RATE, Sampler, Wish};

use crate::message::{say, say_error};
use crate::os::{
    Errno, SAMPLING_SIGNAL, SignalInfo, TimeOf, Timer, catch_signal, interrupted_pc, is_caught_by, let_signal_wait,
    numbers, pending_signals, process_time, ticks_per_second, uncatch_signal, without_signal,
};
use crate::ownership::is_ours;
use crate::per_process::{Account, LATEST_NOTICE, NOTICE_OF_OTHERS, PER_PROCESS, Settling};
use crate::samples::bins;
use crate::text::Text;
use plan::{DEFAULT_RATE, Plan, plan, without_ring};

/// Samples for each second, of CPU time unless `WALL` is set.
static RATE: AtomicU32 = AtomicU32::new(DEFAULT_RATE);
static WALL: AtomicBool = AtomicBool::new(false);

/// What produces the ticks: one of the following.
static PRODUCER: AtomicU32 = AtomicU32::new(THREADS);
/// A timer for each thread.
const THREADS: u32 = 0;
/// The process's timer.
const PROCESS: u32 = 1;
/// The kernel's ring.
const RING: u32 = 2;
/// Nothing any more.
const NOTHING: u32 = 3;

/// How often each second the kernel looks at timers of CPU time.
static TICKS: AtomicU32 = AtomicU32::new(DEFAULT_RATE);

/// Set once the handler is in place.
static CAUGHT: AtomicBool = AtomicBool::new(false);
/// The process's CPU time when counting began, the highest number while nothing is counted; and how much of it passed while
/// things were counted before.
static COUNTING_SINCE: AtomicU64 = AtomicU64::new(u64::MAX);
/// Whether any thread got a timer.
static HAS_TIMERS: AtomicBool = AtomicBool::new(false);
/// Why a thread could not have a timer of its own, and the child of a fork no ring; 0 if they could.
static THREAD_REFUSED: AtomicI32 = AtomicI32::new(0);
static RING_REFUSED: AtomicI32 = AtomicI32::new(0);

const NANOSECONDS: i64 = 1_000_000_000;

/// What our timers send with their signal, by which they are told from the program's: an address inside this.
static VALUES: [u8; 3] = [0; 3];
const OF_THREAD: usize = 0;
const OF_PROCESS: usize = 1;
const OF_RING: usize = 2;

fn value(of: usize) -> usize {
    (&raw const VALUES).addr() + of
}

/// Samples in each second.
pub(crate) fn profrate() -> u32 {
    RATE.load(Relaxed)
}

/// Nanoseconds from one sample to the next.
fn period() -> i64 {
    NANOSECONDS / i64::from(profrate().max(1))
}

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
    RATE.store(plan.rate, Relaxed);
    WALL.store(plan.wall, Relaxed);
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
        say(&[b"GMON_SAMPLER=", name, b" samples no thread that sleeps, as GMON_CLOCK=wall wants it: using timer"]);
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
    if !CAUGHT.swap(true, SeqCst) {
        TICKS.store(ticks_per_second(), Relaxed);
        process::prepare();
        catch_signal(SAMPLING_SIGNAL, on_expiry)?;
    }
    COUNTING_SINCE.store(process_time().unwrap_or(u64::MAX), Relaxed);
    match PRODUCER.load(SeqCst) {
        PROCESS => process::start(),
        RING => ring::start(),
        _ => Ok(()),
    }
}

/// Stops. Timers of threads may go on; what they send is not counted.
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
pub(crate) fn stop_for_good(stop_clocks: impl FnOnce()) -> bool {
    let producer = PRODUCER.swap(NOTHING, SeqCst);
    if producer == NOTHING {
        return false;
    }
    STOPPED.store(producer, SeqCst);
    stop_clocks();
    process::stop();
    ring::stop_reader();
    // What waits in any thread is gone then.
    uncatch_signal(SAMPLING_SIGNAL, on_expiry);
    CAUGHT.store(false, SeqCst);
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

/// Whether there are rings to be read. A child that was made behind the C library's back has none of its own.
fn has_ring() -> bool {
    PRODUCER.load(SeqCst) == RING && is_ours()
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

/// The handler of the timers' signal.
unsafe extern "C" fn on_expiry(signal: c_int, info: *const SignalInfo, context: *const c_void) {
    // SAFETY: the kernel calls the handler as it was installed, with SA_SIGINFO: both pointers are good.
    let (pc, info) = unsafe { (interrupted_pc(context), &*info) };
    if let Some(found) = info.timer_value() {
        if found == value(OF_RING) {
            if has_ring() {
                ring::read();
            }
            return;
        }
        // A thread may have got a timer of its own before there were no more; the process's counts for it as well.
        let of = if PRODUCER.load(Relaxed) == PROCESS { OF_PROCESS } else { OF_THREAD };
        if found != value(of) {
            return;
        }
        if bins::is_counting() {
            let expiries = info.expiries();
            let ticks = if of == OF_PROCESS { process::notice(expiries, pc) } else { notice(expiries, pc) };
            bins::count(pc, ticks);
        }
        return;
    } else if info.is_sent() {
        // SAFETY: as above, and these are the handler's arguments.
        let waits = unsafe { let_signal_wait(signal, info, context.cast_mut(), is_let_in) };
        if waits {
            return;
        }
    }
    bins::count(pc, info.expiries());
}

/// The ticks to be counted at `pc` when this thread's timer has expired so often.
fn notice(expiries: u32, pc: usize) -> u32 {
    // SAFETY: null, or a thread's clock, which is never freed.
    unsafe { own_clock().as_ref() }.map_or(expiries, |clock| clock.account.notice(expiries, pc))
}

/// This thread's clock, with which the thread's record begins (`threads` proves that); null if there is no record.
#[cfg(any(test, feature = "runtime"))]
fn own_clock() -> *const Clock {
    crate::arch::record().cast()
}

/// The same where threads have no records.
#[cfg(not(any(test, feature = "runtime")))]
fn own_clock() -> *const Clock {
    ptr::null()
}

/// HUP INT USR1 USR2 ALRM CHLD URG IO: those of the standard signals that threads which want no signals block. (Those that an
/// instruction raises, and those that stop, they may leave.)
const STANDARD: u64 = 0b11 | 1 << 9 | 1 << 11 | 1 << 13 | 1 << 16 | 1 << 22 | 1 << 28;

/// Whether a set has, ours aside, these and all of the signals from 48 to 62: they are blocked together or not at all.
/// (Emulators take the highest ones.) One that has just a few, or only real-time signals, may mean ours.
fn has_everything(signals: u64) -> bool {
    const HIGH: u64 = 0x7fff << 47;
    signals | 1 << (SAMPLING_SIGNAL - 1) | !(HIGH | STANDARD) == u64::MAX
}

/// Whether our signal is let in where a thread blocks these signals: one that wants no signals is sampled all the same.
fn is_let_in(signals: u64) -> bool {
    // By the world's time samples come to sleeping threads too, and those that block everything do not know EINTR. Without our
    // start-up code nobody hides from the program what the kernel blocks.
    cfg!(feature = "start")
        && has_everything(signals)
        && CAUGHT.load(Relaxed)
        && !WALL.load(Relaxed)
        && is_caught_by(SAMPLING_SIGNAL, on_expiry)
}

/// What the kernel is to block where a thread blocks these signals.
pub(crate) fn to_be_blocked(signals: u64) -> u64 {
    if is_let_in(signals) { without_signal(signals, SAMPLING_SIGNAL) } else { signals }
}

/// What a thread is told to have blocked where the kernel blocks these signals.
pub(crate) fn blocked_as_told(signals: u64) -> u64 {
    if is_let_in(signals) { signals | 1 << (SAMPLING_SIGNAL - 1) } else { signals }
}

/// One thread's timer.
pub(crate) struct Clock {
    timer: AtomicI32,
    /// The kernel's number of the thread.
    thread: AtomicI32,
    account: Account,
}

impl Clock {
    const NONE: i32 = -1;

    /// No timer yet.
    pub(crate) fn reset(&self) {
        self.timer.store(Clock::NONE, SeqCst);
        self.account.reset();
    }

    /// Gives this thread, whose number is `thread`, a timer in place of the one that the clock had: that was of a thread
    /// which is gone. Below mcount.
    pub(crate) fn attach(&self, thread: i32) {
        let old = self.timer.swap(Clock::NONE, SeqCst);
        if old != Clock::NONE {
            Timer(old).delete();
        }
        if PRODUCER.load(SeqCst) != THREADS {
            return;
        }
        self.account.reset();
        self.thread.store(thread, SeqCst);
        match Timer::for_this_thread(time(), thread, value(OF_THREAD)) {
            Ok(timer) => {
                self.timer.store(timer.0, SeqCst);
                HAS_TIMERS.store(true, Relaxed);
                // Whoever goes on counting just now looks at the clocks after that: one of us sees the other.
                self.run(bins::is_counting());
            }
            Err(error) => fall_back(error),
        }
    }

    /// Lets the thread's timer run, or stops the timer. Before the samples are stopped, so that the ticks that are due are
    /// counted.
    pub(crate) fn run(&self, on: bool) {
        let timer = self.timer.load(SeqCst);
        if timer == Clock::NONE {
            return;
        }
        let on = on && PRODUCER.load(SeqCst) != NOTHING;
        // A timer that cannot be set is one whose thread is gone: that thread has no time either.
        let now = self.now();
        if on {
            let _ = start_timer(Timer(timer), &self.account, now, first_expiry());
        } else {
            self.settle_at(now, false);
            let _ = Timer(timer).set(0, 0);
            if let Some(now) = now {
                self.account.stop(now);
            }
        }
    }

    /// Counts the ticks that are due and that the kernel has not noticed yet, for the last time or not.
    pub(crate) fn settle(&self, is_last: bool) {
        if self.timer.load(SeqCst) != Clock::NONE {
            self.settle_at(self.now(), is_last);
        }
    }

    fn settle_at(&self, now: Option<u64>, is_last: bool) {
        if PRODUCER.load(SeqCst) == THREADS
            && let Some(now) = now
        {
            settle(&self.account, now, ptr::eq(self, own_clock()), is_last);
        }
    }

    /// The time that the timer runs by.
    fn now(&self) -> Option<u64> {
        time().of(self.thread.load(SeqCst))
    }
}

/// Lets a timer run that is to expire first in so many nanoseconds, or go on at the time `now` as its account says. Where a filter
/// of system calls keeps the time from us, the timer begins anew.
fn start_timer(timer: Timer, account: &Account, now: Option<u64>, first: i64) -> Result<(), Errno> {
    match now {
        Some(now) => timer.set_at(account.start(now, first as u64, period() as u64), period()),
        None => timer.set(first, period()),
    }
}

/// Counts the ticks that an account owes at the time `now`. `is_own` says whether this thread can tell if the signal is
/// blocked.
fn settle(account: &Account, now: u64, is_own: bool, is_last: bool) {
    let is_let_in = is_own && pending_signals() & 1 << (SAMPLING_SIGNAL - 1) == 0;
    let most = if is_let_in { LATEST_NOTICE } else { NOTICE_OF_OTHERS };
    let settling = Settling { period: period() as u64, late: half_tick() as u64, most, is_last };
    if (bins::is_counting() || is_last)
        && let Some((pc, ticks)) = account.settle(now, settling)
    {
        bins::count_late(pc, ticks);
    }
}

/// What the timers of threads run by.
fn time() -> TimeOf {
    if WALL.load(Relaxed) { TimeOf::World } else { TimeOf::ThisThread }
}

/// When a thread's timer is to expire first, in nanoseconds: at any time in a period.
///
/// If that were always a period, a thread that does not live so long would never be seen, however many of them there are.
/// The times are spread evenly over the period by multiples of the golden ratio. Timers of CPU time expire at the first tick
/// behind their time, half a tick late on average, which is taken off here; what is then before the start expires at once.
fn first_expiry() -> i64 {
    static TURN: AtomicU32 = AtomicU32::new(0);
    const GOLDEN_RATIO: u32 = 0x9e37_79b9;
    let turn = i64::from(TURN.fetch_add(GOLDEN_RATIO, Relaxed));
    ((((period() >> 8) * turn) >> 24) - half_tick()).max(1)
}

/// Half the time from one look of the kernel at the timers to the next, in nanoseconds: so late are expiries noticed on
/// average.
fn half_tick() -> i64 {
    if WALL.load(Relaxed) { 0 } else { NANOSECONDS / i64::from(TICKS.load(Relaxed).max(1)) / 2 }
}

/// Starts the process's timer because a thread could not have its own. From then on what threads' own timers send is not
/// counted. Below mcount: what happened is said later, by [`report`].
#[cold]
fn fall_back(error: Errno) {
    THREAD_REFUSED.store(error.0, Relaxed);
    if PRODUCER.swap(PROCESS, SeqCst) != PROCESS && bins::is_counting() && process::start().is_err() {
        // The threads that have timers are sampled all the same.
        PRODUCER.store(THREADS, SeqCst);
    }
}

/// Says what went otherwise than was said before.
pub(crate) fn report() {
    let refused = THREAD_REFUSED.swap(0, Relaxed);
    if refused != 0 {
        let instead: &[u8] = match PRODUCER.load(SeqCst) {
            PROCESS => b"used the process's one: shares of threads are rough",
            _ => b"nor one for the process: some threads were not sampled",
        };
        say_error(&[b"no timer for each thread, ", instead], Errno(refused));
    }
    let error = RING_REFUSED.swap(0, Relaxed);
    if error != 0 {
        say_error(&[b"no perf_event ring for the child of a fork, used timers"], Errno(error));
    }
    let lost = ring::report();
    if CAUGHT.load(SeqCst) && !is_caught_by(SAMPLING_SIGNAL, on_expiry) {
        say(&[b"the program handles signal 60 itself, by which it is sampled: samples are missing"]);
    } else if process::is_taken() {
        say(&[b"the program uses SIGPROF or ITIMER_PROF itself, by which it was sampled: samples are missing"]);
    } else if refused == 0 && !bins::is_counting() {
        report_silence(lost);
    }
}

/// So many samples that are due do not fail to come by chance, all of them or all but a few.
const NOT_CHANCE: u64 = 20;

/// Says it if far fewer samples came than the process's CPU time is worth, `lost` ones aside, or next to none.
fn report_silence(lost: u64) {
    let producer = PRODUCER.load(SeqCst);
    if producer == THREADS && !HAS_TIMERS.load(Relaxed) {
        return; // not even the first thread has a record: that was said
    }
    let is_blind_to_kernel = producer == RING && ring::is_blind_to_kernel();
    let came = bins::ticks() + lost;
    let expected = PER_PROCESS.counted_time.load(Relaxed) / period().max(1) as u64;
    let missing = expected.saturating_sub(came);
    // How much of the time was in the kernel is not known.
    let is_silent = came <= expected / NOT_CHANCE && missing > NOT_CHANCE && !is_blind_to_kernel;
    // Five seconds, and a fifth: that is not chance, nor what is left over at the ends of threads.
    let is_short = missing >= 5 * u64::from(profrate()) && missing >= expected / 5 && !WALL.load(Relaxed);
    if !is_silent && !is_short {
        return;
    }
    let mut numbers = [Text::<20>::new(), Text::<20>::new()];
    for (text, number) in numbers.iter_mut().zip([missing, expected]) {
        text.push_decimal(number);
    }
    let why: &[u8] = match producer {
        _ if WALL.load(Relaxed) => b"threads that block signal 60 or call no profiled function are not sampled",
        THREADS => b"threads that block signal 60 or call no profiled function are sampled only by GMON_SAMPLER=perf",
        PROCESS if is_silent => b"threads that block signal 60 are sampled only by GMON_SAMPLER=perf",
        _ if is_blind_to_kernel => b"time in the kernel is sampled only if kernel.perf_event_paranoid allows it",
        _ => b"the machine was too busy to take them",
    };
    // In less than a second of CPU time on a busy machine, the kernel may not have looked at the timers even once.
    let is_brief = expected <= u64::from(profrate()) && producer != RING && !WALL.load(Relaxed);
    let or: &[u8] = if is_brief { b"the machine was too busy to take them, or " } else { b"" };
    let [missing, expected] = &numbers;
    say(&[missing.as_bytes(), b" of ", expected.as_bytes(), b" samples are missing: ", or, why]);
}
