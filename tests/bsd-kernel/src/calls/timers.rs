//! Time calls that both systems have.

use nix::errno::Errno;

use crate::clock::{IntervalTimer, Timer};
use crate::error::Error;
use crate::kernel::{Kernel, Outcome, REAL_TIMER, Reply, ThreadId, Wait};
use crate::signal::SIGALRM;
use crate::task::Task;

const SECOND: u64 = 1_000_000_000;
/// The nanoseconds by which each reading of the clock advances the time, so that loops that poll the clock end.
const LOOK: u64 = 1_000;

/// The numbers of clocks.
#[derive(Clone, Copy, Debug)]
pub enum ClockId {
    /// Time since 1970.
    Real,
    /// Time since boot.
    Monotonic,
    /// CPU time of the process.
    Process,
    /// CPU time of the process outside system calls.
    User,
    /// CPU time of the thread.
    Thread,
}

/// clock_gettime of a clock: nanoseconds.
pub fn look(kernel: &mut Kernel, id: ThreadId, clock: ClockId) -> u64 {
    kernel.clock.pass(LOOK);
    let process = &kernel.processes[&kernel.threads[&id].process];
    match clock {
        ClockId::Real => kernel.clock.real(),
        ClockId::Monotonic => kernel.clock.now(),
        ClockId::Process => kernel.clock.of_ticks(process.ticks),
        ClockId::User => kernel.clock.of_ticks(process.ticks - process.system_ticks),
        ClockId::Thread => kernel.clock.of_ticks(kernel.threads[&id].ticks),
    }
}

/// Writes a timespec.
///
/// # Errors
///
/// EFAULT.
pub fn write_timespec(task: Task, address: u64, nanoseconds: u64) -> Result<(), Errno> {
    task.write(address, &[(nanoseconds / SECOND).to_le_bytes(), (nanoseconds % SECOND).to_le_bytes()].concat())
}

/// Reads a timespec and converts it to nanoseconds.
///
/// # Errors
///
/// EFAULT; EINVAL for an invalid time.
pub fn read_timespec(task: Task, address: u64) -> Result<u64, Errno> {
    let (seconds, nanoseconds) = (task.read_u64(address)?, task.read_u64(address + 8)?);
    if seconds > u64::from(u32::MAX) || nanoseconds >= SECOND {
        return Err(Errno::EINVAL);
    }
    Ok(seconds * SECOND + nanoseconds)
}

/// gettimeofday(time, zone).
///
/// # Errors
///
/// EFAULT.
pub fn gettimeofday(kernel: &mut Kernel, id: ThreadId, [time, ..]: [u64; 6]) -> Outcome {
    let now = look(kernel, id, ClockId::Real);
    let task = kernel.task(id);
    if time != 0 {
        task.write(time, &[(now / SECOND).to_le_bytes(), (now % SECOND / 1000).to_le_bytes()].concat())?;
    }
    Ok(Reply::Value(0))
}

/// nanosleep(time, rest). An interrupted sleep fails with EINTR and does not write the rest.
///
/// # Errors
///
/// EINTR, EINVAL, EFAULT.
pub fn nanosleep(kernel: &mut Kernel, id: ThreadId, [time, ..]: [u64; 6]) -> Outcome {
    let length = read_timespec(kernel.task(id), time)?;
    Ok(Reply::Wait(Wait::Time(kernel.clock.now() + length)))
}

/// Reads the value and the interval of an itimerval, in microseconds; each is 0 or at least one tick.
fn read_interval(task: Task, address: u64, tick: u64) -> Result<IntervalTimer, Error> {
    let mut times = [0; 2];
    for (place, at) in times.iter_mut().zip([address + 16, address]) {
        let (seconds, microseconds) = (task.read_u64(at)?, task.read_u64(at + 8)?);
        if seconds > 100_000_000 || microseconds >= 1_000_000 {
            return Err(Errno::EINVAL.into());
        }
        let time = seconds * 1_000_000 + microseconds;
        *place = if time == 0 { 0 } else { time.max(tick) };
    }
    Ok(IntervalTimer { value: times[0], interval: if times[0] == 0 { 0 } else { times[1] } })
}

fn write_interval(task: Task, address: u64, timer: IntervalTimer) -> Result<(), Errno> {
    let words = [timer.interval, timer.value].into_iter().flat_map(|time| [time / 1_000_000, time % 1_000_000]);
    task.write(address, &words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
}

/// Returns a timer's state for setitimer and getitimer: timer 0 is ITIMER_REAL, 1 is ITIMER_VIRTUAL, 2 is ITIMER_PROF.
fn interval(kernel: &mut Kernel, id: ThreadId, which: u64) -> Result<IntervalTimer, Errno> {
    let now = kernel.clock.now();
    let process = kernel.process_of(id);
    match which {
        0 => {
            let timer = process.timers.get(&REAL_TIMER).copied().unwrap_or_default();
            let left = timer.deadline.map_or(0, |deadline| deadline.saturating_sub(now).div_ceil(1000));
            Ok(IntervalTimer { value: left, interval: timer.interval / 1000 })
        }
        1 | 2 => Ok(process.intervals[which as usize - 1]),
        _ => Err(Errno::EINVAL),
    }
}

/// getitimer(which, value).
///
/// # Errors
///
/// EINVAL, EFAULT.
pub fn getitimer(kernel: &mut Kernel, id: ThreadId, [which, value, ..]: [u64; 6]) -> Outcome {
    let timer = interval(kernel, id, which)?;
    write_interval(kernel.task(id), value, timer)?;
    Ok(Reply::Value(0))
}

/// setitimer(which, new, old).
///
/// # Errors
///
/// EINVAL, EFAULT.
pub fn setitimer(kernel: &mut Kernel, id: ThreadId, [which, new, old, ..]: [u64; 6]) -> Outcome {
    let before = interval(kernel, id, which)?;
    let task = kernel.task(id);
    let now = kernel.clock.now();
    let wanted = if new == 0 { None } else { Some(read_interval(task, new, kernel.clock.interval_tick())?) };
    if old != 0 {
        write_interval(task, old, before)?;
    }
    let process = kernel.process_of(id);
    match (wanted, which) {
        (None, _) => {}
        (Some(IntervalTimer { value, interval }), 0) => {
            let deadline = (value != 0).then(|| now + value * 1000);
            let timer = Timer { deadline, interval: interval * 1000, signal: SIGALRM, ..Timer::default() };
            process.timers.insert(REAL_TIMER, timer);
        }
        (Some(timer), _) => process.intervals[which as usize - 1] = timer,
    }
    Ok(Reply::Value(0))
}
