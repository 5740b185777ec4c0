//! Walks through stacks and code that the tests make up, on both architectures.

mod generated;
mod leaf;
mod recorded;
mod riscv64;

use std::collections::HashMap;

use super::*;

/// Words by address. Code is written as bytes.
#[derive(Default)]
pub(super) struct Made(HashMap<usize, u8>);

impl Made {
    pub(super) fn write(&mut self, address: usize, bytes: &[u8]) {
        self.0.extend(bytes.iter().enumerate().map(|(index, byte)| (address + index, *byte)));
    }

    pub(super) fn words(&mut self, address: usize, words: &[usize]) {
        for (index, word) in words.iter().enumerate() {
            self.write(address + 8 * index, &word.to_ne_bytes());
        }
    }
}

impl Memory for Made {
    fn read(&self, address: usize) -> Option<usize> {
        let mut word = [0; 8];
        for (index, byte) in word.iter_mut().enumerate() {
            *byte = *self.0.get(&address.checked_add(index)?)?;
        }
        Some(usize::from_ne_bytes(word))
    }
}

pub(super) const TABLES: usize = 0x1000;
/// The code that has tables. The functions have 0x100 bytes each.
pub(super) const CODE: usize = 0x10_000;
/// Code of the object without a table.
pub(super) const OTHER: usize = CODE + 0x8000;
pub(super) const CONTEXT: usize = 0x70_0000;
pub(super) const STACK: usize = 0x80_0000;
pub(super) const TRAMPOLINE: usize = OTHER + 0x1000;
const OFFSETS: [u16; 33] = {
    let mut offsets = [0; 33];
    let mut number = 0;
    while number < offsets.len() {
        offsets[number] = 8 * number as u16;
        number += 1;
    }
    offsets
};
/// Contexts with the registers in DWARF's order, and the program counter at the end.
pub(super) const SIGNALS: SignalFrames = SignalFrames {
    trampoline: &[0xaa, 0xbb, 0xcc, 0xdd],
    last_instruction: 2,
    context: 16,
    registers: &OFFSETS,
    program_counter: 8 * 33,
};

/// A section with an index and one FDE for each function, at `CODE`, `CODE + 0x100`, and so on.
pub(super) fn section(common: &[u8], return_address: u8, functions: &[&[u8]]) -> Vec<u8> {
    section_with(b"zR", common, return_address, functions)
}

/// As [`section`], with this augmentation.
pub(super) fn section_with(letters: &[u8], common: &[u8], return_address: u8, functions: &[&[u8]]) -> Vec<u8> {
    let number = functions.len();
    let mut bytes = vec![1, 0xff, 0x03, 0x3b, number as u8, 0, 0, 0];
    bytes.resize(8 + 8 * number, 0);
    let cie = bytes.len();
    let entry = |bytes: &mut Vec<u8>, content: &[&[u8]]| {
        let content = content.concat();
        bytes.extend((content.len() as u32).to_ne_bytes());
        bytes.extend(content);
    };
    // Version 1, alignments 1 and -8, addresses of 32 bits.
    entry(&mut bytes, &[&[0, 0, 0, 0, 1], letters, &[0, 1, 0x78, return_address, 1, 0x03], common]);
    for (index, function) in functions.iter().enumerate() {
        let at = bytes.len();
        let start = (CODE + 0x100 * index) as u32;
        let distance = (at + 4 - cie) as u32;
        bytes[8 + 8 * index..][..4].copy_from_slice(&(start - TABLES as u32).to_ne_bytes());
        bytes[12 + 8 * index..][..4].copy_from_slice(&(at as u32).to_ne_bytes());
        entry(&mut bytes, &[&distance.to_ne_bytes(), &start.to_ne_bytes(), &[0, 1, 0, 0], &[0], function]);
    }
    bytes
}

