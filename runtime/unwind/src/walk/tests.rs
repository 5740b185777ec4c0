//! The steps of a walk, each on a stack that the test makes up.

use super::super::tests::x86_64::{called, tables};
use super::super::tests::{
    CODE, CONTEXT, Made, OTHER, SIGNALS, STACK, TABLES, TRAMPOLINE, context, section, section_with,
};
use super::super::{AArch64, Cache, Object, Objects, Section, X86_64};
use super::*;

const RBP: u8 = 6;
const RSP: u8 = 7;
/// The CFA is rsp + 8, and the return address below.
const COMMON: &[u8] = &[0x0c, RSP, 8, 0x90, 1];
/// The function without a caller in `tables`, and a return address in it.
const START: usize = CODE + 0x200;
const OUTERMOST: usize = START + 0x10;
const THE_END: Option<Ending> = Some(Ending::Outermost);

/// Runs a function with the tables of a section and a cache.
fn with<R>(bytes: &[u8], cache: &Cache<64>, run: impl FnOnce(&Tables<'_, Objects<'_>, 64>) -> R) -> R {
    let list = [Object::new(CODE..OTHER, Section { address: TABLES, bytes }, Some(0))];
    let objects = Objects::new(&list, 1);
    run(&Tables { objects, thread: 0, cache, signals: &SIGNALS })
}

/// The program counters of a walk, and its ending.
fn walk<A: Architecture>(bytes: &[u8], memory: &Made, cache: &Cache<64>) -> (Vec<usize>, Option<Ending>) {
    with(bytes, cache, |tables| {
        let mut walk = Walk::<A, _, _, _>::new(tables, memory, CONTEXT);
        let pcs = walk.by_ref().map(|frame| frame.pc).collect();
        (pcs, walk.ending())
    })
}

/// Runs a function with a walk that is at the bottom of a stack.
fn on_stack<R>(memory: &Made, run: impl for<'a> FnOnce(&mut Walk<'a, X86_64, Objects<'a>, Made, 64>) -> R) -> R {
    with(&tables(), &Cache::new(), |tables| {
        let mut walk = Walk::nowhere(tables, memory);
        (walk.sp, walk.bottom, walk.pc) = (STACK, STACK, CODE);
        run(&mut walk)
    })
}

#[test]
fn return_addresses_are_told_apart_by_their_functions() {
    let mut memory = Made::default();
    let [first, second] = [CODE + 0x10, CODE + 0x20].map(|pc| called(&mut memory, pc));
    let other = called(&mut memory, CODE + 0x110);
    let outside = [OTHER + 0x10, OTHER + 0x20].map(|pc| called(&mut memory, pc));
    on_stack(&memory, |walk| {
        assert!(walk.is_in_same_function(first, second) && walk.is_in_same_function(second, first));
        assert!(!walk.is_in_same_function(first, other) && !walk.is_in_same_function(other, first));
        assert!(!walk.is_in_same_function(first, second + 1), "no call");
        assert!(!walk.is_in_same_function(outside[0], outside[1]), "no functions are known");
    });
}

#[test]
fn stacks_grow_downward_and_some_rules_lead_to_a_few_other_stacks() {
    on_stack(&Made::default(), |walk| {
        for (sp, is_exact, expected) in [
            (STACK + 8, false, Ok(())),
            (STACK, true, Ok(())),
            (STACK, false, Err(MISLED)),
            (STACK - 8, true, Err(MISLED)),
            (STACK - 8, false, Err(MISLED)),
        ] {
            walk.is_exact = is_exact;
            assert_eq!(walk.check(sp, false), expected, "{sp:#x} {is_exact}");
        }
        (walk.stacks, walk.is_exact) = (0, false);
        assert!((1..MOST_STACKS).all(|_| walk.check(STACK, true).is_ok()));
        assert_eq!(walk.check(STACK, true), Err(MISLED));
        assert_eq!(walk.check(STACK + 8, true), Ok(()));
    });
}

#[test]
fn registers_are_taken_from_below_the_stack_only_if_they_were_popped() {
    on_stack(&Made::default(), |walk| {
        let mut popped = |is_exact, offset| {
            walk.is_exact = is_exact;
            walk.popped(Place::Stack(offset), STACK + 16, Some(5))
        };
        assert_eq!([popped(true, -24), popped(true, -16), popped(false, -24)], [Some(5), None, None]);
        assert_eq!(walk.popped(Place::Value(-24), STACK + 16, Some(5)), None);
    });
}

#[test]
fn the_bottom_of_the_stack_moves_to_another_stack() {
    let mut memory = Made::default();
    let link = Some(called(&mut memory, CODE + 0x10));
    for (sp, is_exact, bottom) in [
        (STACK + LARGEST_FRAME, false, STACK),
        (STACK + LARGEST_FRAME + 8, false, STACK + LARGEST_FRAME + 8),
        (STACK - 8, false, STACK - 8),
        (STACK + 8, true, STACK + 8),
    ] {
        on_stack(&memory, |walk| {
            assert_eq!(walk.go_to(Returning { sp, fp: 1, base: None, link }, is_exact, 0), Ok(()));
            assert_eq!(walk.here().bottom, bottom, "{sp:#x}");
        });
    }
}

