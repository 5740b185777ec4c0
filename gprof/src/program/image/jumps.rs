//! Jumps whose target the machine code does not name: tail calls through a pointer, but not the jumps of `switch`. And
//! the addresses that machine code loads into registers or stores: those of functions that a pointer may lead to later.

use super::machine_code::Machine;

impl Machine {
    /// Whether the instruction at an index of some bytes looks like a jump through a register or through memory. A jump
    /// that looks like the jump of a `switch`, which stays in the function, is none. `pc` is the address of the
    /// instruction.
    pub(super) fn is_unknown_jump(self, code: &[u8], at: usize, pc: u64) -> bool {
        let (before, after) = code.split_at_checked(at).unwrap_or_default();
        match self {
            Machine::X86 | Machine::X86_64 => {
                let word = if self == Machine::X86 { 4 } else { 8 };
                !is_inside_x86(before, after) && is_unknown_x86(before, after, pc, word)
            }
            Machine::Aarch64 => {
                let word = |bytes: &[u8]| bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
                let last = before.len().checked_sub(4).and_then(|start| word(&before[start..]));
                word(after).is_some_and(|jump| is_jump_aarch64(jump) && !last.is_some_and(|last| is_sum(last, jump)))
            }
            Machine::Other => false,
        }
    }
}

/// Whether a byte 0xff between these bytes is probably inside of another instruction.
fn is_inside_x86(before: &[u8], after: &[u8]) -> bool {
    // The last byte, or the first, of the distance of a direct call or jump.
    let ends_distance = matches!(before, [.., 0xe8 | 0xe9, _, _, _] | [.., 0x0f, 0x80..=0x8f, _, _, _]);
    let begins_distance = matches!((before, after), ([.., 0xe8 | 0xe9], [_, _, 0, 0, ..] | [_, _, 0xff, 0xff, ..]));
    // `cmp $number, %edi`
    let is_operand = matches!(before, [.., 0x81 | 0x83]);
    // The last byte of a negative number, then `movq` between a general register and a vector register.
    let is_before_move = matches!(after, [_, 0x66, 0x48, 0x0f, 0x6e | 0x7e, ..]);
    ends_distance || begins_distance || is_operand || is_before_move
}

/// Whether x86 code begins with `jmp *register` or `jmp *memory`. A word has this many bytes.
fn is_unknown_x86(before: &[u8], after: &[u8], pc: u64, word: u64) -> bool {
    let [0xff, operand, rest @ ..] = after else { return false };
    let (mode, operation, base) = (operand >> 6, operand >> 3 & 7, operand & 7);
    // The bytes before the prefix that selects one of the upper registers.
    let (is_upper, before) = match before {
        [before @ .., 0x41] if word == 8 => (true, before),
        _ => (false, before),
    };
    // Compilers mark the jump of a `switch` as one that needs no landing pad.
    if operation != 4 || before.last() == Some(&NOTRACK) {
        return false;
    }
    if mode == 3 {
        return !ends_with_sum(before, base, is_upper, word);
    }
    let (index, rest) = if base == 4 {
        let [index, rest @ ..] = rest else { return false };
        (Some(*index), rest)
    } else {
        (None, rest)
    };
    let is_scaled = index.is_none_or(|index| index >> 3 & 7 == 4 || 1 << (index >> 6) == word);
    let has_base = mode != 0 || (base != 5 && index.is_none_or(|index| index & 7 != 5));
    let distance = match (mode, has_base) {
        (0, true) => Some(0),
        (1, _) => rest.first().map(|distance| i32::from(distance.cast_signed())),
        _ => rest.first_chunk().map(|distance| i32::from_le_bytes(*distance)),
    };
    // Pointers to functions lie at multiples of the size of a word, in the program and in structures.
    let is_aligned = |address: u64| address.is_multiple_of(word);
    match distance {
        Some(distance) if has_base => is_scaled && distance >= 0 && is_aligned(u64::from(distance.unsigned_abs())),
        Some(distance) if index.is_none() && word == 8 => is_aligned(pc.wrapping_add_signed(6 + i64::from(distance))),
        Some(distance) => is_scaled && is_aligned(u64::from(distance.cast_unsigned())),
        None => false,
    }
}

/// The prefix of an indirect jump that may go to an instruction without a landing pad.
const NOTRACK: u8 = 0x3e;

/// Whether x86 code ends with an addition to a register. The entries of the table of a `switch` are distances, to which
/// the code adds the address of the table.
fn ends_with_sum(code: &[u8], register: u8, is_upper: bool, word: u64) -> bool {
    let [rest @ .., opcode @ (0x01 | 0x03), operands @ 0xc0..=0xff] = code else { return false };
    let prefix = match rest.last() {
        Some(prefix @ 0x48..=0x4f) if word == 8 => *prefix,
        _ if word == 4 => 0,
        _ => return false,
    };
    // `add register, operand` and `add operand, register` have the sum in different fields.
    let (sum, upper) = if *opcode == 0x01 { (operands & 7, prefix & 1) } else { (operands >> 3 & 7, prefix >> 2 & 1) };
    sum == register && (upper != 0) == is_upper
}

/// Whether an instruction is `br`, or a `br` that authenticates its pointer.
fn is_jump_aarch64(instruction: u32) -> bool {
    instruction & 0xfeff_f000 == 0xd61f_0000
}

