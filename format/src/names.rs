//! The names of encodings for programs: in options, configuration, and JSON.

use core::fmt;
use core::str::FromStr;

use crate::families::family::Named;
use crate::families::named;
use crate::{Counter, CounterWidth, DataModel, Form, Order};

/// A text is not the name of a [`Form`], a [`DataModel`], an [`Order`], or a [`Counter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// What the text should name.
    kind: &'static str,
    /// The names; `None` for those of the forms.
    known: Option<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} (", self.kind)?;
        match self.known {
            Some(known) => f.write_str(known)?,
            None => {
                let has_counter = |named: &&Named| matches!(named.form, Form::FreeBsd(_));
                named().filter(|named| !has_counter(named)).try_for_each(|named| write!(f, "{}, ", named.name))?;
                f.write_str("and freebsd-u8 to freebsd-u64 and freebsd-i8 to freebsd-i64")?;
            }
        }
        f.write_str(")")
    }
}

impl core::error::Error for UnknownName {}

impl Form {
    /// The name of the form for programs: lower-case letters, digits, and hyphens. [`FromStr`] reads the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.named().map_or("", |named| named.name)
    }

    /// Each form that this library reads, with all types of counters and all headers: [`Form::ALL`] has one form of
    /// each kind.
    pub fn every() -> impl Iterator<Item = Form> {
        named().map(|named| named.form)
    }

    /// The systems and programs that write the form, beside those in its name: NetBSD writes 4.4BSD's form.
    #[must_use]
    pub fn writers(self) -> &'static [&'static str] {
        self.named().map_or(&[], |named| named.writers)
    }

    fn named(self) -> Option<&'static Named> {
        named().find(|named| named.form == self)
    }
}

/// The name in messages.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.named().map_or("", |named| named.title))
    }
}

impl FromStr for Form {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Form, UnknownName> {
        let found = named().find(|named| named.name == text).map(|named| named.form);
        found.ok_or(UnknownName { kind: "form", known: None })
    }
}

impl DataModel {
    const ALL: [DataModel; 3] = [DataModel::Ilp32, DataModel::Lp64, DataModel::Llp64];

    /// The name of the data model for programs. [`FromStr`] reads the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DataModel::Ilp32 => "ilp32",
            DataModel::Lp64 => "lp64",
            DataModel::Llp64 => "llp64",
        }
    }
}

impl FromStr for DataModel {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<DataModel, UnknownName> {
        let found = DataModel::ALL.into_iter().find(|model| model.name() == text);
        found.ok_or(UnknownName { kind: "data model", known: Some("ilp32, lp64, llp64") })
    }
}

impl Order {
    const ALL: [Order; 2] = [Order::Little, Order::Big];

    /// The name of the byte order for programs. [`FromStr`] reads the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Order::Little => "little",
            Order::Big => "big",
        }
    }
}

impl FromStr for Order {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Order, UnknownName> {
        let found = Order::ALL.into_iter().find(|order| order.name() == text);
        found.ok_or(UnknownName { kind: "byte order", known: Some("little, big") })
    }
}

impl Counter {
    const ALL: &[Counter] = &{
        use CounterWidth::{Bits8, Bits16, Bits32, Bits64};
        [
            Counter { width: Bits8, signed: false },
            Counter { width: Bits16, signed: false },
            Counter { width: Bits32, signed: false },
            Counter { width: Bits64, signed: false },
            Counter { width: Bits8, signed: true },
            Counter { width: Bits16, signed: true },
            Counter { width: Bits32, signed: true },
            Counter { width: Bits64, signed: true },
        ]
    };

    /// The name of the counter for programs: `u` or `i` for the sign, and the bits. [`FromStr`] reads the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match (self.width, self.signed) {
            (CounterWidth::Bits8, false) => "u8",
            (CounterWidth::Bits16, false) => "u16",
            (CounterWidth::Bits32, false) => "u32",
            (CounterWidth::Bits64, false) => "u64",
            (CounterWidth::Bits8, true) => "i8",
            (CounterWidth::Bits16, true) => "i16",
            (CounterWidth::Bits32, true) => "i32",
            (CounterWidth::Bits64, true) => "i64",
        }
    }
}

