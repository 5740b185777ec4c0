//! Tests of call sites and of tail calls, on machine code in memory.

use super::*;
use crate::program::image::{Code, Machine, Symbol};

const NAMES: [(u64, &str); 5] =
    [(0x1000, "main"), (0x1020, "sort@plt"), (0x1040, "sort@@V_1"), (0x1060, "sort_r@@V_2"), (0x1080, "other@plt")];

/// `main` calls the stubs of `sort` and `other`, and `sort` jumps to `sort_r`.
fn with_sites<T>(arcs: &[Arc], check: impl Fn(&Functions<'_>, &CallSites<'_, '_>) -> T) -> T {
    let symbol = |(address, name): (u64, &'static str)| Symbol {
        address,
        name: name.as_bytes(),
        is_static: false,
        is_func: true,
    };
    let functions = Functions::new(NAMES.map(symbol).to_vec(), 0x10a0);
    let mut bytes = vec![0x90; 0xa0];
    bytes[0x0b..0x10].copy_from_slice(&[0xe8, 0x10, 0, 0, 0]);
    bytes[0x13..0x18].copy_from_slice(&[0xe8, 0x68, 0, 0, 0]);
    bytes[0x43..0x48].copy_from_slice(&[0xe9, 0x18, 0, 0, 0]);
    let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
    check(&functions, &CallSites::in_memory(arcs, &functions, code))
}

#[test]
fn a_function_of_a_library_that_ends_in_a_tail_call() {
    with_sites(&[], |functions, sites| {
        let id = |address| functions.find(address).unwrap();
        // Neither function has a counter, but the stub has the name, and the jump is in the code.
        let sort = Gone { functions: vec![id(0x1040)], certain: 1, ..Gone::default() };
        assert_eq!(sites.gone(0x1010, id(0x1060)), sort);
        assert_eq!(sites.gone(0x1010, id(0x1040)), Gone::default());
        assert_eq!(sites.gone(0x1010, id(0x1020)), Gone::default(), "in the stub");
        // Nothing tells what the stub `other` leads to.
        assert_eq!(sites.gone(0x1018, id(0x1060)), Gone::default());
    });
}

#[test]
fn calls_count_for_the_function_that_made_them() {
    let arc = |selfpc| Arc::new(0x1010, selfpc, 3);
    let arcs = [arc(0x1044), arc(0x1064)];
    with_sites(&arcs, |_, sites| {
        let callers = arcs.map(|arc| sites.with_last_caller(&arc).frompc);
        assert_eq!(callers, [0x1010, 0x1040]);
    });
}

/// A loop that calls many functions through a pointer. A step that takes time in proportion to the square of the
/// functions would not end.
#[test]
fn many_functions_at_one_site_take_linear_time() {
    const FUNCTIONS: u64 = 1 << 17;
    let symbol = |at| Symbol { address: 0x1000 + at * 16, name: b"f", is_static: false, is_func: true };
    let functions = Functions::new((0..FUNCTIONS).map(symbol).collect(), 0x1000 + FUNCTIONS * 16);
    let arc = |at| Arc::new(0x1008, 0x1004 + at * 16, 1);
    let arcs: Vec<Arc> = (0..FUNCTIONS).map(arc).collect();
    // call *%rax; call 0x1020
    let bytes = [[0x90; 6].as_slice(), &[0xff, 0xd0], &[0xe8, 0x13, 0, 0, 0]].concat();
    let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
    let sites = CallSites::in_memory(&arcs, &functions, code);
    for arc in &arcs {
        assert_eq!(sites.with_last_caller(arc).frompc, arc.frompc);
        let called = functions.find(arc.selfpc).unwrap();
        assert_eq!(sites.gone(arc.frompc, called), Gone::guessed(Vec::new()).crowded(None));
    }
    // The instruction before this address names a function, which is known in any case.
    let arcs: Vec<Arc> = arcs.iter().map(|arc| Arc::new(0x100d, arc.selfpc, arc.count)).collect();
    let sites = CallSites::in_memory(&arcs, &functions, code);
    let [target, other] = [0x1020, 0x1040].map(|address| functions.find(address).unwrap());
    assert_eq!(sites.gone(0x100d, other), Gone::named(vec![target]).crowded(Some(target)));
    assert_eq!(sites.gone(0x100d, target), Gone::named(Vec::new()).crowded(Some(target)));
}

#[test]
fn nothing_left_the_stack_before_a_stub() {
    // `sort` was entered from this site, too: through its stub.
    with_sites(&[Arc::new(0x1010, 0x1044, 1)], |functions, sites| {
        let stub = functions.find(0x1020).unwrap();
        assert_eq!(sites.gone(0x1010, stub), Gone::default());
    });
}

#[test]
fn functions_are_counted_at_their_own_sites() {
    let arcs = [(0x1010, 0x1044), (0x1014, 0x1060), (0x1014, 0x1044), (0x1018, 0x1060)];
    let arcs = arcs.map(|(return_address, called)| Arc::new(return_address, called, 1));
    with_sites(&arcs, |functions, sites| {
        let counted = |return_address| sites.counted_at(return_address).collect::<Vec<_>>();
        let [sort, sort_r] = [0x1040, 0x1060].map(|address| functions.find(address).unwrap());
        assert_eq!(
            [0x1010, 0x1012, 0x1014, 0x1018].map(counted),
            [vec![sort], vec![], vec![sort, sort_r], vec![sort_r]]
        );
    });
}

#[test]
fn a_function_takes_the_addresses_at_which_functions_begin() {
    let symbol = |address| Symbol { address, name: b"f", is_static: false, is_func: true };
    let functions = Functions::new([0x1000, 0x1020, 0x1040].map(symbol).to_vec(), 0x1060);
    let mut bytes = vec![0x90; 0x60];
    // lea 0x1020(%rip), %rax; lea 0x1044(%rip), %rax
    bytes[..7].copy_from_slice(&[0x48, 0x8d, 0x05, 0x19, 0, 0, 0]);
    bytes[7..14].copy_from_slice(&[0x48, 0x8d, 0x05, 0x36, 0, 0, 0]);
    let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
    let sites = CallSites::in_memory(&[], &functions, code);
    let all: Vec<FunctionId> = functions.ids().collect();
    let taken = |by| all.iter().filter(|of| sites.takes_address(by, **of)).copied().collect::<Vec<_>>();
    assert_eq!([taken(all[0]), taken(all[1])], [vec![all[1]], vec![]]);
}

/// A program whose first function has a call at its end, with these bytes. The functions begin 16 bytes apart.
/// Calls `check` with the call sites if the functions at these places were entered from the call.
fn with_site<T>(
    symbols: &[(&'static [u8], bool)],
    call: &[u8],
    entered: impl IntoIterator<Item = usize>,
    check: impl FnOnce(&dyn Fn(usize) -> FunctionId, &dyn Fn(usize) -> Gone) -> T,
) -> T {
    let symbol = |(at, (name, is_func)): (usize, &(&'static [u8], bool))| Symbol {
        address: 0x1000 + 16 * at as u64,
        name,
        is_static: false,
        is_func: *is_func,
    };
    let end = 0x1000 + 16 * symbols.len() as u64;
    let mut functions = Functions::new(symbols.iter().enumerate().map(symbol).collect(), end);
    functions.merge_parts(|function| function.name == b"label");
    let mut bytes = vec![0x90; 16 * symbols.len()];
    bytes[16 - call.len()..16].copy_from_slice(call);
    let arcs: Vec<Arc> = entered.into_iter().map(|at| Arc::new(0x1010, 0x1000 + 16 * at as u64, 1)).collect();
    let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
    let sites = CallSites::in_memory(&arcs, &functions, code);
    let id = |at: usize| functions.id(at).unwrap();
    check(&id, &|callee| sites.gone(0x1010, id(callee)))
}

#[test]
fn sixteen_functions_between_are_not_too_many() {
    // The callee is the label at place 3, with a part at place 4. Calls of the function at place 2 may be calls of
    // the label. The call instruction names the function at place 1.
    let mut symbols = vec![(&b"main"[..], true), (b"target", true), (b"f", true), (b"label", false), (b"label", true)];
    symbols.extend([(&b"between"[..], true); 17]);
    for (between, is_crowded) in [(16, false), (17, true)] {
        with_site(&symbols, &[0xe8, 0, 0, 0, 0], (1..3).chain(4..5 + between), |id, gone| {
            let Gone { functions, is_crowded: found, .. } = gone(3);
            assert_eq!((functions, found), (vec![id(1)], is_crowded), "{between}");
        });
        with_site(&symbols, &[0xff, 0xd0], 4..5 + between, |_, gone| {
            assert_eq!(gone(3).is_crowded, is_crowded, "{between} and a pointer");
        });
    }
}

#[test]
fn a_stub_at_a_crowded_site_names_a_function_if_there_is_one_of_this_name() {
    let symbols = |other| {
        let mut symbols = vec![(&b"main"[..], true), (b"f@plt", true), (b"f@@V_1", true), (other, true)];
        symbols.extend([(&b"between"[..], true); 18]);
        symbols
    };
    let call = [0xe8, 0, 0, 0, 0];
    with_site(&symbols(b"g"), &call, 2..22, |id, gone| {
        assert_eq!(gone(21), Gone::named(vec![id(2)]).crowded(Some(id(2))));
        assert_eq!(gone(21).undecided, Undecided { from: Some(id(2)), ..Undecided::default() });
    });
    with_site(&symbols(b"f@V_2"), &call, 2..22, |_, gone| {
        assert_eq!(gone(21), Gone::named(Vec::new()).crowded(None));
    });
}

#[test]
fn a_function_that_no_jump_leads_to_leaves_a_doubt() {
    // main: call f; f: jmp g. A function that f does not lead to was entered with the same return address.
    let symbols = [(0x1000, "main"), (0x1020, "f"), (0x1040, "g"), (0x1060, "h")];
    let symbol = |(address, name): (u64, &'static str)| Symbol {
        address,
        name: name.as_bytes(),
        is_static: false,
        is_func: true,
    };
    let functions = Functions::new(symbols.map(symbol).to_vec(), 0x1080);
    let mut bytes = vec![0x90; 0x80];
    bytes[0x0b..0x10].copy_from_slice(&[0xe8, 0x10, 0, 0, 0]);
    bytes[0x2b..0x30].copy_from_slice(&[0xe9, 0x10, 0, 0, 0]);
    let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
    let is_doubtful = |entered: &[u64]| {
        let arcs: Vec<Arc> = entered.iter().map(|called| Arc::new(0x1010, *called, 1)).collect();
        let sites = CallSites::in_memory(&arcs, &functions, code);
        let [f, g] = [0x1020, 0x1040].map(|address| functions.find(address).unwrap());
        let gone = sites.gone(0x1010, g);
        assert_eq!(gone.functions, [f]);
        gone.is_doubtful
    };
    assert!(!is_doubtful(&[0x1020, 0x1040]) && is_doubtful(&[0x1020, 0x1040, 0x1060]));
}

/// The tail calls of a program: `main` calls all functions behind the second one at one site. `f` jumps to the stub
/// of `g`, and `h` jumps through a register. The last function has no code.
fn found(others: usize) -> (Vec<(usize, usize)>, usize, usize) {
    let names = ["main", "g@plt", "f", "g@@V_1", "h"].into_iter().chain(std::iter::repeat_n("other", others));
    let symbol = |(at, name): (u64, &'static str)| Symbol {
        address: 0x1000 + 16 * at,
        name: name.as_bytes(),
        is_static: false,
        is_func: true,
    };
    let count = 5 + others as u64;
    let functions = Functions::new((0..).zip(names).map(symbol).collect(), 0x1000 + 16 * count);
    let mut bytes = vec![0x90; 16 * (count as usize - 1)];
    bytes[0x22..0x27].copy_from_slice(&[0xe9, 0xe9, 0xff, 0xff, 0xff]);
    bytes[0x42..0x44].copy_from_slice(&[0xff, 0xe0]);
    let arcs: Vec<Arc> = (2..count).map(|at| Arc::new(0x1010, 0x1000 + 16 * at, 1)).collect();
    let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
    let TailCalls { pairs, functions, unknown } = CallSites::in_memory(&arcs, &functions, code).tail_calls();
    (pairs.into_iter().map(|(from, to)| (from.index(), to.index())).collect(), functions, unknown)
}

#[test]
fn functions_may_have_jumped_to_what_was_counted_at_the_same_site() {
    // Any code may jump through a register. The code of the last function is not known.
    let expected = vec![(2, 3), (4, 2), (4, 3), (4, 5), (4, 6)];
    assert_eq!(found(2), (expected, 2, 1));
}

#[test]
fn very_many_functions_at_a_site_are_looked_at_as_a_whole() {
    // With the three functions that have names, 32 functions and one more.
    assert_eq!(found(29).0.len(), 1 + 31);
    assert_eq!(found(30).0, [(2, 3), (4, 0)]);
}
