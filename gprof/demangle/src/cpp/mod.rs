//! C++ names, mangled by the rules of the Itanium ABI, in the spelling of GNU's tools.
//!
//! The parser turns a name into a tree, in which a part that the name abbreviates is shared. The printer walks the tree.
//! A tree is small, but the text of a tree can be exponentially long, and a name can nest as deep as the name is long.
//! Depth, steps and length are bounded, and a name that needs more stays mangled.

mod declarations;
mod encodings;
mod expressions;
mod names;
mod operators;
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

use parser::Parser;
use printer::Printer;

/// How deep parts of a name may be nested.
const MAX_DEPTH: usize = 200;

/// The language in whose spelling a name is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    Cpp,
    /// That of Java, which was compiled to names mangled as those of C++: dots between the parts, no signs of pointers,
    /// `[]` for arrays, and the return type of a function behind the function.
    Java,
}

/// Which names are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grammar {
    /// Those that GNU binutils 2.40 reads.
    Gnu,
    /// Those, and what newer compilers write. A name of [`Grammar::Gnu`] may be read otherwise: that grammar comes first.
    Newest,
}

/// Why a name stays mangled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The name is not a C++ name of the grammar.
    Unreadable,
    /// The text is longer than it may be, or the name nests too deep or takes too much work to read or to write.
    TooMuch,
}

/// The readable form of a mangled name, unless the text is longer than `max_length`, or the name takes more than `max_length` steps
/// to read or to write.
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
