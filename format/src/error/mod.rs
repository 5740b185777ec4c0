//! The error of this crate: a table of all failures, each with its kind, its text, and what to do.

#[cfg(feature = "std")]
mod io;
mod part;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::{Dimension, Encoding, Form, HintKind};
#[cfg(feature = "std")]
pub use io::IoError;
pub use part::{Foreign, Part};

/// What is wrong, without the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file ends too early.
    Truncated,
    /// The file is not a profile, or not of the form that the caller expects.
    NotAProfile,
    /// The file has a version, or a part, that this crate does not read, or no system has such files.
    Unsupported,
    /// The file is a profile with other properties than the hints say.
    Hints,
    /// The file has more than one meaning.
    Ambiguous,
    /// A value contradicts others.
    Invalid,
    /// Profiles cannot be added up, or one profile is not an earlier snapshot of the other.
    Incompatible,
    /// A sum needs more than 64 bits.
    Overflow,
    /// The form of the file cannot hold the profile.
    NotHeld,
    /// The system reports an error of a file.
    Io,
}

/// What helps with a damaged file.
const DAMAGED: &str = "run the program again: the file was cut short or changed after the program wrote it";
/// What helps with a file that is newer than the reader.
const NEWER: &str = "read the file with a newer version";
/// What helps if a form cannot hold a profile.
const GNU_HOLDS: &str = "write GNU's form, which holds all of it";
/// What helps if profiles cannot be added up, or not be taken away from each other.
const ALIKE: &str = "combine only profiles of one program, sampled in the same way";
/// What helps if a profile cannot be taken away from a later one.
const SNAPSHOT: &str = "the earlier profile is not an earlier snapshot of the same run: give one that is";

