//! Machine code and its call instructions.

/// GNU and the BSDs measure code in units of two bytes: addresses within one unit are not distinguished.
pub const UNIT: u64 = 2;

/// Machine code.
#[derive(Clone, Copy, Debug)]
pub struct Code<'data> {
    /// The architecture.
    pub machine: Machine,
    /// The address of the first byte.
    pub start: u64,
    /// The content.
    pub bytes: &'data [u8],
}

impl<'data> Code<'data> {
    /// The code from an address on; `None` if the address is outside.
    pub(super) fn from(&self, address: u64) -> Option<&'data [u8]> {
        self.bytes.get(usize::try_from(address.checked_sub(self.start)?).ok()?..)
    }
}

/// A processor architecture whose call instructions are known, or any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// 32-bit x86.
    X86,
    /// 64-bit x86.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
    /// Any other architecture.
    Other,
}

/// The length of the longest call instruction that [`Machine::ends_with_call`] recognizes: an x86 call through
/// memory.
pub(super) const LONGEST_CALL: usize = 7;

impl Machine {
    /// Whether the last instruction of these bytes is a call, so that the address after it is a return address.
    /// `None` for an architecture whose call instructions are not known.
    #[must_use]
    pub fn ends_with_call(self, code: &[u8]) -> Option<bool> {
        match self {
            Machine::X86 | Machine::X86_64 => {
                let is_direct = code.iter().rev().nth(4) == Some(&0xe8);
                Some(is_direct || (2..=LONGEST_CALL).any(|length| is_indirect_x86(code, length)))
            }
            Machine::Aarch64 => Some(code.last_chunk().is_some_and(|code| is_call_aarch64(u32::from_le_bytes(*code)))),
            Machine::Other => None,
        }
    }

    /// Whether these bytes end with the nops at the entry of a function that a runtime changes to count the calls of
    /// the function on demand (`-fpatchable-function-entry=7,5`, or 4,2 on AArch64). gcc makes two nops on x86-64, and
    /// clang one of two bytes.
    #[must_use]
    pub(super) fn ends_with_room(self, code: &[u8]) -> bool {
        match self {
            Machine::X86_64 => matches!(code, [.., 0x90 | 0x66, 0x90]),
            Machine::Aarch64 => code.last_chunk().is_some_and(|code| u32::from_le_bytes(*code) == 0xd503_201f),
            Machine::X86 | Machine::Other => false,
        }
    }

    /// Returns the target of a direct call at the end of these bytes. `end` is the address after the bytes.
    ///
    /// On x86, the bytes of another instruction can look like a direct call. The target of a real call is the address
    /// of a function.
    #[must_use]
    pub(super) fn direct_call(self, code: &[u8], end: u64) -> Option<u64> {
        match self {
            Machine::X86 | Machine::X86_64 => Some(self.relative(end, call_x86(code.last_chunk::<5>()?)?)),
            Machine::Aarch64 => Some(end.wrapping_sub(4).wrapping_add_signed(call_aarch64(code.last_chunk::<4>()?)?)),
            Machine::Other => None,
        }
    }

    /// Returns the target of the jump at the beginning of these bytes, if they look like a direct jump. `pc` is the
    /// address of the first byte.
    #[must_use]
    pub(super) fn direct_jump(self, code: &[u8], pc: u64) -> Option<u64> {
        match (self, code) {
            (Machine::X86 | Machine::X86_64, [0xe9, rest @ ..]) => {
                Some(self.relative(pc.wrapping_add(5), i32::from_le_bytes(*rest.first_chunk()?)))
            }
            (Machine::X86 | Machine::X86_64, [0xeb, distance, ..]) => {
                Some(self.relative(pc.wrapping_add(2), i32::from(distance.cast_signed())))
            }
            (Machine::X86 | Machine::X86_64, [0x0f, 0x80..=0x8f, rest @ ..]) => {
                Some(self.relative(pc.wrapping_add(6), i32::from_le_bytes(*rest.first_chunk()?)))
            }
            (Machine::Aarch64, code) => {
                let instruction = u32::from_le_bytes(*code.first_chunk()?);
                (instruction >> 26 == 0b00_0101).then(|| pc.wrapping_add_signed(distance_aarch64(instruction)))
            }
            _ => None,
        }
    }

    /// Returns the distance between the addresses at which instructions can begin.
    #[must_use]
    pub fn step(self) -> usize {
        match self {
            Machine::Aarch64 => 4,
            Machine::X86 | Machine::X86_64 | Machine::Other => 1,
        }
    }

    /// Returns the target of an x86 instruction. `next` is the address of the next instruction.
    fn relative(self, next: u64, distance: i32) -> u64 {
        match self {
            Machine::X86 => u64::from((next as u32).wrapping_add_signed(distance)),
            _ => next.wrapping_add_signed(distance.into()),
        }
    }
}

/// Decodes `call rel32`, and returns the distance from the next instruction to the target.
pub(crate) fn call_x86(bytes: &[u8]) -> Option<i32> {
    let (opcode, rest) = bytes.split_first()?;
    (*opcode == 0xe8).then_some(i32::from_le_bytes(*rest.first_chunk()?))
}

