//! The errors of the readers.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::{ErrorKind, Foreign, Part, SumError};
use crate::{Encoding, Form, HintKind};

/// An error in a file, with the invalid value and the byte offset of that value.
///
/// The message is one lower-case line without the name of the file, as in `truncated histogram (needs 0x1000 bytes,
/// 0x20 left at offset 0x15)`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The file is empty. Programs that are killed before they write their profile leave such files.
    Empty,
    /// The file is shorter than the smallest header of any form.
    TooShort {
        /// The size of the file in bytes.
        size: u64,
    },
    /// The file does not start like any known profile.
    Unknown {
        /// The first four bytes.
        magic: [u8; 4],
    },
    /// The file has a well-known format that this crate does not read.
    Foreign(Foreign),
    /// The file is a profile, but its word size or byte order differs from the hints.
    OtherEncoding {
        /// The encoding of the file.
        found: Encoding,
    },
    /// The file has more than one meaning. A hint must decide.
    Ambiguous {
        /// The encodings that fit, with different contents.
        candidates: Vec<Encoding>,
        /// The hint that decides.
        hint: HintKind,
    },
    /// The form has only 32-bit addresses.
    NoWideAddresses {
        /// The form.
        form: Form,
    },
    /// No system has files with this form, byte order, and a `long` of 32 bits beside addresses of 64 bits.
    NoNarrowLong {
        /// The encoding that the caller gave.
        encoding: Encoding,
    },
    /// A histogram cannot stand in one profile with the histograms before it.
    Histograms {
        /// The reason.
        error: SumError,
        /// The offset of the record that has the histogram.
        offset: u64,
    },
    /// A file that is declared to have a form with a magic does not start with this magic.
    BadMagic {
        /// The first four bytes.
        magic: [u8; 4],
    },
    /// The form does not have this version.
    BadVersion {
        /// The version of the file.
        version: u32,
        /// The offset of the value.
        offset: u64,
    },
    /// The file ends inside a part that it declares.
    Truncated {
        /// The part that is cut short.
        part: Part,
        /// The size of the part in bytes. Of a part that ends with a NUL or with a certain byte, the least size: one byte more
        /// than the file has.
        needed: u64,
        /// The number of bytes that are left in the file.
        left: u64,
        /// The offset of the part.
        offset: u64,
    },
    /// A record has an unknown tag.
    BadTag {
        /// The tag.
        tag: u32,
        /// The offset of the value.
        offset: u64,
    },
    /// An address range ends before it starts.
    BadRange {
        /// The lowest address.
        lowpc: u64,
        /// The end of the range.
        highpc: u64,
        /// The offset of the range.
        offset: u64,
    },
    /// An address range that is not empty has no bins.
    NoBins {
        /// The address range.
        range: Range<u64>,
        /// The offset of the range.
        offset: u64,
    },
    /// There are bins, but their address range is empty.
    NoRange {
        /// The number of bins.
        bins: u64,
        /// The address at which the range starts and ends.
        lowpc: u64,
        /// The offset of the range.
        offset: u64,
    },
    /// `ncnt` of a 4.4BSD header is less than the size of that header.
    BadSize {
        /// The value: the size of the header and the samples in bytes.
        ncnt: i64,
        /// The offset of the value.
        offset: u64,
    },
    /// The samples of a 4.4BSD file do not end with a whole counter.
    PartialBin {
        /// The size of the samples in bytes.
        size: u64,
        /// The size of a counter in bytes.
        width: u64,
        /// The offset of the samples.
        offset: u64,
    },
    /// The arcs of a 4.4BSD file do not end with a whole arc: the file is cut short.
    PartialArc {
        /// The number of bytes of the arc that are in the file.
        left: u64,
        /// The size of an arc in bytes.
        size: u64,
        /// The offset of the partial arc.
        offset: u64,
    },
    /// `totarc` of an OpenBSD header is neither 0 nor the number of bytes after the samples.
    BadArcSize {
        /// The value: the size of the arcs in bytes.
        totarc: i32,
        /// The number of bytes after the samples.
        left: u64,
        /// The offset of the value.
        offset: u64,
    },
    /// An `LD_PROFILE` file has another number of bins than the dynamic linker makes for the address range.
    OtherBins {
        /// The number of bins.
        bins: u64,
        /// The number that the range needs.
        needed: u64,
        /// The address range.
        range: Range<u64>,
        /// The offset of the range.
        offset: u64,
    },
    /// An address of a call is outside of the address range of the file.
    OutsideRange {
        /// The address.
        address: u64,
        /// The address range.
        range: Range<u64>,
        /// The offset of the call.
        offset: u64,
    },
    /// The file, or a record in the file, is longer than its form says.
    Trailing {
        /// The number of bytes after the end.
        left: u64,
        /// The offset of the end.
        offset: u64,
    },
    /// A part is smaller than its fixed fields.
    TooSmall {
        /// The part.
        part: Part,
        /// The size of the part in bytes, according to the file.
        size: u64,
        /// The size of the fixed fields in bytes.
        least: u64,
        /// The offset of the size.
        offset: u64,
    },
    /// A size contradicts the other sizes in the file.
    WrongSize {
        /// The part.
        part: Part,
        /// The size of the part in bytes, according to the file.
        size: u64,
        /// The size in bytes that follows from the other sizes.
        expected: u64,
        /// The offset of the size.
        offset: u64,
    },
    /// A part extends beyond the end of the record or object that contains it.
    Overrun {
        /// The part.
        part: Part,
        /// The size of the part in bytes.
        needed: u64,
        /// The number of bytes that are left in the record or object.
        left: u64,
        /// The offset of the part.
        offset: u64,
    },
    /// An offset is outside the object or the string table to which it belongs.
    BadOffset {
        /// The part to which the offset leads.
        part: Part,
        /// The offset that the file contains.
        value: u64,
        /// The size in bytes of the object or the string table.
        limit: u64,
        /// The offset of the value in the file.
        offset: u64,
    },
    /// Offsets lead more than once to the same part: a chain is cyclic, or parts overlap.
    Repeated {
        /// The part.
        part: Part,
        /// The offset that the file contains, in the object or the string table to which the offset belongs.
        value: u64,
        /// The offset of the value in the file.
        offset: u64,
    },
    /// A string does not end with a NUL.
    Unterminated {
        /// The part.
        part: Part,
        /// The offset of the string.
        offset: u64,
    },
    /// No program can have this address.
    BadAddress {
        /// The address.
        address: u64,
        /// The offset of the address.
        offset: u64,
    },
    /// The file has so many images that their records cannot be real.
    TooManyImages {
        /// The number of images up to the first one too many.
        images: u64,
        /// The offset of the end of that image.
        offset: u64,
    },
    /// A line of a list of shared objects is not valid.
    BadLine {
        /// The number of the line, from 1 on.
        line: u64,
        /// The offset of the line.
        offset: u64,
    },
    /// The file cannot be read.
    #[cfg(feature = "std")]
    Io(super::IoError),
}

