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

/// How deep parts of a name may lie in each other.
const DEEPEST: usize = 200;

/// The language in whose spelling a name is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    Cpp,
    /// That of Java, which was compiled to names mangled as those of C++: dots between the parts, no signs of pointers,
    /// `[]` for arrays, and what a function gives behind it.
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

/// The readable form of a mangled name, unless the text is longer than `most`, or the name takes more than `most` steps
/// to read or to write.
pub(super) fn demangle(name: &[u8], most: usize, spelling: Spelling, grammar: Grammar) -> Result<Vec<u8>, Failure> {
    let mut parser = Parser::new(name, most, grammar);
    let root = if parser.eat(b"_Z") { parser.symbol() } else { parser.keyed_function() };
    let Some(root) = root else {
        return Err(parser.failure());
    };
    Printer::new(&parser.into_tree(), most, spelling).print(root)
}
