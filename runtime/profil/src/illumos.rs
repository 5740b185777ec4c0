//! illumos' `profil` and `pcsample`.

use core::ffi::{c_long, c_uint, c_void};

use super::engine::{begin, exchange, exclusively, returned};
use super::profile::{Profile, Range};
use super::rules::{Dialect, FINEST};
use gmon_runtime::kernel::profil_clock::HUNDRED;
use gmon_runtime::os::{Errno, can_be_written, set_errno};

/// `void profil(unsigned short *buff, size_t bufsiz, size_t offset, unsigned scale)`: counts the program counter,
/// until a count is 32767. An error is in `errno`.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn gmon_profil_illumos(buff: *mut c_void, bufsiz: usize, offset: usize, scale: c_uint) {
    if let Err(error) = exclusively(|| profil(buff.expose_provenance(), bufsiz, offset, scale)) {
        set_errno(error);
    }
}

/// `long pcsample(uintptr_t samples[], long nsamples)`: stores the program counter at each tick until the array is
/// full. The result is the number of addresses that the previous call has stored. If `nsamples` is 0, sampling ends.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn gmon_pcsample(samples: *mut c_void, nsamples: c_long) -> c_long {
    match exclusively(|| pcsample(samples.expose_provenance(), nsamples)) {
        Ok(stored) => stored as c_long,
        Err(error) => returned(Err(error)).into(),
    }
}

/// # Errors
///
/// EINVAL for a scale above 0xffff, which changes nothing; ENOMEM; and the errors of starting ticks.
fn profil(buff: usize, bufsiz: usize, offset: usize, scale: u32) -> Result<(), Errno> {
    if scale > FINEST {
        return Err(Errno::EINVAL);
    }
    let length = bufsiz / size_of::<u16>();
    if scale < 2 || length == 0 {
        return exchange(None).map(drop);
    }
    let range = Range { lowpc: offset, highpc: usize::MAX, scale, bins: buff, length };
    begin(Profile::new(Dialect::Illumos, HUNDRED, core::iter::once(range)))
}

/// # Errors
///
/// EINVAL for a negative number, and EFAULT for an array that cannot be written, which change nothing; ENOMEM; and
/// the errors of starting ticks.
fn pcsample(samples: usize, nsamples: c_long) -> Result<usize, Errno> {
    let length = usize::try_from(nsamples).map_err(|_| Errno::EINVAL)?;
    if length == 0 {
        return exchange(None);
    }
    let size = length.checked_mul(size_of::<usize>()).ok_or(Errno::EINVAL)?;
    if !can_be_written(samples, size) {
        return Err(Errno::EFAULT);
    }
    let places = Range { lowpc: 0, highpc: usize::MAX, scale: 0, bins: samples, length };
    exchange(Some(Profile::new(Dialect::Addresses, HUNDRED, core::iter::once(places))?))
}

#[cfg(test)]
mod tests {
    use super::super::rules::illumos_bin as bin;
    use crate::for_every_scale;

    #[test]
    fn the_scale_is_the_reciprocal_of_the_bytes_of_code_to_a_byte_of_counters() {
        for_every_scale(|scale, distance| {
            let index = bin(0x40_1000 + distance, 0x40_1000, scale);
            if !(2..=0xffff).contains(&scale) {
                assert_eq!(index, None);
                return;
            }
            // The byte of the buffer is distance / (65536 / scale), and a counter has two bytes.
            let byte = distance as u128 * u128::from(scale) / 65536;
            assert_eq!(index.map(|index| index as u128), Some(byte / 2));
        });
    }

    #[test]
    fn the_pages_three_scales_map_2_8_and_65536_bytes_to_a_counter() {
        for (scale, width) in [(0x4000, 8), (2, 65536)] {
            for distance in (0..300_000).step_by(if width > 8 { 97 } else { 1 }) {
                assert_eq!(bin(0x1000 + distance, 0x1000, scale), Some(distance / width));
            }
        }
        // 0xffff is approximately 1: a counter stands for two bytes, except for one counter of three bytes every
        // 65536.
        let index = |distance| bin(0x1000 + distance, 0x1000, 0xffff).unwrap();
        for distance in 0..300_000 {
            assert!(index(distance) <= distance / 2 && index(distance) + 1 + distance / 65536 >= distance / 2);
            assert!(index(distance + 2) - index(distance) <= 1);
        }
    }

    #[test]
    fn a_count_ends_the_profile_when_it_reaches_32767() {
        use super::super::rules::illumos_raise as raise;
        assert_eq!(raise(0, 1), (1, true));
        assert_eq!(raise(32765, 1), (32766, true));
        for (count, ticks) in [(32766, 1), (32760, 100), (0, u32::MAX), (32767, 1)] {
            assert_eq!(raise(count, ticks), (32767, false));
        }
        assert_eq!(raise(40000, 1), (40000, false), "what the program has put there stays");
    }

    #[test]
    fn a_region_and_a_buffer_give_the_scale_by_their_ratio() {
        // The manual page: scale = RATIO * 0200000, bufsiz = size of the region * RATIO.
        for (region, ratio) in [(100_000_usize, 0.5), (4096, 0.25), (70_000, 0.1), (1 << 20, 0.001)] {
            let scale = (ratio * f64::from(0o200_000)) as u32;
            let bufsiz = (region as f64 * ratio) as usize;
            let last = bin(region - 1, 0, scale).unwrap();
            assert!(last < bufsiz.div_ceil(2), "the region fits the buffer");
            assert!(last as f64 > bufsiz as f64 / 2.0 * 0.97 - 2.0, "and fills it: {last} of {}", bufsiz / 2);
        }
    }
}