/// The [name](Counter::name).
impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Counter {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Counter, UnknownName> {
        let found = Counter::ALL.iter().copied().find(|counter| counter.name() == text);
        found.ok_or(UnknownName { kind: "type of counters", known: Some("u8, u16, u32, u64, i8, i16, i32, i64") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OldHeader;
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    #[test]
    fn each_name_names_one_value() {
        let forms: BTreeSet<&str> = named().map(|named| named.name).collect();
        assert_eq!(forms.len(), 20, "{forms:?}");
        assert!(named().all(|named| named.form.name() == named.name && named.name.parse() == Ok(named.form)));
        let titles: BTreeSet<&str> = named().map(|named| named.title).collect();
        assert_eq!(titles.len(), 20, "{titles:?}");
        assert!(Counter::ALL.iter().all(|counter| counter.name().parse() == Ok(*counter)));
        assert!(DataModel::ALL.iter().all(|model| model.name().parse() == Ok(*model)));
        assert!(Order::ALL.iter().all(|order| order.name().parse() == Ok(*order)));
    }

    #[test]
    fn each_form_has_names() {
        let headers = [OldHeader::Packed, OldHeader::Padded, OldHeader::Wide].map(Form::OldBsd);
        for form in Form::ALL.iter().copied().chain(headers) {
            assert!(!form.name().is_empty() && !form.to_string().is_empty(), "{form:?}");
        }
        for counter in Counter::ALL.iter().copied() {
            let form = Form::FreeBsd(counter);
            assert_eq!(form.name(), alloc::format!("freebsd-{counter}"));
            assert_eq!(form.to_string(), alloc::format!("FreeBSD ({counter} counters)"));
        }
    }

    /// Catches a form that the list leaves out, and a writer that the list has twice: a user would not know which form
    /// to give. `kgmon` writes several types of counters, and says so.
    #[test]
    fn each_writer_has_one_form() {
        assert_eq!(Form::every().count(), 20);
        assert!(Form::ALL.iter().all(|form| Form::every().any(|other| other == *form)));
        let writers: Vec<&str> = Form::every().flat_map(Form::writers).copied().collect();
        let different: BTreeSet<&str> = writers.iter().copied().collect();
        assert_eq!(different.len(), writers.len(), "{writers:?}");
        let of = |name: &str| Form::every().find(|form| form.writers().contains(&name)).map(Form::name);
        assert_eq!([of("NetBSD"), of("glibc"), of("PSP")], [Some("bsd"), Some("gnu"), Some("freebsd-u32")]);
    }

    #[test]
    fn the_text_of_an_encoding_has_the_type_of_the_counters() {
        let text = |value| {
            let form = Form::FreeBsd(Counter::from_histcounter_type(value).unwrap());
            crate::Encoding::new(form, DataModel::Lp64, Order::Little).to_string()
        };
        assert_eq!(text(-64), "64-bit little-endian FreeBSD (i64 counters)");
        assert_eq!(text(16), "64-bit little-endian FreeBSD (u16 counters)");
    }

    #[test]
    fn an_unknown_name_is_an_error_with_the_known_names() {
        for wrong in ["", "GNU", "freebsd", "freebsd-", "freebsd-u7", "old-bsd-packed", "gnu "] {
            let error = wrong.parse::<Form>().unwrap_err().to_string();
            assert!(error.starts_with("unknown form (gnu, "), "{wrong}: {error}");
        }
        let error = "".parse::<Form>().unwrap_err().to_string();
        let names = "gnu, bsd, openbsd, old-bsd, old-bsd-padded, old-bsd-wide, ld-profile, darwin, next, illumos-prof, \
                     illumos-rtld, mon-out, and freebsd-u8 to freebsd-u64 and freebsd-i8 to freebsd-i64";
        assert_eq!(error, alloc::format!("unknown form ({names})"));
        assert_eq!("LP64".parse::<DataModel>().unwrap_err().to_string(), "unknown data model (ilp32, lp64, llp64)");
        assert_eq!("middle".parse::<Order>().unwrap_err().to_string(), "unknown byte order (little, big)");
        let known: Vec<&str> = Counter::ALL.iter().map(|counter| counter.name()).collect();
        let error = "u7".parse::<Counter>().unwrap_err().to_string();
        assert_eq!(error, alloc::format!("unknown type of counters ({})", known.join(", ")));
    }
}
