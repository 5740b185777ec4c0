//! The encodings of profiles in files.

use core::fmt;

/// Everything about a file's layout that a reader must know in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Encoding {
    /// The family of the file.
    pub form: Form,
    /// The sizes of an address and of a C `long`.
    pub model: DataModel,
    /// The byte order of every number.
    pub order: Order,
}

/// The families of profile files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Form {
    /// Magic `gmon`, then tagged records: glibc and everything built on it. Versions 0 and 1.
    Gnu,
    /// A header, 16-bit samples, arcs to the end of the file: 4.4BSD, NetBSD, DragonFly, Cygwin, MinGW and others.
    Bsd,
    /// 4.4BSD's form with the type of the counters in the first spare word.
    FreeBsd(Counter),
    /// 4.4BSD's form with the size of the arcs in the first spare word.
    OpenBsd,
    /// A header without version and rate, 16-bit samples, arcs to the end of the file: 4.2BSD and 4.3BSD.
    OldBsd(OldHeader),
    /// What glibc's dynamic linker writes if `LD_PROFILE` names a shared object.
    LdProfile,
    /// The tagged file of Darwin.
    Darwin,
    /// The tagged file of NeXT, with the old header of the samples.
    Next,
    /// The PROF file of illumos and Solaris: raw program counters, calls, and modules.
    IllumosProf,
    /// What the run-time linker of illumos and Solaris writes for a shared object.
    IllumosRtld,
    /// The file of System V's `prof`: counts of functions, then samples.
    MonOut,
}

/// The header of 4.2BSD's form. With 32-bit words, all three have 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum OldHeader {
    /// The fields without padding: 20 bytes with 64-bit words. GNU gprof reads and writes these.
    Packed,
    /// The structure of a C compiler: 24 bytes with 64-bit words, of which the last four are padding.
    Padded,
    /// The size of the samples has 8 bytes with 64-bit words: illumos before the PROF form.
    Wide,
}

impl OldHeader {
    /// The size of the header in bytes: two addresses, a size, and padding.
    #[must_use]
    pub fn size(self, word: Word) -> u64 {
        match (word, self) {
            (Word::W32, _) => 12,
            (Word::W64, OldHeader::Packed) => 20,
            (Word::W64, OldHeader::Padded | OldHeader::Wide) => 24,
        }
    }
}

/// The sizes of an address and of a C `long` on the system that ran the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DataModel {
    /// Both have 4 bytes.
    Ilp32,
    /// Both have 8 bytes: all 64-bit systems but Windows.
    Lp64,
    /// An address has 8 bytes and a `long` 4: 64-bit Windows. Only the counts of arcs in 4.4BSD's little-endian form
    /// differ from [`DataModel::Lp64`]. Other forms with a `long` do not exist in this model: FreeBSD's, OpenBSD's,
    /// 4.2BSD's, and `mon.out`.
    Llp64,
}

/// The type of FreeBSD's histogram counters, `histcounter_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counter {
    /// The width of a counter.
    pub width: CounterWidth,
    /// Whether counters are two's complement.
    pub signed: bool,
}

/// The width of a histogram counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CounterWidth {
    /// One byte.
    Bits8,
    /// Two bytes, as on all other systems.
    Bits16,
    /// Four bytes.
    Bits32,
    /// Eight bytes.
    Bits64,
}

/// The size of an address in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Word {
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
}

/// The byte order of a file, which is that of the machine that ran the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Order {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl Encoding {
    /// Makes an encoding.
    #[must_use]
    pub const fn new(form: Form, model: DataModel, order: Order) -> Encoding {
        Encoding { form, model, order }
    }

    /// The size of an address.
    #[must_use]
    pub fn word(&self) -> Word {
        self.model.word()
    }

    /// Whether a `long` has 32 bits beside 64-bit addresses, as on 64-bit Windows.
    pub(crate) fn has_narrow_long(&self) -> bool {
        self.model == DataModel::Llp64
    }
}

impl DataModel {
    /// The size of an address.
    #[must_use]
    pub fn word(self) -> Word {
        match self {
            DataModel::Ilp32 => Word::W32,
            DataModel::Lp64 | DataModel::Llp64 => Word::W64,
        }
    }
}

/// The data model that most systems with addresses of this size have.
impl From<Word> for DataModel {
    fn from(word: Word) -> DataModel {
        match word {
            Word::W32 => DataModel::Ilp32,
            Word::W64 => DataModel::Lp64,
        }
    }
}

impl CounterWidth {
    /// The size of a counter in bytes.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            CounterWidth::Bits8 => 1,
            CounterWidth::Bits16 => 2,
            CounterWidth::Bits32 => 4,
            CounterWidth::Bits64 => 8,
        }
    }
}

impl Counter {
    /// The counter of every form but FreeBSD's: 16 bits, unsigned.
    pub const U16: Counter = Counter { width: CounterWidth::Bits16, signed: false };

    /// The counter for a `histcounter_type`: its bits, negative for signed counters. `None` for other values,
    /// including 0, which leaves the type to the system.
    #[must_use]
    pub fn from_histcounter_type(value: i32) -> Option<Counter> {
        let width = match value.unsigned_abs() {
            8 => CounterWidth::Bits8,
            16 => CounterWidth::Bits16,
            32 => CounterWidth::Bits32,
            64 => CounterWidth::Bits64,
            _ => return None,
        };
        Some(Counter { width, signed: value < 0 })
    }

    /// The `histcounter_type` of this counter.
    #[must_use]
    pub fn histcounter_type(self) -> i32 {
        let (unsigned, signed) = match self.width {
            CounterWidth::Bits8 => (8, -8),
            CounterWidth::Bits16 => (16, -16),
            CounterWidth::Bits32 => (32, -32),
            CounterWidth::Bits64 => (64, -64),
        };
        if self.signed { signed } else { unsigned }
    }
}

impl Form {
    /// The type of this form's histogram counters.
    #[must_use]
    pub fn counter(self) -> Counter {
        match self {
            Form::FreeBsd(counter) => counter,
            _ => Counter::U16,
        }
    }
}

impl Word {
    /// The size of an address in bytes.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Word::W32 => 4,
            Word::W64 => 8,
        }
    }

    /// The size of a 4.4BSD header in bytes: two addresses and six 32-bit numbers.
    pub(crate) fn header_size(self) -> u64 {
        match self {
            Word::W32 => 32,
            Word::W64 => 40,
        }
    }

    /// The size of a 4.4BSD arc in bytes: two addresses and a C `long`.
    pub(crate) fn arc_size(self) -> u64 {
        match self {
            Word::W32 => 12,
            Word::W64 => 24,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Encoding { form, model, order } = self;
        let word = model.word();
        write!(f, "{word} {order} {form}")?;
        if *model == DataModel::Llp64 { f.write_str(" with 32-bit long") } else { Ok(()) }
    }
}

impl fmt::Display for DataModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DataModel::Ilp32 => "ILP32",
            DataModel::Lp64 => "LP64",
            DataModel::Llp64 => "LLP64",
        })
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Word::W32 => "32-bit",
            Word::W64 => "64-bit",
        })
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Order::Little => "little-endian",
            Order::Big => "big-endian",
        })
    }
}
