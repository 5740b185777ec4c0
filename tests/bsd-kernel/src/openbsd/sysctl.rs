//! System variables (`sys/sysctl.h` 1.246, 2025-07-31; `sys/time.h` 1.67, 2025-06-05) and clocks (`sys/_time.h` 1.10,
//! 2022-10-25; `kern/kern_tc.c`). Not seen on a real kernel.

use nix::errno::Errno;

use crate::calls::timers::{ClockId, look, write_timespec};
use crate::kernel::{Kernel, Outcome, Reply, ThreadId};
use crate::record::Kind;

/// sysctl(numbers, count, old, length, new, new_length).
pub(super) fn call(kernel: &mut Kernel, id: ThreadId, [numbers, count, old, length, new, _]: [u64; 6]) -> Outcome {
    if !(2..=12).contains(&count) {
        return Err(Errno::EINVAL.into());
    }
    let task = kernel.task(id);
    let bytes = task.read(numbers, 4 * count as usize)?;
    let numbers: Vec<u32> = bytes.as_chunks().0.iter().map(|number| u32::from_le_bytes(*number)).collect();
    let rates = kernel.personality.rates;
    let fields = match numbers[..] {
        // kern.clockrate
        [1, 12] => vec![rates.hz, 1_000_000 / rates.hz, rates.stathz, rates.profhz],
        // hw.ncpu and hw.pagesize
        [6, 3] => vec![2],
        [6, 7] => vec![4096],
        _ => {
            kernel.note(id, Kind::Unsupported, &format!("the system variable {numbers:?}"));
            return Err(Errno::EOPNOTSUPP.into());
        }
    };
    if new != 0 {
        return Err(Errno::EPERM.into());
    }
    let value: Vec<u8> = fields.iter().flat_map(|field| (*field as u32).to_le_bytes()).collect();
    let room = if length == 0 { 0 } else { task.read_u64(length)? };
    if old != 0 && room < value.len() as u64 {
        return Err(Errno::ENOMEM.into());
    }
    if old != 0 {
        task.write(old, &value)?;
    }
    if length != 0 {
        task.write(length, &(value.len() as u64).to_le_bytes())?;
    }
    Ok(Reply::Value(0))
}

/// clock_gettime(clock, time).
pub(super) fn clock_gettime(kernel: &mut Kernel, id: ThreadId, [clock, time, ..]: [u64; 6]) -> Outcome {
    let clock = match clock as u32 {
        0 => ClockId::Real,
        2 => ClockId::Process,
        3 | 5 | 6 => ClockId::Monotonic,
        4 => ClockId::Thread,
        _ => return Err(Errno::EINVAL.into()),
    };
    let now = look(kernel, id, clock);
    write_timespec(kernel.task(id), time, now)?;
    Ok(Reply::Value(0))
}
