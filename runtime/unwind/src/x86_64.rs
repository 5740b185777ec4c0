//! x86-64.

use super::architecture::{Architecture, NEAR, Returning};
use super::memory::Memory;

/// x86-64. The base register is rbx.
pub struct X86_64;

const RBX: u8 = 3;
const RSP: u8 = 4;
const RBP: u8 = 5;
const PUSH_RBP: usize = 0x55;
const ENDBR64: usize = 0xfa1e_0ff3;
const MOV_RSP_RBP: usize = 0xe5_8948;
/// `push %rbp; mov %rsp, %rbp` in both encodings.
const PUSH_AND_MOV: u32 = 0xe589_4855;
const PUSH_AND_MOV_BACKWARD: u32 = 0xec8b_4855;
/// How functions of Go set the frame pointer: `mov %rbp, offset(%rsp); lea offset(%rsp), %rbp`, with offsets of one
/// byte and of four bytes. Each entry has the two instructions without their offsets, and the distance between them.
const GO: [(u32, u32, usize); 2] = [(0x246c_8948, 0x246c_8d48, 5), (0x24ac_8948, 0x24ac_8d48, 8)];
const NOP_AND_CALL: usize = 0xe890;
const MOV_RBX_RSP: usize = 0xdc_8948;
/// The most instructions that remove a frame: an addition, six registers, and the return.
const MOST_INSTRUCTIONS: u32 = 8;

const CALL: usize = 0xe8;
const CALL_SLOT: usize = 0x15ff;
const JUMP_SLOT: usize = 0x25ff;
const BND: usize = 0xf2;

/// The function to which a stub of the PLT jumps, if there is a stub at an address, or the address itself. A stub is
/// `endbr64; bnd jmp *offset(%rip)`, of which the jump alone must be there.
fn behind_stub(memory: &impl Memory, start: usize) -> Option<usize> {
    let mut at = start;
    if memory.read(at)? & 0xffff_ffff == ENDBR64 {
        at = at.wrapping_add(4);
    }
    if memory.read(at)? & 0xff == BND {
        at = at.wrapping_add(1);
    }
    let code = memory.read(at)?;
    if code & 0xffff != JUMP_SLOT {
        return Some(start);
    }
    memory.read(at.wrapping_add(6).wrapping_add_signed((code >> 16) as i32 as isize))
}

/// The eight bytes before an address. Bytes on the page before are 0 if that page cannot be read.
fn before(memory: &impl Memory, pc: usize) -> Option<usize> {
    let last = pc.checked_sub(1)?;
    memory.read(pc.checked_sub(8)?).or_else(|| {
        let start = last & !7;
        memory.read(start).map(|word| word << (8 * (7 - (last - start))))
    })
}

impl Architecture for X86_64 {
    const STACK_POINTER: u8 = 7;
    const FRAME_POINTER: u8 = 6;
    const RECORD_BELOW: usize = 0;
    const BASE: u8 = 3;
    const RETURN_ADDRESS: u8 = 16;
    const HAS_LINK_REGISTER: bool = false;
    const ADDRESS_BITS: usize = usize::MAX;
    const AUTHENTICATION: &'static [u8] = &[];
    const LATE_TABLE: Option<usize> = None;

    fn follows_call(memory: &impl Memory, pc: usize) -> bool {
        let Some(word) = before(memory, pc) else {
            return false;
        };
        // The byte this far before pc.
        let byte = |back: u32| (word >> (64 - 8 * back)) as u8;
        // FF /2: the middle three bits of the second byte are 2, and its other bits say how long the instruction is.
        let is_indirect = |back: u32, modes: &[u8]| {
            byte(back) == 0xff && byte(back - 1) & 0x38 == 0x10 && modes.contains(&(byte(back - 1) & 0xc7))
        };
        let no_index = |mode: u8| [0, 1, 2, 3, 5, 6, 7].map(|register: u8| mode | register);
        byte(5) == 0xe8
            || byte(2) == 0xff && byte(1) & 0xf8 == 0xd0
            || is_indirect(2, &[0, 1, 2, 3, 6, 7])
            || is_indirect(3, &no_index(0x40))
            || is_indirect(3, &[0x04])
            || is_indirect(4, &[0x44])
            || is_indirect(6, &no_index(0x80))
            || is_indirect(6, &[0x05])
            || is_indirect(7, &[0x84, 0x04])
    }

