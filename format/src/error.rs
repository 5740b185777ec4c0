//! The errors in profiles.

mod side_file;

use core::fmt;
use core::ops::Range;

pub use side_file::{Field, SideFileError};

use crate::{Dimension, Encoding};

/// The result of this crate's functions.
pub type Result<T> = core::result::Result<T, Error>;

/// An error, with the invalid value and, for a file, the byte offset of that value.
///
/// The message is one lower-case line without the name of the file, as in `truncated histogram (needs 0x1000 bytes,
/// 0x20 left at offset 0x15)`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    // Errors of `detect`.
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

    // Errors of the readers.
    /// A file that is declared to have GNU's form does not start with the magic of that form.
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
        /// The size of the part in bytes.
        needed: u64,
        /// The number of bytes that are left in the file.
        left: u64,
        /// The offset of the part.
        offset: u64,
    },
    /// A GNU record has an unknown tag.
    BadTag {
        /// The tag.
        tag: u8,
        /// The offset of the value.
        offset: u64,
    },
    /// A GNU file of version 0 contains basic-block counts, whose layout is obsolete.
    OldBlocks {
        /// The offset of the record.
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
        ncnt: i32,
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

    // Errors of additions, of several profiles or in one GNU file.
    /// Two address ranges overlap without being the same.
    Overlap {
        /// The range that came first.
        first: Range<u64>,
        /// The range that overlaps it.
        second: Range<u64>,
    },
    /// Two histograms of one address range have different numbers of bins.
    BinsDiffer {
        /// The address range.
        range: Range<u64>,
        /// Bins of the histogram that came first.
        first: usize,
        /// Bins of the other.
        second: usize,
    },
    /// The bins of two histograms differ in size.
    ScalesDiffer {
        /// The range that came first.
        first: Range<u64>,
        /// Its bins.
        first_bins: usize,
        /// The other range.
        second: Range<u64>,
        /// Its bins.
        second_bins: usize,
    },
    /// Two histograms measure different things.
    DimensionsDiffer {
        /// The dimension of the first histogram.
        first: Dimension,
        /// The dimension of the other histogram.
        second: Dimension,
    },
    /// Two histograms of one dimension abbreviate it differently.
    AbbrevsDiffer {
        /// The abbreviation of the first one.
        first: u8,
        /// The abbreviation of the other one.
        second: u8,
    },
    /// Two histograms were sampled at different rates.
    RatesDiffer {
        /// The samples per second of the first one.
        first: u32,
        /// The samples per second of the other one.
        second: u32,
    },
    /// The sum of a bin does not fit 64 bits.
    BinOverflow {
        /// The address range of the histogram.
        range: Range<u64>,
        /// The index of the bin.
        bin: usize,
    },
    /// The sum of an arc's counts does not fit 64 bits.
    ArcOverflow {
        /// The address in the caller.
        frompc: u64,
        /// The address in the function called.
        selfpc: u64,
    },
    /// The sum of a basic block's counts does not fit 64 bits.
    BlockOverflow {
        /// The block's address.
        addr: u64,
    },

    // Errors of the writers.
    /// A histogram is not valid: its range is reversed, or only one of range and bins is empty.
    BadHistogram {
        /// The lowest address.
        lowpc: u64,
        /// The end of the range.
        highpc: u64,
        /// The number of bins.
        bins: usize,
    },
    /// An address does not fit the 32-bit word of the file.
    WideAddress {
        /// The address.
        address: u64,
        /// The offset in the file.
        offset: u64,
    },
    /// The count of a bin does not fit the counters of the file.
    WideBin {
        /// The index of the bin.
        bin: usize,
        /// The count.
        count: i128,
        /// The offset in the file.
        offset: u64,
    },
    /// The form holds one histogram.
    TooManyHistograms {
        /// The number in the profile.
        histograms: usize,
    },
    /// The form holds samples of time only: the dimension must be seconds, abbreviated `s`.
    NotSeconds {
        /// The dimension of the profile.
        dimension: Dimension,
        /// Its abbreviation.
        abbrev: u8,
    },
    /// The form does not hold basic-block counts.
    BlocksNotHeld {
        /// The number in the profile.
        blocks: usize,
    },
    /// A size does not fit its field in the file.
    TooLarge {
        /// The part that is too large.
        part: Part,
        /// The size of the part: bins of a GNU histogram, otherwise bytes.
        size: u64,
        /// The maximum value of the field.
        limit: u64,
    },
    /// Counts are so high that the repeated records exceed the limit: [`REPEAT_LIMIT`](crate::REPEAT_LIMIT) unless
    /// the caller sets another limit.
    TooManyRepeats {
        /// The size of these records in bytes.
        size: u64,
    },

    /// An error of [`side_file`](crate::side_file).
    SideFile(SideFileError),
}

