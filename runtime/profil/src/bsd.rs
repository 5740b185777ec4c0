//! 4.4BSD's `profil`.

use core::ffi::{c_int, c_uint, c_void};

use super::engine::{begin, exchange, exclusively, returned};
use super::profile::{Profile, Range};
use super::rules::Dialect;
use gmon_runtime::kernel::profil_clock::HUNDRED;
use gmon_runtime::os::{Errno, can_be_written};
use gmon_runtime::samples::scale::ONE_TO_ONE;

/// `int profil(char *samples, size_t size, size_t offset, unsigned scale)`: counts the program counter at each clock
/// tick.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn gmon_profil_bsd(samples: *mut c_void, size: usize, offset: usize, scale: c_uint) -> c_int {
    returned(exclusively(|| profil(samples.expose_provenance(), size, offset, scale)))
}

/// # Errors
///
/// EINVAL for a scale above 65536, which changes nothing; EFAULT for a buffer that cannot be written, which ends the
/// current profile; ENOMEM; and the errors of starting ticks.
fn profil(samples: usize, size: usize, offset: usize, scale: u32) -> Result<(), Errno> {
    if scale > ONE_TO_ONE {
        return Err(Errno::EINVAL);
    }
    if scale == 0 || size == 0 {
        return exchange(None).map(drop);
    }
    if !can_be_written(samples, size) {
        return exchange(None).and(Err(Errno::EFAULT));
    }
    let range = Range { lowpc: offset, highpc: usize::MAX, scale, bins: samples, length: size / size_of::<u16>() };
    begin(Profile::new(Dialect::Bsd, HUNDRED, core::iter::once(range)))
}

#[cfg(test)]
mod tests {
    use super::super::rules::bsd_bin as bin;
    use crate::for_every_scale;

    #[test]
    fn the_bin_is_half_the_distance_times_the_scale_over_65536() {
        for_every_scale(|scale, distance| {
            let found = bin(0x40_1000 + distance, 0x40_1000, scale);
            let Some(bin) = found else {
                assert_eq!(scale, 0);
                return;
            };
            // [(pc - offset) / 2] * scale / 65536 without rounding is at least bin, and less than bin + 1.
            let twice_65536_times = distance as u128 * u128::from(scale);
            assert!(bin as u128 * 131_072 <= twice_65536_times && twice_65536_times < (bin as u128 + 1) * 131_072);
            if distance % 2 == 0 {
                assert_eq!(bin, distance / 2 * scale as usize / 65536, "in whole numbers throughout");
            }
        });
    }

    #[test]
    fn a_scale_of_65536_maps_two_bytes_to_a_bin_and_half_of_it_twice_as_many() {
        for (scale, width) in [(65536, 2), (32768, 4), (16384, 8), (1, 131_072)] {
            for distance in (0..400_000).step_by(if width > 8 { 97 } else { 1 }) {
                assert_eq!(bin(0x1000 + distance, 0x1000, scale), Some(distance / width));
            }
        }
    }

    #[test]
    fn a_scale_in_between_gives_bins_of_about_as_many_bytes() {
        for scale in [3, 100, 20_000, 40_000, 65_535] {
            let width = 131_072.0 / f64::from(scale);
            let borders: Vec<_> = (1..200_000).filter(|at| bin(*at, 0, scale) != bin(at - 1, 0, scale)).collect();
            for bin in borders.windows(2) {
                let length = bin[1] - bin[0];
                assert!((length as f64 - width).abs() < 1.0, "scale {scale}: {length} bytes from {}", bin[0]);
            }
            assert!(borders.len() > 2);
        }
    }

    #[test]
    fn the_offset_is_the_lowest_address() {
        for scale in [1, 100, 65536] {
            assert_eq!(bin(0xfff, 0x1000, scale), None);
            assert_eq!(bin(0x1000, 0x1000, scale), Some(0));
        }
        assert_eq!(bin(0x1000, 0x1000, 65537), None);
    }
}