/// Generates the error from the table of failures. After the fields of a failure, the table has the kind, the field
/// with the wrong value (`=`), the text, and what to do (`=>`). The offset in the file is the last field, after a
/// semicolon.
macro_rules! failures {
    ($(
        $(#[doc = $doc:literal])+
        $(#[cfg($cfg:meta)])?
        $name:ident $({ $($field:ident: $type:ty),* $(; $offset:ident)? })? $kind:ident $(= $value:ident)? ($($text:tt)+) $(=> $advice:expr)?;
    )+) => {
        /// An error of this crate, with the invalid value and, if the error is in a file, its byte offset.
        ///
        /// The message is one lower-case line without the name of the file, as in
        /// `truncated histogram (needs 0x1000 bytes, 0x20 left at offset 0x15)`.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Error {
            $(
                $(#[doc = $doc])+
                $(#[cfg($cfg)])?
                $name $({
                    $(#[allow(missing_docs, reason = "the text has the fields")] $field: $type,)*
                    $(#[allow(missing_docs, reason = "the text has the fields")] $offset: u64)?
                })?
            ),+
        }

        impl Error {
            /// The kind of a failure, without what is in a record.
            fn own_kind(&self) -> ErrorKind {
                match self {
                    $($(#[cfg($cfg)])? Error::$name { .. } => ErrorKind::$kind),+
                }
            }

            /// The offset in the file of the invalid value, if the error has one.
            #[must_use]
            pub fn offset(&self) -> Option<u64> {
                match self {
                    // The first bytes are wrong.
                    _ if self.kind() == ErrorKind::NotAProfile => Some(0),
                    $($($(Error::$name { $offset, .. } => Some(*$offset),)?)?)+
                    _ => None,
                }
            }

            /// The value that is wrong, if it is a number.
            #[must_use]
            pub fn value(&self) -> Option<i128> {
                match self {
                    Error::Histograms { error, .. } => error.value(),
                    $($(Error::$name { $value, .. } => Some(i128::from(*$value)),)?)+
                    _ => None,
                }
            }

            /// What the user of a program can do, if anything helps: a sentence without a period.
            #[must_use]
            pub fn advice(&self) -> Option<&'static str> {
                match self {
                    Error::Histograms { error, .. } => error.advice(),
                    $($(Error::$name { .. } => Some($advice),)?)+
                    _ => None,
                }
            }
        }

        impl fmt::Display for Error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($(#[cfg($cfg)])? Error::$name $({ $($field,)* $($offset)? })? => write!(f, $($text)+)),+
                }
            }
        }
    };
}

#[rustfmt::skip]
failures! {
    // Files of any form.

    /// The file is empty. Programs that are killed before they write their profile leave such files.
    Empty Truncated ("empty file") => DAMAGED;
    /// The file is shorter than the smallest header of any form.
    TooShort { size: u64 } Truncated = size ("file too short for a profile ({size:#x} bytes)") => DAMAGED;
    /// The file does not start like any known profile.
    Unknown { magic: [u8; 4] } NotAProfile ("not a profile (starts with \"{}\")", magic.escape_ascii());
    /// The file has a well-known format that this crate does not read.
    Foreign { format: Foreign } NotAProfile ("{format}");
    /// The file is a profile, but its word size or byte order differs from the hints.
    OtherEncoding { found: Encoding } Hints ("profile has another layout than expected ({found})")
        => "give the executable that was profiled";
    /// The file has more than one meaning: the encodings that fit, with different contents, and the hint that decides.
    Ambiguous { candidates: Vec<Encoding>, hint: HintKind } Ambiguous
        ("ambiguous profile ({}): say its {hint}", Alternatives(candidates)) => "give the hint that decides";
    /// The form has only 32-bit addresses.
    NoWideAddresses { form: Form } Unsupported ("{form} files have only 32-bit addresses");
    /// No system has files with this form, byte order, and a `long` of 32 bits beside addresses of 64 bits.
    NoNarrowLong { encoding: Encoding } Unsupported
        ("no system has such files ({encoding}): give another form or data model") => "give another form or data model";
    /// A histogram cannot stand in one profile with the histograms before it. The record has this offset.
    Histograms { error: Box<Error>; offset } Incompatible ("{error}, in the record at offset {offset:#x}");
    /// A file that is declared to have a form with a magic does not start with this magic.
    BadMagic { magic: [u8; 4] } NotAProfile ("bad magic (\"{}\" at offset 0x0)", magic.escape_ascii());
    /// The form does not have this version.
    BadVersion { version: u32; offset } Unsupported = version
        ("unsupported version ({version:#x} at offset {offset:#x})") => NEWER;
    /// The file ends inside a part that it declares. Of a part that ends with a NUL or with a certain byte, `needed` is
    /// the least size: one byte more than the file has.
    Truncated { part: Part, needed: u64, left: u64; offset } Truncated = left
        ("truncated {part} (needs {needed:#x} bytes, {left:#x} left at offset {offset:#x})") => DAMAGED;
    /// The arcs of a file, or of a record, do not end with a whole arc of this size: the file is cut short.
    PartialArc { left: u64, size: u64; offset } Truncated = left
        ("truncated arc (needs {size:#x} bytes, {left:#x} left at offset {offset:#x})") => DAMAGED;
    /// A record has an unknown tag.
    BadTag { tag: u32; offset } Invalid = tag ("unknown record tag ({tag:#x} at offset {offset:#x})") => DAMAGED;
    /// An address range ends before it starts.
    BadRange { lowpc: u64, highpc: u64; offset } Invalid = highpc
        ("address range ends before it starts ({lowpc:#x}..{highpc:#x} at offset {offset:#x})") => DAMAGED;
    /// An address range that is not empty has no bins.
    NoBins { range: Range<u64>; offset } Invalid
        ("address range without bins ({range:#x?} at offset {offset:#x})") => DAMAGED;
    /// There are bins, but their address range is empty.
    NoRange { bins: u64, lowpc: u64; offset } Invalid = bins
        ("{bins} bins without an address range ({lowpc:#x}..{lowpc:#x} at offset {offset:#x})") => DAMAGED;
    /// `ncnt` of a 4.4BSD header, the size of the header and the samples, is less than the size of that header.
    BadSize { ncnt: i64; offset } Invalid = ncnt ("ncnt smaller than the header ({ncnt} at offset {offset:#x})") => DAMAGED;
    /// The samples do not end with a whole counter of this width.
    PartialBin { size: u64, width: u64; offset } Invalid = size
        ("samples do not end with a whole bin ({size:#x} bytes at offset {offset:#x}, {width} a bin)") => DAMAGED;
    /// `totarc` of an OpenBSD header is neither 0 nor the number of bytes after the samples.
    BadArcSize { totarc: i32, left: u64; offset } Invalid = totarc
        ("totarc does not match the arcs of {left:#x} bytes ({totarc} at offset {offset:#x})") => DAMAGED;
    /// An `LD_PROFILE` file has another number of bins than the dynamic linker makes for the address range.
    OtherBins { bins: u64, needed: u64, range: Range<u64>; offset } Invalid = bins
        ("wrong number of bins for {range:#x?} ({bins}, not {needed}, at offset {offset:#x})") => DAMAGED;
    /// An address of a call is outside of the address range of the file.
    OutsideRange { address: u64, range: Range<u64>; offset } Invalid = address
        ("call outside of {range:#x?} ({address:#x} at offset {offset:#x})") => DAMAGED;
    /// The file, or a record in the file, is longer than its form says.
    Trailing { left: u64; offset } Invalid = left
        ("file longer than its form says ({left:#x} bytes left at offset {offset:#x})") => DAMAGED;
    /// A part is smaller than its fixed fields. The offset is that of the size.
    TooSmall { part: Part, size: u64, least: u64; offset } Invalid = size
        ("{part} too small ({size:#x} bytes at offset {offset:#x}, at least {least:#x} needed)") => DAMAGED;
    /// A size contradicts the other sizes in the file. The offset is that of the size.
    WrongSize { part: Part, size: u64, expected: u64; offset } Invalid = size
        ("size of {part} contradicts other sizes ({size:#x} bytes at offset {offset:#x}, {expected:#x} expected)") => DAMAGED;
    /// A part extends beyond the end of the record or object that contains it.
    Overrun { part: Part, needed: u64, left: u64; offset } Invalid = needed
        ("{part} beyond the end of what contains them (needs {needed:#x} bytes, {left:#x} left at offset {offset:#x})")
        => DAMAGED;
    /// An offset is outside the object or the string table to which it belongs, which has `limit` bytes.
    BadOffset { part: Part, value: u64, limit: u64; offset } Invalid = value
        ("{part} at an offset outside {limit:#x} bytes ({value:#x} at offset {offset:#x})") => DAMAGED;
    /// Offsets lead more than once to the same part: a chain is cyclic, or parts overlap.
    Repeated { part: Part, value: u64; offset } Invalid = value
        ("{part} used twice ({value:#x} at offset {offset:#x})") => DAMAGED;
    /// A string does not end with a NUL.
    Unterminated { part: Part; offset } Invalid ("{part} without a NUL at the end (offset {offset:#x})") => DAMAGED;
    /// No program can have this address.
    BadAddress { address: u64; offset } Invalid = address
        ("impossible address ({address:#x} at offset {offset:#x})") => DAMAGED;
    /// The file has so many images that their records cannot be real. The offset is the end of the record of the first
    /// image too many.
    TooManyImages { images: u64; offset } Invalid = images
        ("too many images for the size of the file ({images} before offset {offset:#x})") => DAMAGED;
    /// A line of a list of shared objects is not valid. Lines count from 1.
    BadLine { line: u64; offset } Invalid = line
        ("line {line} is not a line of a list of shared objects (offset {offset:#x})") => DAMAGED;

    // Side files.

    /// The file does not start like a side file.
    NotASideFile { magic: [u8; 8] } NotAProfile ("not a side file (starts with \"{}\")", magic.escape_ascii());
    /// A field has a value that it cannot have. The offset is that of the item that has the field.
    BadValue { part: Part, value: u64; offset } Invalid = value ("bad {part} ({value:#x} at offset {offset:#x})") => DAMAGED;
    /// A number needs more than 64 bits.
    WideNumber { ; offset } Invalid ("number does not fit 64 bits (at offset {offset:#x})") => DAMAGED;
    /// The reader does not know a part, and the part says that the rest cannot be understood without it.
    UnknownPart { tag: [u8; 4]; offset } Unsupported
        ("unknown part that a reader must know (\"{}\" at offset {offset:#x})", tag.escape_ascii()) => NEWER;
    /// The file has no end: it was cut, or its program was killed while writing it.
    NoEnd { ; offset } Truncated ("side file without end (at offset {offset:#x})") => DAMAGED;
    /// The checksum at the end is not that of the bytes before the end.
    BadChecksum { computed: u64, found: u64; offset } Invalid = found
        ("damaged side file (checksum {computed:#x}, not {found:#x} as at offset {offset:#x})") => DAMAGED;
    /// There are bytes after the end.
    BehindEnd { left: u64; offset } Invalid = left
        ("{left:#x} bytes after the end of a side file (at offset {offset:#x})") => DAMAGED;
    /// An item that is added to a side file, or a sum, cannot have this value.
    Impossible { part: Part, value: u64 } Invalid = value ("impossible {part} ({value:#x})");

    // Histograms.

    /// The address range of a histogram is empty, or ends before it starts.
    EmptyRange { lowpc: u64, highpc: u64 } Invalid = highpc ("histogram without an address range ({lowpc:#x}..{highpc:#x})");
    /// A histogram has no bins.
    EmptyHistogram { range: Range<u64> } Invalid ("histogram without bins ({range:#x?})");
    /// The bins of a sparse list are not in ascending order, or beyond the number of bins.
    Unordered { bin: u64, bins: u64 } Invalid = bin ("bins not in ascending order (bin {bin} of {bins})");

    // Sums.

    /// Two address ranges overlap without being the same.
    Overlap { first: Range<u64>, second: Range<u64> } Incompatible
        ("overlapping histograms ({first:#x?} and {second:#x?})") => ALIKE;
    /// Two histograms of one address range have different numbers of bins.
    BinsDiffer { range: Range<u64>, first: u64, second: u64 } Incompatible = second
        ("histograms differ in bins ({first} and {second} for {range:#x?})") => ALIKE;
    /// The bins of two histograms differ in size.
    ScalesDiffer { first: Range<u64>, first_bins: u64, second: Range<u64>, second_bins: u64 } Incompatible
        ("histograms differ in scale ({first_bins} bins for {first:#x?}, {second_bins} for {second:#x?})") => ALIKE;
    /// Two histograms have different dimensions.
    DimensionsDiffer { first: Dimension, second: Dimension } Incompatible
        ("histograms differ in dimension (\"{first}\" and \"{second}\")") => ALIKE;
    /// Two histograms of one dimension abbreviate it differently.
    AbbrevsDiffer { first: u8, second: u8 } Incompatible
        ("histograms differ in abbreviation ('{}' and '{}')", first.escape_ascii(), second.escape_ascii()) => ALIKE;
    /// Two profiles were sampled at different rates. A rate of 0 is unknown.
    RatesDiffer { first: u32, second: u32 } Incompatible = second
        ("profiles differ in sampling rate ({first} and {second} a second)") => ALIKE;
    /// Two side files are of different programs.
    ProgramsDiffer Incompatible ("side files of different programs") => ALIKE;
    /// The sum of a bin does not fit 64 bits.
    BinOverflow { range: Range<u64>, bin: u64 } Overflow = bin ("sum does not fit 64 bits (bin {bin} of {range:#x?})");
    /// The sum of an arc's counts does not fit 64 bits.
    ArcOverflow { frompc: u64, selfpc: u64 } Overflow ("sum does not fit 64 bits (arc from {frompc:#x} to {selfpc:#x})");
    /// The sum of a basic block's counts does not fit 64 bits.
    BlockOverflow { addr: u64 } Overflow = addr ("sum does not fit 64 bits (basic block {addr:#x})");

    // Differences of snapshots.

    /// A count is lower than in a profile that is said to be earlier. The address is that of a bin, of a called
    /// function, of a basic block, or of a node of the tree. In a side file, the address is relative to the object. Of
    /// ticks in no node, it is the code of the reason, and of all counts of a thread, the number of the thread.
    Lower { part: Part, address: u64, earlier: i128, later: i128 } Incompatible = later
        ("fewer {part} than in the earlier profile ({later}, not {earlier}, at {address:#x})") => SNAPSHOT;
    /// A property says that a side file is not an earlier one of the same run.
    NotEarlier { key: &'static [u8], earlier: Vec<u8>, later: Vec<u8> } Incompatible
        ("not an earlier side file of the same run ({} \"{}\" and later \"{}\")",
        key.escape_ascii(), earlier.escape_ascii(), later.escape_ascii()) => SNAPSHOT;

    // Profiles that a form cannot hold.

    /// An address does not fit the 32-bit word of the file.
    WideAddress { address: u64; offset } NotHeld = address
        ("address does not fit 32 bits ({address:#x} at offset {offset:#x})") => "write 64-bit addresses";
    /// The form gives a caller at this address another meaning.
    ReservedAddress { address: u64 } NotHeld = address
        ("the form has another meaning for calls from this address ({address:#x})") => GNU_HOLDS;
    /// The count of a bin does not fit the counters of the file.
    WideBin { bin: u64, count: i128; offset } NotHeld = count
        ("bin {bin} does not fit the counters of the form ({count} at offset {offset:#x})") => "write a form with wider counters";
    /// The form holds one histogram.
    TooManyHistograms { histograms: u64 } NotHeld = histograms
        ("the form holds one histogram ({histograms} given)") => GNU_HOLDS;
    /// The form needs a histogram, and the profile has none.
    NoHistogram NotHeld ("the form needs a histogram (none given)") => GNU_HOLDS;
    /// The form holds samples of time only: the dimension must be seconds, abbreviated `s`.
    NotSeconds { dimension: Dimension, abbrev: u8 } NotHeld
        ("the form holds seconds only (\"{dimension}\", '{}' given)", abbrev.escape_ascii()) => GNU_HOLDS;
    /// The form does not hold basic-block counts.
    BlocksNotHeld { blocks: u64 } NotHeld = blocks ("the form holds no basic-block counts ({blocks} given)") => GNU_HOLDS;
    /// The form does not hold the caller of a call: `mon.out` holds none, and an `LD_PROFILE` file only those inside
    /// the object.
    CallerNotHeld { frompc: u64, selfpc: u64 } NotHeld = frompc
        ("the form does not hold this caller (call from {frompc:#x} to {selfpc:#x})") => GNU_HOLDS;
    /// The form does not hold calls outside of the range of the samples.
    OutsideNotHeld { address: u64, range: Range<u64> } NotHeld = address
        ("the form does not hold calls outside of {range:#x?} ({address:#x})") => GNU_HOLDS;
    /// The form needs another number of bins for the address range.
    BinsNotHeld { bins: u64, needed: u64, range: Range<u64> } NotHeld = bins
        ("the form needs another number of bins for {range:#x?} ({needed}, {bins} given)") => GNU_HOLDS;
    /// A size does not fit its field in the file, or the empty bins of a sparse histogram exceed the limit of repeated
    /// records. The field decides the unit: bins of a GNU histogram, the number of GNU basic-block counts, arcs of
    /// an `LD_PROFILE` file, otherwise bytes; the limit of the caller is in bytes.
    TooLarge { part: Part, size: u64, limit: u64 } NotHeld = size
        ("{part} too large for the form ({size:#x}, limit {limit:#x})");
    /// Counts are so high that the repeated records exceed the limit: [`REPEAT_LIMIT`](crate::REPEAT_LIMIT) unless the
    /// caller sets another limit. The size is the number of bytes in these records.
    TooManyRepeats { size: u64 } NotHeld = size
        ("counts too high for the form ({size:#x} bytes of repeated records)") => "write a form with wider counters";
    /// The form has addresses that count from the start of a shared object: the range must start at 0.
    NotRelative { lowpc: u64 } NotHeld = lowpc
        ("the form holds addresses from 0 on only (the samples start at {lowpc:#x})") => GNU_HOLDS;
    /// The path of an image contains a NUL, which ends the path in the file.
    PathNotHeld { path: Vec<u8> } NotHeld ("path of an image with a NUL (\"{}\")", path.escape_ascii());

    // Errors of the system.

    /// The file cannot be read.
    #[cfg(feature = "std")]
    ReadIo { error: IoError } Io ("cannot read the file ({error})");
    /// The file cannot be written.
    #[cfg(feature = "std")]
    WriteIo { error: IoError } Io ("cannot write the file ({error})");
    /// An error of the system outside of the functions of this crate, such as a file that cannot be opened.
    #[cfg(feature = "std")]
    Io { error: IoError } Io ("{error}");
}

impl Error {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        if let Error::Histograms { error, .. } = self { error.kind() } else { self.own_kind() }
    }

    /// The part of the file, or the field, that is wrong, if the error names one.
    #[must_use]
    pub fn part(&self) -> Option<Part> {
        match self {
            Error::Truncated { part, .. }
            | Error::TooSmall { part, .. }
            | Error::WrongSize { part, .. }
            | Error::Overrun { part, .. }
            | Error::BadOffset { part, .. }
            | Error::Repeated { part, .. }
            | Error::Unterminated { part, .. }
            | Error::BadValue { part, .. }
            | Error::Impossible { part, .. }
            | Error::Lower { part, .. }
            | Error::TooLarge { part, .. } => Some(*part),
            Error::PartialArc { .. } => Some(Part::Arc),
            _ => None,
        }
    }

    /// The error of a file that cannot be read.
    #[cfg(feature = "std")]
    pub(crate) fn reading(error: std::io::Error) -> Error {
        Error::ReadIo { error: error.into() }
    }

    /// The error of a file that cannot be written.
    #[cfg(feature = "std")]
    pub(crate) fn writing(error: std::io::Error) -> Error {
        Error::WriteIo { error: error.into() }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Error::Histograms { error, .. } => Some(&**error),
            #[cfg(feature = "std")]
            Error::ReadIo { error } | Error::WriteIo { error } => Some(error),
            // The text is that of the system's error.
            #[cfg(feature = "std")]
            Error::Io { error } => error.source(),
            _ => None,
        }
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Io { error: error.into() }
    }
}

/// The encodings of an ambiguous file.
struct Alternatives<'a>(&'a [Encoding]);

impl fmt::Display for Alternatives<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, encoding) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { " or " };
            write!(f, "{separator}{encoding}")?;
        }
        Ok(())
    }
}
