//! Decides which symbols are functions, and finds the function of an address from the symbol table alone.
//!
//! [`Nearest`] searches as the library under GNU gprof (BFD) does. GNU's reports search so where the debug information
//! names no function: in code between functions, and in assembly code.

use object::elf::{self, SymbolBind, SymbolType};

/// The symbol of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'data> {
    /// The address.
    pub address: u64,
    /// The name in the symbol table, mangled.
    pub name: &'data [u8],
    /// Whether the function is visible only in its own source file.
    pub is_static: bool,
    /// Whether the symbol has the type for functions.
    pub is_func: bool,
}

/// Decides which symbols are functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The symbols that GNU gprof uses.
    Compat,
    /// All known functions, including ifuncs, compilers' copies of functions, and stubs for functions of other files.
    /// In a stripped file, the exported functions and the functions in its unwind tables.
    Full,
    /// The symbols that the BSDs' gprof uses: those with the type for functions, even if they are in another file.
    Bsd {
        /// Include functions that are visible only in their own source file.
        statics: bool,
        /// Include functions whose names contain a dot.
        dots: bool,
    },
}

impl Policy {
    /// Whether debug information is also read from the split files that the compiler left. GNU gprof does not read
    /// them.
    pub(super) fn reads_split_units(self) -> bool {
        self != Policy::Compat
    }

    /// Whether code belongs to the first file of its line table until a row names a file, as in GNU gprof. By the
    /// standard it belongs to file 1, and the first file has number 0 since version 5.
    pub(super) fn starts_in_first_file(self) -> bool {
        self == Policy::Compat
    }
}

/// The place of a symbol's name.
#[derive(Clone, Copy, Debug)]
pub(super) enum NamePlace<'data> {
    /// The name begins at this offset in the string table.
    Table(u32),
    /// The entry itself has the whole name: COFF stores names of up to eight bytes so.
    Entry(&'data [u8]),
}

/// The entry of one symbol in the symbol table.
pub(super) struct Candidate<'data> {
    pub(super) address: u64,
    pub(super) name: NamePlace<'data>,
    pub(super) binding: SymbolBind,
    pub(super) kind: SymbolType,
    /// Whether the symbol is in a section of code.
    pub(super) in_code: bool,
    /// Whether the symbol is defined in this file.
    pub(super) defined: bool,
}

/// The function of a symbol, if the symbol is a function. This is the only place that decides.
pub(super) fn function<'data>(
    symbol: &Candidate<'data>,
    names: &mut NameTable<'data>,
    policy: Policy,
) -> Option<Symbol<'data>> {
    if matches!(symbol.kind, elf::STT_SECTION | elf::STT_FILE) {
        return None;
    }
    let name = names.get(symbol.name)?;
    let kept = match policy {
        Policy::Compat => is_kept_by_gnu(symbol, name, names),
        Policy::Full => is_kept_by_us(symbol, name, names),
        Policy::Bsd { statics, dots } => {
            symbol.kind == elf::STT_FUNC
                && (statics || symbol.binding != elf::STB_LOCAL)
                && (dots || !names.look(name).contains(&b'.'))
        }
    };
    kept.then_some(Symbol {
        address: symbol.address,
        name,
        is_static: symbol.binding == elf::STB_LOCAL,
        is_func: matches!(symbol.kind, elf::STT_FUNC) || policy == Policy::Full && symbol.kind == elf::STT_GNU_IFUNC,
    })
}

/// Keeps global symbols in code, weak symbols anywhere, and local symbols unless compilers or assemblers made up
/// their names; see [`NameTable::is_plain`].
fn is_kept_by_gnu(symbol: &Candidate<'_>, name: &[u8], names: &mut NameTable<'_>) -> bool {
    if symbol.kind == elf::STT_GNU_IFUNC || !symbol.defined {
        return false;
    }
    match symbol.binding {
        elf::STB_GLOBAL => symbol.in_code,
        elf::STB_WEAK => symbol.kind != elf::STT_OBJECT,
        elf::STB_LOCAL => symbol.in_code && !is_marker(name) && names.is_plain(symbol.name),
        _ => false,
    }
}

