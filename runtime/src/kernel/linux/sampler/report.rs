//! Reports at the end which samples are missing, and what differs from what was reported before.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::producer::{HAS_TIMERS, NOTHING, PROCESS, PRODUCER, RING, RING_REFUSED, THREAD_REFUSED, THREADS};
use super::rate::{is_wall, period, profrate};
use super::{handler, process, ring};
use crate::file::counted_time;
use crate::message::{say, say_error};
use crate::os::Errno;
use crate::samples::bins;
use crate::text::Digits;

/// Reports what differs from what was reported before.
pub(super) fn report() {
    let refused = THREAD_REFUSED.swap(0, Relaxed);
    if refused != 0 {
        let instead: &[u8] = match PRODUCER.load(SeqCst) {
            PROCESS => b"used one for the process: shares of threads are approximate",
            _ => b"or one for the process: some threads were not sampled",
        };
        say_error(&[b"cannot create a timer for each thread, ", instead], Errno(refused));
    }
    let error = RING_REFUSED.swap(0, Relaxed);
    if error != 0 {
        say_error(&[b"cannot open the perf_event ring in a forked child, used timers"], Errno(error));
    }
    let lost = ring::report();
    let came = bins::ticks() + lost;
    let expected = counted_time() / period().max(1) as u64;
    // The ring keeps samples without the signal until the ring is full.
    let taken: &[u8] = if came >= expected && PRODUCER.load(SeqCst) != RING {
        b""
    } else if handler::is_replaced() {
        b"the program handles signal 60"
    } else if process::is_taken() {
        b"the program uses SIGPROF or ITIMER_PROF"
    } else {
        b""
    };
    if !taken.is_empty() {
        say(&[taken, b", which the sampler needs: samples are missing"]);
    } else if refused == 0 && !bins::is_counting() {
        report_missing(came, expected);
    }
}

/// More missing samples than this are not due to chance.
const NOT_CHANCE: u64 = 20;

/// Reports that far fewer samples `came`, or were reported as lost, than are `expected` from the process's CPU time, or
/// almost none.
fn report_missing(came: u64, expected: u64) {
    let producer = PRODUCER.load(SeqCst);
    if producer == NOTHING {
        return; // The sampler stopped for a filter of system calls, and said so then.
    }
    if producer == THREADS && !HAS_TIMERS.load(Relaxed) {
        return; // not even the first thread has a record, which was reported before
    }
    let is_blind_to_kernel = producer == RING && ring::is_blind_to_kernel();
    let missing = expected.saturating_sub(came);
    // The kernel's share of the time is not known.
    let is_silent = came <= expected / NOT_CHANCE && missing > NOT_CHANCE && !is_blind_to_kernel;
    // Five seconds and a fifth are not due to chance, nor to the ends of threads.
    let is_short = missing >= 5 * u64::from(profrate()) && missing >= expected / 5 && !is_wall();
    if !is_silent && !is_short {
        return;
    }
    let mut numbers = [Digits::new(), Digits::new()];
    for (text, number) in numbers.iter_mut().zip([missing, expected]) {
        text.push_decimal(number);
    }
    let why: &[u8] = match producer {
        _ if is_wall() => b"threads that block signal 60 or call no profiled function are not sampled",
        THREADS => b"threads that block signal 60 or call no profiled function are sampled only by GMON_SAMPLER=perf",
        PROCESS if is_silent => b"threads that block signal 60 are sampled only by GMON_SAMPLER=perf",
        _ if is_blind_to_kernel => b"time in the kernel is sampled only if kernel.perf_event_paranoid allows it",
        _ => b"the machine was too busy to take them",
    };
    // In less than a second of CPU time on a busy machine, the kernel may not have checked the timers even once.
    let is_brief = expected <= u64::from(profrate()) && producer != RING && !is_wall();
    let or: &[u8] = if is_brief { b"the machine was too busy to take them, or " } else { b"" };
    let [missing, expected] = &numbers;
    say(&[missing.as_bytes(), b" of ", expected.as_bytes(), b" samples are missing: ", or, why]);
}
