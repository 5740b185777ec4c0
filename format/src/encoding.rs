//! How a profile is laid out in a file.

/// Everything about a file's layout that its reader must know beforehand.
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
    /// 4.4BSD's with the kind of the counters in the first spare word.
    FreeBsd(Counter),
    /// 4.4BSD's with the bytes of arcs in the first spare word.
    OpenBsd,
}

/// The kind of FreeBSD's histogram counters, `histcounter_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counter {
    /// How wide a counter is.
    pub width: CounterWidth,
    /// Whether counters are two's complement.
    pub signed: bool,
}

/// The width of a histogram counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CounterWidth {
    /// One byte.
    Bits8,
    /// Two bytes: what every other system has.
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

/// What is known of a file before it is looked at, normally from the executable. What is `None` is detected; what is
/// given is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The family.
    pub form: Option<Form>,
    /// The size of an address.
    pub word: Option<Word>,
    /// The byte order.
    pub order: Option<Order>,
}
