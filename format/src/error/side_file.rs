//! The errors of side files: one enum for each operation.

use core::fmt;

use super::{ErrorKind, Field, Part};

/// An error of [`SideFile::parse`](crate::side_file::SideFile::parse), with the invalid value and its offset in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SideFileReadError {
    /// The file does not start like a side file.
    BadMagic {
        /// The first eight bytes.
        magic: [u8; 8],
    },
    /// A reader of this version cannot read the file.
    BadVersion {
        /// The major version of the file.
        version: u8,
        /// The offset of the value.
        offset: u64,
    },
    /// The file ends inside a part that it declares, or a part inside an item.
    Truncated {
        /// The part that is cut short.
        part: Part,
        /// The number of bytes that are needed.
        needed: u64,
        /// The number of bytes that are left in the file or in the part.
        left: u64,
        /// The offset of the first of these bytes.
        offset: u64,
    },
    /// A field has a value that it cannot have.
    BadValue {
        /// The field.
        field: Field,
        /// The value.
        value: u64,
        /// The offset of the item that has the field.
        offset: u64,
    },
    /// A number needs more than 64 bits.
    WideNumber {
        /// The offset of the number.
        offset: u64,
    },
    /// The reader does not know a part, and the part says that the rest cannot be understood without it.
    UnknownPart {
        /// The tag of the part.
        tag: [u8; 4],
        /// The offset of the part.
        offset: u64,
    },
    /// The file has no end: it was cut, or its program was killed while writing it.
    NoEnd {
        /// The length of the file.
        offset: u64,
    },
    /// The checksum at the end is not that of the file.
    BadChecksum {
        /// The checksum of the bytes before the end.
        computed: u64,
        /// The checksum in the file.
        found: u64,
        /// The offset of the value.
        offset: u64,
    },
    /// There are bytes after the end.
    BehindEnd {
        /// Their number.
        left: u64,
        /// Their offset.
        offset: u64,
    },
}

/// An error of the methods that add items to a [`SideFile`](crate::side_file::SideFile). Nothing was added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SideFileBuildError {
    /// An item cannot have this value.
    Impossible {
        /// The field.
        field: Field,
        /// The value.
        value: u64,
    },
}

/// The reason why side files cannot be added up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SideFileSumError {
    /// The files are of different programs.
    ProgramsDiffer,
    /// The files were sampled at different rates.
    RatesDiffer {
        /// The samples per second of the first one; 0 if unknown.
        first: u32,
        /// The samples per second of the other one; 0 if unknown.
        second: u32,
    },
    /// The sum cannot have this value.
    Impossible {
        /// The field.
        field: Field,
        /// The value.
        value: u64,
    },
}

impl SideFileReadError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            SideFileReadError::BadMagic { .. } => ErrorKind::NotAProfile,
            SideFileReadError::BadVersion { .. } | SideFileReadError::UnknownPart { .. } => ErrorKind::Unsupported,
            SideFileReadError::Truncated { .. } | SideFileReadError::NoEnd { .. } => ErrorKind::Truncated,
            SideFileReadError::BadValue { .. }
            | SideFileReadError::WideNumber { .. }
            | SideFileReadError::BadChecksum { .. }
            | SideFileReadError::BehindEnd { .. } => ErrorKind::Invalid,
        }
    }

    /// The offset in the file of the invalid value.
    #[must_use]
    pub fn offset(&self) -> u64 {
        match self {
            SideFileReadError::BadMagic { .. } => 0,
            SideFileReadError::BadVersion { offset, .. }
            | SideFileReadError::Truncated { offset, .. }
            | SideFileReadError::BadValue { offset, .. }
            | SideFileReadError::WideNumber { offset }
            | SideFileReadError::UnknownPart { offset, .. }
            | SideFileReadError::NoEnd { offset }
            | SideFileReadError::BadChecksum { offset, .. }
            | SideFileReadError::BehindEnd { offset, .. } => *offset,
        }
    }
}

impl SideFileBuildError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Invalid
    }
}

impl SideFileSumError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            SideFileSumError::ProgramsDiffer | SideFileSumError::RatesDiffer { .. } => ErrorKind::Incompatible,
            SideFileSumError::Impossible { .. } => ErrorKind::Invalid,
        }
    }
}

impl core::error::Error for SideFileReadError {}
impl core::error::Error for SideFileBuildError {}
impl core::error::Error for SideFileSumError {}

impl fmt::Display for SideFileReadError {
    #[rustfmt::skip] // A failure and its text stand together.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SideFileReadError::BadMagic { magic } =>
                write!(f, "not a side file (starts with \"{}\")", magic.escape_ascii()),
            SideFileReadError::BadVersion { version, offset } =>
                write!(f, "unsupported version ({version:#x} at offset {offset:#x})"),
            SideFileReadError::Truncated { part, needed, left, offset } =>
                write!(f, "truncated {part} (needs {needed:#x} bytes, {left:#x} left at offset {offset:#x})"),
            SideFileReadError::BadValue { field, value, offset } =>
                write!(f, "bad {field} ({value:#x} at offset {offset:#x})"),
            SideFileReadError::WideNumber { offset } =>
                write!(f, "number does not fit 64 bits (at offset {offset:#x})"),
            SideFileReadError::UnknownPart { tag, offset } =>
                write!(f, "unknown part that a reader must know (\"{}\" at offset {offset:#x})", tag.escape_ascii()),
            SideFileReadError::NoEnd { offset } => write!(f, "side file without end (at offset {offset:#x})"),
            SideFileReadError::BadChecksum { computed, found, offset } =>
                write!(f, "damaged side file (checksum {computed:#x}, not {found:#x} as at offset {offset:#x})"),
            SideFileReadError::BehindEnd { left, offset } =>
                write!(f, "{left:#x} bytes after the end of a side file (at offset {offset:#x})"),
        }
    }
}

impl fmt::Display for SideFileBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SideFileBuildError::Impossible { field, value } = self;
        write!(f, "impossible {field} ({value:#x})")
    }
}

impl fmt::Display for SideFileSumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SideFileSumError::ProgramsDiffer => f.write_str("side files of different programs"),
            SideFileSumError::RatesDiffer { first, second } => {
                write!(f, "profiles differ in sampling rate ({first} and {second} a second)")
            }
            SideFileSumError::Impossible { field, value } => write!(f, "impossible {field} ({value:#x})"),
        }
    }
}
