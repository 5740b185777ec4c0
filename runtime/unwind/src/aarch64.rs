//! AArch64.

use super::architecture::{Architecture, NEAR, Returning};
use super::memory::Memory;

/// AArch64. The base register is x19, which compilers use like rbx; no known function keeps its CFA there.
pub struct AArch64;

/// The bytes of an instruction.
const INSTRUCTION: usize = 4;
const RET: usize = 0xd65f_03c0;

/// `bti c`, `paciasp`, `pacibsp`.
const LANDINGS: [usize; 3] = [0xd503_245f, 0xd503_233f, 0xd503_237f];
/// `stp x29, x30, [sp, #-size]!`
const PUSH_RECORD: usize = 0xa980_7bfd;
const PUSH_MASK: usize = 0xffc0_7fff;
/// `mov x29, sp`
const MOV_SP_X29: usize = 0x9100_03fd;

/// `mov x0, x19`
const MOV_X19_X0: usize = 0xaa13_03e0;
/// `cbnz x0`, and the bits that are not its target.
const CBNZ_X0: usize = 0xb500_0000;
const BRANCH_OF_X0: usize = 0xff00_001f;
/// `b`, and the bits that are not its target.
const B: usize = 0x1400_0000;
const BRANCH: usize = 0xfc00_0000;
const BL: usize = 0x9400_0000;
const ANY: usize = 0xffff_ffff;

/// How a PLT stub begins: `adrp x16`, `ldr x17, [x16, #offset]`, `add x16, x16, #offset`, each with the bits that do
/// not differ between stubs.
const STUB: [(usize, usize); 3] = [(0x9f00_001f, 0x9000_0010), (0xffc0_03ff, 0xf940_0211), (0xffc0_03ff, 0x9100_0210)];
/// The end of a stub. A stub for signed addresses has `autia1716` before the branch.
const BR_X17: usize = 0xd61f_0220;
const AUTIA1716: usize = 0xd503_219f;
/// `stp x16, x30, [sp, #-16]!`: the first instruction of the PLT, before a stub that goes to the dynamic linker.
const PUSH_LINK: usize = 0xa9bf_7bf0;

fn instruction(memory: &impl Memory, pc: usize) -> Option<usize> {
    memory.read(pc).map(|word| word & 0xffff_ffff)
}

/// The number of instructions of a PLT stub, if a stub starts at an address.
fn stub_length(memory: &impl Memory, start: usize) -> Option<usize> {
    let read = |index: usize| instruction(memory, start.wrapping_add(INSTRUCTION * index));
    let begins =
        STUB.iter().enumerate().all(|(index, (mask, code))| read(index).is_some_and(|word| word & mask == *code));
    if !begins {
        return None;
    }
    match read(STUB.len())? {
        BR_X17 => Some(STUB.len() + 1),
        AUTIA1716 if read(STUB.len() + 1)? == BR_X17 => Some(STUB.len() + 2),
        _ => None,
    }
}

/// How many bytes the PLT has pushed, if `pc` is in the PLT.
fn pushed_by_stub(memory: &impl Memory, pc: usize) -> Option<usize> {
    if instruction(memory, pc)? == PUSH_LINK {
        return stub_length(memory, pc.wrapping_add(INSTRUCTION)).map(|_| 0);
    }
    let start = |back: usize| pc.wrapping_sub(INSTRUCTION * back);
    let is_inside = |back: &usize| stub_length(memory, start(*back)).is_some_and(|length| *back < length);
    let before = start((0..STUB.len() + 2).find(is_inside)? + 1);
    Some(if instruction(memory, before) == Some(PUSH_LINK) { 16 } else { 0 })
}

impl Architecture for AArch64 {
    const STACK_POINTER: u8 = 31;
    const FRAME_POINTER: u8 = 29;
    const RECORD_BELOW: usize = 0;
    const BASE: u8 = 19;
    const RETURN_ADDRESS: u8 = 30;
    const HAS_LINK_REGISTER: bool = true;
    // Linux gives a program addresses beyond 48 bits only if the program asks for them.
    const ADDRESS_BITS: usize = (1 << 48) - 1;
    // DW_CFA_AARCH64_negate_ra_state_with_pc, DW_CFA_AARCH64_negate_ra_state
    const AUTHENTICATION: &'static [u8] = &[0x2c, 0x2d];
    /// The rule of glibc's `_dl_runtime_resolve`: see [`Rule::is_return_address_above`](super::Rule).
    const LATE_TABLE: Option<usize> = Some(INSTRUCTION);

    fn follows_call(memory: &impl Memory, pc: usize) -> bool {
        let Some(code) = pc.checked_sub(INSTRUCTION).and_then(|before| instruction(memory, before)) else {
            return false;
        };
        // BL; BLR; BLRAA, BLRAB, and their forms with a zero modifier.
        code & BRANCH == BL || code & 0xffff_fc1f == 0xd63f_0000 || code & 0xfeff_f800 == 0xd63f_0800
    }

