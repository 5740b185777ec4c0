//! Clocks, timers and profil(2).
//!
//! Source: sys/kern/kern_time.c (`kern_clock_gettime`, `kern_ktimer_create`), sys/kern/subr_prof.c (`sys_profil`). Seen
//! on FreeBSD 15.1 (amd64): profil(2), the process's clock; not the timers of ktimer_create(2).

use nix::errno::Errno;

use crate::calls::timers::{ClockId, look, read_timespec, write_timespec};
use crate::clock::Timer;
use crate::kernel::{Kernel, Outcome, Reply, ThreadId};
use crate::record::Kind;
use crate::signal::SIGALRM;

/// profil(samples, size, offset, scale).
pub(super) fn profil(kernel: &mut Kernel, id: ThreadId, [samples, size, offset, scale, ..]: [u64; 6]) -> Outcome {
    // The scale is an unsigned int.
    let scale = scale as u32;
    kernel.process_of(id).profil.set(samples, size, offset, scale)?;
    let text = format!("{samples:#x} {size:#x} {offset:#x} {scale:#x}");
    kernel.note(id, Kind::Profil, &text);
    Ok(Reply::Value(0))
}

/// clock_gettime(clock, time).
pub(super) fn clock_gettime(kernel: &mut Kernel, id: ThreadId, [clock, time, ..]: [u64; 6]) -> Outcome {
    let clock = match clock as u32 {
        // CLOCK_REALTIME and its variants, CLOCK_SECOND.
        0 | 9 | 10 | 13 => ClockId::Real,
        // CLOCK_MONOTONIC, CLOCK_UPTIME and their variants.
        4 | 5 | 7 | 8 | 11 | 12 => ClockId::Monotonic,
        14 => ClockId::Thread,
        // CLOCK_VIRTUAL.
        1 => ClockId::User,
        // CLOCK_PROF, CLOCK_PROCESS_CPUTIME_ID.
        2 | 15 => ClockId::Process,
        _ => return Err(Errno::EINVAL.into()),
    };
    let now = look(kernel, id, clock);
    write_timespec(kernel.task(id), time, now)?;
    Ok(Reply::Value(0))
}

const SIGEV_NONE: u32 = 0;
const SIGEV_SIGNAL: u32 = 1;
const SIGEV_THREAD_ID: u32 = 4;
const TIMERS: i32 = 32;

/// ktimer_create(clock, event, timer): the clocks of CPU time have no timers.
pub(super) fn timer_create(kernel: &mut Kernel, id: ThreadId, [clock, event, number, ..]: [u64; 6]) -> Outcome {
    if ![0, 4].contains(&(clock as u32)) {
        return Err(Errno::EINVAL.into());
    }
    let task = kernel.task(id);
    let timers = &kernel.process_of(id).timers;
    let free = (0..TIMERS).find(|timer| !timers.contains_key(timer)).ok_or(Errno::EAGAIN)?;
    let mut timer = Timer { signal: SIGALRM, value: free as u64, ..Timer::default() };
    if event != 0 {
        let bytes = task.read(event, 24)?;
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let (notify, signal) = (word(0), word(4));
        timer.value = task.read_u64(event + 8)?;
        timer.signal = if notify == SIGEV_NONE { 0 } else { signal };
        timer.thread = if notify == SIGEV_THREAD_ID { i64::from(word(16)) } else { 0 };
        let is_known = [SIGEV_NONE, SIGEV_SIGNAL, SIGEV_THREAD_ID].contains(&notify);
        let has_signal = notify == SIGEV_NONE || (1..=kernel.personality.signals).contains(&signal);
        if !is_known || !has_signal {
            return Err(Errno::EINVAL.into());
        }
    }
    task.write(number, &free.to_le_bytes())?;
    kernel.process_of(id).timers.insert(free, timer);
    Ok(Reply::Value(0))
}

/// ktimer_delete(timer).
pub(super) fn timer_delete(kernel: &mut Kernel, id: ThreadId, [number, ..]: [u64; 6]) -> Outcome {
    let number = Some(number as i32).filter(|number| *number >= 0).ok_or(Errno::EINVAL)?;
    kernel.process_of(id).timers.remove(&number).ok_or(Errno::EINVAL)?;
    Ok(Reply::Value(0))
}

/// ktimer_settime(timer, flags, new, old).
pub(super) fn timer_settime(kernel: &mut Kernel, id: ThreadId, [number, flags, new, old, ..]: [u64; 6]) -> Outcome {
    const ABSOLUTE: u64 = 1;
    let task = kernel.task(id);
    let (interval, value) = (read_timespec(task, new)?, read_timespec(task, new + 16)?);
    let now = kernel.clock.now();
    let number = Some(number as i32).filter(|number| *number >= 0).ok_or(Errno::EINVAL)?;
    let timer = *kernel.process_of(id).timers.get(&number).ok_or(Errno::EINVAL)?;
    if old != 0 {
        write_timespec(task, old, timer.interval)?;
        write_timespec(task, old + 16, timer.deadline.map_or(0, |deadline| deadline.saturating_sub(now)))?;
    }
    if flags & ABSOLUTE != 0 {
        kernel.note(id, Kind::Unsupported, "ktimer_settime with TIMER_ABSTIME");
        return Err(Errno::EINVAL.into());
    }
    let timer = Timer { deadline: (value != 0).then_some(now + value), interval, ..timer };
    kernel.process_of(id).timers.insert(number, timer);
    Ok(Reply::Value(0))
}
