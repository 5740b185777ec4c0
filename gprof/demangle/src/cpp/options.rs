//! The options of the parser and the printer, and the errors.

/// The maximum depth of a name.
pub(super) const MAX_DEPTH: usize = 200;

/// The language whose spelling is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    Cpp,
    /// Java, whose names were mangled like those of C++: dots between parts, no signs for pointers, `[]` for arrays,
    /// and the return type of a function after the function.
    Java,
}

/// The names that are parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// The names that GNU binutils 2.40 demangles.
    Gnu,
    /// These, and names of newer compilers. A name of [`Grammar::Gnu`] may be parsed differently, so that grammar is
    /// tried first.
    Newest,
}

/// The reason why a name stays mangled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The name is not a C++ name of this grammar.
    Unreadable,
    /// The text exceeds the maximum length, or the name requires too much depth or work.
    TooMuch,
}