impl ReadError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            ReadError::Empty
            | ReadError::TooShort { .. }
            | ReadError::Truncated { .. }
            | ReadError::PartialArc { .. } => ErrorKind::Truncated,
            ReadError::Unknown { .. } | ReadError::Foreign(_) | ReadError::BadMagic { .. } => ErrorKind::NotAProfile,
            ReadError::BadVersion { .. } | ReadError::NoWideAddresses { .. } | ReadError::NoNarrowLong { .. } => {
                ErrorKind::Unsupported
            }
            ReadError::OtherEncoding { .. } => ErrorKind::Hints,
            ReadError::Ambiguous { .. } => ErrorKind::Ambiguous,
            ReadError::Histograms { error, .. } => error.kind(),
            #[cfg(feature = "std")]
            ReadError::Io(_) => ErrorKind::Io,
            _ => ErrorKind::Invalid,
        }
    }

    /// The offset in the file of the invalid value, if the error has one.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        match self {
            ReadError::BadMagic { .. } | ReadError::Unknown { .. } | ReadError::Foreign(_) => Some(0),
            ReadError::BadVersion { offset, .. }
            | ReadError::Histograms { offset, .. }
            | ReadError::BadLine { offset, .. }
            | ReadError::Truncated { offset, .. }
            | ReadError::BadTag { offset, .. }
            | ReadError::OtherBins { offset, .. }
            | ReadError::OutsideRange { offset, .. }
            | ReadError::Trailing { offset, .. }
            | ReadError::BadRange { offset, .. }
            | ReadError::NoBins { offset, .. }
            | ReadError::NoRange { offset, .. }
            | ReadError::BadSize { offset, .. }
            | ReadError::PartialBin { offset, .. }
            | ReadError::PartialArc { offset, .. }
            | ReadError::BadArcSize { offset, .. }
            | ReadError::TooSmall { offset, .. }
            | ReadError::WrongSize { offset, .. }
            | ReadError::Overrun { offset, .. }
            | ReadError::BadOffset { offset, .. }
            | ReadError::Repeated { offset, .. }
            | ReadError::Unterminated { offset, .. }
            | ReadError::BadAddress { offset, .. }
            | ReadError::TooManyImages { offset, .. } => Some(*offset),
            _ => None,
        }
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> ReadError {
        ReadError::Io(error.into())
    }
}

