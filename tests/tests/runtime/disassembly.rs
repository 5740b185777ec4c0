//! The code of an executable, from `objdump`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::tool;

/// A function's behavior, as its disassembly shows it.
#[derive(Default)]
pub(crate) struct Function {
    /// The instructions with vector registers.
    pub(crate) vector: Vec<String>,
    /// The calls and jumps to addresses in registers and in memory.
    pub(crate) indirect: Vec<String>,
    /// The code that the function calls, jumps to, or takes the address of.
    pub(crate) names: BTreeSet<String>,
    /// The code that the function calls or jumps to.
    pub(crate) calls: BTreeSet<String>,
    /// The bytes by which the function lowers the stack pointer.
    pub(crate) stack: usize,
}

/// The bytes by which an instruction of x86-64 lowers the stack pointer.
fn stack_of(instruction: &str) -> usize {
    let mut words = instruction.split_whitespace().skip(1);
    match (words.next(), words.next()) {
        (Some("push"), _) => 8,
        (Some("sub"), Some(operands)) => {
            let bytes = operands.strip_prefix("$0x").and_then(|rest| rest.strip_suffix(",%rsp"));
            bytes.map_or(0, |bytes| usize::from_str_radix(bytes, 16).unwrap())
        }
        _ => 0,
    }
}

/// The functions of an executable, from `objdump`.
pub(crate) fn functions(executable: &Path) -> BTreeMap<String, Function> {
    let mut functions = BTreeMap::<String, Function>::new();
    let mut current = String::new();
    for line in tool("objdump", &["-d", "--no-show-raw-insn", executable.to_str().unwrap()]).lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|head| head.split_once(" <")) {
            current = name.1.to_owned();
            functions.entry(current.clone()).or_default();
        } else if let Some(function) = functions.get_mut(&current) {
            if ["%xmm", "%ymm", "%zmm", "%st", "%mm", "%k1"].iter().any(|register| line.contains(register)) {
                function.vector.push(line.trim().to_owned());
            }
            // The targets of calls and jumps, and the code whose address is taken; a place inside a function is
            // `name+0x...`.
            if let Some((_, target)) = line.rsplit_once('<') {
                let target = target.trim_end_matches('>').to_owned();
                if line.split_whitespace().nth(1).is_some_and(|name| name.starts_with(['c', 'j'])) {
                    function.calls.insert(target.clone());
                }
                function.names.insert(target);
            }
            function.stack += stack_of(line);
            if line.contains(" *") {
                function.indirect.push(line.trim().to_owned());
            }
        }
    }
    functions
}

/// Everything that may run once the named functions run, without the functions that are `left_out`.
pub(crate) fn reached_from(
    functions: &BTreeMap<String, Function>,
    is_root: impl Fn(&str) -> bool,
    left_out: impl Fn(&str) -> bool,
) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut left: Vec<_> = functions.keys().filter(|name| is_root(name)).collect();
    while let Some(name) = left.pop() {
        if reached.insert(name.clone()) {
            left.extend(functions[name].names.iter().filter(|next| functions.contains_key(*next) && !left_out(next)));
        }
    }
    reached
}

/// The most bytes of stack that a function and all that it calls need. A function that calls itself, at any depth, is
/// an error.
pub(crate) fn most_stack(functions: &BTreeMap<String, Function>, is_root: impl Fn(&str) -> bool) -> usize {
    const RETURN_ADDRESS: usize = 8;
    /// The need of a function; `None` while it is being worked out.
    type Known = BTreeMap<String, Option<usize>>;
    fn need(functions: &BTreeMap<String, Function>, name: &str, known: &mut Known) -> usize {
        match known.get(name) {
            Some(Some(need)) => return *need,
            Some(None) => panic!("{name} calls itself"),
            None => {}
        }
        known.insert(name.to_owned(), None);
        let is_called = |next: &&String| functions.contains_key(*next) && *next != name;
        let called = functions[name].calls.iter().filter(is_called);
        let most = called.map(|next| need(functions, next, known)).max().unwrap_or(0);
        let need = most + functions[name].stack + RETURN_ADDRESS;
        known.insert(name.to_owned(), Some(need));
        need
    }
    let mut known = Known::new();
    let roots: Vec<_> = functions.keys().filter(|name| is_root(name)).collect();
    assert!(!roots.is_empty());
    roots.into_iter().map(|root| need(functions, root, &mut known)).max().unwrap()
}
