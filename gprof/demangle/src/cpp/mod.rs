//! C++ names, mangled by the rules of the Itanium ABI, in the spelling of GNU's tools.
//!
//! The parser turns a name into a tree, in which a thing that a name abbreviates is shared; the printer walks the tree.
//! A tree is small, but what it spells can be exponentially long, and a name may nest as deep as it is long: both are
//! bounded, and a name that goes beyond is left as it is.

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

pub(crate) use options::{Grammar, Spelling};
use parser::Parser;
use printer::Printer;

/// The readable form of a mangled name, or `None` when the name is not a C++ name of the grammar, its text is longer
/// than `most`, or the name takes more than `most` steps to read or to write.
pub(super) fn demangle(name: &[u8], most: usize, spelling: Spelling, grammar: Grammar) -> Option<Vec<u8>> {
    let mut parser = Parser::new(name.strip_prefix(b"_Z")?, most, grammar);
    let root = parser.symbol()?;
    Printer::new(&parser.into_tree(), most, spelling).print(root)
}