/// Walks from the context, with and without a filled cache.
pub(super) fn walk<A: Architecture>(section: &[u8], memory: &Made) -> (Vec<(usize, bool)>, Ending) {
    let tables = Section { address: TABLES, bytes: section };
    let empty = Section { address: 0, bytes: &[] };
    let list = [Object::new(CODE..OTHER, tables, Some(0)), Object::new(OTHER..OTHER + 0x800, empty, None)];
    let tables = Tables { objects: Objects::new(&list, 1), thread: 0, cache: &Cache::<64>::new(), signals: &SIGNALS };
    let run = || {
        let mut walk = Walk::<A, _, _, _>::new(&tables, memory, CONTEXT);
        let frames: Vec<_> = walk.by_ref().map(|frame| (frame.pc, frame.is_exact)).collect();
        (frames, walk.ending().expect("an ended walk"))
    };
    let first = run();
    assert_eq!(run(), first, "from the cache");
    first
}

/// Writes a context: the registers that are not given are 0.
pub(super) fn context(memory: &mut Made, at: usize, pc: usize, registers: &[(u8, usize)]) {
    memory.words(at, &[0; 33]);
    memory.words(at + 8 * 33, &[pc]);
    for (number, value) in registers {
        memory.words(at + 8 * usize::from(*number), &[*value]);
    }
}

pub(super) mod x86_64 {
    use super::*;

    const RSP: u8 = 7;
    const RBP: u8 = 6;
    const R10: u8 = 10;
    /// The CFA is rsp + 8, and the return address below.
    const COMMON: &[u8] = &[0x0c, RSP, 8, 0x90, 1];
    /// push %rbp at 0, mov %rsp, %rbp at 1; at 0x20, the frame is removed.
    const FRAME: &[u8] = &[0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, RBP, 0x5c, 0x0c, RSP, 8];
    /// sub $24, %rsp at 0.
    const NO_FRAME: &[u8] = &[0x44, 0x0e, 32];
    /// The return address is undefined.
    const START: &[u8] = &[0x07, 16];
    /// The CFA is in r10; from 8 on, at -8 of rbp.
    const ALIGNED: &[u8] = &[0x0c, R10, 0, 0x48, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, RBP, 2, 0x76, 0];
    const CALL: [u8; 5] = [0xe8, 0, 0, 0, 0];

    pub(crate) fn tables() -> Vec<u8> {
        section(COMMON, 16, &[FRAME, NO_FRAME, START, ALIGNED])
    }

    /// An address in a function, with a call before it.
    fn after_call(memory: &mut Made, function: usize) -> usize {
        called(memory, CODE + 0x100 * function + 0x10)
    }

    pub(crate) fn called(memory: &mut Made, pc: usize) -> usize {
        memory.write(pc - 8, &[0x90; 3]);
        memory.write(pc - 5, &CALL);
        memory.write(pc, &[0x90; 16]);
        pc
    }

    #[test]
    fn the_edges_of_a_function_are_exact() {
        let mut memory = Made::default();
        let [caller, start] = [after_call(&mut memory, 1), after_call(&mut memory, 2)];
        // Each state of the frame of function 0: before, after the push, inside, and after the end.
        for (offset, sp, fp) in [(0, 3, 77), (1, 2, 77), (0x10, 0, 2), (0x1f, 0, 2), (0x20, 3, 77)] {
            let slot = |index: usize| STACK + 8 * index;
            let fp = if fp == 2 { slot(2) } else { fp };
            memory.words(STACK, &[1, 2, 77, caller, 4, 5, 6, start]);
            context(&mut memory, CONTEXT, CODE + offset, &[(RSP, slot(sp)), (RBP, fp)]);
            let expected = vec![(CODE + offset, true), (caller, false), (start, false)];
            assert_eq!(walk::<X86_64>(&tables(), &memory), (expected, Ending::Outermost), "{offset:#x}");
        }
    }