    fn keeps_frame_pointer(memory: &impl Memory, pc: usize) -> bool {
        // `mov x29, sp` and `add x29, sp, #offset`
        let codes =
            (0..NEAR / INSTRUCTION).map_while(|index| instruction(memory, pc.wrapping_sub(INSTRUCTION * index)));
        codes.into_iter().any(|code| code & 0xffc0_03ff == MOV_SP_X29)
    }

    /// glibc's function is `mov x0, x19; cbnz x0, setcontext; b exit`, mostly behind `bti c` or a nop, and its table
    /// does not say that it has no caller.
    fn ends_coroutine(memory: &impl Memory, pc: usize, is_start: bool) -> bool {
        let has = |offset: usize, mask, code| {
            instruction(memory, pc.wrapping_add(offset)).is_some_and(|instruction| instruction & mask == code)
        };
        let first = if has(0, ANY, MOV_X19_X0) { 0 } else { INSTRUCTION };
        is_start
            && has(first, ANY, MOV_X19_X0)
            && has(first + INSTRUCTION, BRANCH_OF_X0, CBNZ_X0)
            && has(first + 2 * INSTRUCTION, BRANCH, B)
    }

    fn enters_at(memory: &impl Memory, pc: usize, frame: Returning) -> Option<Returning> {
        let code = instruction(memory, pc)?;
        let is_pushing = LANDINGS.contains(&code) || code & PUSH_MASK == PUSH_RECORD;
        if is_pushing {
            return Some(frame);
        }
        if let Some(pushed) = pushed_by_stub(memory, pc) {
            return Some(Returning { sp: frame.sp.wrapping_add(pushed), ..frame });
        }
        let before =
            instruction(memory, pc.wrapping_sub(INSTRUCTION)).filter(|before| before & PUSH_MASK == PUSH_RECORD)?;
        // The size of the frame is a signed number of words in bits 15 to 21.
        let size = ((before as u32) << 10).cast_signed() >> 25;
        (code == MOV_SP_X29).then(|| Returning { sp: frame.sp.wrapping_sub((size as isize * 8) as usize), ..frame })
    }

    fn leaf(_: &impl Memory, frame: Returning) -> Option<Returning> {
        frame.link.map(|_| frame)
    }

    fn callee(memory: &impl Memory, pc: usize) -> Option<usize> {
        let call = pc.wrapping_sub(INSTRUCTION);
        let code = instruction(memory, call).filter(|code| code & BRANCH == BL)?;
        let named = call.wrapping_add_signed((((code as u32) << 6).cast_signed() >> 4) as isize);
        let landing = if instruction(memory, named)? == LANDINGS[0] { INSTRUCTION } else { 0 };
        let stub = named.wrapping_add(landing);
        if stub_length(memory, stub).is_none() {
            return Some(named);
        }
        let [adrp, load] = [instruction(memory, stub)?, instruction(memory, stub.wrapping_add(INSTRUCTION))?];
        // The number of pages is in bits 5 to 23, with its lowest two bits in bits 29 and 30.
        let pages = (((adrp as u32) << 8).cast_signed() >> 13 << 2) as isize | (adrp >> 29 & 3) as isize;
        let page = (stub & !0xfff).wrapping_add_signed(pages << 12);
        memory.read(page.wrapping_add((load >> 10 & 0xfff) * 8))
    }

