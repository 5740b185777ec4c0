//! AArch64.

use super::architecture::{Architecture, NEAR, Returning};
use super::memory::Memory;

/// AArch64. The base register is x19, which compilers use like rbx; no known function keeps its CFA there.
pub struct AArch64;

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

/// How a PLT stub begins: `adrp x16`, `ldr x17, [x16, #offset]`, `add x16, x16, #offset`, each with the bits that do not differ between
/// stubs.
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
    let read = |index: usize| instruction(memory, start.wrapping_add(4 * index));
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
        return stub_length(memory, pc.wrapping_add(4)).map(|_| 0);
    }
    let start = |back: usize| pc.wrapping_sub(4 * back);
    let is_inside = |back: &usize| stub_length(memory, start(*back)).is_some_and(|length| *back < length);
    let before = start((0..STUB.len() + 2).find(is_inside)? + 1);
    Some(if instruction(memory, before) == Some(PUSH_LINK) { 16 } else { 0 })
}

impl Architecture for AArch64 {
    const STACK_POINTER: u8 = 31;
    const FRAME_POINTER: u8 = 29;
    const BASE: u8 = 19;
    const RETURN_ADDRESS: u8 = 30;
    const HAS_LINK_REGISTER: bool = true;
    // Linux gives a program addresses beyond 48 bits only if the program asks for them.
    const ADDRESS_BITS: usize = (1 << 48) - 1;

    fn follows_call(memory: &impl Memory, pc: usize) -> bool {
        let Some(code) = pc.checked_sub(4).and_then(|before| instruction(memory, before)) else {
            return false;
        };
        // BL; BLR; BLRAA, BLRAB, and their forms with a zero modifier.
        code & BRANCH == BL || code & 0xffff_fc1f == 0xd63f_0000 || code & 0xfeff_f800 == 0xd63f_0800
    }

    fn keeps_frame_pointer(memory: &impl Memory, pc: usize) -> bool {
        // `mov x29, sp` and `add x29, sp, #offset`
        let codes = (0..NEAR / 4).map_while(|index| instruction(memory, pc.wrapping_sub(4 * index)));
        codes.into_iter().any(|code| code & 0xffc0_03ff == MOV_SP_X29)
    }

    /// glibc's function is `mov x0, x19; cbnz x0, setcontext; b exit`, mostly behind `bti c` or a nop, and its table does not
    /// say that it has no caller.
    fn ends_coroutine(memory: &impl Memory, pc: usize, is_start: bool) -> bool {
        let has = |offset: usize, mask, code| {
            instruction(memory, pc.wrapping_add(offset)).is_some_and(|instruction| instruction & mask == code)
        };
        let first = if has(0, ANY, MOV_X19_X0) { 0 } else { 4 };
        is_start && has(first, ANY, MOV_X19_X0) && has(first + 4, BRANCH_OF_X0, CBNZ_X0) && has(first + 8, BRANCH, B)
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
        let before = instruction(memory, pc.wrapping_sub(4)).filter(|before| before & PUSH_MASK == PUSH_RECORD)?;
        // The size of the frame is a signed number of words in bits 15 to 21.
        let size = ((before as u32) << 10).cast_signed() >> 25;
        (code == MOV_SP_X29).then(|| Returning { sp: frame.sp.wrapping_sub((size as isize * 8) as usize), ..frame })
    }

    fn leaf(_: &impl Memory, frame: Returning) -> Option<Returning> {
        frame.link.map(|_| frame)
    }

    fn callee(memory: &impl Memory, pc: usize) -> Option<usize> {
        let call = pc.wrapping_sub(4);
        let code = instruction(memory, call).filter(|code| code & BRANCH == BL)?;
        let named = call.wrapping_add_signed((((code as u32) << 6).cast_signed() >> 4) as isize);
        let landing = if instruction(memory, named)? == LANDINGS[0] { 4 } else { 0 };
        let stub = named.wrapping_add(landing);
        if stub_length(memory, stub).is_none() {
            return Some(named);
        }
        let [adrp, load] = [instruction(memory, stub)?, instruction(memory, stub.wrapping_add(4))?];
        // The number of pages is in bits 5 to 23, with its lowest two bits in bits 29 and 30.
        let pages = (((adrp as u32) << 8).cast_signed() >> 13 << 2) as isize | (adrp >> 29 & 3) as isize;
        let page = (stub & !0xfff).wrapping_add_signed(pages << 12);
        memory.read(page.wrapping_add((load >> 10 & 0xfff) * 8))
    }

    fn returns_at(memory: &impl Memory, pc: usize, frame: Returning) -> Option<Returning> {
        (instruction(memory, pc)? == RET && frame.link.is_some()).then_some(frame)
    }
}