impl From<SideFileError> for Error {
    fn from(error: SideFileError) -> Error {
        Error::SideFile(error)
    }
}

/// A part of a profile file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The header.
    Header,
    /// A GNU histogram record.
    Histogram,
    /// The samples of a 4.4BSD file or of a side file.
    Samples,
    /// One arc.
    Arc,
    /// The arcs of a 4.4BSD file.
    Arcs,
    /// A GNU record of basic-block counts.
    Blocks,
    /// The header of a part of a side file.
    PartHeader,
    /// The properties of a side file.
    Properties,
    /// The objects of a side file.
    Objects,
    /// The threads of a side file.
    Threads,
    /// The calls of a side file.
    Calls,
    /// The calling contexts of a side file.
    Contexts,
    /// The cuts of a side file.
    Cuts,
    /// The mappings of a side file.
    Mappings,
    /// A part of a side file that the reader does not know, or the filler.
    Other,
    /// The end of a side file.
    End,
}

/// Files that are sometimes mistaken for a profile of one of the [forms](crate::Form).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Foreign {
    /// What glibc's dynamic linker writes when `LD_PROFILE` names a library; `sprof` reads it.
    LdProfile,
    /// The tagged file of Darwin (`0xbeefbabe`, `0xbeefbabf`) and of NeXT before it.
    Darwin,
    /// The versioned file of Solaris and illumos (`PROF`).
    IllumosProf,
    /// What the run-time linker of Solaris and illumos writes for a shared library.
    RtldProfile,
    /// The call trace of glibc's `libpcprofile.so`.
    PcProfile,
    /// The 4.2BSD form, whose header has neither version nor rate.
    OldBsd,
    /// An executable, or another ELF file.
    Elf,
    /// The [side file](crate::side_file) of a profile.
    SideFile,
    /// Text.
    Text,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Foreign::LdProfile => "an LD_PROFILE file of the dynamic linker, which is not supported",
            Foreign::Darwin => "a tagged Darwin or NeXT profile, which is not supported",
            Foreign::IllumosProf => "a versioned Solaris profile, which is not supported",
            Foreign::RtldProfile => "a Solaris run-time linker profile, which is not supported",
            Foreign::PcProfile => "a pcprofile call trace, not a profile",
            Foreign::OldBsd => "a profile with the old 4.2BSD header, which is not supported",
            Foreign::Elf => "an ELF file, not a profile",
            Foreign::SideFile => "the side file of a profile, not a profile",
            Foreign::Text => "a text file, not a profile",
        })
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Header => "header",
            Part::Histogram => "histogram",
            Part::Samples => "samples",
            Part::Arc => "arc",
            Part::Arcs => "arcs",
            Part::Blocks => "basic-block counts",
            Part::PartHeader => "header of a part",
            Part::Properties => "properties",
            Part::Objects => "objects",
            Part::Threads => "threads",
            Part::Calls => "calls",
            Part::Contexts => "calling contexts",
            Part::Cuts => "cut chains",
            Part::Mappings => "mappings",
            Part::Other => "part",
            Part::End => "end",
        })
    }
}

impl core::error::Error for Error {}

