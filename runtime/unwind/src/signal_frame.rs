//! The frames that the kernel makes when it delivers a signal.

use super::memory::Memory;

/// What a system's signal frames look like.
pub struct SignalFrames {
    /// The instructions to which handlers return. Not all C libraries describe them in a table.
    pub trampoline: &'static [u8],
    /// The offset of the last instruction of the trampoline.
    pub last_instruction: usize,
    /// The distance of the context from the stack pointer when the trampoline is reached.
    pub context: usize,
    /// The offset of each register in the context, by DWARF's numbers.
    pub registers: &'static [u16],
    /// The offset of the program counter in the context.
    pub program_counter: u16,
}

impl SignalFrames {
    /// The address of the context, if `pc` is in the trampoline. A return address is at the start of the trampoline; a
    /// thread can also be interrupted at the last instruction.
    pub(super) fn context_at(&self, memory: &impl Memory, pc: usize, sp: usize, is_exact: bool) -> Option<usize> {
        let is_here = |start: usize| {
            self.trampoline.chunks(size_of::<usize>()).enumerate().all(|(index, expected)| {
                let bytes = memory.read(start.wrapping_add(index * size_of::<usize>())).map(usize::to_ne_bytes);
                // Not `starts_with`, which calls the C library.
                bytes.is_some_and(|bytes| bytes.iter().zip(expected).all(|(byte, expected)| byte == expected))
            })
        };
        let is_inside = is_here(pc) || (is_exact && is_here(pc.wrapping_sub(self.last_instruction)));
        is_inside.then(|| sp.wrapping_add(self.context))
    }

    /// A register of the interrupted code.
    pub(super) fn register(&self, memory: &impl Memory, context: usize, number: u8) -> Option<usize> {
        let offset = self.registers.get(usize::from(number))?;
        memory.read(context.checked_add(usize::from(*offset))?)
    }

    /// Where the code was interrupted.
    pub(super) fn program_counter(&self, memory: &impl Memory, context: usize) -> Option<usize> {
        memory.read(context.checked_add(usize::from(self.program_counter))?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Made;
    use super::*;

    #[test]
    fn the_whole_trampoline_is_compared() {
        const CODE: [u8; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let signals = SignalFrames {
            trampoline: &CODE,
            last_instruction: 10,
            context: 16,
            registers: &[8, 24],
            program_counter: 40,
        };
        let mut memory = Made::default();
        let context = |memory: &Made, pc, is_exact| signals.context_at(memory, pc, 0x8000, is_exact);
        memory.write(0x4000, &CODE);
        assert_eq!(context(&memory, 0x4000, false), None, "the end cannot be read");
        memory.write(0x4000, &[&CODE[..], &[0xee; 4]].concat());
        assert_eq!(context(&memory, 0x4000, false), Some(0x8010));
        assert_eq!([true, false].map(|is_exact| context(&memory, 0x400a, is_exact)), [Some(0x8010), None]);
        for (other, byte) in CODE.into_iter().enumerate() {
            memory.write(0x4000 + other, &[0xee]);
            assert_eq!(context(&memory, 0x4000, true), None, "{other}");
            memory.write(0x4000 + other, &[byte]);
        }
        memory.words(0x8018, &[7, 8, 9]);
        assert_eq!([0, 1, 2].map(|number| signals.register(&memory, 0x8010, number)), [Some(7), Some(9), None]);
        memory.words(0x8038, &[11]);
        assert_eq!(signals.program_counter(&memory, 0x8010), Some(11));
    }
}