/// Whether an instruction adds two registers, and the sum is the target of a jump, as that of a `switch`.
fn is_sum(instruction: u32, jump: u32) -> bool {
    let is_add = instruction & 0xff20_0000 == 0x8b00_0000 || instruction & 0xffe0_0000 == 0x8b20_0000;
    is_add && instruction & 31 == jump >> 5 & 31
}

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

    /// Whether the jump after these bytes has an unknown target.
    fn is_unknown(machine: Machine, before: &[u8], jump: &[u8]) -> bool {
        let code = [before, jump].concat();
        machine.is_unknown_jump(&code, before.len(), 0x1000 + before.len() as u64)
    }

    #[test]
    fn tail_calls_through_pointers() {
        let jumps: [(&[u8], &[u8]); 11] = [
            (&[0x5d], &[0xff, 0xe0]),                         // pop %rbp; jmp *%rax
            (&[0xc9, 0x41], &[0xff, 0xe3]),                   // leave; jmp *%r11
            (&[0x48, 0x01, 0xd0], &[0xff, 0xe1]),             // add %rdx,%rax; jmp *%rcx
            (&[0x48, 0x01, 0xd0, 0x41], &[0xff, 0xe0]),       // add %rdx,%rax; jmp *%r8
            (&[0x5d], &[0xff, 0x20]),                         // jmp *(%rax)
            (&[0x5d], &[0xff, 0x60, 0x10]),                   // jmp *16(%rax)
            (&[0x5d], &[0xff, 0xa7, 0, 1, 0, 0]),             // jmp *256(%rdi)
            (&[0x5d], &[0xff, 0x24, 0xc7]),                   // jmp *(%rdi,%rax,8)
            (&[0x5d], &[0xff, 0x24, 0xfd, 0x40, 0, 0x60, 0]), // jmp *table(,%rdi,8)
            (&[0x5d], &[0xff, 0x25, 1, 0, 0, 0]),             // jmp *pointer(%rip), at 0x1008
            (&[0xe8, 0, 0, 0xff, 0xff, 0x5d], &[0xff, 0xe0]), // call; pop %rbp; jmp *%rax
        ];
        for (before, jump) in jumps {
            assert!(is_unknown(Machine::X86_64, before, jump), "{before:x?} {jump:x?}");
        }
        // jmp *pointer; jmp *table(,%eax,4); jmp *4(%eax)
        let jumps: [&[u8]; 3] = [&[0xff, 0x25, 4, 0, 0, 0], &[0xff, 0x24, 0x85, 8, 0, 0, 0], &[0xff, 0x60, 4]];
        for jump in jumps {
            assert!(is_unknown(Machine::X86, &[0x5d], jump), "{jump:x?}");
        }
    }

    #[test]
    fn other_instructions_of_x86() {
        let others: [(&[u8], &[u8]); 13] = [
            (&[0x48, 0x01, 0xd0], &[0xff, 0xe0]),       // switch: add %rdx,%rax; jmp *%rax
            (&[0x4c, 0x03, 0xc2, 0x41], &[0xff, 0xe0]), // switch: add %rdx,%r8; jmp *%r8
            (&[0x3e], &[0xff, 0xe0]),                   // switch: notrack jmp *%rax
            (&[0x3e, 0x41], &[0xff, 0xe0]),             // switch: notrack jmp *%r8
            (&[0x5d], &[0xff, 0xd0]),                   // call *%rax
            (&[0xe8, 0, 0xff, 0xff], &[0xff, 0x64, 0x48, 0, 0]), // call; mov %fs:...
            (&[0x0f, 0x84, 0, 0xff, 0xff], &[0xff, 0xe0]), // je; ...
            (&[0x48, 0x8d, 0x3d, 0, 0xff, 0xff], &[0xff, 0x66, 0x0f, 0x6f]), // lea; movdqa
            (&[0x48, 0x8d, 0x3d, 0, 0xff, 0xff], &[0xff, 0x25, 0, 1, 0, 0]), // lea; and $256,%eax
            (&[0x67, 0xe8], &[0xff, 0x26, 0xff, 0xff]), // call
            (&[0x48, 0x81], &[0xff, 0xe7, 0, 0, 0]),    // cmp $231,%rdi
            (&[0x48, 0x8d, 0x05, 0xad, 0x71, 0xfe], &[0xff, 0x66, 0x48, 0x0f, 0x6e, 0xc1]), // lea; movq %rcx,%xmm0
            (&[0x5d], &[0xff]),
        ];
        for (before, jump) in others {
            assert!(!is_unknown(Machine::X86_64, before, jump), "{before:x?} {jump:x?}");
        }
        assert!(!is_unknown(Machine::X86, &[0x01, 0xd8], &[0xff, 0xe0]), "switch: add %ebx,%eax; jmp *%eax");
        assert!(!is_unknown(Machine::Other, &[], &[0xff, 0xe0]));
    }

    #[test]
    fn jumps_of_aarch64() {
        let jump = |before: u32, jump: u32| is_unknown(Machine::Aarch64, &before.to_le_bytes(), &jump.to_le_bytes());
        // ldp x29, x30, [sp], #16; then br x16, braa x8, x9, braaz x3
        for unknown in [0xd61f_0200, 0xd71f_0909, 0xd61f_087f] {
            assert!(jump(0xa8c1_7bfd, unknown), "{unknown:x}");
        }
        // blr x1, b, ret
        for other in [0xd63f_0020, 0x1400_0002, 0xd65f_03c0] {
            assert!(!jump(0xa8c1_7bfd, other), "{other:x}");
        }
        // switch: add x1, x1, w0, sxtb #2; br x1, and add x1, x1, x0, lsl #2; br x1
        assert!(!jump(0x8b20_8821, 0xd61f_0020) && !jump(0x8b00_0821, 0xd61f_0020));
        assert!(jump(0x8b20_8821, 0xd61f_0040), "br x2");
    }

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
