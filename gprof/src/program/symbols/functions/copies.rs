//! Assigns compilers' copies of functions (`f.part.0`) to the functions, and makes the names by which the functions of
//! two builds are compared.

use std::borrow::Cow;
use std::collections::HashMap;

use super::names::without_hashes;
use super::{FunctionId, Functions};
use crate::program::image::{LocalFiles, Symbol};

/// The length of the hash at the end of a name in Rust's legacy scheme, with the digits of its length and the letter at
/// the end.
const HASH: usize = 20;

impl Functions<'_> {
    /// Returns the name of a function without the parts that may differ between two builds of one source: what names a
    /// compiler's copy (`.constprop.0`, `.isra.0`, `.part.0`, `.cold`), the number that link-time optimization gives a
    /// static function (`.lto_priv.0`), and Rust's hashes. Several functions of one build may have the same stable
    /// name.
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
fn start_of_hash(name: &[u8]) -> Option<usize> {
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

/// The functions of one name, without copies.
#[derive(Default)]
struct Originals {
    /// The global function.
    global: Option<FunctionId>,
    /// The static functions, in ascending order of addresses.
    local: Vec<FunctionId>,
}

impl Originals {
    /// The function nearest to an address: compilers place a copy near its function if they can.
    fn nearest(&self, functions: &Functions<'_>, address: u64) -> Option<FunctionId> {
        let after = self.local.partition_point(|id| functions[*id].address <= address);
        let (below, above) = (after.checked_sub(1).map(|at| self.local[at]), self.local.get(after).copied());
        below.into_iter().chain(above).min_by_key(|id| functions[*id].address.abs_diff(address))
    }
}

impl Functions<'_> {
    /// Makes compilers' copies of a function (`f.part.0`, `f.constprop.1.cold`) count for the function, or for the
    /// first copy if the function itself is missing.
    ///
    /// If several source files have functions of one name, a copy belongs to the function of its own file.
    pub fn merge_copies(&mut self, files: &LocalFiles) {
        let file = |id: FunctionId| files.get(&self[id].address).copied().filter(|_| self[id].is_static);
        // Line symbols have the names of functions but are not functions.
        let marked = || self.ids().filter(|id| self.is_marked(*id));
        let is_part = |id: &FunctionId| proper(self[*id].name) != self[*id].name;
        let mut originals: HashMap<&[u8], Originals> = HashMap::new();
        let mut in_files: HashMap<(&[u8], u32), FunctionId> = HashMap::new();
        for id in marked().filter(|id| !is_part(id)) {
            let named = originals.entry(self[id].name).or_default();
            if self[id].is_static {
                named.local.push(id);
                in_files.extend(file(id).map(|file| ((self[id].name, file), id)));
            } else {
                named.global = Some(id);
            }
        }
        let mut owners = Vec::new();
        let mut first_copies: HashMap<(&[u8], Option<u32>), FunctionId> = HashMap::new();
        for id in marked().filter(is_part) {
            let (name, file) = (proper(self[id].name), file(id));
            let named = originals.get(name);
            let of_file = file.and_then(|file| in_files.get(&(name, file)).copied());
            let global = || named.and_then(|named| named.global);
            // If the file of the copy is known, functions of other files are not candidates.
            let nearest = || named.filter(|_| file.is_none())?.nearest(self, self[id].address);
            let original = of_file.or_else(global).or_else(nearest);
            owners.push((id, original.unwrap_or_else(|| *first_copies.entry((name, file)).or_insert(id))));
        }
        for (copy, owner) in owners {
            self.sorted[copy.index()].counts_for = owner;
        }
    }
}