    #[test]
    fn a_popped_frame_pointer_needs_no_memory_below_the_stack() {
        let mut memory = Made::default();
        let [caller, start] = [after_call(&mut memory, 0), after_call(&mut memory, 2)];
        // The caller has a frame at the popped frame pointer.
        memory.words(STACK, &[caller, 1, 2, 0, start]);
        context(&mut memory, CONTEXT, CODE + 0x20, &[(RSP, STACK), (RBP, STACK + 24)]);
        let expected = vec![(CODE + 0x20, true), (caller, false), (start, false)];
        assert_eq!(walk::<X86_64>(&tables(), &memory), (expected, Ending::Outermost));
    }

    #[test]
    fn realigned_stacks_are_followed() {
        let mut memory = Made::default();
        let start = after_call(&mut memory, 2);
        // The caller's frame is at STACK + 0x100; rbp - 8 has the CFA.
        let cfa = STACK + 0x100;
        memory.words(STACK + 0x40, &[cfa, 99]);
        memory.words(cfa - 8, &[start]);
        let function = CODE + 0x300;
        for (offset, registers) in [(0, [(R10, cfa), (RSP, STACK)]), (9, [(RBP, STACK + 0x48), (RSP, STACK)])] {
            context(&mut memory, CONTEXT, function + offset, &registers);
            let expected = vec![(function + offset, true), (start, false)];
            assert_eq!(walk::<X86_64>(&tables(), &memory), (expected, Ending::Outermost), "{offset}");
        }
    }

    #[test]
    fn signal_frames_lead_to_an_exact_address_on_another_stack() {
        let mut memory = Made::default();
        let [start, other] = [after_call(&mut memory, 2), STACK - 0x1000];
        memory.write(TRAMPOLINE, &[0xaa, 0xbb, 0xcc, 0xdd, 0, 0, 0, 0]);
        memory.write(TRAMPOLINE - 8, &[0x90; 8]);
        // The handler runs in function 1 on a stack above; the interrupted function 0 has just begun, with its stack
        // below.
        memory.words(STACK + 24, &[TRAMPOLINE]);
        context(&mut memory, STACK + 32 + 16, CODE, &[(RSP, other)]);
        memory.words(other, &[start]);
        context(&mut memory, CONTEXT, CODE + 0x110, &[(RSP, STACK)]);
        let expected = vec![(CODE + 0x110, true), (TRAMPOLINE, false), (CODE, true), (start, false)];
        assert_eq!(walk::<X86_64>(&tables(), &memory), (expected, Ending::Outermost));
        // The handler has returned, and the system call follows.
        context(&mut memory, CONTEXT, TRAMPOLINE + 2, &[(RSP, STACK + 32)]);
        let expected = vec![(TRAMPOLINE + 2, true), (CODE, true), (start, false)];
        assert_eq!(walk::<X86_64>(&tables(), &memory), (expected, Ending::Outermost));
    }

    #[test]
    fn wrong_stacks_cut_the_chain() {
        let mut memory = Made::default();
        let function = CODE + 0x110;
        let from = |memory: &mut Made, sp| context(memory, CONTEXT, function, &[(RSP, sp)]);
        from(&mut memory, STACK);
        let cut = |cut| (vec![(function, true)], Ending::Cut(cut));
        assert_eq!(walk::<X86_64>(&tables(), &memory), cut(Cut::Unreadable), "no stack");
        memory.words(STACK, &[0, 0, 0, function + 7]);
        memory.write(function - 8, &[0x90; 32]);
        assert_eq!(walk::<X86_64>(&tables(), &memory), cut(Cut::Misled), "no call before the return address");
        memory.words(STACK, &[0, 0, 0, 0]);
        assert_eq!(walk::<X86_64>(&tables(), &memory).1, Ending::Outermost, "return address 0");
        let (frames, ending) = walk::<X86_64>(&tables(), &Made::default());
        assert_eq!((frames.len(), ending), (0, Ending::Cut(Cut::Unreadable)), "no context");
    }

