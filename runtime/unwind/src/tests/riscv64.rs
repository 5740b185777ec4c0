//! Walks on a processor that no runtime is for: instructions of two bytes and of four, a link register, and a frame
//! record below the frame pointer. The numbers and the instructions are RISC-V's.

use super::{CODE, CONTEXT, Made, OTHER, STACK, context, section, walk};
use crate::*;

pub(super) struct RiscV64;

const RA: u8 = 1;
const SP: u8 = 2;
const FP: u8 = 8;
/// `c.jalr a5`, `jal ra`, `jalr ra, (a5)`; `c.jr ra`, which returns; `c.nop`.
const SHORT_CALL: [u8; 2] = [0x82, 0x97];
const CALL: [u8; 4] = [0xef, 0, 0, 0];
const INDIRECT_CALL: [u8; 4] = [0xe7, 0x80, 0x07, 0];
const RETURN: [u8; 2] = [0x82, 0x80];
const NOP: [u8; 2] = [0x01, 0];
/// `c.addi4spn s0, sp, 32`
const SET_FRAME_POINTER: [u8; 2] = [0x00, 0x10];

fn short(memory: &impl Memory, pc: usize) -> Option<usize> {
    memory.read(pc).map(|word| word & 0xffff)
}

impl Architecture for RiscV64 {
    const STACK_POINTER: u8 = SP;
    const FRAME_POINTER: u8 = FP;
    const RECORD_BELOW: usize = 16;
    const BASE: u8 = 9;
    const RETURN_ADDRESS: u8 = RA;
    const HAS_LINK_REGISTER: bool = true;
    const ADDRESS_BITS: usize = usize::MAX;
    const AUTHENTICATION: &'static [u8] = &[];
    const LATE_TABLE: Option<usize> = None;

    fn follows_call(memory: &impl Memory, pc: usize) -> bool {
        // A register that is not 0, and otherwise the bits of c.jalr.
        let is_short = |code: usize| code & 0xf07f == 0x9002 && code & 0xf80 != 0;
        let is_long = |code: usize| code & 0xfff == 0xef || code & 0x7fff == 0xe7;
        short(memory, pc.wrapping_sub(2)).is_some_and(is_short) || memory.read(pc.wrapping_sub(4)).is_some_and(is_long)
    }

    fn keeps_frame_pointer(memory: &impl Memory, pc: usize) -> bool {
        let mut codes = (0..0x40).map_while(|index| short(memory, pc.wrapping_sub(2 * index)));
        codes.any(|code| code & 0xe003 == 0 && code & 0x1c == 0 && code != 0)
    }

    fn ends_coroutine(_: &impl Memory, _: usize, _: bool) -> bool {
        false
    }

    fn enters_at(_: &impl Memory, _: usize, _: Returning) -> Option<Returning> {
        None
    }

    fn leaf(_: &impl Memory, _: Returning) -> Option<Returning> {
        None
    }

    fn callee(_: &impl Memory, _: usize) -> Option<usize> {
        None
    }

    fn returns_at(memory: &impl Memory, pc: usize, frame: Returning) -> Option<Returning> {
        (short(memory, pc)? == usize::from(u16::from_le_bytes(RETURN)) && frame.link.is_some()).then_some(frame)
    }
}

/// The CFA is sp.
const COMMON: &[u8] = &[0x0c, SP, 0];
/// c.addi sp, -32 at 0; c.sdsp ra, 24(sp) at 2; c.sdsp s0, 16(sp) at 4; c.addi4spn s0, sp, 32 at 6.
const FRAME: &[u8] = &[0x42, 0x0e, 32, 0x44, 0x81, 1, 0x88, 2, 0x42, 0x0c, FP, 0];
const START: &[u8] = &[0x07, RA];

fn tables() -> Vec<u8> {
    section(COMMON, RA, &[FRAME, START])
}

/// Writes a call in front of an address, and harmless instructions around.
fn after_call(memory: &mut Made, pc: usize, call: &[u8]) -> usize {
    memory.write(pc - 8, &NOP.repeat(12));
    memory.write(pc - call.len(), call);
    pc
}

#[test]
fn rules_change_and_calls_end_at_every_second_byte() {
    let mut memory = Made::default();
    for call in [&SHORT_CALL[..], &CALL, &INDIRECT_CALL] {
        // One of the return addresses is no multiple of four.
        let [caller, start] = [CODE + 0x42, CODE + 0x144].map(|pc| after_call(&mut memory, pc, call));
        let fp = STACK + 32;
        memory.words(STACK, &[0, 0, fp + 32, caller, 0, 0, 0, start]);
        for (offset, sp, s0, ra) in [(0, fp, fp + 32, caller), (2, STACK, fp + 32, caller), (8, STACK, fp, 0)] {
            context(&mut memory, CONTEXT, CODE + offset, &[(SP, sp), (FP, s0), (RA, ra)]);
            let expected = vec![(CODE + offset, true), (caller, false), (start, false)];
            assert_eq!(walk::<RiscV64>(&tables(), &memory), (expected, Ending::Outermost), "{offset} {call:x?}");
        }
    }
}

#[test]
fn a_call_can_be_the_last_instruction_of_a_function() {
    let mut memory = Made::default();
    let [inner, behind, start] = [0x42, 0x100, 0x144].map(|offset| after_call(&mut memory, CODE + offset, &SHORT_CALL));
    memory.words(STACK, &[0, 0, STACK + 64, behind, 0, 0, 0, start]);
    context(&mut memory, CONTEXT, inner, &[(SP, STACK), (FP, STACK + 32)]);
    // The address behind the call is the start of the function without a caller.
    let expected = vec![(inner, true), (behind, false), (start, false)];
    assert_eq!(walk::<RiscV64>(&tables(), &memory), (expected, Ending::Outermost));
}

#[test]
fn the_frame_record_is_below_the_frame_pointer() {
    let mut memory = Made::default();
    let start = after_call(&mut memory, CODE + 0x142, &SHORT_CALL);
    let at = OTHER + 0x202;
    memory.write(at - 0x100, &NOP.repeat(0x100));
    memory.write(at - 0x10, &SET_FRAME_POINTER);
    memory.words(STACK, &[7, 7, 77, start]);
    let from = |memory: &mut Made, fp| {
        context(memory, CONTEXT, at, &[(SP, STACK), (FP, fp), (RA, 0)]);
        walk::<RiscV64>(&tables(), memory)
    };
    let whole = (vec![(at, true), (start, false)], Ending::Outermost);
    assert_eq!(from(&mut memory, STACK + 32), whole);
    for fp in [STACK + 24, STACK + 8, STACK + 33] {
        assert_eq!(from(&mut memory, fp), (vec![(at, true)], Ending::Cut(Cut::NoTable)), "{fp:#x}");
    }
    memory.write(at, &RETURN);
    context(&mut memory, CONTEXT, at, &[(SP, STACK), (FP, 1), (RA, start)]);
    assert_eq!(walk::<RiscV64>(&tables(), &memory), whole, "by the link register");
}
