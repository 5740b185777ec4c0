//! Which names are read, how they are spelled, how deep they may nest, and why a name stays mangled.

/// How deep parts of a name may be nested.
pub(super) const MAX_DEPTH: usize = 200;

/// The language in whose spelling a name is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    Cpp,
    /// That of Java, which was compiled to names mangled as those of C++: dots between the parts, no signs of pointers,
    /// `[]` for arrays, and the return type of a function behind the function.
    Java,
}

/// Which names are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// Those that GNU binutils 2.40 reads.
    Gnu,
    /// Those, and what newer compilers write. A name of [`Grammar::Gnu`] may be read otherwise: that grammar comes first.
    Newest,
}

/// Why a name stays mangled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The name is not a C++ name of the grammar.
    Unreadable,
    /// The text is longer than it may be, or the name nests too deep or takes too much work to read or to write.
    TooMuch,
}