impl fmt::Display for Error {
    #[rustfmt::skip] // A failure and its text stand together.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Empty => write!(f, "empty file"),
            Error::TooShort { size } => write!(f, "file too short for a profile ({size:#x} bytes)"),
            Error::Unknown { magic } => write!(f, "not a profile (starts with \"{}\")", magic.escape_ascii()),
            Error::Foreign(foreign) => foreign.fmt(f),
            Error::OtherEncoding { found } => write!(f, "profile has another layout than expected ({found})"),
            Error::BadMagic { magic } => write!(f, "bad magic (\"{}\" at offset 0x0)", magic.escape_ascii()),
            Error::BadVersion { version, offset } =>
                write!(f, "unsupported version ({version:#x} at offset {offset:#x})"),
            Error::Truncated { part, needed, left, offset } =>
                write!(f, "truncated {part} (needs {needed:#x} bytes, {left:#x} left at offset {offset:#x})"),
            Error::BadTag { tag, offset } => write!(f, "unknown record tag ({tag:#x} at offset {offset:#x})"),
            Error::OldBlocks { offset } =>
                write!(f, "basic-block counts of version 0 are not supported (at offset {offset:#x})"),
            Error::BadRange { lowpc, highpc, offset } =>
                write!(f, "address range ends before it starts ({lowpc:#x}..{highpc:#x} at offset {offset:#x})"),
            Error::NoBins { range, offset } =>
                write!(f, "address range without bins ({range:#x?} at offset {offset:#x})"),
            Error::NoRange { bins, lowpc, offset } =>
                write!(f, "{bins} bins without an address range ({lowpc:#x}..{lowpc:#x} at offset {offset:#x})"),
            Error::BadSize { ncnt, offset } => write!(f, "ncnt smaller than the header ({ncnt} at offset {offset:#x})"),
            Error::PartialBin { size, width, offset } =>
                write!(f, "samples do not end with a whole bin ({size:#x} bytes at offset {offset:#x}, {width} a bin)"),
            Error::PartialArc { left, size, offset } =>
                write!(f, "truncated arc (needs {size:#x} bytes, {left:#x} left at offset {offset:#x})"),
            Error::BadArcSize { totarc, left, offset } =>
                write!(f, "totarc does not match the arcs of {left:#x} bytes ({totarc} at offset {offset:#x})"),
            Error::Overlap { first, second } => write!(f, "overlapping histograms ({first:#x?} and {second:#x?})"),
            Error::BinsDiffer { range, first, second } =>
                write!(f, "histograms differ in bins ({first} and {second} for {range:#x?})"),
            Error::ScalesDiffer { first, first_bins, second, second_bins } =>
                write!(f, "histograms differ in scale ({first_bins} bins for {first:#x?}, {second_bins} \
                           for {second:#x?})"),
            Error::DimensionsDiffer { first, second } =>
                write!(f, "histograms differ in dimension (\"{first}\" and \"{second}\")"),
            Error::AbbrevsDiffer { first, second } =>
                write!(f, "histograms differ in abbreviation ('{}' and '{}')",
                       first.escape_ascii(), second.escape_ascii()),
            Error::RatesDiffer { first, second } =>
                write!(f, "profiles differ in sampling rate ({first} and {second} a second)"),
            Error::BinOverflow { range, bin } => write!(f, "sum does not fit 64 bits (bin {bin} of {range:#x?})"),
            Error::ArcOverflow { frompc, selfpc } =>
                write!(f, "sum does not fit 64 bits (arc from {frompc:#x} to {selfpc:#x})"),
            Error::BlockOverflow { addr } => write!(f, "sum does not fit 64 bits (basic block {addr:#x})"),
            Error::BadHistogram { lowpc, highpc, bins } =>
                write!(f, "impossible histogram ({bins} bins for {lowpc:#x}..{highpc:#x})"),
            Error::WideAddress { address, offset } =>
                write!(f, "address does not fit 32 bits ({address:#x} at offset {offset:#x})"),
            Error::WideBin { bin, count, offset } =>
                write!(f, "bin {bin} does not fit the counters of the form ({count} at offset {offset:#x})"),
            Error::TooManyHistograms { histograms } => write!(f, "the form holds one histogram ({histograms} given)"),
            Error::NotSeconds { dimension, abbrev } =>
                write!(f, "the form holds seconds only (\"{dimension}\", '{}' given)", abbrev.escape_ascii()),
            Error::BlocksNotHeld { blocks } => write!(f, "the form holds no basic-block counts ({blocks} given)"),
            Error::TooLarge { part, size, limit } =>
                write!(f, "{part} too large for the form ({size:#x}, limit {limit:#x})"),
            Error::TooManyRepeats { size } =>
                write!(f, "counts too high for the form ({size:#x} bytes of repeated records)"),
            Error::SideFile(error) => error.fmt(f),
        }
    }
}