#[test]
fn a_frame_record_is_at_an_aligned_address_above_the_stack_pointer() {
    let mut memory = Made::default();
    let link = called(&mut memory, CODE + 0x10);
    memory.write(CODE - 8, &[0x90, 0x90, 0x90, 0x90, 0x55, 0x48, 0x89, 0xe5, 0x90]);
    for (fp, is_sound) in [(STACK, true), (STACK + 8, true), (STACK - 16, false), (STACK + 12, false)] {
        memory.words(fp, &[77, link]);
        on_stack(&memory, |walk| {
            walk.fp = fp;
            let record = walk.frame_record().map(|caller| (caller.sp, caller.fp, caller.link));
            let expected = if is_sound { Ok((fp + 16, 77, Some(link))) } else { Err(Ending::Cut(Cut::NoTable)) };
            assert_eq!(record, expected, "{fp:#x}");
        });
    }
}

/// A recursion with levels of the same size: the context is that of the innermost level, in the function with a frame.
fn recursion(levels: usize) -> (Made, usize) {
    let mut memory = Made::default();
    let [call, start] = [CODE + 0x10, OUTERMOST].map(|pc| called(&mut memory, pc));
    for level in 0..levels {
        let fp = STACK + 32 * level;
        memory.words(fp, &[fp + 32, if level + 1 < levels { call } else { start }]);
    }
    context(&mut memory, CONTEXT, CODE + 0x12, &[(RBP, STACK), (RSP, STACK - 8)]);
    (memory, call)
}

#[test]
fn levels_of_a_deep_recursion_are_left_out() {
    let most = MOST_FRAMES as usize;
    for levels in [most - 2, most - 1, 5000] {
        let (memory, call) = recursion(levels);
        let (pcs, ending) = walk::<X86_64>(&tables(), &memory, &Cache::new());
        // Two levels show the recursion. The second of them is the outermost level.
        let kept = (MOST_FRAMES - OUTERMOST_FRAMES) as usize + 1;
        assert_eq!((pcs.len(), ending), (kept + 1, THE_END), "{levels}");
        assert!(pcs[1..kept].iter().all(|pc| *pc == call) && pcs[kept] == OUTERMOST);
    }
    let few = (MOST_FRAMES - OUTERMOST_FRAMES) as usize;
    let (memory, _) = recursion(few);
    assert_eq!(walk::<X86_64>(&tables(), &memory, &Cache::new()).0.len(), few + 1, "nothing is left out");
}

#[test]
fn a_stack_that_is_too_deep_is_cut() {
    let (mut memory, call) = recursion(5000);
    // Levels of many sizes.
    let mut fp = STACK;
    for level in 0..5000 {
        let above = fp + 32 + level * level % 7 * 16;
        memory.words(fp, &[above, call]);
        fp = above;
    }
    let (pcs, ending) = walk::<X86_64>(&tables(), &memory, &Cache::new());
    assert_eq!((pcs.len(), ending), (MOST_FRAMES as usize, Some(Ending::Cut(Cut::TooDeep))));
}

#[test]
fn rules_are_remembered_except_those_of_signal_frames() {
    let mut memory = Made::default();
    let [call, start] = [CODE + 0x110, OUTERMOST].map(|pc| called(&mut memory, pc));
    memory.words(STACK, &[call, 0, 0, 0, start]);
    context(&mut memory, CONTEXT, CODE, &[(RSP, STACK)]);
    let cache = Cache::new();
    let chain = (vec![CODE, call, start], THE_END);
    assert_eq!(walk::<X86_64>(&tables(), &memory, &cache), chain);
    let known = [CODE ^ EXACT, call - 1, start - 1, CODE, call];
    let is_known = known.map(|pc| cache.get(pc, 1, packing::<X86_64>()).is_some());
    assert_eq!(is_known, [true, true, true, false, false]);
    assert_eq!(walk::<X86_64>(&[], &memory, &cache), chain, "without tables");
}

/// The place to which the rule at an address leads from the bottom of a stack.
fn applied(bytes: &[u8], memory: &Made, pc: usize, fp: usize) -> Result<Position, Ending> {
    with(bytes, &Cache::new(), |tables| {
        let mut walk = Walk::<X86_64, _, _, _>::nowhere(tables, memory);
        (walk.sp, walk.fp, walk.pc, walk.frames) = (STACK, fp, pc, 1);
        walk.look_up_interrupted(pc);
        let found = walk.found.unwrap();
        walk.apply(&found).map(|()| walk.here())
    })
}

