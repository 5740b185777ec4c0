//! The facts from which an encoding follows.

use core::fmt;

use crate::{Form, HintKind, Order, Word};

/// A fact from which the encoding of a file follows. `Display` gives a sentence without a period.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Evidence {
    /// The caller gave this hint.
    Hint(HintKind),
    /// The file starts with the magic of the form.
    Magic {
        /// The first bytes of the file.
        magic: [u8; 4],
    },
    /// The version has a possible value in this byte order.
    Version {
        /// The version.
        version: u32,
        /// The offset of the version.
        offset: u64,
        /// The byte order.
        order: Order,
    },
    /// With addresses of this size, the records end at the end of the file.
    RecordsEnd {
        /// The size of an address.
        word: Word,
    },
    /// In this byte order, the addresses are lower.
    LowAddresses {
        /// The byte order.
        order: Order,
    },
    /// A histogram has a bin of ticks for each byte: highpc is the last address that was sampled, as `eu-stackprof` of
    /// elfutils writes.
    ByteBins,
    /// The file has no records: the size of an address does not matter.
    NoRecords,
    /// The first spare word is the type of FreeBSD's counters.
    CounterType {
        /// The value of the spare word.
        value: i32,
    },
    /// The first spare word looks like a type of counters, but the other spare words are not 0: the writer did not
    /// clear the header.
    UnclearedHeader {
        /// The value of the spare word.
        value: i32,
    },
    /// The first spare word looks like a type of counters, but 16-bit counters have as much code for each as those of
    /// known writers, and counters of the type have not.
    PlainDensity {
        /// The value of the spare word.
        value: i32,
    },
    /// The first spare word looks like a type of counters, but the samples in such counters have counts that no program
    /// reaches.
    ImpossibleCounts {
        /// The value of the spare word.
        value: i32,
    },
    /// The first spare word is the size of the arcs, as OpenBSD's kernel writes.
    ArcsSize {
        /// The value of the spare word.
        value: i32,
    },
    /// The first spare word has no meaning in any form.
    SpareWord {
        /// The value of the spare word.
        value: i32,
    },
    /// The first spare word is the size of other arcs than those of the file: OpenBSD's file was cut short, or it is a
    /// sum by a reader that does not know the word.
    OtherArcsSize {
        /// The value of the spare word.
        value: i32,
        /// The size of the arcs of the file in bytes.
        size: u64,
    },
    /// The samples look like floating-point numbers, as in the sums of FreeBSD's gprof: the times are wrong, and the
    /// calls are right.
    FloatingSamples,
    /// A bin has two bytes of code at 1000 samples per second: the counters may have 32 bits, as those of the PSP, the
    /// PlayStation 2, and the PS Vita have.
    MaybeWideCounters,
    /// The sizes and the addresses of the whole file fit a header of 4.2BSD.
    WholeFileFits {
        /// The size of the header in bytes.
        header: u64,
    },
    /// With this header, the number of bins for the code is that of a known writer.
    UsualDensity,
    /// The caller gave the name of the file, which is that of the form.
    Name,
    /// With addresses of this size, the number of bins is that of the address range.
    BinsFit {
        /// The size of an address.
        word: Word,
    },
    /// The table of arcs is full: calls were lost.
    FullTable {
        /// The number of arcs that were counted.
        counted: u64,
        /// The number of arcs that the table holds.
        most: u64,
    },
    /// The upper halves of all counts of arcs are 0: a `long` of 4 bytes and one of 8 bytes mean the same.
    NarrowCounts,
    /// The counts of arcs have different upper halves: a `long` has 8 bytes.
    WideCounts,
    /// All counts of arcs have the same upper half, with which no program can count: a `long` has 4 bytes, and
    /// uninitialized memory follows it.
    Padding {
        /// The upper half.
        upper: u32,
    },
    /// The samples of a tagged file start with 4.4BSD's header, as Darwin writes.
    SamplesVersion,
    /// A tagged file has only arcs, which Darwin and NeXT write in the same way.
    OnlyArcs,
    /// The records of a tagged file are those of this system.
    RecordsOf {
        /// The form.
        form: Form,
    },
}

