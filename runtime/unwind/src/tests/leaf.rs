//! Functions without a table that have pushed nothing: hand-written assembly.

use super::{CODE, CONTEXT, Made, OTHER, STACK, context, walk};
use crate::*;

const LEAF: usize = OTHER + 0x300;
const SLOT: usize = OTHER + 0x700;
/// The largest distance from the start of a leaf.
const FAR: usize = 0xffff;
/// A value of the frame pointer that leads nowhere.
const NO_FRAME: usize = 1;

mod x86_64 {
    use super::*;
    use crate::tests::x86_64::{called, tables};

    const RSP: u8 = 7;
    const RBP: u8 = 6;
    /// The stack pointer behind a call.
    const SP: usize = STACK + 8;

    /// The function 2, which has no caller, behind its call.
    fn made() -> (Made, usize) {
        let mut memory = Made::default();
        let start = called(&mut memory, CODE + 0x210);
        memory.words(STACK, &[start; 4]);
        [LEAF, CODE, CODE + 0x110].into_iter().for_each(|code| memory.write(code, &[0x90; 64]));
        (memory, start)
    }

    /// Writes a call, or a jump, whose last four bytes are the distance from its end to a target.
    fn write(memory: &mut Made, end: usize, code: &[u8], target: usize) {
        memory.write(end - 4 - code.len(), code);
        memory.write(end - 4, &(target.wrapping_sub(end) as u32).to_ne_bytes());
    }

    /// Whether a walk from a function without a table finds the caller, and finds nothing else otherwise.
    fn finds(memory: &mut Made, start: usize, pc: usize, sp: usize) -> bool {
        context(memory, CONTEXT, pc, &[(RSP, sp), (RBP, NO_FRAME)]);
        let found = walk::<X86_64>(&tables(), memory);
        let is_found = found == (vec![(pc, true), (start, false)], Ending::Outermost);
        assert!(is_found || found == (vec![(pc, true)], Ending::Cut(Cut::NoTable)), "{found:x?}");
        is_found
    }

    #[test]
    fn a_leaf_without_a_table_has_its_caller_at_the_top_of_the_stack() {
        let (mut memory, start) = made();
        write(&mut memory, start, &[0xe8], LEAF);
        let at = [LEAF - 1, LEAF, LEAF + 0x20, LEAF + FAR, LEAF + FAR + 1];
        assert_eq!(at.map(|pc| finds(&mut memory, start, pc, SP)), [false, true, true, true, false]);
        // Something is on the stack, or the word is no return address.
        assert!(!finds(&mut memory, start, LEAF + 0x20, STACK));
        memory.words(SP, &[start + 1]);
        assert!(!finds(&mut memory, start, LEAF + 0x20, SP));
    }

    #[test]
    fn the_call_must_name_the_leaf() {
        let (mut memory, start) = made();
        let pc = LEAF + 0x20;
        for other in [CODE, CODE + 0x110, pc + 1, 0] {
            write(&mut memory, start, &[0xe8], other);
            assert!(!finds(&mut memory, start, pc, SP), "{other:#x}");
        }
        // call *offset(%rip), and call *%rax with the same bytes before.
        memory.words(SLOT, &[LEAF]);
        write(&mut memory, start, &[0xff, 0x15], SLOT);
        assert!(finds(&mut memory, start, pc, SP));
        memory.words(SLOT, &[pc + 1]);
        assert!(!finds(&mut memory, start, pc, SP));
        memory.words(SLOT, &[LEAF]);
        memory.write(start - 6, &[0x90, 0x15]);
        memory.write(start - 2, &[0xff, 0xd0]);
        assert!(!finds(&mut memory, start, pc, SP));
    }

    #[test]
    fn calls_through_stubs_of_the_plt_name_a_leaf() {
        let (mut memory, start) = made();
        let (pc, stub) = (LEAF + 0x20, OTHER + 0x100);
        write(&mut memory, start, &[0xe8], stub);
        let jump: &[u8] = &[0xff, 0x25];
        for before in [&[][..], &[0xf2], &[0xf3, 0x0f, 0x1e, 0xfa], &[0xf3, 0x0f, 0x1e, 0xfa, 0xf2]] {
            memory.write(stub - 8, &[0x90; 40]);
            memory.write(stub, before);
            write(&mut memory, stub + before.len() + 6, jump, SLOT);
            memory.words(SLOT, &[LEAF]);
            assert!(finds(&mut memory, start, pc, SP), "{before:x?}");
            memory.words(SLOT, &[CODE]);
            assert!(!finds(&mut memory, start, pc, SP), "{before:x?}");
        }
    }
}

mod aarch64 {
    use super::*;
    use crate::tests::aarch64::{after_call, tables};

    const SP: u8 = 31;
    const X29: u8 = 29;
    const X30: u8 = 30;

    fn branch_with_link(memory: &mut Made, link: usize, target: usize) {
        let words = (target.wrapping_sub(link - 4) as u32) >> 2 & 0x3ff_ffff;
        memory.write(link - 4, &(0x9400_0000 | words).to_ne_bytes());
    }

    fn finds(memory: &mut Made, pc: usize, link: usize) -> bool {
        context(memory, CONTEXT, pc, &[(SP, STACK), (X29, NO_FRAME), (X30, link)]);
        let found = walk::<AArch64>(&tables(), memory);
        let is_found = found == (vec![(pc, true), (link, false)], Ending::Outermost);
        assert!(is_found || found == (vec![(pc, true)], Ending::Cut(Cut::NoTable)), "{found:x?}");
        is_found
    }

    #[test]
    fn a_leaf_without_a_table_has_its_caller_in_the_link_register() {
        let mut memory = Made::default();
        let link = after_call(&mut memory, CODE + 0x140);
        memory.words(LEAF, &[0]);
        memory.words(CODE + 0x40, &[0]);
        branch_with_link(&mut memory, link, LEAF);
        let at = [LEAF - 4, LEAF, LEAF + 0x20, LEAF + FAR - 3, LEAF + FAR + 1];
        assert_eq!(at.map(|pc| finds(&mut memory, pc, link)), [false, true, true, true, false]);
        branch_with_link(&mut memory, link, CODE + 0x40);
        assert!(!finds(&mut memory, LEAF + 0x20, link), "another function");
    }

    #[test]
    fn calls_through_stubs_of_the_plt_name_a_leaf() {
        // adrp x16, 6 pages further; ldr x17, [x16, #24]; add x16, x16, #24; br x17
        const STUB: [u32; 4] = [0xd000_0030, 0xf940_0e11, 0x9100_6210, 0xd61f_0220];
        let mut memory = Made::default();
        let link = after_call(&mut memory, CODE + 0x140);
        let (pc, stub) = (LEAF + 0x20, OTHER + 0x100);
        let slot = (stub & !0xfff) + 6 * 0x1000 + 24;
        for landing in [false, true] {
            let code = [if landing { &[0xd503_245f][..] } else { &[] }, &STUB, &[0xd503_201f; 3]].concat();
            for (index, word) in code.iter().enumerate() {
                memory.write(stub + 4 * index, &word.to_ne_bytes());
            }
            branch_with_link(&mut memory, link, stub);
            memory.words(slot, &[LEAF]);
            assert!(finds(&mut memory, pc, link), "{landing}");
            memory.words(slot, &[CODE]);
            assert!(!finds(&mut memory, pc, link), "{landing}");
        }
    }
}
