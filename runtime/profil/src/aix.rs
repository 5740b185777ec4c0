//! System V's and AIX's `profil`, for one range of code or a list of ranges.

use core::ffi::{c_uint, c_void};
use core::mem;

use super::engine::{begin, exchange, exclusively};
use super::profile::{Profile, Range};
use super::rules::{Dialect, FIRST_SHORT, fraction};
use gmon_runtime::kernel::profil_clock::SIXTY;
use gmon_runtime::os::{Errno, read, set_errno};

/// `struct prof` of `mon.h`: the low and the high end of some code, its counts and their size in bytes, and their
/// scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
struct Prof {
    p_low: usize,
    p_high: usize,
    p_buff: usize,
    p_bufsize: i32,
    p_scale: i32,
}

/// The `bufsiz` of a call with a list.
const LIST: c_uint = c_uint::MAX;
/// The `p_scale` that asks for a computed scale.
const COMPUTED: i32 = -1;
/// The computed scale for `size` bytes of counts and a whole range: the largest scale at which every address has a
/// count, and at least the lowest scale.
fn computed(range: usize, size: usize) -> u32 {
    let ratio = ((size as u128) << 16).checked_div(range as u128).unwrap_or(u128::MAX);
    u32::try_from(ratio).unwrap_or(u32::MAX).clamp(FIRST_SHORT, 0xffff)
}

impl Prof {
    /// Reads an element of the program's list.
    fn at(list: usize, index: usize) -> Result<Prof, Errno> {
        let place =
            index.checked_mul(size_of::<Prof>()).and_then(|bytes| list.checked_add(bytes)).ok_or(Errno::EFAULT)?;
        let mut bytes = [0; size_of::<Prof>()];
        read(place, &mut bytes)?;
        // SAFETY: integers without padding, for which any bytes are valid.
        Ok(unsafe { mem::transmute::<[u8; size_of::<Prof>()], Prof>(bytes) })
    }

    /// The range of the element, which is empty if the element is not profiled.
    fn range(&self) -> Range {
        let size = usize::try_from(self.p_bufsize).unwrap_or(0);
        let scale = match self.p_scale {
            COMPUTED => computed(self.p_high - self.p_low, size),
            scale => scale as u32,
        };
        let length = if fraction(scale) == 0 { 0 } else { size / size_of::<u16>() };
        Range { lowpc: self.p_low, highpc: self.p_high, scale, bins: self.p_buff, length }
    }

    /// Whether the element may follow an element that ends at `before`.
    fn can_follow(&self, before: usize) -> bool {
        self.p_high > before && self.p_low <= self.p_high && self.p_bufsize >= 0
    }
}

/// `void profil(short *shortbuff, unsigned bufsiz, size_t offset, unsigned scale)`, and `void profil(struct prof
/// *profbuff, -1, 0, 0)`: counts the program counter, sixty times a second. An error is in `errno`.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn gmon_profil_aix(buffer: *mut c_void, bufsiz: c_uint, offset: usize, scale: c_uint) {
    let buffer = buffer.expose_provenance();
    let work = || if bufsiz == LIST { profil_list(buffer) } else { profil(buffer, bufsiz as usize, offset, scale) };
    if let Err(error) = exclusively(work) {
        set_errno(error);
    }
}

/// # Errors
///
/// ENOMEM, and the errors of starting ticks.
fn profil(shortbuff: usize, bufsiz: usize, offset: usize, scale: u32) -> Result<(), Errno> {
    let length = bufsiz / size_of::<u16>();
    let scale = fraction(scale);
    if scale == 0 || length == 0 {
        return exchange(None).map(drop);
    }
    let lowpc = if scale == FIRST_SHORT { 0 } else { offset };
    let range = Range { lowpc, highpc: usize::MAX, scale, bins: shortbuff, length };
    begin(Profile::new(Dialect::Aix, SIXTY, core::iter::once(range)))
}

