//! Demangles C++ names (Itanium ABI) with the spelling of GNU's tools.
//!
//! The parser turns a name into a tree whose nodes are shared where the name has abbreviations. The printer walks the
//! tree. A tree is small, but its text may be exponentially long, and a name may nest as deep as the name is long.
//! Depth, steps and length are limited, and a name that exceeds a limit stays mangled.

mod declarations;
mod encodings;
mod expressions;
mod names;
mod operators;
mod options;
mod parser;
mod print_constraints;
mod print_expressions;
mod print_lambdas;
mod print_types;
mod printer;
mod scopes;
mod tree;
mod types;

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

pub(crate) use options::{Failure, Grammar, Spelling};
use parser::Parser;
use printer::Printer;

/// The source form of a mangled name, unless the text is longer than `max_length`, or the name takes more than
/// `max_length` steps to parse or to print.
pub(super) fn demangle(
    name: &[u8],
    max_length: usize,
    spelling: Spelling,
    grammar: Grammar,
) -> Result<Vec<u8>, Failure> {
    let mut parser = Parser::new(name, max_length, grammar);
    let root = if parser.eat(b"_Z") { parser.symbol() } else { parser.keyed_function() };
    let Some(root) = root else {
        return Err(parser.failure());
    };
    Printer::new(&parser.into_tree(), max_length, spelling).print(root)
}
