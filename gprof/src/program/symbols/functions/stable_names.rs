//! Names by which the functions of two builds are compared.

use std::borrow::Cow;

use super::names::without_hashes;
use super::{FunctionId, Functions};

/// The length of the hash at the end of a name in Rust's legacy scheme, with the digits of its length and the letter at the end.
pub(super) const HASH: usize = 20;

impl Functions<'_> {
    /// Returns the name of a function without the parts that may differ between two builds of one source: what names a
    /// compiler's copy (`.constprop.0`, `.isra.0`, `.part.0`, `.cold`), the number that link-time optimization gives a static
    /// function (`.lto_priv.0`), and Rust's hashes. Several functions of one build may have the same stable name.
    #[must_use]
    pub fn stable_name(&self, id: FunctionId) -> Cow<'_, [u8]> {
        let name = self[id].name;
        match name.starts_with(b"_R") {
            // The hashes are within the name, and numbers of places in the name follow.
            true => without_hashes(name),
            false => Cow::Borrowed(stable(name)),
        }
    }
}

fn stable(name: &[u8]) -> &[u8] {
    if let Some(end) = start_of_hash(name) {
        return name.get(..end).unwrap_or(name);
    }
    let dot = name.iter().skip(1).position(|byte| *byte == b'.').filter(|_| !has_dots_of_its_own(name));
    dot.and_then(|at| name.get(..=at)).unwrap_or(name)
}

/// The place of the hash in a name of Rust's legacy scheme.
pub(super) fn start_of_hash(name: &[u8]) -> Option<usize> {
    let is_digit = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    let is_hash = |text: &[u8]| {
        let digits = text.strip_prefix(b"17h").and_then(|rest| rest.strip_suffix(b"E"));
        digits.is_some_and(|digits| digits.iter().all(is_digit))
    };
    if name.starts_with(b"_ZN") { name.windows(HASH).rposition(is_hash) } else { None }
}

/// Whether dots belong to the name: Rust's legacy scheme writes `::` as two dots.
fn has_dots_of_its_own(name: &[u8]) -> bool {
    name.windows(2).any(|pair| pair == b"..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_two_builds() {
        for (name, of) in [
            ("f", "f"),
            ("f.constprop.0", "f"),
            ("f.isra.0.cold", "f"),
            ("f.lto_priv.12.part.0", "f"),
            (".f.cold", ".f"),
            ("_ZN2ns1fEv.part.0", "_ZN2ns1fEv"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "_ZN4core3fmt5write"),
            ("_ZN4core3fmt5write17h0123456789abcdefE.llvm.123", "_ZN4core3fmt5write"),
            ("_ZN10_$LT$a..b$GT$1f17h0123456789abcdefE", "_ZN10_$LT$a..b$GT$1f"),
            ("_ZN10_$LT$a..b$GT$1fE", "_ZN10_$LT$a..b$GT$1fE"),
        ] {
            assert_eq!(stable(name.as_bytes()), of.as_bytes(), "{name}");
        }
    }

    #[test]
    fn hashes_inside_of_names() {
        let symbol = |(address, name): (u64, &'static str)| crate::program::image::Symbol {
            address,
            name: name.as_bytes(),
            is_static: false,
            is_func: true,
        };
        let names = ["_RNvCs1234_7mycrate3foo", "_RNvCskZ9_7mycrate3foo.llvm.9"];
        let mut functions = Functions::new((0..).zip(names).map(symbol).collect(), 10);
        // How reports show names does not matter.
        functions.set_demangling(gmon_demangle::Options { style: gmon_demangle::Style::Cpp, ..Default::default() });
        let stable: Vec<_> = functions.ids().map(|id| functions.stable_name(id).into_owned()).collect();
        assert_eq!(stable, [b"mycrate::foo".to_vec(), b"mycrate::foo".to_vec()]);
    }
}