/// # Errors
///
/// EFAULT if a part of the list is missing; EINVAL if `p_high` does not ascend, or a range or a buffer ends before it
/// begins. These change nothing. ENOMEM, and the errors of starting ticks.
fn profil_list(list: usize) -> Result<(), Errno> {
    let (mut number, mut highest, mut counts) = (0, 0, false);
    loop {
        let element = Prof::at(list, number)?;
        if element.p_high == 0 {
            break;
        }
        if !element.can_follow(highest) {
            return Err(Errno::EINVAL);
        }
        counts |= element.range().length > 0;
        highest = element.p_high;
        number += 1;
    }
    if !counts {
        return exchange(None).map(drop);
    }
    // Another thread may be writing the list: an element that is valid only the first time is left out.
    let again = |index| Prof::at(list, index).ok().filter(|element| element.can_follow(0)).unwrap_or_default().range();
    begin(Profile::new(Dialect::Aix, SIXTY, (0..number).map(again)))
}

#[cfg(test)]
mod tests {
    use super::super::rules::{aix_bin as bin, aix_raise as raise};
    use super::*;
    use crate::for_every_scale;

    #[test]
    fn the_index_is_the_product_in_shorts() {
        for_every_scale(|scale, distance| {
            let index = bin(0x40_1000 + distance, 0x40_1000, scale);
            match scale {
                // The low 16 bits of 65536 are 0.
                0 | 65536 => assert_eq!(index, None),
                1 => assert_eq!(index, Some(0)),
                _ => {
                    let product = distance as u128 * u128::from(scale) / 65536;
                    assert_eq!(index.map(|index| index as u128), Some(product / 2));
                }
            }
        });
    }

    #[test]
    fn the_high_bits_of_a_scale_are_ignored() {
        for scale in 0..=0xffff {
            for high in [1, 0x7fff, 0xffff] {
                assert_eq!(bin(0x12345, 0x1000, high << 16 | scale), bin(0x12345, 0x1000, scale));
            }
        }
    }

    #[test]
    fn ffff_is_a_short_for_about_each_two_bytes_and_7fff_for_four() {
        for (scale, width) in [(0xffff, 2), (0x7fff, 4)] {
            for distance in 0..400_000 {
                let index = bin(0x1000 + distance, 0x1000, scale).unwrap();
                let exact = distance / width;
                assert!(index <= exact && exact - index <= 1 + exact / 32767, "{scale:#x}: {distance}");
            }
        }
    }

    #[test]
    fn no_scale_has_a_short_for_each_byte() {
        for scale in 0..=65536 {
            assert_eq!(bin(0x1001, 0x1000, scale).unwrap_or(0), 0, "the second byte is not alone in any");
        }
    }

    #[test]
    fn scale_1_has_all_instructions_in_the_first_short() {
        for pc in [0, 0xfff, 0x1000, 0x1_0000_0000, usize::MAX] {
            assert_eq!(bin(pc, 0x1000, 1), Some(0));
        }
        assert_eq!(bin(0xfff, 0x1000, 2), None);
    }

    #[test]
    fn a_computed_scale_spreads_the_range_over_the_whole_buffer() {
        for range in [1, 2, 16, 100, 4096, 100_001, 1 << 24] {
            for size in [2, 4, 10, 128, 4096, 50_000, 1 << 20] {
                let scale = computed(range, size);
                let last = bin(range - 1, 0, scale).unwrap();
                assert!(last < size / 2, "range {range}, size {size}: {last}");
                // This is the finest scale of 16 bits: the next one would go beyond the range.
                let finer = ((range - 1) as u128 * u128::from(scale + 1)) >> 17;
                assert!(scale == 0xffff || finer + 1 >= size as u128 / 2 || scale == 1, "range {range}, size {size}");
            }
        }
        assert_eq!((computed(0, 10), computed(1 << 40, 2)), (0xffff, 1));
    }

    #[test]
    fn a_count_stays_at_the_highest_value_of_a_short() {
        assert_eq!([raise(0, 3), raise(32766, 1), raise(32766, 2), raise(32767, u32::MAX)], [3, 32767, 32767, 32767]);
        assert_eq!(raise(0x9000, 1), 0x9000);
    }

    #[test]
    fn a_prof_has_the_headers_layout() {
        assert_eq!(size_of::<Prof>(), 32);
        let offsets = [mem::offset_of!(Prof, p_buff), mem::offset_of!(Prof, p_bufsize), mem::offset_of!(Prof, p_scale)];
        assert_eq!(offsets, [16, 24, 28]);
    }
}