    fn keeps_frame_pointer(memory: &impl Memory, pc: usize) -> bool {
        // Four of the bytes of each word belong to the next word too.
        let words =
            (0..NEAR / 4).map(|index| pc.wrapping_sub(4 * index)).map_while(|end| Some((end, before(memory, end)?)));
        words.into_iter().any(|(end, word)| {
            (0..5).any(|byte| match (word >> (8 * byte)) as u32 {
                PUSH_AND_MOV | PUSH_AND_MOV_BACKWARD => true,
                code => GO.iter().any(|(first, second, distance)| {
                    let start = || end.wrapping_sub(8 - byte).wrapping_sub(*distance);
                    code == *second && memory.read(start()).is_some_and(|code| code as u32 == *first)
                }),
            })
        })
    }

    /// glibc's function begins with `mov %rbx, %rsp`, and its table does not say that it has no caller.
    fn ends_coroutine(memory: &impl Memory, pc: usize, is_start: bool) -> bool {
        is_start && memory.read(pc).is_some_and(|code| code & 0xff_ffff == MOV_RBX_RSP)
    }

    /// The second instruction of `runtime.goexit`: a call behind a nop.
    fn ends_goroutine(memory: &impl Memory, pc: usize) -> bool {
        memory.read(pc.wrapping_sub(1)).is_some_and(|code| code & 0xffff == NOP_AND_CALL)
    }

    fn enters_at(memory: &impl Memory, pc: usize, frame: Returning) -> Option<Returning> {
        let code = memory.read(pc)?;
        let is_pushing = code & 0xff == PUSH_RBP || code & 0xffff_ffff == ENDBR64;
        let has_pushed =
            || code & 0xff_ffff == MOV_RSP_RBP && before(memory, pc).is_some_and(|before| before >> 56 == PUSH_RBP);
        let mut caller = frame;
        if !is_pushing {
            if !has_pushed() {
                return None;
            }
            caller.sp = caller.sp.wrapping_add(8);
        }
        caller.link = Some(memory.read(caller.sp)?);
        caller.sp = caller.sp.wrapping_add(8);
        Some(caller)
    }

    /// A call leaves the stack pointer 8 bytes below a multiple of 16.
    fn leaf(memory: &impl Memory, frame: Returning) -> Option<Returning> {
        if frame.sp % 16 != 8 {
            return None;
        }
        Some(Returning { sp: frame.sp.wrapping_add(8), link: Some(memory.read(frame.sp)?), ..frame })
    }

    fn callee(memory: &impl Memory, pc: usize) -> Option<usize> {
        let code = before(memory, pc)?;
        let named = pc.wrapping_add_signed((code >> 32) as i32 as isize);
        if code >> 24 & 0xff == CALL {
            behind_stub(memory, named)
        } else {
            // call *offset(%rip)
            memory.read(named).filter(|_| code >> 16 & 0xffff == CALL_SLOT)
        }
    }