impl<'data> Functions<'data> {
    /// Returns the name of a function if it is a copy that the compiler or link-time optimization made. The debug
    /// information has the name of the function there.
    #[must_use]
    pub fn copy_name(&self, id: FunctionId) -> Option<&'data [u8]> {
        Some(self[id].name).filter(|name| is_copy(name))
    }

    /// Finds copies that the compiler made and whose first code was inlined from another function: for each, the
    /// address and the name of the inlined function. `lines` has line symbols in ascending order.
    #[must_use]
    pub fn inlined_starts(&self, lines: &[Symbol<'data>]) -> Vec<(u64, &'data [u8])> {
        let inlined = self.ids().filter_map(|id| {
            let (copy, address) = (self.copy_name(id)?, self[id].address);
            let at = lines.binary_search_by_key(&address, |line| line.address).ok()?;
            (lines[at].name != copy).then_some((address, lines[at].name))
        });
        inlined.collect()
    }

    /// Renames the functions and lines at these addresses.
    pub fn rename(&mut self, names: Vec<(u64, &'data [u8])>) {
        for (address, name) in names {
            if let Ok(at) = self.starts.binary_search(&address) {
                self.sorted[at].name = name;
            }
        }
    }
}

fn is_copy(name: &[u8]) -> bool {
    proper(name) != name || memchr::memmem::find(name, PRIVATE).is_some()
}

/// What link-time optimization adds to the name of a static function.
const PRIVATE: &[u8] = b".lto_priv.";

/// The name of the function that a copy belongs to: the part before the first dot. In Rust's older names, dots may
/// also occur before the hash, and link-time optimization adds a suffix of its own to distinguish functions of one
/// name in several files.
fn proper(name: &[u8]) -> &[u8] {
    let start = start_of_hash(name).map_or(1, |at| at + HASH);
    let Some(dot) = name.iter().skip(start).position(|byte| *byte == b'.').map(|at| start + at) else {
        return name;
    };
    let number = name.get(dot..).and_then(|rest| rest.strip_prefix(PRIVATE)).unwrap_or_default();
    match number.iter().take_while(|byte| byte.is_ascii_digit()).count() {
        0 => name.get(..dot).unwrap_or(name),
        digits => name.get(..dot + PRIVATE.len() + digits).unwrap_or(name),
    }
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
        let symbol = |(address, name): (u64, &'static str)| Symbol {
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

    fn at(address: u64, name: &'static str, is_static: bool) -> Symbol<'static> {
        Symbol { address, name: name.as_bytes(), is_static, is_func: true }
    }

    fn owners(symbols: Vec<Symbol<'static>>, files: &[(u64, u32)]) -> Vec<usize> {
        let mut functions = Functions::new(symbols, 100);
        functions.merge_copies(&files.iter().copied().collect());
        functions.ids().map(|id| functions[id].counts_for.index()).collect()
    }

    #[test]
    fn copies_count_for_their_function() {
        let symbols = [(10, "f.part.0"), (20, "f"), (30, "g.cold"), (40, "g.isra.0"), (50, "h")];
        assert_eq!(owners(symbols.map(|(address, name)| at(address, name, true)).to_vec(), &[]), [1, 1, 2, 2, 4]);
    }

    #[test]
    fn copies_count_for_the_function_of_their_file() {
        // Cold copies are in a separate place.
        let cold = [at(2, "f.cold", true), at(4, "f.cold", true), at(6, "g.cold", true), at(8, "g.cold", true)];
        let one = [at(10, "f", true), at(20, "f.part.0", true)];
        let other = [at(30, "f", true), at(40, "f.part.0", true), at(50, "f.constprop.0", true)];
        let symbols = || [cold.as_slice(), &one, &other].concat();
        let files = [(2, 1), (4, 2), (6, 1), (8, 2), (10, 1), (20, 1), (30, 2), (40, 2), (50, 2)];
        assert_eq!(owners(symbols(), &files), [4, 6, 2, 3, 4, 4, 6, 6, 6]);
        // The files of these are not known.
        assert_eq!(owners(symbols(), &[]), [4, 4, 2, 2, 4, 4, 6, 6, 6]);
    }

    #[test]
    fn copies_of_what_all_files_see_and_of_what_one_file_sees() {
        let symbols = [at(10, "f", false), at(20, "f.part.0", true), at(30, "f", true), at(40, "f.part.0", true)];
        assert_eq!(owners(symbols.to_vec(), &[(20, 1), (30, 2), (40, 2)]), [0, 0, 2, 2]);
        let symbols = [at(10, "f.part.0", true), at(20, "f", true)];
        assert_eq!(owners(symbols.to_vec(), &[(10, 1), (20, 2)]), [0, 1]);
    }

    #[test]
    fn copies_by_name() {
        let all =
            ["f.part.0", "f.cold", "f.lto_priv.0", "f", "_ZN4core3ptr24drop_in_place$LT$a..b$GT$17h0123456789abcdefE"];
        assert_eq!(all.map(|name| is_copy(name.as_bytes())), [true, true, true, false, false]);
    }

    #[test]
    fn names_proper() {
        for (name, of) in [
            ("f.part.0", "f"),
            (".f.cold", ".f"),
            ("f.lto_priv.0", "f.lto_priv.0"),
            ("f.lto_priv.12.part.0.cold", "f.lto_priv.12"),
            ("f.lto_priv.x", "f"),
            ("_ZN2ns1fEv.isra.0", "_ZN2ns1fEv"),
            ("_ZN4core3ptr24drop_in_place$LT$a..b$GT$17h0123456789abcdefE", ""),
            ("_ZN10_$LT$a..b$GT$1f17h0123456789abcdefE.llvm.7", "_ZN10_$LT$a..b$GT$1f17h0123456789abcdefE"),
        ] {
            let of = if of.is_empty() { name } else { of };
            assert_eq!(proper(name.as_bytes()), of.as_bytes(), "{name}");
        }
    }
}
