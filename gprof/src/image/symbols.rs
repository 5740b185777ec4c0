//! Which symbols stand for functions.

use std::collections::HashMap;

use object::elf::{self, SymbolBind, SymbolType};

/// A symbol that stands for a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'data> {
    /// The address it names.
    pub address: u64,
    /// The name as it stands in the file, mangled.
    pub name: &'data [u8],
    /// Whether it is visible in its own source file only.
    pub is_static: bool,
    /// Whether the file says that it is a function.
    pub is_func: bool,
}

/// Which symbols stand for functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Those that do for GNU gprof, and nothing else.
    Compat,
    /// All that are known: also functions that are chosen at run time, copies that compilers make, and stubs that lead to
    /// other files. Of a file that was stripped, those it exports and those its unwind tables know.
    Full,
    /// Those that do for the BSDs' gprof: what is marked as a function, and be it in another file.
    Bsd {
        /// Also those that only their own source file sees.
        statics: bool,
        /// Also those that have a dot in their names.
        dots: bool,
    },
}

/// What the symbol table says of one symbol.
pub(super) struct Candidate {
    pub(super) address: u64,
    pub(super) name_offset: u32,
    pub(super) binding: SymbolBind,
    pub(super) kind: SymbolType,
    /// Whether it lies in a section of code.
    pub(super) in_code: bool,
    /// Whether it lies anywhere in this file.
    pub(super) defined: bool,
}

/// The function that a symbol stands for, if it stands for one. This is the whole policy of what is a function.
pub(super) fn function<'data>(
    symbol: &Candidate,
    names: &mut NameTable<'data>,
    policy: Policy,
) -> Option<Symbol<'data>> {
    if matches!(symbol.kind, elf::STT_SECTION | elf::STT_FILE) {
        return None;
    }
    let name = names.get(symbol.name_offset)?;
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

/// Global symbols in code, and weak ones wherever they lie. Local ones unless their name is one that compilers and
/// assemblers make up; see [`NameTable::is_plain`].
fn is_kept_by_gnu(symbol: &Candidate, name: &[u8], names: &mut NameTable<'_>) -> bool {
    if symbol.kind == elf::STT_GNU_IFUNC || !symbol.defined {
        return false;
    }
    match symbol.binding {
        elf::STB_GLOBAL => symbol.in_code,
        elf::STB_WEAK => symbol.kind != elf::STT_OBJECT,
        elf::STB_LOCAL => symbol.in_code && !is_marker(name) && names.is_plain(symbol.name_offset),
        _ => false,
    }
}

/// Whatever is in code and has a name, but not the names that compilers and assemblers make up for what is no function.
fn is_kept_by_us(symbol: &Candidate, name: &[u8], names: &mut NameTable<'_>) -> bool {
    if !symbol.in_code || !symbol.defined || name.is_empty() {
        return false;
    }
    match (symbol.binding, symbol.kind) {
        (_, elf::STT_FUNC | elf::STT_GNU_IFUNC) | (elf::STB_GNU_UNIQUE, _) => true,
        (_, elf::STT_OBJECT | elf::STT_TLS | elf::STT_COMMON) => false,
        (elf::STB_LOCAL, _) => !is_marker(name) && names.is_plain(symbol.name_offset),
        _ => true,
    }
}

/// Whether a local name marks a place for tools instead of naming a function.
fn is_marker(name: &[u8]) -> bool {
    name.is_empty() || name.starts_with(b"__gnu_compiled") || name.starts_with(b"___gnu_compiled")
}

/// The longest name that is believed, in bytes: what is longer is cut.
const LONGEST: usize = 1 << 16;

/// How many bytes of each name are looked at when many were that are much longer.
const SHORT: usize = 1024;

/// The strings that symbols take their names from.
pub(super) struct NameTable<'data> {
    strings: &'data [u8],
    /// Where names end. A million symbols may share one name that is a million bytes long, so that none must have to
    /// be read to its end.
    ends: Vec<usize>,
    /// What [`NameTable::is_plain`] found out, for names that it had to read beyond.
    verdicts: HashMap<usize, bool>,
    /// How many more bytes of names may be looked at.
    left: usize,
}

/// What looking at one name alone says of it.
enum Verdict {
    Plain,
    Made,
    /// As the string that follows in the table.
    AsNext,
}

impl<'data> NameTable<'data> {
    pub(super) fn new(strings: &'data [u8]) -> NameTable<'data> {
        let ends = memchr::memchr_iter(0, strings).collect();
        // Names share their ends at times, but not many times.
        let left = strings.len().saturating_mul(16).saturating_add(1 << 20);
        NameTable { strings, ends, verdicts: HashMap::new(), left }
    }

    /// The name at an offset, or `None` when the offset lies outside the table. A name that the table's end cuts off
    /// ends there, and one that is longer than any ends early.
    pub(super) fn get(&self, offset: u32) -> Option<&'data [u8]> {
        let name = self.at(usize::try_from(offset).ok()?)?;
        Some(name.get(..LONGEST).unwrap_or(name))
    }

    /// As much of a name as may be looked at.
    fn look(&mut self, name: &'data [u8]) -> &'data [u8] {
        let most = if self.left == 0 { SHORT } else { LONGEST };
        let seen = name.get(..most).unwrap_or(name);
        self.left = self.left.saturating_sub(seen.len());
        seen
    }

    fn at(&self, offset: usize) -> Option<&'data [u8]> {
        let end = self.ends.get(self.ends.partition_point(|end| *end < offset));
        self.strings.get(offset..end.copied().unwrap_or(self.strings.len()))
    }

    /// Whether a local name is one that a person may have given.
    ///
    /// `$` is in the names of no such function, and `.` only where a compiler numbers a copy: `.clone.1`,
    /// `.constprop.1` or `.1`. The judge of all of this reads on after such a number at the end of a name, into the
    /// name that happens to follow in the table, and so does this function. What was read once is remembered, so that a
    /// table of nothing but such names costs no more than its length.
    fn is_plain(&mut self, offset: u32) -> bool {
        let Ok(mut offset) = usize::try_from(offset) else {
            return false;
        };
        let mut followed = Vec::new();
        let verdict = loop {
            if let Some(known) = self.verdicts.get(&offset) {
                break *known;
            }
            let Some(name) = self.at(offset) else {
                break true;
            };
            match judge(self.look(name)) {
                Verdict::Plain => break true,
                Verdict::Made => break false,
                Verdict::AsNext => {
                    followed.push(offset);
                    offset = offset.saturating_add(name.len()).saturating_add(1);
                }
            }
        };
        self.verdicts.extend(followed.into_iter().map(|offset| (offset, verdict)));
        verdict
    }
}

/// Looks at one name alone.
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

/// The end of the numbered suffix that begins with the `.` at `start`, or `None` when there is none.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(strings: &[u8], offset: u32) -> bool {
        NameTable::new(strings).is_plain(offset)
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
}
