//! Addresses that machine code loads into registers or stores: those of functions that a pointer may lead to later.

use super::machine_code::Machine;

impl Machine {
    /// Returns the addresses that instructions in some code may load. `start` is the address of the first byte, and
    /// absolute addresses are those of the linker. Bytes inside of other instructions may look like such an
    /// instruction.
    pub(super) fn loaded_addresses(self, code: &[u8], start: u64) -> Vec<u64> {
        match self {
            Machine::X86 | Machine::X86_64 => {
                let all = (0..code.len()).map(|at| (&code[at..], start.wrapping_add(at as u64)));
                all.filter_map(|(code, pc)| loaded_x86(code, pc, self == Machine::X86_64)).collect()
            }
            Machine::Aarch64 => loaded_aarch64(code, start),
            Machine::Other => Vec::new(),
        }
    }
}

/// Returns the address that the x86 instruction at the beginning of some code loads.
fn loaded_x86(code: &[u8], pc: u64, is_64: bool) -> Option<u64> {
    let word = |bytes: &[u8]| bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    match code {
        // lea distance(%rip), register
        [0x48..=0x4f, 0x8d, operand, rest @ ..] if is_64 && operand & 0xc7 == 0x05 => {
            Some(pc.wrapping_add(7).wrapping_add_signed(word(rest)?.cast_signed().into()))
        }
        // movabs $address, register
        [0x48 | 0x49, 0xb8..=0xbf, rest @ ..] if is_64 => Some(u64::from_le_bytes(*rest.first_chunk()?)),
        // mov $address, register; push $address
        [0xb8..=0xbf | 0x68, rest @ ..] => word(rest).map(u64::from),
        // mov $address, memory
        [0xc7, operand, rest @ ..] if operand >> 3 & 7 == 0 => {
            let (mode, base) = (operand >> 6, operand & 7);
            let index = usize::from(mode != 3 && base == 4);
            let displacement = match mode {
                0 if base == 5 || (base == 4 && rest.first()? & 7 == 5) => 4,
                1 => 1,
                2 => 4,
                _ => 0,
            };
            word(rest.get(index + displacement..)?).map(u64::from)
        }
        _ => None,
    }
}

/// Returns the addresses that AArch64 code loads, relative to the code or to a page.
fn loaded_aarch64(code: &[u8], start: u64) -> Vec<u64> {
    let skipped = start.next_multiple_of(4).wrapping_sub(start) as usize;
    let instructions = code.get(skipped..).unwrap_or_default().as_chunks::<4>().0;
    let mut pages: [Option<u64>; 32] = [None; 32];
    let mut found = Vec::new();
    for (at, instruction) in (0_u64..).zip(instructions) {
        let (instruction, pc) = (u32::from_le_bytes(*instruction), start.next_multiple_of(4).wrapping_add(4 * at));
        let register = |shift: u32| (instruction >> shift & 31) as usize;
        let distance = instruction >> 5 & 0x7_ffff;
        // The shifts extend the sign of the 21 bits.
        let distance = i64::from((distance << 2 | instruction >> 29 & 3).cast_signed() << 11 >> 11);
        if instruction & 0x9f00_0000 == 0x9000_0000 {
            // adrp register, page
            pages[register(0)] = Some((pc & !0xfff).wrapping_add_signed(distance << 12));
        } else if instruction & 0x9f00_0000 == 0x1000_0000 {
            // adr register, address
            found.push(pc.wrapping_add_signed(distance));
        } else if instruction & 0xffc0_0000 == 0x9100_0000
            && let Some(page) = pages[register(5)]
        {
            // add register, register, number
            found.push(page.wrapping_add(u64::from(instruction >> 10 & 0xfff)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x86() {
        let codes: [(&[u8], u64); 8] = [
            (&[0x48, 0x8d, 0x3d, 0xf9, 0x0f, 0, 0], 0x2000), // lea 0xff9(%rip), %rdi
            (&[0x4c, 0x8d, 0x05, 0xf9, 0xff, 0xff, 0xff], 0x1000), // lea -7(%rip), %r8
            (&[0x48, 0xb8, 0, 0, 0x40, 0, 1, 0, 0, 0], 0x1_0040_0000), // movabs $0x100400000, %rax
            (&[0xbf, 0x10, 0x10, 0x40, 0], 0x40_1010),       // mov $0x401010, %edi
            (&[0x68, 0x10, 0x10, 0x40, 0], 0x40_1010),       // push $0x401010
            (&[0x48, 0xc7, 0xc7, 0x10, 0x10, 0x40, 0], 0x40_1010), // mov $0x401010, %rdi
            (&[0x48, 0xc7, 0x44, 0x24, 8, 0x10, 0x10, 0x40, 0], 0x40_1010), // movq $0x401010, 8(%rsp)
            (&[0xc7, 0x05, 1, 2, 3, 4, 0x10, 0x10, 0x40, 0], 0x40_1010), // movl $0x401010, ...(%rip)
        ];
        for (code, address) in codes {
            let found = Machine::X86_64.loaded_addresses(code, 0x1000);
            assert!(found.contains(&address), "{code:x?}: {found:x?}");
            // An instruction that is cut short loads nothing.
            let found = Machine::X86_64.loaded_addresses(&code[..code.len() - 1], 0x1000);
            assert!(!found.contains(&address), "{code:x?}: {found:x?}");
        }
        // call, jmp, lea 8(%rdi), %rax
        for code in [&[0xe8, 0xfb, 0x0f, 0, 0][..], &[0xe9, 0xfb, 0x0f, 0, 0], &[0x48, 0x8d, 0x47, 8]] {
            assert_eq!(Machine::X86_64.loaded_addresses(code, 0x1000), [], "{code:x?}");
        }
        assert_eq!(Machine::Other.loaded_addresses(&[0xbf, 0x10, 0x10, 0x40, 0], 0), []);
    }

    #[test]
    fn aarch64() {
        let code =
            |instructions: &[u32]| -> Vec<u8> { instructions.iter().flat_map(|one| one.to_le_bytes()).collect() };
        // adrp x0, .+0x1000; add x0, x0, #0x10; add x1, x2, #8; adr x3, .-4; adrp x4, .-0x1000; add x4, x4, #4
        let all = code(&[0xb000_0000, 0x9100_4000, 0x9100_2041, 0x10ff_ffe3, 0xf0ff_ffe4, 0x9100_1084]);
        assert_eq!(Machine::Aarch64.loaded_addresses(&all, 0x5000), [0x6010, 0x5008, 0x4004]);
    }
}