    fn returns_at(memory: &impl Memory, pc: usize, frame: Returning) -> Option<Returning> {
        let Returning { mut sp, mut fp, mut base, .. } = frame;
        let mut at = pc;
        for _ in 0..MOST_INSTRUCTIONS {
            let code = memory.read(at)?;
            // The prefix of r8 to r15.
            let is_high = code & 0xff == 0x41;
            let length = match (code >> if is_high { 8 } else { 0 }) as u8 {
                0xc3 if !is_high => {
                    return Some(Returning { sp: sp.wrapping_add(8), fp, base, link: Some(memory.read(sp)?) });
                }
                // add $imm8, %rsp and add $imm32, %rsp
                0x48 if code & 0xff_ffff == 0xc4_8348 => {
                    sp = sp.wrapping_add_signed(((code >> 24) as i8).into());
                    4
                }
                0x48 if code & 0xff_ffff == 0xc4_8148 => {
                    sp = sp.wrapping_add_signed((code >> 24) as i32 as isize);
                    7
                }
                pop @ 0x58..=0x5f => {
                    let value = memory.read(sp)?;
                    sp = sp.wrapping_add(8);
                    match pop - 0x58 {
                        _ if is_high => {}
                        RBP => fp = value,
                        RBX => base = Some(value),
                        RSP => return None,
                        _ => {}
                    }
                    if is_high { 2 } else { 1 }
                }
                0xc9 if !is_high => {
                    sp = fp.wrapping_add(8);
                    fp = memory.read(fp)?;
                    1
                }
                _ => return None,
            };
            at = at.wrapping_add(length);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Made;
    use super::*;

    const PC: usize = 0x40_1000;

    fn code(at: usize, bytes: &[u8]) -> Made {
        let mut memory = Made::default();
        memory.write(PC - 8, &[0x90; 48]);
        memory.write(at, bytes);
        memory
    }

    /// The lengths of an indirect call with this second byte.
    fn lengths(mode: u8) -> &'static [usize] {
        match (mode >> 6, mode & 7) {
            (3, _) => &[2],
            (0, 4) => &[3, 7],
            (0, 5) | (2, 0..=3 | 5..) => &[6],
            (0, _) => &[2],
            (1, 4) => &[4],
            (1, _) => &[3],
            _ => &[7],
        }
    }

    #[test]
    fn all_calls_are_known_by_their_bytes() {
        // E8 is the opcode of a direct call.
        for mode in (0..=u8::MAX).filter(|mode| *mode != 0xe8) {
            let is_call = mode >> 3 & 7 == 2;
            let [call, other] = [0xff, 0xfe].map(|first| code(PC, &[&[first, mode], &[0xcc; 8][..]].concat()));
            for length in 1..=8 {
                let expected = is_call && lengths(mode).contains(&length);
                assert_eq!(X86_64::follows_call(&call, PC + length), expected, "{mode:x} {length}");
                assert!(!X86_64::follows_call(&other, PC + length), "{mode:x} {length}");
            }
        }
        let direct = code(PC, &[0xe8]);
        assert!((1..=8).all(|length| X86_64::follows_call(&direct, PC + length) == (length == 5)));
        assert!((0..8).all(|pc| !X86_64::follows_call(&direct, pc)));
    }

    #[test]
    fn a_call_may_begin_a_page() {
        for behind in 2..=8 {
            let mut memory = Made::default();
            memory.write(PC, &[0x90; 24]);
            memory.write(PC + behind - 2, &[0xff, 0xd0]);
            for pc in 1..=9 {
                assert_eq!(X86_64::follows_call(&memory, PC + pc), pc == behind, "{behind} {pc}");
            }
        }
    }

    #[test]
    fn a_frame_pointer_is_set_near_the_program_counter() {
        for set in [[0x55, 0x48, 0x89, 0xe5], [0x55, 0x48, 0x8b, 0xec]] {
            for (back, is_near) in [(4, true), (5, true), (8, true), (2001, true), (NEAR, true), (NEAR + 8, false)] {
                let mut memory = Made::default();
                memory.write(PC - 2 * NEAR, &[0x90; 2 * NEAR + 16]);
                memory.write(PC - back, &set);
                assert_eq!(X86_64::keeps_frame_pointer(&memory, PC), is_near, "{back}");
            }
        }
        assert!(!X86_64::keeps_frame_pointer(&code(PC - 4, &[0x55, 0x48, 0x89, 0xe6]), PC));
    }

    #[test]
    fn functions_of_go_set_a_frame_pointer_in_two_steps() {
        let short = [0x48, 0x89, 0x6c, 0x24, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x10];
        let long = [0x48, 0x89, 0xac, 0x24, 0, 1, 0, 0, 0x48, 0x8d, 0xac, 0x24, 0, 1, 0, 0];
        for set in [&short[..], &long] {
            for behind in 0..9 {
                let mut memory = Made::default();
                memory.write(PC - 8200, &[0x90; 8400]);
                memory.write(PC, set);
                assert!(X86_64::keeps_frame_pointer(&memory, PC + set.len() + behind), "{behind}");
                assert!(!X86_64::keeps_frame_pointer(&memory, PC + set.len() - 6), "{behind}");
                // An array in a frame: nothing saves the frame pointer.
                memory.write(PC, &[0x90]);
                assert!(!X86_64::keeps_frame_pointer(&memory, PC + set.len() + behind), "{behind}");
            }
        }
    }

    #[test]
    fn the_end_of_a_coroutine_begins_with_a_move() {
        let ends = |bytes: &[u8], is_start| X86_64::ends_coroutine(&code(PC, bytes), PC, is_start);
        assert!(ends(&[0x48, 0x89, 0xdc], true));
        assert!(!ends(&[0x48, 0x89, 0xdc], false) && !ends(&[0x48, 0x89, 0xdd], true) && !ends(&[], true));
    }

    #[test]
    fn a_goroutine_ends_at_a_call_behind_a_nop() {
        let ends = |bytes: &[u8]| X86_64::ends_goroutine(&code(PC - 1, bytes), PC);
        assert!(ends(&[0x90, 0xe8]));
        assert!(!ends(&[0x91, 0xe8]) && !ends(&[0x90, 0xe9]));
    }

    /// A caller's stack pointer, frame pointer, base, and return address. The frame has 0x70000, 0x7a000 and 1.
    type Caller = Option<(usize, usize, Option<usize>, usize)>;

    fn frame(memory: &mut Made) -> Returning {
        memory.words(0x7_0000, &[10, 11, 12, 13, 14, 15, 16, 17, 18]);
        memory.words(0x7_a000, &[0x7_a010, 21, 22, 23]);
        Returning { sp: 0x7_0000, fp: 0x7_a000, base: Some(1), link: None }
    }

    fn caller(found: Option<Returning>) -> Caller {
        found.map(|caller| (caller.sp, caller.fp, caller.base, caller.link.unwrap()))
    }

    #[test]
    fn functions_begin_with_a_frame() {
        let enters = |bytes: &[u8], before: u8| {
            let mut memory = code(PC - 1, &[&[before], bytes].concat());
            let frame = frame(&mut memory);
            caller(X86_64::enters_at(&memory, PC, frame))
        };
        let (pushing, pushed) = (Some((0x7_0008, 0x7_a000, Some(1), 10)), Some((0x7_0010, 0x7_a000, Some(1), 11)));
        assert_eq!([enters(&[0x55], 0x90), enters(&[0xf3, 0x0f, 0x1e, 0xfa], 0x90)], [pushing; 2]);
        assert_eq!(enters(&[0x48, 0x89, 0xe5], 0x55), pushed);
        assert_eq!([enters(&[0x48, 0x89, 0xe5], 0x90), enters(&[0x90], 0x55)], [None; 2]);
    }

    #[test]
    fn functions_end_with_pops_and_a_return() {
        let returns = |bytes: &[u8]| {
            let mut memory = code(PC, bytes);
            let frame = frame(&mut memory);
            caller(X86_64::returns_at(&memory, PC, frame))
        };
        let all = |words: usize, fp, base| Some((0x7_0008 + 8 * words, fp, Some(base), 10 + words));
        for pop in 0x58..=0x5f {
            let popped = match pop - 0x58 {
                RSP => None,
                RBP => all(1, 10, 1),
                RBX => all(1, 0x7_a000, 10),
                _ => all(1, 0x7_a000, 1),
            };
            assert_eq!(returns(&[pop, 0xc3]), popped, "{pop:x}");
            assert_eq!(returns(&[0x41, pop, 0xc3]), all(1, 0x7_a000, 1), "{pop:x}");
        }
        assert_eq!(returns(&[0xc3]), all(0, 0x7_a000, 1));
        assert_eq!(returns(&[0x48, 0x83, 0xc4, 0x10, 0xc3]), all(2, 0x7_a000, 1));
        assert_eq!(returns(&[0x48, 0x81, 0xc4, 0x18, 0, 0, 0, 0xc3]), all(3, 0x7_a000, 1));
        assert_eq!(returns(&[0xc9, 0xc3]), Some((0x7_a010, 0x7_a010, Some(1), 21)));
        assert_eq!(returns(&[0x5b, 0x5d, 0x41, 0x5c, 0x41, 0x5d, 0x41, 0x5e, 0x41, 0x5f, 0xc3]), all(6, 11, 10));
        for other in [&[0x41, 0xc3][..], &[0x41, 0xc9, 0xc3], &[0x48, 0x89, 0xe5, 0, 0, 0, 0, 0xc3], &[0x90, 0xc3]] {
            assert_eq!(returns(other), None, "{other:x?}");
        }
        assert_eq!(returns(&[0x5a; 24]), None, "no return");
    }
}