/// Decodes `bl imm26`, and returns the distance from the instruction to the target. Instructions are little-endian even
/// if data is big-endian.
pub(crate) fn call_aarch64(bytes: &[u8]) -> Option<i64> {
    let instruction = u32::from_le_bytes(*bytes.first_chunk()?);
    (instruction >> 26 == 0b10_0101).then(|| distance_aarch64(instruction))
}

/// Returns the distance of `b imm26` or `bl imm26`.
pub(super) fn distance_aarch64(instruction: u32) -> i64 {
    // The shifts extend the sign of the 26 bits.
    i64::from((instruction << 6).cast_signed() >> 6) * 4
}

/// Whether x86 code ends with an indirect call of this length: `call *register` or `call *memory`.
fn is_indirect_x86(code: &[u8], length: usize) -> bool {
    const OPCODE: u8 = 0xff;
    let Some([OPCODE, operand, rest @ ..]) = code.len().checked_sub(length).and_then(|start| code.get(start..)) else {
        return false;
    };
    let (mode, operation, base) = (operand >> 6, operand >> 3 & 7, operand & 7);
    let index = usize::from(mode != 3 && base == 4);
    let displacement = match mode {
        0 if base == 5 || rest.first().is_some_and(|index| base == 4 && index & 7 == 5) => 4,
        1 => 1,
        2 => 4,
        _ => 0,
    };
    operation == 2 && rest.len() == index + displacement
}

/// Whether an instruction is `bl`, `blr`, or a `blr` that authenticates its pointer.
fn is_call_aarch64(instruction: u32) -> bool {
    instruction >> 26 == 0b10_0101 || instruction & 0xfeff_f000 == 0xd63f_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_x86() {
        let calls: [&[u8]; 14] = [
            &[0x55, 0xe8, 0x0b, 0, 0, 0],                      // call mcount
            &[0x67, 0xe8, 0x0b, 0, 0, 0],                      // addr32 call mcount, which linkers make of the next
            &[0x55, 0xff, 0x15, 0x0b, 0, 0, 0],                // call *mcount@GOTPCREL(%rip)
            &[0xff, 0x93, 0x0b, 0, 0, 0],                      // call *mcount@GOT(%ebx)
            &[0x41, 0xff, 0xd2],                               // call *%r10
            &[0xff, 0xd0],                                     // call *%rax
            &[0xff, 0x10],                                     // call *(%rax)
            &[0xff, 0x50, 0x08],                               // call *8(%rax)
            &[0xff, 0x14, 0x03],                               // call *(%rbx,%rax,1)
            &[0xff, 0x14, 0x24],                               // call *(%rsp)
            &[0xff, 0x54, 0x24, 0x08],                         // call *8(%rsp)
            &[0xff, 0x94, 0x24, 0, 1, 0, 0],                   // call *0x100(%rsp)
            &[0xff, 0x14, 0xc5, 0, 1, 0, 0],                   // call *0x100(,%rax,8)
            &[0, 0, 0xf3, 0x0f, 0x1e, 0xfa, 0xe8, 1, 0, 0, 0], // endbr64; call __fentry__
        ];
        for call in calls {
            assert_eq!(Machine::X86_64.ends_with_call(call), Some(true), "{call:x?}");
            let longer = [call, &[0x90]].concat();
            assert_eq!(Machine::X86.ends_with_call(&longer), Some(false), "{longer:x?}");
        }
        let others: [&[u8]; 7] = [
            &[],
            &[0xd0],
            &[0x55, 0x48, 0x89, 0xe5],    // push %rbp; mov %rsp,%rbp
            &[0xe9, 0x0b, 0, 0, 0],       // jmp
            &[0xff, 0x25, 0x0b, 0, 0, 0], // jmp *memory
            &[0xff, 0x35, 0x0b, 0, 0, 0], // push memory
            &[0xff, 0x15, 0x0b, 0, 0],    // cut short
        ];
        for other in others {
            assert_eq!(Machine::X86_64.ends_with_call(other), Some(false), "{other:x?}");
        }
    }

    #[test]
    fn calls_of_aarch64() {
        let ends = |instruction: u32| Machine::Aarch64.ends_with_call(&instruction.to_le_bytes());
        // bl forward, bl backward, blr x1, blraa x8, x9, blraaz x3
        for call in [0x9400_0002, 0x97ff_ffff, 0xd63f_0020, 0xd73f_0909, 0xd63f_087f] {
            assert_eq!(ends(call), Some(true), "{call:x}");
        }
        // b, br x1, ret, mov x0, x30, nop, bti c
        for other in [0x1400_0002, 0xd61f_0020, 0xd65f_03c0, 0xaa1e_03e0, 0xd503_201f, 0xd503_245f] {
            assert_eq!(ends(other), Some(false), "{other:x}");
        }
        assert_eq!(Machine::Aarch64.ends_with_call(&[0, 0x94]), Some(false));
        assert_eq!(Machine::Other.ends_with_call(&[0xe8, 0, 0, 0, 0]), None);
    }
}