impl core::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            ReadError::Histograms { error, .. } => Some(error),
            #[cfg(feature = "std")]
            ReadError::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for ReadError {
    #[rustfmt::skip] // A failure and its text stand together.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Empty => write!(f, "empty file"),
            ReadError::TooShort { size } => write!(f, "file too short for a profile ({size:#x} bytes)"),
            ReadError::Unknown { magic } => write!(f, "not a profile (starts with \"{}\")", magic.escape_ascii()),
            ReadError::Foreign(foreign) => foreign.fmt(f),
            ReadError::OtherEncoding { found } => write!(f, "profile has another layout than expected ({found})"),
            ReadError::BadMagic { magic } => write!(f, "bad magic (\"{}\" at offset 0x0)", magic.escape_ascii()),
            ReadError::BadVersion { version, offset } =>
                write!(f, "unsupported version ({version:#x} at offset {offset:#x})"),
            ReadError::Truncated { part, needed, left, offset } =>
                write!(f, "truncated {part} (needs {needed:#x} bytes, {left:#x} left at offset {offset:#x})"),
            ReadError::BadTag { tag, offset } => write!(f, "unknown record tag ({tag:#x} at offset {offset:#x})"),
            ReadError::OtherBins { bins, needed, range, offset } =>
                write!(f, "wrong number of bins for {range:#x?} ({bins}, not {needed}, at offset {offset:#x})"),
            ReadError::OutsideRange { address, range, offset } =>
                write!(f, "call outside of {range:#x?} ({address:#x} at offset {offset:#x})"),
            ReadError::Trailing { left, offset } =>
                write!(f, "file longer than its form says ({left:#x} bytes left at offset {offset:#x})"),
            ReadError::BadRange { lowpc, highpc, offset } =>
                write!(f, "address range ends before it starts ({lowpc:#x}..{highpc:#x} at offset {offset:#x})"),
            ReadError::NoBins { range, offset } =>
                write!(f, "address range without bins ({range:#x?} at offset {offset:#x})"),
            ReadError::NoRange { bins, lowpc, offset } =>
                write!(f, "{bins} bins without an address range ({lowpc:#x}..{lowpc:#x} at offset {offset:#x})"),
            ReadError::BadSize { ncnt, offset } => write!(f, "ncnt smaller than the header ({ncnt} at offset {offset:#x})"),
            ReadError::PartialBin { size, width, offset } =>
                write!(f, "samples do not end with a whole bin ({size:#x} bytes at offset {offset:#x}, {width} a bin)"),
            ReadError::PartialArc { left, size, offset } =>
                write!(f, "truncated arc (needs {size:#x} bytes, {left:#x} left at offset {offset:#x})"),
            ReadError::BadArcSize { totarc, left, offset } =>
                write!(f, "totarc does not match the arcs of {left:#x} bytes ({totarc} at offset {offset:#x})"),
            ReadError::TooSmall { part, size, least, offset } =>
                write!(f, "{part} too small ({size:#x} bytes at offset {offset:#x}, at least {least:#x} needed)"),
            ReadError::WrongSize { part, size, expected, offset } =>
                write!(f, "size of {part} contradicts other sizes ({size:#x} bytes at offset {offset:#x}, \
                           {expected:#x} expected)"),
            ReadError::Overrun { part, needed, left, offset } =>
                write!(f, "{part} beyond the end of what contains them (needs {needed:#x} bytes, {left:#x} left at \
                           offset {offset:#x})"),
            ReadError::BadOffset { part, value, limit, offset } =>
                write!(f, "{part} at an offset outside {limit:#x} bytes ({value:#x} at offset {offset:#x})"),
            ReadError::Repeated { part, value, offset } =>
                write!(f, "{part} used twice ({value:#x} at offset {offset:#x})"),
            ReadError::Unterminated { part, offset } => write!(f, "{part} without a NUL at the end (offset {offset:#x})"),
            ReadError::BadAddress { address, offset } =>
                write!(f, "impossible address ({address:#x} at offset {offset:#x})"),
            ReadError::TooManyImages { images, offset } =>
                write!(f, "too many images for the size of the file ({images} before offset {offset:#x})"),
            ReadError::Ambiguous { candidates, hint } => {
                f.write_str("ambiguous profile (")?;
                for (at, candidate) in candidates.iter().enumerate() {
                    if at > 0 {
                        f.write_str(" or ")?;
                    }
                    candidate.fmt(f)?;
                }
                write!(f, "): say its {hint}")
            }
            ReadError::NoWideAddresses { form } => write!(f, "{form} files have only 32-bit addresses"),
            ReadError::Histograms { error, offset } => write!(f, "{error}, in the record at offset {offset:#x}"),
            ReadError::NoNarrowLong { encoding } =>
                write!(f, "no system has such files ({encoding}): give another form or data model"),
            ReadError::BadLine { line, offset } =>
                write!(f, "line {line} is not a line of a list of shared objects (offset {offset:#x})"),
            #[cfg(feature = "std")]
            ReadError::Io(error) => write!(f, "cannot read the file ({error})"),
        }
    }
}