    #[test]
    fn functions_without_a_table_need_a_sound_frame_pointer() {
        let mut memory = Made::default();
        let start = after_call(&mut memory, 2);
        let pc = called(&mut memory, OTHER + 0x100);
        memory.write(pc - 16, &[0x90, 0x90, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x90]);
        let record = STACK + 0x40;
        memory.words(STACK, &[start; 4]);
        memory.words(record, &[0, start]);
        let mut ending_for = |fp: usize, is_called: bool| {
            memory.write(start - 5, &[if is_called { 0xe8 } else { 0x90 }]);
            context(&mut memory, CONTEXT, pc, &[(RSP, STACK), (RBP, fp)]);
            let (frames, ending) = walk::<X86_64>(&tables(), &memory);
            (frames.len(), ending)
        };
        assert_eq!(ending_for(record, true), (2, Ending::Outermost));
        assert_eq!(ending_for(0, true), (1, Ending::Outermost));
        let cut = (1, Ending::Cut(Cut::NoTable));
        for fp in [record + 1, STACK - 8, STACK + 0x4000, usize::MAX - 7] {
            assert_eq!(ending_for(fp, true), cut, "{fp:#x}");
        }
        assert_eq!(ending_for(record, false), cut, "no call before the return address");
        memory.write(pc - 14, &[0x90; 4]);
        memory.write(start - 5, &[0xe8]);
        context(&mut memory, CONTEXT, pc, &[(RSP, STACK), (RBP, record)]);
        assert_eq!(walk::<X86_64>(&tables(), &memory).1, cut.1, "the function keeps no frame pointer");
    }

    #[test]
    fn a_handler_without_a_table_is_passed_by_its_frame_pointer() {
        let mut memory = Made::default();
        let start = after_call(&mut memory, 2);
        memory.write(TRAMPOLINE - 8, &[0x90; 8]);
        // The interrupted function 0 has just begun.
        let (handler, interrupted) = (OTHER + 0x300, STACK + 0x400);
        memory.write(handler - 16, &[0x90; 32]);
        memory.write(handler - 14, &[0x55, 0x48, 0x89, 0xe5]);
        memory.words(STACK, &[0, 0, 0, 0, 0x5107, TRAMPOLINE]);
        context(&mut memory, STACK + 48 + 16, CODE, &[(RSP, interrupted)]);
        memory.words(interrupted, &[start]);
        context(&mut memory, CONTEXT, handler, &[(RSP, STACK), (RBP, STACK + 32)]);
        memory.write(TRAMPOLINE, &[0x90; 8]);
        assert_eq!(walk::<X86_64>(&tables(), &memory).1, Ending::Cut(Cut::NoTable), "no trampoline");
        memory.write(TRAMPOLINE, SIGNALS.trampoline);
        let expected = vec![(handler, true), (TRAMPOLINE, false), (CODE, true), (start, false)];
        assert_eq!(walk::<X86_64>(&tables(), &memory), (expected, Ending::Outermost));
    }

    #[test]
    fn instructions_show_the_edges_of_functions_without_a_table() {
        let mut memory = Made::default();
        let start = after_call(&mut memory, 2);
        let at = OTHER + 0x200;
        memory.words(STACK, &[11, 22, 33, start, 44, start]);
        // The code at the program counter, the code before it, and the slot of the return address from rsp on.
        let cases: [(&[u8], u8, usize); 8] = [
            (&[0x55], 0x90, 3),
            (&[0xf3, 0x0f, 0x1e, 0xfa], 0x90, 3),
            (&[0x48, 0x89, 0xe5], 0x55, 2),
            (&[0xc3], 0x90, 3),
            (&[0x5d, 0xc3], 0x90, 2),
            (&[0x48, 0x83, 0xc4, 0x08, 0x5b, 0x41, 0x5c, 0xc3], 0x90, 0),
            (&[0x48, 0x81, 0xc4, 0x10, 0, 0, 0, 0x5d, 0xc3], 0x90, 0),
            (&[0xc9, 0xc3], 0x90, 0),
        ];
        for (code, before, slot) in cases {
            memory.write(at - 8, &[0x90; 32]);
            memory.write(at - 1, &[before]);
            memory.write(at, code);
            let registers = [(RSP, STACK + 8 * slot), (RBP, STACK + 16)];
            context(&mut memory, CONTEXT, at, &registers);
            let expected = (vec![(at, true), (start, false)], Ending::Outermost);
            assert_eq!(walk::<X86_64>(&tables(), &memory), expected, "{code:x?}");
        }
    }
}