#[test]
fn the_cfa_is_below_only_if_it_comes_from_the_frame_pointer_or_from_a_signal() {
    let mut memory = Made::default();
    let call = called(&mut memory, CODE + 0x10);
    let below = STACK - 0x100;
    memory.words(below - 8, &[0, call]);
    memory.words(STACK - 24, &[call, 0, 0, call]);
    // The CFA is rsp - 16, rbp + 8, and rsp + 8.
    let functions: [&[u8]; 3] = [&[0x13, 2], &[0x0d, RBP], &[]];
    let rules = section(COMMON, 16, &functions);
    let positions = [0, 0x100, 0x200].map(|function| applied(&rules, &memory, CODE + function, below));
    let position = |slot, bottom| Ok(Position { address: call, slot, sp: slot + 8, bottom });
    assert_eq!(positions, [Err(MISLED), position(below, below + 8), position(STACK, 0)]);
    // Of an interrupted caller, the instruction itself counts, and the slot of its address is not known.
    let rules = section_with(b"zRS", COMMON, 16, &functions);
    let positions = [0, 0x100, 0x200].map(|function| applied(&rules, &memory, CODE + function, below));
    let position = |sp| Ok(Position { address: call + 1, slot: 0, sp, bottom: sp });
    assert_eq!(positions, [STACK - 16, below + 8, STACK + 8].map(position));
}

#[test]
fn the_interrupted_instruction_counts_from_its_own_address() {
    let mut memory = Made::default();
    context(&mut memory, CONTEXT, CODE, &[(RSP, STACK)]);
    let here = with(&tables(), &Cache::new(), |tables| Walk::<X86_64, _, _, _>::new(tables, &memory, CONTEXT).here());
    assert_eq!(here, Position { address: CODE, slot: 0, sp: STACK, bottom: STACK });
}

#[test]
fn addresses_that_no_call_left_are_frames_of_signals_and_ends_of_coroutines() {
    let mut memory = Made::default();
    for pc in [CODE, CODE + 0x110] {
        memory.write(pc, &[0x48, 0x89, 0xdc, 0, 0, 0, 0, 0]);
    }
    memory.write(TRAMPOLINE, &[0xaa, 0xbb, 0xcc, 0xdd, 0, 0, 0, 0]);
    let found = |bytes: &[u8], pc| {
        with(bytes, &Cache::new(), |tables| {
            let mut walk = Walk::<X86_64, _, _, _>::nowhere(tables, &memory);
            walk.look_up_call(pc, STACK)
                .map(|()| walk.found.map(|found| (found.is_signal, found.rule == Rule::OUTERMOST)))
        })
    };
    for (pc, expected) in [
        (CODE, Ok(Some((false, true)))),
        (CODE + 0x100, Err(MISLED)),
        (CODE + 0x110, Err(MISLED)),
        (START, Ok(Some((false, true)))),
        (START + 4, Ok(Some((false, true)))),
        (TRAMPOLINE, Ok(None)),
        (OTHER, Err(MISLED)),
    ] {
        assert_eq!(found(&tables(), pc), expected, "{pc:#x}");
    }
    let rules = section_with(b"zRS", COMMON, 16, &[&[], &[]]);
    assert_eq!(found(&rules, CODE + 0x100), Ok(Some((true, false))));
}

#[test]
fn rules_of_signal_frames_are_not_remembered() {
    let mut memory = Made::default();
    context(&mut memory, CONTEXT, CODE, &[(RSP, STACK)]);
    let cache = Cache::new();
    walk::<X86_64>(&section_with(b"zRS", COMMON, 16, &[&[]]), &memory, &cache);
    assert!(cache.get(CODE ^ EXACT, 1, packing::<X86_64>()).is_none());
}

#[test]
fn only_a_return_address_above_the_stack_is_looked_for_behind_the_start() {
    const SP: u8 = 31;
    const X30: u8 = 30;
    // stp x29, x30, [sp, #-32]! at 0; the return address is above the CFA from 8 on; no caller.
    let functions: [&[u8]; 3] = [&[0x44, 0x0e, 32, 0x9e, 3], &[0x48, 0x11, X30, 0x7f], &[0x07, X30]];
    let bytes = section(&[0x0c, SP, 0], X30, &functions);
    let mut memory = Made::default();
    memory.write(OUTERMOST - 4, &[0, 0, 0, 0x94, 0, 0, 0, 0, 0, 0, 0, 0]);
    memory.words(STACK, &[0; 8]);
    for pc in [CODE, CODE + 0x100, CODE + 0x104] {
        context(&mut memory, CONTEXT, pc, &[(SP, STACK), (X30, OUTERMOST)]);
        assert_eq!(walk::<AArch64>(&bytes, &memory, &Cache::new()), (vec![pc, OUTERMOST], THE_END), "{pc:#x}");
    }
}