impl Evidence {
    /// Whether the fact makes numbers of the profile doubtful.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        matches!(self, Evidence::OtherArcsSize { .. } | Evidence::FloatingSamples | Evidence::FullTable { .. })
    }
}

impl fmt::Display for Evidence {
    #[rustfmt::skip] // A fact and its text stand together.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Evidence::Hint(kind) => write!(f, "the caller gave the {kind}"),
            Evidence::Magic { magic } => write!(f, "the file starts with \"{}\"", magic.escape_ascii()),
            Evidence::Version { version, offset, order } =>
                write!(f, "the {order} number at offset {offset:#x} is the version {version:#x}"),
            Evidence::RecordsEnd { word } =>
                write!(f, "with {word} addresses, the records end at the end of the file"),
            Evidence::LowAddresses { order } => write!(f, "the addresses are lower in {order} byte order"),
            Evidence::ByteBins =>
                write!(f, "a bin of ticks for each byte, up to the last address that was sampled, as eu-stackprof writes"),
            Evidence::NoRecords => write!(f, "the file has no records that depend on the size of an address"),
            Evidence::CounterType { value } => write!(f, "the first spare word is a type of counters ({value})"),
            Evidence::UnclearedHeader { value } =>
                write!(f, "the first spare word ({value}) is not a type of counters: the other spare words are not 0"),
            Evidence::PlainDensity { value } =>
                write!(f, "the first spare word ({value}) is not a type of counters: 16-bit counters have the usual code \
                           for each, others have not"),
            Evidence::ImpossibleCounts { value } =>
                write!(f, "the first spare word ({value}) is not a type of counters: such counters have impossible counts"),
            Evidence::ArcsSize { value } => write!(f, "the first spare word is the size of the arcs ({value})"),
            Evidence::SpareWord { value } =>
                write!(f, "the first spare word is neither a type of counters nor the size of the arcs ({value:#x})"),
            Evidence::OtherArcsSize { value, size } =>
                write!(f, "the first spare word is a size of arcs ({value}), but the arcs have {size} bytes: the file of \
                           OpenBSD was cut short, or the file is a sum"),
            Evidence::FloatingSamples =>
                write!(f, "the samples look like floating-point numbers, as in sums of FreeBSD's gprof: the times are wrong"),
            Evidence::MaybeWideCounters =>
                write!(f, "the counters may have 32 bits, as those of the PSP, the PlayStation 2, and the PS Vita have (2 bytes of \
                           code a bin, rate 1000)"),
            Evidence::WholeFileFits { header } =>
                write!(f, "the sizes and the addresses of the whole file fit a header of {header} bytes"),
            Evidence::UsualDensity => write!(f, "a bin covers as much code as those of known writers"),
            Evidence::Name => write!(f, "the name of the file is that of the form"),
            Evidence::BinsFit { word } =>
                write!(f, "with {word} addresses, the number of bins is that of the address range"),
            Evidence::FullTable { counted, most } =>
                write!(f, "the table of arcs is full ({counted} counted, {most} held): calls were lost"),
            Evidence::NarrowCounts => write!(f, "no count of an arc needs more than 32 bits"),
            Evidence::WideCounts => write!(f, "the counts of arcs differ in their upper halves: long has 64 bits"),
            Evidence::Padding { upper } =>
                write!(f, "all counts of arcs have the same impossible upper half ({upper:#x}): long has 32 bits"),
            Evidence::SamplesVersion => f.write_str("the samples start with the header and the version of 4.4BSD"),
            Evidence::OnlyArcs => f.write_str("the file has only arcs, which Darwin and NeXT write in the same way"),
            Evidence::RecordsOf { form } => write!(f, "the contents of the records are those of {form}"),
        }
    }
}
