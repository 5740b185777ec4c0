//! The kinds of errors.

/// What is wrong, without the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file ends too early.
    Truncated,
    /// The file is not a profile, or not of the form that the caller expects.
    NotAProfile,
    /// The file has a version, or a part, that this crate does not read.
    Unsupported,
    /// The file is a profile with other properties than the hints say.
    Hints,
    /// The file has more than one meaning.
    Ambiguous,
    /// A value contradicts others.
    Invalid,
    /// Profiles cannot be added up.
    Incompatible,
    /// A sum needs more than 64 bits.
    Overflow,
    /// The form of the file cannot hold the profile.
    NotHeld,
    /// The system reports an error of a file.
    Io,
}
