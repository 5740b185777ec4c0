//! Runs seccomp filters, which are programs of the classic BPF machine.

use core::mem::MaybeUninit;

/// The number of words in a filter's memory.
const SCRATCH: usize = 16;

/// `struct sock_filter`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    operand: u32,
}

/// Runs a filter. `word` returns the words of `struct seccomp_data`. The result is the filter's, or `None` if a
/// kernel would not accept the filter.
pub(super) fn run(instructions: &[Instruction], word: impl Fn(u32) -> u32) -> Option<u32> {
    const SIZE_OF_DATA: u32 = 64;
    let mut room = MaybeUninit::<[u32; SCRATCH]>::uninit();
    let scratch: *mut u32 = room.as_mut_ptr().cast();
    // SAFETY: inside the room. Volatile, word by word, because below mcount no vector register may be used.
    (0..SCRATCH).for_each(|index| unsafe { scratch.add(index).write_volatile(0) });
    let place = |index: u32| (index < SCRATCH as u32).then(|| scratch.wrapping_add(index as usize));
    let [mut accumulator, mut index] = [0_u32; 2];
    let mut at = 0_usize;
    // Jumps only lead forward, so the loop ends.
    while let Some(Instruction { code, if_true, if_false, operand }) = instructions.get(at).copied() {
        at += 1;
        let value = if code & 8 == 0 { operand } else { index };
        match code & 7 {
            // LD and LDX, each with the modes IMM, ABS, MEM and LEN.
            kind @ (0 | 1) => {
                let loaded = match code & 0xe0 {
                    0x00 => operand,
                    0x20 => word(operand),
                    // SAFETY: inside the room, all of which was written.
                    0x60 => unsafe { place(operand)?.read_volatile() },
                    _ => SIZE_OF_DATA,
                };
                *(if kind == 0 { &mut accumulator } else { &mut index }) = loaded;
            }
            // SAFETY: as above. ST and STX.
            2 => unsafe { place(operand)?.write_volatile(accumulator) },
            // SAFETY: as above.
            3 => unsafe { place(operand)?.write_volatile(index) },
            4 => accumulator = compute(code & 0xf0, accumulator, value)?,
            5 => {
                let jumps = match code & 0xf0 {
                    0x00 => {
                        at = at.checked_add(operand as usize)?;
                        continue;
                    }
                    0x10 => accumulator == value,
                    0x20 => accumulator > value,
                    0x30 => accumulator >= value,
                    _ => accumulator & value != 0,
                };
                at += usize::from(if jumps { if_true } else { if_false });
            }
            6 => return Some(if code & 0x10 == 0 { operand } else { accumulator }),
            // TAX and TXA.
            _ if code & 0x80 == 0 => index = accumulator,
            _ => accumulator = index,
        }
    }
    None
}

/// Computes an operation on the accumulator and a value; `None` for a division by 0, at which a filter ends.
fn compute(operation: u16, accumulator: u32, value: u32) -> Option<u32> {
    Some(match operation {
        0x00 => accumulator.wrapping_add(value),
        0x10 => accumulator.wrapping_sub(value),
        0x20 => accumulator.wrapping_mul(value),
        0x30 => accumulator.checked_div(value)?,
        0x40 => accumulator | value,
        0x50 => accumulator & value,
        0x60 => accumulator.checked_shl(value).unwrap_or(0),
        0x70 => accumulator.checked_shr(value).unwrap_or(0),
        0x80 => accumulator.wrapping_neg(),
        _ => accumulator ^ value,
    })
}

#[cfg(test)]
pub(super) const fn step(code: u16, if_true: u8, if_false: u8, operand: u32) -> Instruction {
    Instruction { code, if_true, if_false, operand }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation() {
        // The accumulator is 12, and the index is 5, or an operand.
        let results = [
            (0x04, 5, 17),
            (0x0c, 0, 17),
            (0x14, 5, 7),
            (0x1c, 0, 7),
            (0x24, 5, 60),
            (0x2c, 0, 60),
            (0x34, 5, 2),
            (0x3c, 0, 2),
            (0x44, 5, 13),
            (0x4c, 0, 13),
            (0x54, 5, 4),
            (0x5c, 0, 4),
            (0x64, 5, 384),
            (0x6c, 0, 384),
            (0x74, 2, 3),
            (0x7c, 0, 0),
            (0x84, 0, -12_i32 as u32),
            (0xa4, 5, 9),
            (0xac, 0, 9),
            (0x64, 32, 0),
            (0x80, 0, 64),
            (0x87, 0, 5),
        ];
        for (code, operand, expected) in results {
            let program = [step(0x00, 0, 0, 12), step(0x01, 0, 0, 5), step(code, 0, 0, operand), step(0x16, 0, 0, 0)];
            assert_eq!(run(&program, |_| 0), Some(expected), "{code:#x}");
        }
        let moves = [
            step(0x00, 0, 0, 7),
            step(0x02, 0, 0, 3),  // ST
            step(0x61, 0, 0, 3),  // LDX MEM
            step(0x03, 0, 0, 15), // STX
            step(0x00, 0, 0, 9),
            step(0x07, 0, 0, 0),  // TAX
            step(0x60, 0, 0, 15), // LD MEM
            step(0x05, 0, 0, 1),  // JA
            step(0x06, 0, 0, 0),
            step(0x1d, 1, 0, 0), // JEQ X
            step(0x2d, 1, 0, 0), // JGT X
            step(0x4d, 0, 1, 0), // JSET X
            step(0x16, 0, 0, 0),
            step(0x06, 0, 0, 1),
        ];
        // 7 and 9: neither equal nor greater, and with one common bit.
        assert_eq!(run(&moves, |_| 0), Some(7));
        assert_eq!(run(&[step(0x60, 0, 0, 16)], |_| 0), None);
        assert_eq!(run(&[step(0x05, 0, 0, u32::MAX)], |_| 0), None);
    }
}
