//! The errors in side files.

use core::fmt;

use super::ErrorKind;

/// An error in a side file, with the invalid value and its offset in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SideFileError {
    // Errors of the reader.
    /// The file does not start like a side file.
    BadMagic {
        /// The first eight bytes.
        magic: [u8; 8],
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

    // Errors of `SideFile`'s methods and of sums.
    /// An item cannot have this value.
    Impossible {
        /// The field.
        field: Field,
        /// The value.
        value: u64,
    },
    /// The files that are added up are of different programs.
    ProgramsDiffer,
}

/// A field of a side file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// The size of an address.
    WordSize,
    /// The byte order.
    ByteOrder,
    /// A property without a name; the value is its length.
    Property,
    /// The number of an object that is reserved, or given twice.
    ObjectNumber,
    /// The flags of an object: it is both the program and the vDSO, or the program's number is not 0.
    ObjectFlags,
    /// The size of an object's code, or of a mapping, which ends beyond the highest address.
    Size,
    /// The kind of an object's identity.
    IdentityKind,
    /// An object that is not listed before.
    Object,
    /// A thread that is not listed before.
    Thread,
    /// The generation of an object, or the code of a reason, of more than 32 bits.
    Code,
    /// The number of bytes of code for each bin.
    BinSize,
    /// A bin beyond the highest address, or not above the bin before it.
    Bin,
    /// The distance of a node to its parent, or the parent, which is not before the node.
    Parent,
    /// An address that does not fit the words of the file.
    Address,
    /// A count whose sum with others does not fit 64 bits.
    Count,
    /// The first number of raw nodes, which are not in a row with the others.
    FirstNode,
    /// The size of raw nodes, which are not whole.
    NodesSize,
    /// More items than numbers for them.
    Items,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Field::WordSize => "size of an address",
            Field::ByteOrder => "byte order",
            Field::Property => "property",
            Field::ObjectNumber => "number of an object",
            Field::ObjectFlags => "flags of an object",
            Field::Size => "size of an address range",
            Field::IdentityKind => "kind of identity",
            Field::Object => "object",
            Field::Thread => "thread",
            Field::Code => "code",
            Field::BinSize => "size of a bin",
            Field::Bin => "bin",
            Field::Parent => "parent of a node",
            Field::Address => "address",
            Field::Count => "count",
            Field::FirstNode => "number of the first node",
            Field::NodesSize => "size of nodes",
            Field::Items => "number of items",
        })
    }
}

impl SideFileError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            SideFileError::BadMagic { .. } => ErrorKind::NotAProfile,
            SideFileError::UnknownPart { .. } => ErrorKind::Unsupported,
            SideFileError::NoEnd { .. } => ErrorKind::Truncated,
            SideFileError::ProgramsDiffer => ErrorKind::Incompatible,
            _ => ErrorKind::Invalid,
        }
    }

    /// The offset in the file of the invalid value, if the error has one.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        match self {
            SideFileError::BadMagic { .. } => Some(0),
            SideFileError::BadValue { offset, .. }
            | SideFileError::WideNumber { offset }
            | SideFileError::UnknownPart { offset, .. }
            | SideFileError::NoEnd { offset }
            | SideFileError::BadChecksum { offset, .. }
            | SideFileError::BehindEnd { offset, .. } => Some(*offset),
            SideFileError::Impossible { .. } | SideFileError::ProgramsDiffer => None,
        }
    }
}

impl core::error::Error for SideFileError {}

impl fmt::Display for SideFileError {
    #[rustfmt::skip] // A failure and its text stand together.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SideFileError::BadMagic { magic } => write!(f, "not a side file (starts with \"{}\")", magic.escape_ascii()),
            SideFileError::BadValue { field, value, offset } =>
                write!(f, "bad {field} ({value:#x} at offset {offset:#x})"),
            SideFileError::WideNumber { offset } => write!(f, "number does not fit 64 bits (at offset {offset:#x})"),
            SideFileError::UnknownPart { tag, offset } =>
                write!(f, "unknown part that a reader must know (\"{}\" at offset {offset:#x})", tag.escape_ascii()),
            SideFileError::NoEnd { offset } => write!(f, "side file without end (at offset {offset:#x})"),
            SideFileError::BadChecksum { computed, found, offset } =>
                write!(f, "damaged side file (checksum {computed:#x}, not {found:#x} as at offset {offset:#x})"),
            SideFileError::BehindEnd { left, offset } =>
                write!(f, "{left:#x} bytes after the end of a side file (at offset {offset:#x})"),
            SideFileError::Impossible { field, value } => write!(f, "impossible {field} ({value:#x})"),
            SideFileError::ProgramsDiffer => write!(f, "side files of different programs"),
        }
    }
}
