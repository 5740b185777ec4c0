//! The encodings of profiles in files.

use core::fmt;

/// Everything about a file's layout that a reader must know in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Encoding {
    /// The family of the file.
    pub form: Form,
    /// The size of an address.
    pub word: Word,
    /// The byte order of every number.
    pub order: Order,
}

/// The families of profile files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// Magic `gmon`, then tagged records: glibc and everything built on it.
    Gnu,
    /// A header, 16-bit samples, arcs to the end of the file: 4.4BSD, NetBSD, DragonFly, Cygwin, MinGW and others.
    Bsd,
    /// 4.4BSD's form with the type of the counters in the first spare word.
    FreeBsd(Counter),
    /// 4.4BSD's form with the size of the arcs in the first spare word.
    OpenBsd,
}

/// The type of FreeBSD's histogram counters, `histcounter_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counter {
    /// The width of a counter.
    pub width: CounterWidth,
    /// Whether counters are two's complement.
    pub signed: bool,
}

/// The width of a histogram counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
pub enum Word {
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
}

/// The byte order of a file, which is that of the machine that ran the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// What is known about a file in advance, usually from the executable. `None` is detected; a given value is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The family.
    pub form: Option<Form>,
    /// The size of an address.
    pub word: Option<Word>,
    /// The byte order.
    pub order: Option<Order>,
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
            Form::Gnu | Form::Bsd | Form::OpenBsd => Counter::U16,
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
        let Encoding { form, word, order } = self;
        write!(f, "{word} {order} {form}")
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Gnu => "GNU",
            Form::Bsd => "4.4BSD",
            Form::FreeBsd(_) => "FreeBSD",
            Form::OpenBsd => "OpenBSD",
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