    fn returns_at(memory: &impl Memory, pc: usize, frame: Returning) -> Option<Returning> {
        (instruction(memory, pc)? == RET && frame.link.is_some()).then_some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Made;
    use super::*;

    const PC: usize = 0x40_1000;
    const NOP: u32 = 0xd503_201f;
    const BTI_C: u32 = 0xd503_245f;

    /// Code at an address, between nops.
    fn code(at: usize, instructions: &[u32]) -> Made {
        let mut memory = Made::default();
        let mut put = |at, instructions: &[u32]| {
            let bytes: Vec<_> = instructions.iter().flat_map(|instruction| instruction.to_le_bytes()).collect();
            memory.write(at, &bytes);
        };
        put(PC - 2 * NEAR, &[NOP; NEAR / 2 + 16]);
        put(at, instructions);
        memory
    }

    #[test]
    fn all_calls_are_known_by_their_bits() {
        let register = 17 << 5;
        for call in [
            0x9400_0000,
            0x97ff_ffff,
            0xd63f_0000,
            0xd63f_0000 | register,
            0xd63f_081f | register,
            0xd63f_0c1f | register,
            0xd73f_0800 | register | 3,
            0xd73f_0c00 | register | 3,
        ] {
            assert!(AArch64::follows_call(&code(PC - 4, &[call]), PC), "{call:x}");
        }
        for other in [0x1400_0000, 0xd61f_0000, 0xd65f_03c0, 0xd71f_0800, 0xd63f_0001, 0xd63f_1000, 0x9000_0000, NOP] {
            assert!(!AArch64::follows_call(&code(PC - 4, &[other]), PC), "{other:x}");
        }
        assert!(!AArch64::follows_call(&Made::default(), PC) && !AArch64::follows_call(&Made::default(), 3));
    }

    #[test]
    fn a_frame_pointer_is_set_near_the_program_counter() {
        let keeps = |back: usize, set| AArch64::keeps_frame_pointer(&code(PC - back, &[set]), PC);
        for set in [0x9100_03fd, 0x9100_43fd] {
            assert!([0, 4, 2000, NEAR - 4].iter().all(|back| keeps(*back, set)) && !keeps(NEAR, set));
        }
        for other in [0x9100_403d, 0x9100_03fc, 0xd100_43fd, NOP] {
            assert!(!keeps(4, other), "{other:x}");
        }
    }

    #[test]
    fn the_end_of_a_coroutine_is_known_by_its_instructions() {
        let (mov, cbnz, b) = (0xaa13_03e0, 0xb500_1240, 0x17ff_fff0);
        let ends = |instructions: &[u32], is_start| AArch64::ends_coroutine(&code(PC, instructions), PC, is_start);
        for whole in [&[mov, cbnz, b][..], &[BTI_C, mov, cbnz, b], &[NOP, mov, cbnz, b]] {
            assert!(ends(whole, true) && !ends(whole, false));
            for (place, other) in
                whole.iter().enumerate().flat_map(|(place, code)| [(place, NOP), (place, code ^ 1 << 31)])
            {
                let mut other_code = whole.to_vec();
                other_code[place] = other;
                // The first of four instructions does not matter.
                assert_eq!(ends(&other_code, true), whole.len() == 4 && place == 0, "{place} {other:x}");
            }
        }
        assert!(!ends(&[NOP, NOP, mov, cbnz, b], true) && !ends(&[mov, cbnz | 1, b], true));
    }

    /// The caller's stack pointer, if a function begins or a PLT stub is at `PC`.
    fn enters(instructions: &[u32], index: usize) -> Option<usize> {
        let frame = Returning { sp: 0x7_0000, fp: 2, base: Some(3), link: Some(4) };
        let caller = AArch64::enters_at(&code(PC - 4 * index, instructions), PC, frame)?;
        assert_eq!((caller.fp, caller.base, caller.link), (2, Some(3), Some(4)));
        Some(caller.sp)
    }

    #[test]
    fn functions_begin_with_a_frame_record() {
        let (push, mov) = (0xa9be_7bfd, 0x9100_03fd);
        for first in [BTI_C, 0xd503_233f, 0xd503_237f, push] {
            assert_eq!(enters(&[first], 0), Some(0x7_0000), "{first:x}");
        }
        assert_eq!(enters(&[push, mov], 1), Some(0x7_0020));
        // stp x29, x30, [sp, #-16]! and [sp, #-512]!
        assert_eq!([0xa9bf_7bfd, 0xa9a0_7bfd].map(|push| enters(&[push, mov], 1)), [Some(0x7_0010), Some(0x7_0200)]);
        assert_eq!([enters(&[NOP, mov], 1), enters(&[push, NOP], 1), enters(&[NOP], 0)], [None; 3]);
    }

    #[test]
    fn a_stub_ends_with_its_branch() {
        let (adrp, ldr, add) = (0x9000_0430, 0xf940_0611, 0x9100_2210);
        let (autia1716, br) = (0xd503_219f, 0xd61f_0220);
        let stub = [adrp, ldr, add, br];
        assert!((0..4).all(|index| enters(&stub, index) == Some(0x7_0000)) && enters(&stub, 4).is_none());
        let signed = [adrp, ldr, add, autia1716, br];
        assert!((0..5).all(|index| enters(&signed, index) == Some(0x7_0000)) && enters(&signed, 5).is_none());
        for other in [[adrp, ldr, add, autia1716, NOP], [adrp, ldr, add, NOP, br], [adrp, ldr, NOP, br, br]] {
            assert!((0..5).all(|index| enters(&other, index).is_none()), "{other:x?}");
        }
        let first = [0xa9bf_7bf0, adrp, ldr, add, br];
        let pushed = [0, 16, 16, 16, 16].map(|pushed| Some(0x7_0000 + pushed));
        assert_eq!([0, 1, 2, 3, 4].map(|index| enters(&first, index)), pushed);
        assert_eq!(enters(&[0xa9bf_7bf0, NOP], 0), None);
    }

    #[test]
    fn functions_return_to_the_link_register() {
        let frame = |link| Returning { sp: 1, fp: 2, base: None, link };
        let returns = |code: &Made, link| AArch64::returns_at(code, PC, frame(link)).and_then(|caller| caller.link);
        let ret = code(PC, &[0xd65f_03c0]);
        assert_eq!(
            [returns(&ret, Some(4)), returns(&ret, None), returns(&code(PC, &[]), Some(4))],
            [Some(4), None, None]
        );
    }
}
