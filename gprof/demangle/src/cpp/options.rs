//! Which names are read, how they are spelled, and how deep they may nest.

/// How deep parts of a name may lie in each other.
pub(super) const DEEPEST: usize = 200;

/// The language in whose spelling a name is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    Cpp,
    /// That of Java, which was compiled to names mangled as those of C++: dots between the parts, no signs of pointers,
    /// `[]` for arrays, and what a function gives behind it.
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