pub(super) mod aarch64 {
    use super::*;

    const SP: u8 = 31;
    const X29: u8 = 29;
    const X30: u8 = 30;
    /// The CFA is sp.
    const COMMON: &[u8] = &[0x0c, SP, 0];
    /// paciasp at 0; stp x29, x30, [sp, #-32]! at 4.
    const FRAME: &[u8] = &[0x44, 0x2d, 0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3];
    const START: &[u8] = &[0x07, X30];
    const BL: [u8; 4] = [0, 0, 0, 0x94];
    /// A signature of a return address.
    const SIGNED: usize = 0x2a << 48;

    pub(crate) fn after_call(memory: &mut Made, pc: usize) -> usize {
        memory.write(pc - 4, &BL);
        memory.write(pc, &[0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5]);
        pc
    }

    /// glibc's `_dl_runtime_resolve`: nop at 0; the return address at CFA + 8 from 4 on; stp x8, x9, [sp, #-208]! at 4;
    /// ldp x8, x9, [sp], #208 at 0x10; ldp x17, x30, [sp], #16 at 0x14; br x16 at 0x18.
    const RESOLVE: &[u8] = &[0x44, 0x11, X30, 0x7f, 0x44, 0x0e, 0xd0, 1, 0x4c, 0x0e, 0, 0x44, 0x13, 2];

    pub(crate) fn tables() -> Vec<u8> {
        section(COMMON, X30, &[FRAME, START, RESOLVE])
    }

    /// The chain of a function that the dynamic linker resolves: function 0, called by function 1, behind 16 bytes of
    /// the PLT.
    fn resolving(memory: &mut Made) -> [usize; 2] {
        let [caller, start] = [CODE + 0x40, CODE + 0x140].map(|pc| after_call(memory, pc));
        // The frame of the trampoline, the two words of the PLT, and the frame of function 0.
        memory.words(STACK, &[0; 26]);
        memory.words(STACK + 208, &[0x5107, caller]);
        memory.words(STACK + 224, &[STACK + 256, start, 0, 0]);
        [caller, start]
    }

    #[test]
    fn the_caller_of_the_dynamic_linker_is_behind_the_words_that_the_plt_pushes() {
        let mut memory = Made::default();
        let [caller, start] = resolving(&mut memory);
        let resolve = CODE + 0x200;
        for (offset, sp) in [(0, 208), (4, 208), (8, 0), (0xc, 0), (0x14, 208), (0x18, 224)] {
            // x30 keeps the return address until the trampoline calls a function.
            let x30 = if offset < 0xc { caller } else { 0 };
            context(&mut memory, CONTEXT, resolve + offset, &[(SP, STACK + sp), (X29, STACK + 224), (X30, x30)]);
            let expected = vec![(resolve + offset, true), (caller, false), (start, false)];
            assert_eq!(walk::<AArch64>(&tables(), &memory), (expected, Ending::Outermost), "{offset:#x}");
        }
    }

