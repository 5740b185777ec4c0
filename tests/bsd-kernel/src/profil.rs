//! profil(2) of FreeBSD: four arguments, 16-bit counters that wrap, one buffer for all threads of a process.
//!
//! Source: sys/kern/subr_prof.c (`sys_profil`, `addupc_intr`, `addupc_task`), sys/kern/kern_clock.c (`profclock`). Seen
//! on FreeBSD 15.1 (amd64): the counters of a profiled program. From the source alone: faults, and the truncation of
//! the index to 32 bits.

use nix::errno::Errno;

/// The highest scale: a 2-byte counter for each 2 bytes of code.
const FULL_SCALE: u32 = 1 << 16;

/// The profiling state of a process. A child inherits a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profil {
    /// The address of the first counter.
    pub buffer: u64,
    /// The size of all counters in bytes.
    pub size: u64,
    /// The pc that the first counter counts.
    pub offset: u64,
    /// Bytes of counters for 65,536 bytes of code.
    pub scale: u32,
    /// Whether ticks count.
    pub is_on: bool,
}

/// The effect of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charged {
    /// No effect: profiling is off, or the pc has no counter.
    Nothing,
    /// The counter at this address was incremented.
    Counter(u64),
    /// The counter at this address could not be read or written, so profiling stopped.
    Fault(u64),
}

impl Profil {
    /// profil(2).
    ///
    /// # Errors
    ///
    /// EINVAL for a scale above 65,536. The call checks nothing else.
    pub fn set(&mut self, buffer: u64, size: u64, offset: u64, scale: u32) -> Result<(), Errno> {
        match scale {
            0 => self.is_on = false,
            1..=FULL_SCALE => *self = Profil { buffer, size, offset, scale, is_on: true },
            _ => return Err(Errno::EINVAL),
        }
        Ok(())
    }

    /// Returns the address of a pc's counter. The index is truncated to 32 bits, so a distant pc may have the counter
    /// of another pc.
    #[must_use]
    pub fn counter(&self, pc: u64) -> Option<u64> {
        let distance = pc.checked_sub(self.offset)?;
        let index = (distance.wrapping_mul(u64::from(self.scale)) >> 16) as u32 & !1;
        (u64::from(index) < self.size).then(|| self.buffer.wrapping_add(u64::from(index)))
    }

    /// Counts ticks at a pc. The functions `read` and `write` access a counter in the program's memory.
    pub fn charge(
        &mut self,
        pc: u64,
        ticks: u64,
        read: impl FnOnce(u64) -> Option<u16>,
        write: impl FnOnce(u64, u16) -> Option<()>,
    ) -> Charged {
        let Some(counter) = self.is_on.then(|| self.counter(pc)).flatten() else {
            return Charged::Nothing;
        };
        if read(counter).and_then(|count| write(counter, count.wrapping_add(ticks as u16))).is_some() {
            Charged::Counter(counter)
        } else {
            self.is_on = false;
            Charged::Fault(counter)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profil(offset: u64, scale: u32) -> Profil {
        let mut profil = Profil::default();
        profil.set(0x1000, 0x100, offset, scale).unwrap();
        profil
    }

    #[test]
    fn a_pc_has_the_counter_that_its_scale_says() {
        let half = profil(0x4000, 0x8000);
        assert_eq!(half.counter(0x3fff), None);
        assert_eq!(half.counter(0x4000), Some(0x1000));
        assert_eq!(half.counter(0x4003), Some(0x1000));
        assert_eq!(half.counter(0x4004), Some(0x1002));
        assert_eq!(half.counter(0x41ff), Some(0x10fe));
        assert_eq!(half.counter(0x4200), None, "behind the buffer");
    }

    #[test]
    fn an_index_loses_all_above_32_bits() {
        let whole = profil(0x4000, 0x10000);
        assert_eq!(whole.counter(0x4000 + (1 << 32) + 6), Some(0x1006));
        assert_eq!(whole.counter(0x4000 + (1 << 31)), None, "a negative int is a large unsigned int");
    }

    #[test]
    fn a_scale_is_checked_and_zero_stops() {
        let mut profil = profil(0, 1);
        assert_eq!(profil.set(0, 0, 0, 0x10001), Err(Errno::EINVAL));
        assert!(profil.is_on);
        profil.set(0, 0, 0, 0).unwrap();
        assert_eq!(profil, Profil { buffer: 0x1000, size: 0x100, offset: 0, scale: 1, is_on: false });
    }

    #[test]
    fn a_counter_wraps_and_a_fault_stops() {
        let mut profil = profil(0, 0x10000);
        let mut count = None;
        let charged = profil.charge(
            2,
            2,
            |_| Some(65_535),
            |_, new| {
                count = Some(new);
                Some(())
            },
        );
        assert_eq!((charged, count), (Charged::Counter(0x1002), Some(1)));
        assert_eq!(profil.charge(2, 1, |_| Some(0), |_, _| None), Charged::Fault(0x1002));
        assert_eq!(profil.charge(2, 1, |_| Some(0), |_, _| Some(())), Charged::Nothing);
    }
}