/// Keeps every named symbol in code, except those whose names compilers and assemblers make up for anything but
/// functions.
fn is_kept_by_us(symbol: &Candidate<'_>, name: &[u8], names: &mut NameTable<'_>) -> bool {
    if !symbol.in_code || !symbol.defined || name.is_empty() {
        return false;
    }
    match (symbol.binding, symbol.kind) {
        (_, elf::STT_FUNC | elf::STT_GNU_IFUNC) | (elf::STB_GNU_UNIQUE, _) => true,
        (_, elf::STT_OBJECT | elf::STT_TLS | elf::STT_COMMON) => false,
        (elf::STB_LOCAL, _) => !is_marker(name) && names.is_plain(symbol.name),
        _ => true,
    }
}

/// Whether a local name is a marker for tools and not a function.
fn is_marker(name: &[u8]) -> bool {
    name.is_empty() || name.starts_with(b"__gnu_compiled") || name.starts_with(b"___gnu_compiled")
}

/// The maximum length of a name in bytes; longer names are cut.
const LONGEST: usize = 1 << 16;

/// The number of bytes of each name that are examined once many much longer names were.
const SHORT: usize = 1024;

/// The string table of the symbols.
pub(super) struct NameTable<'data> {
    strings: &'data [u8],
    /// The positions where names end. A million symbols may share one name of a million bytes, which must not be read
    /// to its end for each.
    ends: Vec<u32>,
    /// The results of [`NameTable::is_plain`] for whole strings that it had to read past, at the indexes of their ends.
    /// Empty until the first such string.
    verdicts: Vec<Option<bool>>,
    /// The number of bytes of names that may still be examined.
    left: usize,
}

/// The result of examining one name alone.
enum Verdict {
    Plain,
    Made,
    /// The same as for the next string in the table.
    AsNext,
}