    #[test]
    fn stubs_of_the_plt_have_a_caller_without_a_table() {
        const FIRST: [u32; 8] = [
            0xa9bf_7bf0, // stp x16, x30, [sp, #-16]!
            0xf000_0410, // adrp x16, 0x8f000
            0xf947_fe11, // ldr x17, [x16, #4088]
            0x913f_e210, // add x16, x16, #0xff8
            0xd61f_0220, // br x17
            0xd503_201f, // nop
            0xd503_201f, // nop
            0xd503_201f, // nop
        ];
        const STUB: [u32; 4] = [0x9000_0430, 0xf940_0611, 0x9100_2210, 0xd61f_0220];
        const SIGNED_STUB: [u32; 6] = [0xd503_245f, 0x9000_0430, 0xf940_0611, 0x9100_2210, 0xd503_219f, 0xd61f_0220];
        let mut memory = Made::default();
        let [caller, start] = resolving(&mut memory);
        let plt = OTHER + 0x100;
        let code = [&FIRST[..], &STUB, &SIGNED_STUB, &[0xd503_201f; 2]].concat();
        for (index, code) in code.iter().enumerate() {
            memory.write(plt + 4 * index, &code.to_ne_bytes());
        }
        let is_padding = |index: usize| (5..8).contains(&index) || index >= 18;
        for index in 0..code.len() {
            let sp = if (1..5).contains(&index) { 208 } else { 224 };
            context(&mut memory, CONTEXT, plt + 4 * index, &[(SP, STACK + sp), (X29, 1), (X30, caller)]);
            let at = plt + 4 * index;
            let expected = if is_padding(index) {
                (vec![(at, true)], Ending::Cut(Cut::NoTable))
            } else {
                (vec![(at, true), (caller, false), (start, false)], Ending::Outermost)
            };
            assert_eq!(walk::<AArch64>(&tables(), &memory), expected, "{index}");
        }
    }

    #[test]
    fn signed_return_addresses_and_the_link_register_are_read() {
        let mut memory = Made::default();
        let [caller, start] = [CODE + 0x40, CODE + 0x140].map(|pc| after_call(&mut memory, pc));
        memory.words(STACK, &[STACK + 32, caller | SIGNED, 0, 0, 0, start | SIGNED, 0, 0]);
        for (offset, sp, x30) in [(0, 4, caller), (4, 4, caller | SIGNED), (8, 0, 0), (0x20, 0, 0)] {
            let registers = [(SP, STACK + 8 * sp), (X29, STACK + 32), (X30, x30)];
            context(&mut memory, CONTEXT, CODE + offset, &registers);
            let expected = vec![(CODE + offset, true), (caller, false), (start, false)];
            assert_eq!(walk::<AArch64>(&tables(), &memory), (expected, Ending::Outermost), "{offset:#x}");
        }
    }

    #[test]
    fn a_caller_does_not_find_itself_in_the_link_register() {
        let mut memory = Made::default();
        // A leaf's rule says that the return address is in x30, which the call has overwritten.
        let inner = after_call(&mut memory, CODE + 0x40);
        memory.words(STACK, &[STACK + 32, CODE + 4, 0, 0]);
        after_call(&mut memory, CODE + 4);
        context(&mut memory, CONTEXT, inner, &[(SP, STACK), (X30, inner)]);
        let (frames, ending) = walk::<AArch64>(&tables(), &memory);
        assert_eq!((frames, ending), (vec![(inner, true), (CODE + 4, false)], Ending::Cut(Cut::Misled)));
    }

    #[test]
    fn instructions_show_the_edges_of_functions_without_a_table() {
        let mut memory = Made::default();
        let start = after_call(&mut memory, CODE + 0x140);
        let at = OTHER + 0x200;
        let nop = 0xd503_201f_u32;
        // bti c; paciasp; stp x29, x30, [sp, #-32]!; mov x29, sp behind the stp; ret
        let push = 0xa9be_7bfd;
        for (code, before) in
            [(0xd503_245f, nop), (0xd503_233f, nop), (push, nop), (0x9100_03fd, push), (0xd65f_03c0, nop)]
        {
            memory.write(at - 4, &before.to_ne_bytes());
            memory.write(at, &u32::to_ne_bytes(code));
            memory.write(at + 4, &nop.to_ne_bytes());
            context(&mut memory, CONTEXT, at, &[(SP, STACK), (X29, 1), (X30, start | SIGNED)]);
            let expected = (vec![(at, true), (start, false)], Ending::Outermost);
            assert_eq!(walk::<AArch64>(&tables(), &memory), expected, "{code:#x}");
        }
    }
}
