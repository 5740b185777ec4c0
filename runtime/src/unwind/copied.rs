//! A part of a stack that the kernel copied, with the registers of the thread.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gmon_unwind::{Cut, Ending, Memory};

use crate::os::{CONTEXT_PC, CONTEXT_REGISTERS};

/// The address at which a walk finds the registers, in the order of a signal's context. No program has memory there.
pub(super) const CONTEXT: usize = 1 << (usize::BITS - 1);

const WORD: usize = size_of::<u64>();

/// The lowest bytes of a stack, and the registers, in a ring of words. All positions are bytes since the first word; a
/// copy may continue at the beginning of the ring.
pub struct CopiedStack<'a> {
    /// The system's number of the thread whose stack this is.
    pub thread: i32,
    /// The ring, a power of two of words.
    pub words: &'a [AtomicU64],
    /// The position of the registers.
    pub registers: u64,
    /// The places of the registers behind that position, by DWARF's numbers; and the place of the program counter.
    pub order: &'static [u8],
    /// The place of the program counter.
    pub program_counter: usize,
    /// The stack pointer, the position of the bytes from there on, and their number.
    pub sp: usize,
    /// The position of the byte at the stack pointer.
    pub stack: u64,
    /// The number of bytes that were copied.
    pub length: usize,
    /// The number of bytes that the kernel was asked for. The kernel copies only pages that are in memory, up to the
    /// first other page.
    pub wanted: usize,
    /// The node of the program's code that the signal interrupted in whose handler this thread reads the ring; 0
    /// outside of a handler.
    pub reader: u32,
    /// Whether a walk needed bytes that the kernel left out. A walk sets this.
    pub is_incomplete: Cell<bool>,
}

impl CopiedStack<'_> {
    fn word(&self, position: u64) -> Option<usize> {
        let index = (position / WORD as u64) as usize & self.words.len().wrapping_sub(1);
        self.words.get(index).map(|word| word.load(Relaxed) as usize)
    }

    /// Why a walk of this stack has ended, if it has ended because it could not read something.
    pub(super) fn explain(&self, ending: Ending) -> Ending {
        match ending {
            Ending::Cut(Cut::Unreadable) if self.is_incomplete.get() => Ending::Cut(Cut::CopyIncomplete),
            // The copy of a thread without memory is empty.
            Ending::Cut(Cut::Unreadable) if self.wanted > 0 => Ending::Cut(Cut::CopyTooSmall),
            other => other,
        }
    }

    /// A register by its offset in a signal's context.
    fn register(&self, offset: usize) -> Option<usize> {
        let known = CONTEXT_REGISTERS.iter().zip(self.order).map(|(offset, place)| (*offset, usize::from(*place)));
        let mut known = known.chain([(CONTEXT_PC, self.program_counter)]);
        let (_, place) = known.find(|(known, _)| usize::from(*known) == offset)?;
        self.word(self.registers.wrapping_add((place * WORD) as u64))
    }
}

impl Memory for CopiedStack<'_> {
    fn read(&self, address: usize) -> Option<usize> {
        if address >= CONTEXT {
            return self.register(address - CONTEXT);
        }
        let offset = address.checked_sub(self.sp)?;
        let end = offset.checked_add(WORD)?;
        if end > self.length {
            if end <= self.wanted {
                self.is_incomplete.set(true);
            }
            return None;
        }
        let (position, inside) = (self.stack.wrapping_add((offset & !(WORD - 1)) as u64), offset % WORD);
        let low = self.word(position)?;
        if inside == 0 {
            return Some(low);
        }
        let high = self.word(position.wrapping_add(WORD as u64))?;
        Some(low >> (8 * inside) | high << (8 * (WORD - inside)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_read_wherever_the_ring_begins() {
        for start in 0..16 {
            let words: Vec<_> = (0..16).map(|_| AtomicU64::new(u64::MAX)).collect();
            let put = |index: u64, value| words[((start + index) % 16) as usize].store(value, Relaxed);
            let registers = start * 8;
            // Registers 11, 22, 33, and five words of the stack.
            (0..3).for_each(|index| put(index, 11 * (index + 1)));
            (0..5).for_each(|index| put(3 + index, 0x0706_0504_0302_0100 + index * 0x0808_0808_0808_0808));
            let copied = CopiedStack {
                thread: 1,
                words: &words,
                registers,
                order: &[1, 0],
                program_counter: 2,
                sp: 0x7000,
                stack: registers + 24,
                length: 40,
                wanted: 56,
                reader: 0,
                is_incomplete: Cell::new(false),
            };
            let register = |offset: u16| copied.read(CONTEXT + usize::from(offset));
            let found = [CONTEXT_REGISTERS[0], CONTEXT_REGISTERS[1], CONTEXT_PC].map(register);
            assert_eq!(found, [Some(22), Some(11), Some(33)]);
            assert_eq!(register(CONTEXT_REGISTERS[2]), None, "not in the copy");
            assert_eq!(copied.read(0x7000), Some(0x0706_0504_0302_0100));
            assert_eq!(copied.read(0x7003), Some(0x0a09_0807_0605_0403));
            assert_eq!(copied.read(0x7008), Some(0x0f0e_0d0c_0b0a_0908));
            assert_eq!(copied.read(0x701d), Some(0x2423_2221_201f_1e1d));
            assert_eq!(copied.read(0x7020), Some(0x2726_2524_2322_2120));
            assert_eq!([copied.read(0x7031), copied.read(0x6fff), copied.read(usize::MAX)], [None; 3]);
            let unreadable = Ending::Cut(Cut::Unreadable);
            assert_eq!(copied.explain(unreadable), Ending::Cut(Cut::CopyTooSmall));
            for address in [0x7021, 0x7030] {
                copied.is_incomplete.set(false);
                assert_eq!(copied.read(address), None);
                assert_eq!(copied.explain(unreadable), Ending::Cut(Cut::CopyIncomplete), "{address:#x}");
            }
            assert_eq!(copied.explain(Ending::Cut(Cut::Misled)), Ending::Cut(Cut::Misled));
            let empty = CopiedStack { length: 0, wanted: 0, is_incomplete: Cell::new(false), ..copied };
            assert_eq!((empty.read(0x7000), empty.explain(unreadable)), (None, unreadable));
        }
    }
}
