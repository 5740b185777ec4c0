//! Chains through code that no object has, and to stacks that functions have left.

use super::x86_64::{called, tables};
use super::{CODE, CONTEXT, Made, OTHER, STACK, context, walk};
use crate::*;

const RSP: u8 = 7;
const RBP: u8 = 6;
const GENERATED: usize = 0x50_0000;
/// A stack at lower addresses.
const LEFT: usize = STACK - 0x8_0000;
/// Where a goroutine ends, in code without a table.
const GOEXIT: usize = OTHER + 0x81;
/// `mov %rbp, 16(%rsp); lea 16(%rsp), %rbp`
const GO_FRAME: [u8; 10] = [0x48, 0x89, 0x6c, 0x24, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x10];

/// Code with these return addresses: two in generated code, and one in the function without a caller.
fn made() -> (Made, [usize; 3]) {
    let mut memory = Made::default();
    let calls = [GENERATED + 0x20, GENERATED + 0x80, CODE + 0x210].map(|pc| called(&mut memory, pc));
    memory.write(GENERATED + 0x100, &[0x90; 32]);
    (memory, calls)
}

fn pcs(memory: &Made) -> (Vec<usize>, Ending) {
    let (frames, ending) = walk::<X86_64>(&tables(), memory);
    (frames.into_iter().map(|(pc, _)| pc).collect(), ending)
}

#[test]
fn generated_code_with_frame_pointers_has_its_callers() {
    let (mut memory, [first, second, start]) = made();
    let pc = GENERATED + 0x108;
    context(&mut memory, CONTEXT, pc, &[(RSP, STACK), (RBP, STACK + 16)]);
    memory.words(STACK, &[0, 0, STACK + 48, first, 0, 0, STACK + 80, second, 0, 0, 1, start]);
    assert_eq!(pcs(&memory), (vec![pc, first, second, start], Ending::Outermost));
    // An interpreter makes a return address without a call.
    memory.words(STACK + 24, &[first + 1]);
    assert_eq!(pcs(&memory), (vec![pc, first + 1, second, start], Ending::Outermost));
    // The chain must lead to an object from the first record on.
    memory.words(STACK + 88, &[start + 1]);
    assert_eq!(pcs(&memory), (vec![pc], Ending::Cut(Cut::NoTable)));
}

#[test]
fn generated_code_that_has_just_begun_has_its_caller_on_the_stack() {
    let (mut memory, [first, _, start]) = made();
    let pc = GENERATED + 0x108;
    memory.write(pc, &[0x55, 0x48, 0x89, 0xe5]);
    context(&mut memory, CONTEXT, pc, &[(RSP, STACK), (RBP, STACK + 16)]);
    memory.words(STACK, &[first, 0, 1, start]);
    assert_eq!(pcs(&memory), (vec![pc, first, start], Ending::Outermost));
    memory.words(STACK, &[first + 1]);
    assert_eq!(pcs(&memory), (vec![pc, start], Ending::Outermost), "not a return address");
}

#[test]
fn the_code_of_objects_calls_from_generated_code() {
    let (mut memory, [first, _, start]) = made();
    // Function 0 keeps a frame pointer.
    let pc = CODE + 0x10;
    memory.write(pc, &[0x90; 16]);
    context(&mut memory, CONTEXT, pc, &[(RSP, STACK), (RBP, STACK)]);
    memory.words(STACK, &[STACK + 32, first, 0, 0, 1, start]);
    assert_eq!(pcs(&memory), (vec![pc, first, start], Ending::Outermost));
}

/// Functions of Go: an interrupted one, and two callers.
fn goroutine(memory: &mut Made, at: usize) -> [usize; 3] {
    let calls = [OTHER + 0x230, OTHER + 0x260].map(|pc| called(memory, pc));
    memory.write(OTHER + 0x200, &[0x90; 0x20]);
    memory.write(OTHER + 0x200, &GO_FRAME);
    memory.write(GOEXIT - 1, &[0x90, 0xe8, 0, 0, 0, 0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90]);
    memory.write(GOEXIT - 17, &[0x90; 16]);
    memory.write(OTHER + 0x218, &[0x90; 0x60]);
    let calls = calls.map(|pc| called(memory, pc));
    memory.words(at, &[at + 32, calls[0], 0, 0, at + 64, calls[1], 0, 0, 0, GOEXIT]);
    [OTHER + 0x218, calls[0], calls[1]]
}

#[test]
fn a_goroutine_is_whole_up_to_its_first_function() {
    let (mut memory, _) = made();
    let [pc, first, second] = goroutine(&mut memory, STACK);
    context(&mut memory, CONTEXT, pc, &[(RSP, STACK), (RBP, STACK)]);
    assert_eq!(pcs(&memory), (vec![pc, first, second], Ending::Outermost));
    memory.words(STACK + 72, &[GOEXIT - 1]);
    assert_eq!(pcs(&memory), (vec![pc, first, second], Ending::Cut(Cut::NoTable)));
}

#[test]
fn a_frame_pointer_leads_to_the_stack_that_a_function_has_left() {
    let (mut memory, _) = made();
    let [pc, first, second] = goroutine(&mut memory, LEFT);
    context(&mut memory, CONTEXT, pc, &[(RSP, STACK), (RBP, LEFT)]);
    memory.words(STACK, &[0; 8]);
    assert_eq!(pcs(&memory), (vec![pc, first, second], Ending::Outermost));
    // Each return address must be in an object, up to the end.
    for (slot, wrong) in [(LEFT + 8, first + 1), (LEFT + 40, GENERATED + 0x20), (LEFT + 72, GOEXIT + 1)] {
        goroutine(&mut memory, LEFT);
        memory.words(slot, &[wrong]);
        assert_eq!(pcs(&memory), (vec![pc], Ending::Cut(Cut::NoTable)), "{wrong:#x}");
    }
}

#[test]
fn a_chain_proves_nothing_behind_the_code_of_an_object() {
    let (mut memory, [first, _, start]) = made();
    // A function without a table, which may keep anything in the register.
    let known = called(&mut memory, OTHER + 0x230);
    let pc = GENERATED + 0x108;
    context(&mut memory, CONTEXT, pc, &[(RSP, STACK), (RBP, STACK + 16)]);
    memory.words(STACK, &[0, 0, STACK + 48, first, 0, 0, STACK + 80, known, 0, 0, STACK + 112, 0x1234, 0, 0]);
    assert_eq!(pcs(&memory), (vec![pc, first, known], Ending::Cut(Cut::NoTable)));
    // The register leads to data below the stack, such as a list that leads to itself.
    memory.words(LEFT, &[LEFT, first]);
    memory.words(STACK + 48, &[LEFT]);
    assert_eq!(pcs(&memory), (vec![pc, first, known], Ending::Cut(Cut::NoTable)));
    memory.words(STACK + 48, &[STACK + 80]);
    // Data that leads to an object: the word is the address of no instruction after a call.
    memory.words(STACK + 80, &[STACK + 112, first + 1, 0, 0, 1, start]);
    assert_eq!(pcs(&memory), (vec![pc, first, known], Ending::Cut(Cut::NoTable)));
    // More generated code, which leads to an object again.
    memory.words(STACK + 80, &[STACK + 112, first, 0, 0, 1, start]);
    assert_eq!(pcs(&memory), (vec![pc, first, known, first, start], Ending::Outermost));
}