impl<'data> NameTable<'data> {
    pub(super) fn new(strings: &'data [u8]) -> NameTable<'data> {
        // The offsets of names have 32 bits.
        let strings = strings.get(..u32::MAX as usize).unwrap_or(strings);
        // The table may have nothing but ends, and a vector that grows needs three times the memory of its elements.
        let mut ends = Vec::with_capacity(memchr::memchr_iter(0, strings).count());
        ends.extend(memchr::memchr_iter(0, strings).map(|end| end as u32));
        // Some names share their ends with others, but not many times.
        let left = strings.len().saturating_mul(16).saturating_add(1 << 20);
        NameTable { strings, ends, verdicts: Vec::new(), left }
    }

    /// The name at a place; `None` for an offset outside the table. A name ends at the end of the table, and at the
    /// maximum length.
    pub(super) fn get(&self, place: NamePlace<'data>) -> Option<&'data [u8]> {
        let name = match place {
            NamePlace::Table(offset) => self.at(usize::try_from(offset).ok()?)?,
            NamePlace::Entry(name) => name,
        };
        Some(name.get(..LONGEST).unwrap_or(name))
    }

    /// The part of a name that may be examined.
    fn look(&mut self, name: &'data [u8]) -> &'data [u8] {
        let most = if self.left == 0 { SHORT } else { LONGEST };
        let seen = name.get(..most).unwrap_or(name);
        self.left = self.left.saturating_sub(seen.len());
        seen
    }

    fn at(&self, offset: usize) -> Option<&'data [u8]> {
        self.strings.get(offset..self.end(self.index(offset)))
    }

    /// The index of the end of the string at an offset.
    fn index(&self, offset: usize) -> usize {
        self.ends.partition_point(|end| (*end as usize) < offset)
    }

    /// The end at an index. After the last end, the end of the table.
    fn end(&self, index: usize) -> usize {
        self.ends.get(index).map_or(self.strings.len(), |end| *end as usize)
    }

    /// The result for the string at an offset if it is known. The index is that of the string's end.
    fn verdict(&self, offset: usize, index: usize) -> Option<bool> {
        self.verdicts.get(index).copied().flatten().filter(|_| self.is_whole(offset))
    }

    /// Whether a string starts at an offset, and not earlier.
    fn is_whole(&self, offset: usize) -> bool {
        offset.checked_sub(1).is_none_or(|before| self.strings.get(before) == Some(&0))
    }

    /// Whether a person may have chosen this local name.
    ///
    /// Names with `$` are made up. Names with `.` are made up unless the `.` starts the number of a compiler's copy:
    /// `.clone.1`, `.constprop.1` or `.1`. GNU gprof reads on after such a number at the end of a name, into the next
    /// name of the table, and so does this function. Results are remembered, so that a table of only such names costs
    /// no more than its length.
    fn is_plain(&mut self, place: NamePlace<'_>) -> bool {
        let mut offset = match place {
            NamePlace::Entry(name) => return !matches!(judge(name), Verdict::Made),
            NamePlace::Table(offset) => offset as usize,
        };
        let mut index = self.index(offset);
        let first = if self.is_whole(offset) { index } else { index.saturating_add(1) };
        let verdict = loop {
            if let Some(known) = self.verdict(offset, index) {
                break known;
            }
            let Some(name) = self.strings.get(offset..self.end(index)) else {
                break true;
            };
            match judge(self.look(name)) {
                Verdict::Plain => break true,
                Verdict::Made => break false,
                Verdict::AsNext => {
                    offset = offset.saturating_add(name.len()).saturating_add(1);
                    index = index.saturating_add(1);
                }
            }
        };
        // The strings that were followed are next to each other.
        if first < index {
            self.verdicts.resize(self.ends.len().saturating_add(1), None);
            self.verdicts.get_mut(first..index).into_iter().for_each(|followed| followed.fill(Some(verdict)));
        }
        verdict
    }
}

/// Examines one name alone.
fn judge(name: &[u8]) -> Verdict {
    let mut at = 0;
    while let Some(byte) = name.get(at) {
        match byte {
            b'$' => return Verdict::Made,
            b'.' => {
                let Some(end) = after_suffix(name, at) else {
                    return Verdict::Made;
                };
                if end == name.len() {
                    return Verdict::AsNext;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    Verdict::Plain
}

/// The end of the numbered suffix that starts with the `.` at `start`; `None` if there is no such suffix.
fn after_suffix(name: &[u8], start: usize) -> Option<usize> {
    let rest = name.get(start..)?;
    let word = [b".clone.".as_slice(), b".constprop.".as_slice()]
        .into_iter()
        .find(|word| rest.len() > word.len() && rest.starts_with(word))
        .map_or(1, <[u8]>::len);
    let digits = rest.get(word..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = start + word + digits;
    match name.get(end) {
        None => Some(end),
        Some(b'.') if digits > 0 => Some(end),
        Some(_) => None,
    }
}

/// A symbol that may be a function, and its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizedSymbol<'data> {
    pub(super) address: u64,
    /// The size in the symbol table, at least 1.
    pub(super) size: u64,
    pub(super) name: &'data [u8],
    /// Whether the symbol has the type for functions; ifuncs have another type.
    pub(super) is_func: bool,
    /// Whether the symbol has any type.
    pub(super) is_typed: bool,
}

/// The number of symbols at one address that are examined: a hostile file may have a million.
const MOST: usize = 64;

/// All symbols that may be functions.
#[derive(Debug)]
pub struct Nearest<'data> {
    /// Sorted by address; symbols of one address are in the order of the symbol table.
    sized_symbols: Vec<SizedSymbol<'data>>,
}

impl<'data> Nearest<'data> {
    /// `sized_symbols` are in the order of the symbol table.
    pub(super) fn new(mut sized_symbols: Vec<SizedSymbol<'data>>) -> Nearest<'data> {
        sized_symbols.sort_by_key(|place| place.address);
        let mut known = 0;
        sized_symbols.dedup_by(|next, kept| {
            known = if next.address == kept.address { known + 1 } else { 0 };
            known >= MOST
        });
        Nearest { sized_symbols }
    }

    /// The name of the function that contains an address.
    #[must_use]
    pub fn name(&self, address: u64) -> Option<&'data [u8]> {
        let after = self.sized_symbols.partition_point(|place| place.address <= address);
        let start = self.sized_symbols.get(after.checked_sub(1)?)?.address;
        let first = self.sized_symbols.partition_point(|place| place.address < start);
        let offset = address - start;
        let better = |kept: SizedSymbol<'data>, next: &SizedSymbol<'data>| {
            if is_better(next, &kept, offset) { *next } else { kept }
        };
        let (first, others) = self.sized_symbols.get(first..after)?.split_first()?;
        Some(others.iter().fold(*first, better).name)
    }
}

/// Whether a symbol is a better answer than another symbol at the same address, for an address at this distance.
fn is_better(next: &SizedSymbol<'_>, kept: &SizedSymbol<'_>, offset: u64) -> bool {
    if kept.size <= offset {
        // Both may end before the address: the longer symbol comes closer.
        return next.size > kept.size;
    }
    if next.size <= offset {
        return false;
    }
    if next.is_func != kept.is_func {
        return next.is_func;
    }
    if next.is_typed != kept.is_typed {
        return next.is_typed;
    }
    next.size < kept.size
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(strings: &[u8], offset: u32) -> bool {
        NameTable::new(strings).is_plain(NamePlace::Table(offset))
    }

    #[test]
    fn plain_names() {
        for name in ["main", "_start", "", "a_1", "f.clone.0a"] {
            assert_eq!(plain(name.as_bytes(), 0), name != "f.clone.0a", "{name}");
        }
    }

    #[test]
    fn numbered_copies() {
        for name in ["f.1", "f.clone.12", "f.constprop.0", "f.constprop.0.1", "f.1.clone.2", "f."] {
            assert!(plain(format!("{name}\0good\0").as_bytes(), 0), "{name}");
        }
    }

    #[test]
    fn made_names() {
        for name in ["f.part.0", "f.isra.0", "f.cold", "f$a", "f.constprop.0.isra.0", "f.1.cold", ".L1", "f.1a", "f..1"]
        {
            assert!(!plain(format!("{name}\0good\0").as_bytes(), 0), "{name}");
        }
    }

    #[test]
    fn the_next_name_decides_after_a_number() {
        let strings = b"f.1\0g.part.0\0";
        assert!(!plain(strings, 0));
        assert!(plain(b"f.1\0g.2\0h\0", 0));
        assert!(!plain(b"f.1\0g.2\0h$\0", 0));
    }

    #[test]
    fn a_known_result_is_that_of_the_whole_string() {
        // The names are `f.1`, `a$b.2`, and `b.2`, which is a part of the second.
        let mut names = NameTable::new(b"f.1\0a$b.2\0g.3\0h");
        let verdicts = [0, 4, 6, 0, 10, 14, 20].map(|offset| names.is_plain(NamePlace::Table(offset)));
        assert_eq!(verdicts, [false, false, true, false, true, true, true]);
        // The last string has no end in the table.
        let mut names = NameTable::new(b"f.1\0g.2");
        assert_eq!([0, 4, 0, 8].map(|offset| names.is_plain(NamePlace::Table(offset))), [true; 4]);
    }

    fn place(address: u64, size: u64, name: &'static str, is_func: bool) -> SizedSymbol<'static> {
        SizedSymbol { address, size, name: name.as_bytes(), is_func, is_typed: is_func }
    }

    #[test]
    fn symbols_of_one_address() {
        let nearest = Nearest::new(vec![
            place(20, 8, "chosen", false),
            place(20, 8, "resolve", true),
            place(10, 4, "static", true),
            place(10, 4, "global", true),
            place(30, 1, "label", false),
            place(30, 6, "long", true),
            place(30, 4, "short", true),
        ]);
        let name = |address| nearest.name(address).map(|name| str::from_utf8(name).unwrap());
        assert_eq!([9, 10, 13, 15].map(name), [None, Some("static"), Some("static"), Some("static")]);
        assert_eq!([20, 27].map(name), [Some("resolve"); 2]);
        // After all symbols, the first of the longest symbols counts.
        assert_eq!([28, 29].map(name), [Some("chosen"); 2]);
        assert_eq!([30, 33, 34, 40].map(name), [Some("short"), Some("short"), Some("long"), Some("long")]);
    }
}
